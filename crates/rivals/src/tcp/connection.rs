use core::time::Duration;

use whimbrel_machine::Instant;

use super::receiver::{Receiver, Urgency};
use super::rto::Rto;
use super::segment::{Flags, Segment};
use super::sender::{Piece, Sender};
use super::{ConnectionId, Source, TcpConfig, TcpEvent, TcpStats};

/// SYN segments before a connection is given up, as with data.
const SYN_TRIES_MAX: u32 = 6;

/// The ports of a connection, ours first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ports {
    pub(crate) local: u16,
    pub(crate) remote: u16,
}

/// A connection, from either end.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    ports: Ports,
    /// Our first sequence number and, once known, the peer's.
    first: u32,
    peer_first: u32,
    peer_mss: u64,
    peer_shift: u8,
    sacks: bool,
    reports_duplicates: bool,
    role: Role,
    /// Something must be written whatever else there is.
    owes: Owes,
}

#[derive(Debug)]
enum Role {
    /// Has sent SYN.
    Opening {
        source: Option<Box<dyn Source>>,
        rto: Rto,
        timer: Instant,
        tries: u32,
        sent: Option<Instant>,
    },
    Sending(Box<Sender>),
    Receiving(Receiver),
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owes {
    Nothing,
    Syn,
    SynAck,
    Ack,
}

impl Connection {
    /// Ours to open.
    pub(crate) fn open(
        id: ConnectionId,
        ports: Ports,
        first: u32,
        config: &TcpConfig,
        source: Box<dyn Source>,
    ) -> Self {
        let role = Role::Opening {
            source: Some(source),
            rto: Rto::new(config.rto),
            timer: Instant::FAR_FUTURE,
            tries: 0,
            sent: None,
        };
        Self {
            id,
            ports,
            first,
            peer_first: 0,
            peer_mss: u64::from(config.mss),
            peer_shift: 0,
            sacks: false,
            reports_duplicates: (config.recovery)(1, 1).0.reports_duplicates(),
            role,
            owes: Owes::Syn,
        }
    }

    /// Opened by a peer that has sent `syn`.
    pub(crate) fn accept(
        id: ConnectionId,
        ports: Ports,
        first: u32,
        config: &TcpConfig,
        syn: &Segment<'_>,
    ) -> Self {
        let receiver = Receiver::new(config.delayed_ack, u64::from(config.receive_window));
        let mut this = Self::open(id, ports, first, config, Box::new(super::File(0)));
        this.role = Role::Receiving(receiver);
        this.owes = Owes::SynAck;
        this.learn(config, syn);
        this
    }

    fn learn(&mut self, config: &TcpConfig, syn: &Segment<'_>) {
        self.peer_first = syn.sequence;
        self.peer_mss = u64::from(syn.mss.unwrap_or(536).max(1)).min(u64::from(config.mss.max(1)));
        self.peer_shift = syn.window_scale.unwrap_or(0);
        let ours = (config.recovery)(1, 1).0.wants_sack();
        self.sacks = syn.sack_permitted && (ours || !syn.flags.has(Flags::ACK));
    }

    /// A segment of this connection has come.
    pub(crate) fn on_segment(
        &mut self,
        now: Instant,
        config: &TcpConfig,
        segment: &Segment<'_>,
        mut tell: impl FnMut(TcpEvent),
    ) {
        let connection = self.id;
        match &mut self.role {
            Role::Opening { source, rto, sent, tries, .. } => {
                let expected = self.first.wrapping_add(1);
                if segment.flags != Flags::SYN_ACK || segment.acknowledgement != expected {
                    return;
                }
                let Some(source) = source.take() else { return };
                let mut rto = core::mem::replace(rto, Rto::new(config.rto));
                if let (Some(sent), 1) = (*sent, *tries) {
                    rto.on_measurement(now - sent);
                }
                self.learn(config, segment);
                let mut sender = Sender::new(config, self.peer_mss, rto, source);
                sender.open_window(u64::from(segment.window));
                self.role = Role::Sending(Box::new(sender));
                self.owes = Owes::Ack;
                tell(TcpEvent::Established { connection });
            }
            Role::Sending(sender) => {
                if segment.flags.has(Flags::SYN) {
                    self.owes = Owes::Ack;
                } else if segment.flags.has(Flags::ACK) {
                    let base = sender.acknowledged();
                    let offset = |sequence| offset_near(self.first, base, sequence);
                    let Some(acknowledged) = offset(segment.acknowledgement) else { return };
                    let window = u64::from(segment.window) << self.peer_shift;
                    let edges = segment.sack.as_slice().iter();
                    let blocks = edges.filter_map(|&(left, right)| Some((offset(left)?, offset(right)?)));
                    let was_done = sender.is_done();
                    sender.on_ack(now, acknowledged, window, blocks);
                    if sender.is_done() && !was_done {
                        tell(TcpEvent::Done { connection });
                    }
                }
            }
            Role::Receiving(receiver) => {
                if segment.flags == Flags::SYN && segment.sequence == self.peer_first {
                    self.owes = Owes::SynAck;
                } else if !segment.payload.is_empty() {
                    let before = receiver.next();
                    let Some(offset) = offset_near(self.peer_first, before, segment.sequence) else { return };
                    let urgency = receiver.on_data(now, offset, segment.payload.len() as u64);
                    if urgency == Urgency::Now {
                        self.owes = Owes::Ack;
                    }
                    let total = receiver.next();
                    if total > before {
                        tell(TcpEvent::Received { connection, bytes: total - before, total });
                    }
                }
            }
            Role::Gone => {}
        }
    }

    /// Sees to timers.
    pub(crate) fn on_time(&mut self, now: Instant, mut tell: impl FnMut(TcpEvent)) {
        let alive = match &mut self.role {
            Role::Opening { rto, timer, tries, .. } => {
                if *timer <= now {
                    rto.back_off();
                    *timer = Instant::FAR_FUTURE;
                    self.owes = Owes::Syn;
                }
                self.owes != Owes::Syn || *tries < SYN_TRIES_MAX
            }
            Role::Sending(sender) => sender.on_time(now),
            Role::Receiving(receiver) => {
                if receiver.due().is_some_and(|due| due <= now) {
                    self.owes = Owes::Ack;
                }
                true
            }
            Role::Gone => true,
        };
        if !alive {
            self.role = Role::Gone;
            self.owes = Owes::Nothing;
            tell(TcpEvent::Aborted { connection: self.id });
        }
    }

    /// Writes the next segment that may leave; false if there is none.
    pub(crate) fn poll(&mut self, now: Instant, config: &TcpConfig, out: &mut Vec<u8>) -> bool {
        match core::mem::replace(&mut self.owes, Owes::Nothing) {
            Owes::Syn => {
                if let Role::Opening { rto, timer, tries, sent, .. } = &mut self.role {
                    *tries += 1;
                    *timer = now + rto.value();
                    *sent = Some(now);
                }
                self.write_syn(config, Flags::SYN, out);
            }
            Owes::SynAck => self.write_syn(config, Flags::SYN_ACK, out),
            Owes::Ack => self.write_ack(config, out),
            Owes::Nothing => {
                let Role::Sending(sender) = &mut self.role else { return false };
                let Some(piece) = sender.poll(now) else { return false };
                self.write_data(config, piece, out);
            }
        }
        true
    }

    fn header(&self, config: &TcpConfig) -> Segment<'static> {
        Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            sequence: self.first.wrapping_add(1),
            acknowledgement: self.peer_first.wrapping_add(1),
            flags: Flags::ACK,
            window: (config.receive_window >> config.window_scale()).min(u32::from(u16::MAX)) as u16,
            ..Segment::default()
        }
    }

    /// The window in a SYN is never scaled (RFC 7323 §2.2).
    fn write_syn(&self, config: &TcpConfig, flags: Flags, out: &mut Vec<u8>) {
        let wants_sack = (config.recovery)(1, 1).0.wants_sack();
        let segment = Segment {
            sequence: self.first,
            acknowledgement: if flags == Flags::SYN { 0 } else { self.peer_first.wrapping_add(1) },
            flags,
            window: config.receive_window.min(u32::from(u16::MAX)) as u16,
            mss: Some(config.mss),
            window_scale: Some(config.window_scale()),
            sack_permitted: if flags == Flags::SYN { wants_sack } else { self.sacks },
            ..self.header(config)
        };
        segment.write(out);
    }

    fn write_ack(&mut self, config: &TcpConfig, out: &mut Vec<u8>) {
        let mut segment = self.header(config);
        if let Role::Receiving(receiver) = &mut self.role {
            let first = self.peer_first.wrapping_add(1);
            let sequence = |offset| first.wrapping_add(offset as u32);
            segment.acknowledgement = sequence(receiver.next());
            if self.sacks {
                segment.sack = receiver.blocks(sequence);
            }
            if let Some((left, right)) =
                receiver.duplicate().filter(|_| self.sacks && self.reports_duplicates)
            {
                segment.sack = segment.sack.behind((sequence(left), sequence(right)));
            }
            receiver.on_acknowledged();
        }
        segment.write(out);
    }

    fn write_data(&self, config: &TcpConfig, piece: Piece, out: &mut Vec<u8>) {
        static FILL: [u8; u16::MAX as usize] = [0xda; u16::MAX as usize];
        let header = self.header(config);
        let segment = Segment {
            sequence: header.sequence.wrapping_add(piece.offset as u32),
            payload: &FILL[..(piece.bytes as usize).min(FILL.len())],
            ..header
        };
        segment.write(out);
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        match &self.role {
            Role::Opening { timer, .. } => Some(*timer),
            Role::Sending(sender) => sender.next_deadline(),
            Role::Receiving(receiver) => receiver.due(),
            Role::Gone => None,
        }
    }

    pub(crate) fn stats(&self) -> TcpStats {
        match &self.role {
            Role::Sending(sender) => sender.stats(),
            Role::Receiving(receiver) => TcpStats { received: receiver.next(), ..TcpStats::default() },
            Role::Opening { rto, .. } => TcpStats { rto: rto.value(), ..TcpStats::default() },
            Role::Gone => TcpStats { rto: Duration::ZERO, ..TcpStats::default() },
        }
    }
}

/// The offset that a sequence number means, near to `base`; `None` if it lies before the first byte.
fn offset_near(first: u32, base: u64, sequence: u32) -> Option<u64> {
    let at_base = first.wrapping_add(1).wrapping_add(base as u32);
    base.checked_add_signed(i64::from(sequence.wrapping_sub(at_base) as i32))
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
