//! The crate rtc-sctp, which brings no input or output of its own, in a loop made to be as cheap as we can make it:
//! trains received without a copy, and trains sent.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::{Bytes, BytesMut};
use rtc_sctp::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ServerConfig, TransportConfig, max_payload_size_for_mtu,
};
use rtc_shared::TransportProtocol;

use super::{BUFFER, End, PACKET, Role};
use crate::measure::{EndReport, Meter};
use crate::train_socket::{TRAIN, Train, TrainSocket};

/// Trains received before the association is asked what to send.
const TRAINS: usize = 16;

const STREAM: u16 = 0;

pub(super) fn run(end: &End, trains: bool) -> anyhow::Result<EndReport> {
    let mut node = Node::new(end, trains)?;
    match end.role {
        Role::Client => node.send(end),
        Role::Server => node.receive(end),
    }
}

struct Node {
    socket: TrainSocket,
    endpoint: Endpoint,
    handle: Option<AssociationHandle>,
    association: Option<Association>,
    peer: SocketAddr,
    connected: bool,
    /// Receive buffers. The association keeps slices of them; once it has let go, they are used again.
    pool: Vec<Bytes>,
    trains: Vec<Train>,
    outgoing: Vec<u8>,
    segment: usize,
    segments: usize,
}

impl Node {
    fn new(end: &End, trains: bool) -> anyhow::Result<Self> {
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, end.port));
        let client = SocketAddr::from((Ipv4Addr::LOCALHOST, end.port + 1));
        let transport = TransportConfig::default().with_max_receive_buffer_size(BUFFER as u32);
        let mut config = EndpointConfig::new();
        config.max_payload_size(max_payload_size_for_mtu(PACKET as u32));
        let (local, peer, serving) = match end.role {
            Role::Server => (server, client, Some(Arc::new(ServerConfig::new(transport.clone())))),
            Role::Client => (client, server, None),
        };
        let mut node = Self {
            socket: TrainSocket::bind(local, trains)?,
            endpoint: Endpoint::new(local, TransportProtocol::UDP, Arc::new(config), serving),
            handle: None,
            association: None,
            peer,
            connected: false,
            pool: Vec::new(),
            trains: Vec::new(),
            outgoing: Vec::with_capacity(TRAIN),
            segment: 0,
            segments: 0,
        };
        if end.role == Role::Client {
            let (handle, association) =
                node.endpoint.connect(Instant::now(), ClientConfig::new(transport), server)?;
            node.handle = Some(handle);
            node.association = Some(association);
        }
        Ok(node)
    }

    /// One round: receive, keep time, send. False if nothing came.
    fn drive(&mut self) -> anyhow::Result<bool> {
        let mut busy = false;
        for _ in 0..TRAINS {
            if !self.receive_train()? {
                break;
            }
            busy = true;
        }
        let now = Instant::now();
        if let Some(association) = &mut self.association {
            if association.poll_timeout().is_some_and(|at| at <= now) {
                association.handle_timeout(now);
            }
            while let Some(event) = association.poll() {
                match event {
                    Event::Connected => self.connected = true,
                    Event::HandshakeFailed { reason } => bail!("{reason}"),
                    _ => {}
                }
            }
        }
        self.transmit(now)?;
        Ok(busy)
    }

    /// Waits for a packet or a timer.
    fn wait(&self) -> anyhow::Result<()> {
        let until = self.association.as_ref().and_then(Association::poll_timeout);
        let timeout = until.map(|at| at.saturating_duration_since(Instant::now()));
        Ok(self.socket.wait_readable(timeout)?)
    }

    fn receive_train(&mut self) -> anyhow::Result<bool> {
        let mut buffer = self.free_buffer();
        self.socket.receive(&mut [&mut buffer[..]], &mut self.trains)?;
        let buffer = buffer.freeze();
        if let Some(&train) = self.trains.first() {
            let now = Instant::now();
            for start in (0..train.length).step_by(train.segment) {
                let packet = buffer.slice(start..train.length.min(start + train.segment));
                match self.endpoint.handle(now, train.from, None, packet) {
                    Some((handle, DatagramEvent::NewAssociation(association))) => {
                        self.handle = Some(handle);
                        self.association = Some(association);
                    }
                    Some((_, DatagramEvent::AssociationEvent(event))) => {
                        if let Some(association) = &mut self.association {
                            association.handle_event(event);
                        }
                    }
                    _ => {}
                }
            }
        }
        self.pool.push(buffer);
        Ok(!self.trains.is_empty())
    }

    /// A receive buffer that nobody else holds, the latest used first since it is in the cache.
    fn free_buffer(&mut self) -> BytesMut {
        for index in (0..self.pool.len()).rev() {
            if self.pool[index].is_unique() {
                match self.pool.swap_remove(index).try_into_mut() {
                    Ok(buffer) => return buffer,
                    Err(buffer) => self.pool.push(buffer),
                }
            }
        }
        BytesMut::zeroed(TRAIN)
    }

    /// Sends everything that may go, neighbours of one size in one train.
    fn transmit(&mut self, now: Instant) -> anyhow::Result<()> {
        while let Some(transmit) =
            self.association.as_mut().and_then(|association| association.poll_transmit(now))
        {
            let Payload::RawEncode(packets) = transmit.message else { continue };
            for packet in packets {
                let fits = self.segments > 0
                    && packet.len() <= self.segment
                    && self.segments < self.socket.segments_max(self.segment);
                if !fits {
                    self.flush()?;
                    self.segment = packet.len();
                }
                self.outgoing.extend_from_slice(&packet);
                self.segments += 1;
                // Only the last packet of a train may be shorter.
                if packet.len() < self.segment {
                    self.flush()?;
                }
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        if self.segments > 0 {
            self.socket.send(self.peer, &self.outgoing, self.segment)?;
            self.outgoing.clear();
            self.segments = 0;
        }
        Ok(())
    }

    fn association(&mut self) -> anyhow::Result<&mut Association> {
        self.association.as_mut().context("no association")
    }

    fn send(&mut self, end: &End) -> anyhow::Result<EndReport> {
        while !self.connected {
            if !self.drive()? {
                self.wait()?;
            }
        }
        self.association()?.open_stream(STREAM, PayloadProtocolIdentifier::Binary)?;
        let meter = Meter::start()?;
        let message = Bytes::from(vec![0x5a; end.size]);
        let mut messages = 0;
        loop {
            let over = meter.elapsed() >= Duration::from_secs(end.seconds);
            let now = Instant::now();
            let mut stream = self.association()?.stream(STREAM)?;
            let buffered = stream.buffered_amount()?;
            let room = if over { 0 } else { BUFFER.saturating_sub(buffered) / end.size };
            for _ in 0..room {
                stream.write_chunk_with_ppi(now, &message, PayloadProtocolIdentifier::Binary)?;
            }
            messages += room as u64;
            if over && buffered == 0 {
                break;
            }
            if !self.drive()? && room == 0 {
                self.wait()?;
            }
        }
        self.association()?.abort()?;
        self.transmit(Instant::now())?;
        Ok(EndReport { bytes: messages * end.size as u64, messages, ..meter.read()? })
    }

    fn receive(&mut self, end: &End) -> anyhow::Result<EndReport> {
        while !self.connected {
            if !self.drive()? {
                self.wait()?;
            }
        }
        let meter = Meter::start()?;
        let mut message = vec![0; end.size];
        let (mut bytes, mut messages) = (0, 0);
        while !self.association()?.is_closed() {
            let busy = self.drive()?;
            if let Ok(mut stream) = self.association()?.stream(STREAM) {
                while let Ok(Some(chunks)) = stream.read_sctp() {
                    bytes += chunks.read(&mut message)? as u64;
                    messages += 1;
                    std::hint::black_box(&message);
                }
            }
            if !busy && !self.association()?.is_closed() {
                self.wait()?;
            }
        }
        Ok(EndReport { bytes, messages, ..meter.read()? })
    }
}
