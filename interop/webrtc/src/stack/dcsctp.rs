use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options as Settings, PpId, SendError, SendOptions, SocketEvent,
    SocketTime, StreamId,
};

use super::{Event, Stack};
use crate::options::Options;

pub(super) struct Dcsctp {
    socket: Box<dyn DcSctpSocket>,
    /// What its time counts from.
    epoch: Instant,
    packets: Vec<Vec<u8>>,
    events: VecDeque<Event>,
}

impl Dcsctp {
    pub(super) fn open(options: &Options) -> Self {
        let settings = Settings {
            heartbeat_interval: Duration::from_millis(options.heartbeat),
            heartbeat_interval_include_rtt: false,
            ..Settings::default()
        };
        let mut socket = dcsctp::new_socket("peer", &settings);
        if options.connect.is_some() {
            socket.connect();
        }
        Self { socket, epoch: Instant::now(), packets: Vec::new(), events: VecDeque::new() }
    }

    fn drain(&mut self) {
        while let Some(event) = self.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => self.packets.push(packet),
                SocketEvent::OnConnected() => self.events.push_back(Event::Up),
                SocketEvent::OnClosed() => self.events.push_back(Event::Shutdown),
                SocketEvent::OnAborted(kind, text) => {
                    self.events.push_back(Event::Lost(format!("{kind:?}: {text}")));
                }
                // That there is no room is what `send` says, too.
                SocketEvent::OnError(ErrorKind::ResourceExhaustion, _) => {}
                SocketEvent::OnError(kind, text) => eprintln!("dcsctp: {kind:?}: {text}"),
                _ => {}
            }
        }
        while let Some(message) = self.socket.get_next_message() {
            self.events.push_back(Event::Received {
                stream: message.stream_id.0,
                ppid: message.ppid.0,
                payload: message.payload,
            });
        }
    }
}

impl Stack for Dcsctp {
    fn handle_packet(&mut self, now: Instant, _: SocketAddr, packet: &[u8]) {
        self.advance(now);
        self.socket.handle_input(packet);
    }

    fn advance(&mut self, now: Instant) {
        self.socket.advance_time(SocketTime::zero() + now.saturating_duration_since(self.epoch));
    }

    fn send(&mut self, stream: u16, ppid: u32, unordered: bool, payload: &[u8]) -> bool {
        let message = Message::new(StreamId(stream), PpId(ppid), payload.to_vec());
        match self.socket.send(message, &SendOptions { unordered, ..SendOptions::default() }) {
            Ok(()) => true,
            Err(SendError::ResourceExhaustion) => false,
            Err(error) => panic!("dcsctp refuses to send: {error}"),
        }
    }

    fn shutdown(&mut self) {
        self.socket.shutdown();
    }

    fn abort(&mut self) {
        self.socket.close();
        self.events.push_back(Event::Lost("by us".to_owned()));
    }

    fn poll_packets(&mut self, _: Instant) -> Vec<Vec<u8>> {
        self.drain();
        std::mem::take(&mut self.packets)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.drain();
        self.events.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let deadline = self.socket.poll_timeout();
        (deadline < SocketTime::infinite_future())
            .then(|| self.epoch.checked_add(deadline - SocketTime::zero()))
            .flatten()
    }
}
