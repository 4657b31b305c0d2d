use core::net::SocketAddr;
use core::ops::{Deref, DerefMut};
use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;
use whimbrel_netsim::{App, Context};
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationId, CloseReason, Command, ConnectToken, Event, KEY_EXCHANGE, KeyExchangeError, Message,
    PathView, Received,
};

use crate::content::{message, numbered};
use crate::record::{Log, Record, Silence, Tally, TransferTimes};
use crate::traffic::{ConstantRate, Traffic};

/// The SCTP port of all users.
pub const SCTP_PORT: u16 = 5001;

/// The user of a host: sets up an association or waits for one, sends, reads, and keeps a record of what it is told.
pub struct User<R = Log> {
    /// When it connects, and where to. It listens otherwise.
    connect: Option<(Instant, Vec<SocketAddr>)>,
    /// What it connects from; any port that is free otherwise.
    local_port: Option<u16>,
    /// The first that came up.
    association: Option<AssociationId>,
    /// Sent from when the association is up.
    pub traffic: Option<Box<dyn Traffic>>,
    /// What a message of the traffic is made of, by its number from 0 and its size in bytes.
    content: fn(u32, usize) -> Message,
    /// Messages of the traffic handed over so far.
    pub sent: u32,
    /// Sent beside the traffic, as fast as `limit` lets them go.
    pub outbox: VecDeque<Message>,
    /// Bytes that may be with the transport, acknowledged ones not counted, when a message of the outbox is handed over.
    pub limit: usize,
    /// `limit` is what the transport says that it has room for, as it is for a program that uses the library.
    heeds_room: bool,
    /// Bytes handed over and not acknowledged yet.
    queued: usize,
    /// Shut down once the outbox is empty and everything is acknowledged.
    pub shutdown_when_done: bool,
    /// Keep received data instead of releasing it.
    pub hold: bool,
    /// What it does for each message that arrives.
    answer: Answer,
    /// What it was told.
    pub record: R,
}

/// What a user does for each message that arrives.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Nothing,
    /// Sends it back.
    Echo,
    /// Asks the next question after a pause.
    NextQuestion {
        pause: Duration,
        bytes: usize,
    },
}

const CONNECT: u64 = 0;
const SEND: u64 = 1;
/// Far from the tokens of those who have a user among their own parts.
const ASK: u64 = 1 << 32;

impl User {
    /// Waits for an association and writes down all that happens.
    pub fn server() -> Self {
        Self::new(None, |n, bytes| message(0, n as usize, bytes))
    }

    /// The same, with `count` messages of `bytes` each to be sent as fast as can be.
    #[must_use]
    pub fn queueing(mut self, count: usize, bytes: usize) -> Self {
        self.outbox = (0..count).map(|n| message(0, n, bytes)).collect();
        self
    }

    /// Connects to these addresses at once, and writes down all that happens.
    pub fn client(remote: &[SocketAddr]) -> Self {
        Self { connect: Some((Instant::ZERO, remote.to_vec())), ..Self::server() }
    }
}

impl User<Tally> {
    /// The same, and takes the time of silences from `from` on.
    #[must_use]
    pub const fn hearing(mut self, from: Instant) -> Self {
        self.record.silence = Silence::from(from);
        self
    }

    /// The same, and takes the time of each message that arrives.
    #[must_use]
    pub fn timing(mut self, transfer_times: TransferTimes) -> Self {
        self.record.time(transfer_times);
        self
    }
}

impl<R: Record> User<R> {
    /// Waits for an association, reads at once what comes.
    pub fn reader() -> Self {
        Self::new(None, numbered)
    }

    /// Connects to `peer` at `start`, and reads at once what comes.
    pub fn opener(start: Instant, peer: Vec<SocketAddr>) -> Self {
        Self { connect: Some((start, peer)), ..Self::reader() }
    }

    /// The same, and sends as soon as the association is up.
    pub fn sender(start: Instant, peer: Vec<SocketAddr>, traffic: Box<dyn Traffic>) -> Self {
        Self::opener(start, peer).sending(traffic)
    }

    /// Waits for an association, and sends as soon as it is up.
    pub fn replier(traffic: Box<dyn Traffic>) -> Self {
        Self::reader().sending(traffic)
    }

    fn new(connect: Option<(Instant, Vec<SocketAddr>)>, content: fn(u32, usize) -> Message) -> Self {
        Self {
            connect,
            local_port: None,
            association: None,
            traffic: None,
            content,
            sent: 0,
            outbox: VecDeque::new(),
            limit: 256 * 1024,
            heeds_room: false,
            queued: 0,
            shutdown_when_done: false,
            hold: false,
            answer: Answer::Nothing,
            record: R::default(),
        }
    }

    /// The same, connecting from the port that all users listen on.
    #[must_use]
    pub fn from_its_port(self) -> Self {
        Self { local_port: Some(SCTP_PORT), ..self }
    }

    /// The same, sending this.
    #[must_use]
    pub fn sending(mut self, traffic: impl Into<Option<Box<dyn Traffic>>>) -> Self {
        self.traffic = traffic.into();
        self
    }

    /// The same, with messages that are made by `content`.
    #[must_use]
    pub fn saying(self, content: fn(u32, usize) -> Message) -> Self {
        Self { content, ..self }
    }

    /// The same, with as much in the transport as that has room for.
    #[must_use]
    pub fn heeding_room(self) -> Self {
        Self { heeds_room: true, ..self }
    }

    /// The same, sending back each message that arrives.
    #[must_use]
    pub fn echoing(self) -> Self {
        Self { answer: Answer::Echo, ..self }
    }

    /// The same, with a question of so many bytes as soon as the association is up, and the next one so long after each message that arrives.
    #[must_use]
    pub fn asking(self, bytes: usize, pause: Duration) -> Self {
        Self { answer: Answer::NextQuestion { pause, bytes }, ..self }
    }

    /// Sends `count` messages of `bytes` each, one at every `interval`.
    pub fn tick(&mut self, interval: Duration, bytes: usize, count: usize) {
        self.traffic = Some(Box::new(ConstantRate::every(bytes, interval, count as u64)));
    }

    /// The first association that came up, whether or not it has ended.
    pub const fn association(&self) -> Option<AssociationId> {
        self.association
    }

    /// The paths of the association, which is on this node; none before it is up.
    pub fn paths(&self, node: &Node) -> Vec<PathView> {
        self.association.map(|association| node.paths(association)).unwrap_or_default()
    }

    fn offer(&mut self, acknowledged: usize, context: &mut Context<'_, Command>) {
        let (Some(traffic), Some(association)) = (&mut self.traffic, self.association) else { return };
        let (sent, queued, content) = (&mut self.sent, &mut self.queued, self.content);
        let next = traffic.offer(context.now(), acknowledged, &mut |size| {
            let message = content(*sent, size);
            *sent = sent.wrapping_add(1);
            *queued += message.payload.len();
            context.command(Command::Send { association, message });
        });
        if let Some(next) = next {
            context.wake_at(next, SEND);
        }
    }

    fn ask(&mut self, context: &mut Context<'_, Command>) {
        let Answer::NextQuestion { bytes, .. } = self.answer else { return };
        self.outbox.push_back((self.content)(self.sent, bytes));
        self.sent = self.sent.wrapping_add(1);
        self.empty_outbox(context);
    }

    fn answer(&mut self, received: &Received, context: &mut Context<'_, Command>) {
        match self.answer {
            Answer::Nothing => {}
            Answer::Echo => {
                self.outbox.push_back(Message::new(received.stream, received.payload.clone()));
                self.empty_outbox(context);
            }
            Answer::NextQuestion { pause, .. } => context.wake_at(context.now() + pause, ASK),
        }
    }

    fn empty_outbox(&mut self, context: &mut Context<'_, Command>) {
        let Some(association) = self.association else { return };
        let fits = |queued: usize, next: &Message| queued == 0 || queued + next.payload.len() <= self.limit;
        while let Some(message) = self.outbox.pop_front_if(|next| fits(self.queued, next)) {
            self.queued += message.payload.len();
            context.command(Command::Send { association, message });
        }
        if self.shutdown_when_done && self.queued == 0 {
            self.shutdown_when_done = false;
            context.command(Command::Shutdown { association });
        }
    }
}

/// What a user was told is asked of the user itself.
impl<R> Deref for User<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.record
    }
}

impl<R> DerefMut for User<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.record
    }
}

impl<R: Record> App<Node> for User<R> {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        match &self.connect {
            Some((start, _)) if *start <= context.now() => self.on_wake(CONNECT, context),
            Some((start, _)) => context.wake_at(*start, CONNECT),
            None => context.command(Command::Listen { port: SCTP_PORT }),
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Context<'_, Command>) {
        match &self.connect {
            Some((_, remote)) if token == CONNECT => context.command(Command::Connect {
                token: ConnectToken(0),
                remote: remote.clone(),
                remote_port: SCTP_PORT,
                local_port: self.local_port,
            }),
            _ if token == ASK => self.ask(context),
            _ => self.offer(0, context),
        }
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        match &event {
            Event::Message { association, received } if !self.hold => {
                let (association, bytes) = (*association, received.payload.len());
                context.command(Command::Release { association, bytes });
                self.answer(received, context);
            }
            Event::Up { association, .. } if self.association.is_none() => {
                self.association = Some(*association);
                self.offer(0, context);
                self.ask(context);
            }
            // As the library does.
            Event::ConnectFailed { reason: CloseReason::KeyExchange(KeyExchangeError::Late), .. }
                if self.connect.as_ref().is_some_and(|(start, _)| context.now() < *start + KEY_EXCHANGE) =>
            {
                self.on_wake(CONNECT, context);
            }
            Event::Sent { association, bytes, room } if Some(*association) == self.association => {
                self.limit = if self.heeds_room { *room } else { self.limit };
                // Of what was sent past it there is no account.
                self.queued = self.queued.saturating_sub(*bytes);
                self.offer(*bytes, context);
            }
            _ => {}
        }
        if !matches!(event, Event::Message { .. }) {
            self.empty_outbox(context);
        }
        self.record.on_event(event, context);
    }
}
