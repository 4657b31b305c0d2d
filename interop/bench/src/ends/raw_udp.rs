//! The floor under everything here: UDP with GSO and GRO, packets framed as SCTP frames DATA, one CRC32c and one copy
//! on each side, a window so that nothing is lost, and nothing else. No retransmission, no congestion control, no
//! timers.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{bail, ensure};

use super::{BUFFER, End, PACKET, Role};
use crate::measure::{EndReport, Meter};
use crate::train_socket::{TRAIN, Train, TrainSocket};

/// Common header: the CRC32c, then zeros where SCTP has ports and tag.
const HEADER: usize = 12;

/// In front of each piece of a message: its length, whether it ends a message, then zeros to a DATA chunk's size.
const PIECE_HEADER: usize = 16;

/// Trains received in one call.
const TRAINS: usize = 8;

/// Without a word from the other end for so long, the transfer has failed.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn run(end: &End) -> anyhow::Result<EndReport> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, end.port));
    match end.role {
        Role::Server => Receiver::new(end, server)?.run(),
        Role::Client => Sender::new(end, server)?.run(),
    }
}

/// Trains and the buffers they are received into.
struct Inbox {
    storage: Vec<u8>,
    trains: Vec<Train>,
}

impl Inbox {
    fn new() -> Self {
        Self { storage: vec![0; TRAINS * TRAIN], trains: Vec::new() }
    }

    fn receive(&mut self, socket: &TrainSocket) -> anyhow::Result<()> {
        let mut buffers: Vec<_> = self.storage.chunks_exact_mut(TRAIN).collect();
        Ok(socket.receive(&mut buffers, &mut self.trains)?)
    }

    /// The packets received, with where they come from.
    fn packets(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        self.trains.iter().zip(self.storage.chunks_exact(TRAIN)).flat_map(|(train, buffer)| {
            buffer[..train.length].chunks(train.segment).map(|packet| (train.from, packet))
        })
    }
}

struct Sender {
    socket: TrainSocket,
    server: SocketAddr,
    message: Vec<u8>,
    /// How much of the message has been sent.
    position: usize,
    train: Vec<u8>,
    inbox: Inbox,
    sent: u64,
    messages: u64,
    acknowledged: u64,
    duration: Duration,
}

impl Sender {
    fn new(end: &End, server: SocketAddr) -> anyhow::Result<Self> {
        let socket = TrainSocket::bind((Ipv4Addr::LOCALHOST, end.port + 1).into(), true)?;
        Ok(Self {
            socket,
            server,
            message: vec![0x5a; end.size],
            position: 0,
            train: Vec::with_capacity(TRAIN),
            inbox: Inbox::new(),
            sent: 0,
            messages: 0,
            acknowledged: 0,
            duration: Duration::from_secs(end.seconds),
        })
    }

    fn run(mut self) -> anyhow::Result<EndReport> {
        let meter = Meter::start()?;
        while meter.elapsed() < self.duration {
            if self.sent - self.acknowledged < BUFFER as u64 / 2 {
                self.send_train()?;
            } else {
                self.hear()?;
            }
        }
        while self.acknowledged < self.sent {
            self.hear()?;
        }
        // A packet without a piece says that it is over.
        self.socket.send(self.server, &[0; HEADER], HEADER)?;
        Ok(EndReport { bytes: self.sent, messages: self.messages, ..meter.read()? })
    }

    /// Sends as many packets as go in one call.
    fn send_train(&mut self) -> anyhow::Result<()> {
        self.train.clear();
        for _ in 0..self.socket.segments_max(PACKET) {
            self.write_packet();
        }
        Ok(self.socket.send(self.server, &self.train, PACKET)?)
    }

    /// Fills a packet with messages and parts of messages.
    fn write_packet(&mut self) {
        let start = self.train.len();
        self.train.resize(start + HEADER, 0);
        loop {
            let room = PACKET - (self.train.len() - start) - PIECE_HEADER;
            let piece = room.min(self.message.len() - self.position);
            let ends = self.position + piece == self.message.len();
            self.train.extend_from_slice(&(piece as u32).to_le_bytes());
            self.train.extend_from_slice(&[u8::from(ends), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            self.train.extend_from_slice(&self.message[self.position..self.position + piece]);
            self.sent += piece as u64;
            self.position += piece;
            if ends {
                self.position = 0;
                self.messages += 1;
            }
            if self.train.len() - start + PIECE_HEADER >= PACKET {
                break;
            }
        }
        // All packets are equal, or trains would be short.
        self.train.resize(start + PACKET, 0);
        let crc = crc32c::crc32c(&self.train[start + 4..]);
        self.train[start..start + 4].copy_from_slice(&crc.to_le_bytes());
    }

    fn hear(&mut self) -> anyhow::Result<()> {
        self.inbox.receive(&self.socket)?;
        if self.inbox.trains.is_empty() {
            let before = std::time::Instant::now();
            self.socket.wait_readable(Some(PATIENCE))?;
            if before.elapsed() >= PATIENCE {
                bail!("a packet was lost");
            }
        }
        for (_, packet) in self.inbox.packets() {
            self.acknowledged = self.acknowledged.max(u64::from_le_bytes(packet.try_into()?));
        }
        Ok(())
    }
}

struct Receiver {
    socket: TrainSocket,
    inbox: Inbox,
    /// The message in the making.
    message: Vec<u8>,
    bytes: u64,
    messages: u64,
    over: bool,
}

impl Receiver {
    fn new(end: &End, address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self {
            socket: TrainSocket::bind(address, true)?,
            inbox: Inbox::new(),
            message: Vec::with_capacity(end.size),
            bytes: 0,
            messages: 0,
            over: false,
        })
    }

    fn run(mut self) -> anyhow::Result<EndReport> {
        self.socket.wait_readable(None)?;
        let meter = Meter::start()?;
        while !self.over {
            self.inbox.receive(&self.socket)?;
            let Some(peer) = self.inbox.packets().next().map(|(from, _)| from) else {
                self.socket.wait_readable(None)?;
                continue;
            };
            self.read_packets()?;
            self.socket.send(peer, &self.bytes.to_le_bytes(), 8)?;
        }
        Ok(EndReport { bytes: self.bytes, messages: self.messages, ..meter.read()? })
    }

    fn read_packets(&mut self) -> anyhow::Result<()> {
        for (_, packet) in self.inbox.packets() {
            ensure!(packet.len() >= HEADER, "a packet without a header");
            let crc = u32::from_le_bytes([packet[0], packet[1], packet[2], packet[3]]);
            let mut pieces = &packet[HEADER..];
            self.over = pieces.is_empty();
            ensure!(self.over || crc == crc32c::crc32c(&packet[4..]), "a wrong checksum");
            while let Some((header, rest)) = pieces.split_at_checked(PIECE_HEADER) {
                let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
                let (piece, rest) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                self.message.extend_from_slice(piece);
                self.bytes += piece.len() as u64;
                if header[4] == 1 {
                    self.messages += 1;
                    std::hint::black_box(&self.message);
                    self.message.clear();
                }
                pieces = rest;
            }
        }
        Ok(())
    }
}
