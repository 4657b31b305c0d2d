use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use sctp_proto::{
    Association, AssociationError, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig,
    Event as ProtoEvent, Payload, PayloadProtocolIdentifier, ReliabilityType, ServerConfig, StreamEvent,
    TransportConfig,
};

use super::{Event, Stack};
use crate::assorted;
use crate::options::Options;

/// What may wait in it; it has no limit of its own.
const BUFFER_MAX: usize = 2 << 20;

/// Types of chunks, as the first of their packets.
const ABORT: u8 = 6;
const SHUTDOWN_COMPLETE: u8 = 14;

pub(super) struct SctpProto {
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
    events: VecDeque<Event>,
    /// The peer has sent an ABORT: it says the same then as at a graceful end.
    aborted: bool,
}

impl SctpProto {
    pub(super) fn open(options: &Options) -> Self {
        let largest = assorted::SIZES.iter().max().map_or(0, |&size| size as u32);
        let transport = TransportConfig::default()
            .with_max_send_message_size(largest)
            .with_max_receive_message_size(largest)
            .with_max_receive_buffer_size(4 << 20);
        let transport = Arc::new(transport);
        let mut server = ServerConfig::new();
        server.transport = Arc::clone(&transport);
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::new()), Some(Arc::new(server)));
        let association = options.remote().map(|remote| {
            let mut client = ClientConfig::new();
            client.transport = transport;
            endpoint.connect(client, remote).expect("a port and an address were given")
        });
        Self { endpoint, association, events: VecDeque::new(), aborted: false }
    }

    fn drain(&mut self) {
        let Some((_, association)) = &mut self.association else { return };
        while let Some(event) = association.poll() {
            match event {
                ProtoEvent::Connected => self.events.push_back(Event::Up),
                ProtoEvent::HandshakeFailed { reason } => {
                    self.events.push_back(Event::Lost(reason.to_string()))
                }
                ProtoEvent::AssociationLost { reason } => {
                    let graceful = !self.aborted && reason == AssociationError::AssociationClosed;
                    self.events.push_back(if graceful {
                        Event::Shutdown
                    } else {
                        Event::Lost(reason.to_string())
                    });
                }
                ProtoEvent::Stream(StreamEvent::Readable { id }) => {
                    let Ok(mut stream) = association.stream(id) else { continue };
                    while let Ok(Some(message)) = stream.read_sctp() {
                        let mut payload = vec![0; message.len()];
                        message.read(&mut payload).expect("the buffer is as long as the message");
                        self.events.push_back(Event::Received {
                            stream: id,
                            ppid: message.ppi as u32,
                            payload,
                        });
                    }
                }
                _ => {}
            }
        }
    }
}

impl Stack for SctpProto {
    fn handle_packet(&mut self, now: Instant, from: SocketAddr, packet: &[u8]) {
        self.aborted |= packet.get(12) == Some(&ABORT);
        match self.endpoint.handle(now, from, None, None, Bytes::copy_from_slice(packet)) {
            Some((handle, DatagramEvent::NewAssociation(association))) => {
                self.association = Some((handle, association))
            }
            Some((_, DatagramEvent::AssociationEvent(event))) => {
                if let Some((_, association)) = &mut self.association {
                    association.handle_event(event);
                }
            }
            None => {}
        }
    }

    fn advance(&mut self, now: Instant) {
        if let Some((_, association)) = &mut self.association {
            association.handle_timeout(now);
        }
    }

    fn send(&mut self, id: u16, ppid: u32, unordered: bool, payload: &[u8]) -> bool {
        let Some((_, association)) = &mut self.association else { return false };
        let ppid = PayloadProtocolIdentifier::from(ppid);
        // Already there if the peer has sent on it.
        let _ = association.open_stream(id, ppid);
        let mut stream = association.stream(id).expect("it was opened");
        if stream.buffered_amount().unwrap_or(0) > BUFFER_MAX {
            return false;
        }
        stream.set_reliability_params(unordered, ReliabilityType::Reliable, 0).expect("it is open");
        stream.write_with_ppi(payload, ppid).expect("it takes what is not too large");
        true
    }

    fn shutdown(&mut self) {
        if let Some((_, association)) = &mut self.association {
            association.shutdown().expect("it is established");
        }
    }

    fn abort(&mut self) {
        panic!("sctp-proto sends no ABORT");
    }

    fn poll_packets(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let mut add = |payload| {
            if let Payload::RawEncode(raw) = payload {
                packets.extend(raw.iter().map(|packet| packet.to_vec()));
            }
        };
        while let Some(transmit) = self.endpoint.poll_transmit() {
            add(transmit.payload);
        }
        if let Some((handle, association)) = &mut self.association {
            while let Some(transmit) = association.poll_transmit(now) {
                add(transmit.payload);
            }
            while let Some(event) = association.poll_endpoint_event() {
                // It says that it is drained when its shutdown begins, and could receive nothing more.
                if !event.is_drained() || association.is_closed() {
                    self.endpoint.handle_event(*handle, event);
                }
            }
        }
        // Its association stays where it is when this is sent, and nothing more comes of it.
        if packets.iter().any(|packet: &Vec<u8>| packet.get(12) == Some(&SHUTDOWN_COMPLETE)) {
            self.events.push_back(Event::Shutdown);
        }
        packets
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.drain();
        self.events.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.association.as_ref().and_then(|(_, association)| association.poll_timeout())
    }
}
