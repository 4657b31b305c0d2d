//! A gateway for tests that is alone: what comes to it is written by hand, and what it sends is looked at.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Route, Seed, Sink, Transmit};

use super::Gateway;
use crate::interface::Event;
use crate::sip::{Message, SipConfig, Timers, Transport, response};
use crate::testing::{SOURCE, gateway_config};

/// A gateway that hears TLS and, besides, what there is in clear; and what it has sent.
pub(super) struct Alone {
    pub(super) gateway: Gateway,
    pub(super) now: Instant,
    pub(super) sent: Vec<(Route, Message)>,
}

impl Sink<Event> for Vec<(Route, Message)> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.push((transmit.route, Message::parse(bytes).unwrap()));
    }

    fn event(&mut self, _: Event) {}
}

pub(super) const TERMINAL: &str = "10.1.0.50";
pub(super) const CORRESPONDENT: &str = "10.0.0.1";

pub(super) fn here(transport: Transport) -> SocketAddr {
    SocketAddr::new([10, SOURCE as u8, 0, 1].into(), transport.local_port())
}

impl Alone {
    pub(super) fn new(besides: Option<Transport>) -> Self {
        Self::with(besides, |config| config)
    }

    /// The same, with what `change` makes of its configuration.
    pub(super) fn with(
        besides: Option<Transport>,
        change: impl Fn(crate::GatewayConfig) -> crate::GatewayConfig,
    ) -> Self {
        let sip =
            SipConfig { transport: Transport::Tls, besides, timers: Timers::reliable(), supervision: None };
        let config = crate::GatewayConfig { address: here(Transport::Tls), sip, ..gateway_config(SOURCE) };
        Self {
            gateway: Gateway::new(change(config), &Seed::from_u64(1)),
            now: Instant::ZERO,
            sent: Vec::new(),
        }
    }

    /// What it sends when this has come from there.
    pub(super) fn hear(&mut self, over: Transport, from: &str, text: &[u8]) -> &[(Route, Message)] {
        self.hear_at(over, SocketAddr::new(from.parse().unwrap(), over.port()), text)
    }

    /// The same from any port.
    pub(super) fn hear_at(
        &mut self,
        over: Transport,
        remote: SocketAddr,
        text: &[u8],
    ) -> &[(Route, Message)] {
        let (route, before) = (Route { local: here(over), remote }, self.sent.len());
        let input = Input::Datagrams { route, ecn: Ecn::NotCapable, bytes: text, segment: text.len() };
        self.gateway.step(self.now, [input], &mut self.sent);
        &self.sent[before..]
    }

    pub(super) fn pass(&mut self, time: Duration) -> &[(Route, Message)] {
        let before = self.sent.len();
        self.now += time;
        self.gateway.step(self.now, [Input::Timeout], &mut self.sent);
        &self.sent[before..]
    }

    /// The terminal calls; returns what the gateway asks the correspondent.
    pub(super) fn calls(&mut self, over: Transport) -> Message {
        let invite =
            says(over, "INVITE", "", &format!("UFA_Application: sctp {TERMINAL}:1 {CORRESPONDENT}:2\r\n"));
        let sent = self.hear(over, TERMINAL, invite.as_bytes());
        let to_it = |(route, message): &&(Route, Message)| {
            route.remote.ip().to_string() == CORRESPONDENT && message.is_request()
        };
        sent.iter().find(to_it).unwrap().1.clone()
    }

    pub(super) fn answers(&mut self, over: Transport, asked: &Message, status: u16) -> Vec<(Route, Message)> {
        let answer = response(asked, status, &crate::sip::Token::of(&[9; 32])).unwrap();
        self.hear(over, CORRESPONDENT, &answer.to_bytes()).to_vec()
    }
}

/// A request of the terminal in its call.
pub(super) fn says(over: Transport, method: &str, to_tag: &str, more: &str) -> String {
    let number = if method == "BYE" { 2 } else { 1 };
    format!(
        "{method} sip:x@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/{over} {TERMINAL}:5060;branch=z9hG4bKa{}\r\n\
         From: <sip:alice@x>;tag=1\r\nTo: <sip:b@x>{to_tag}\r\nCall-ID: c\r\nCSeq: {number} {method}\r\n{more}\r\n",
        if method == "BYE" { "bye" } else { "" }
    )
}

/// What went where, in a word.
pub(super) fn words(sent: &[(Route, Message)]) -> Vec<String> {
    let word = |(route, message): &(Route, Message)| match message.status() {
        0 => format!("{} to {}", message.method(), route.remote.ip()),
        status => format!("{status} {} to {}", message.method(), route.remote.ip()),
    };
    sent.iter().map(word).collect()
}
