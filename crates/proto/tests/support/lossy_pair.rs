//! Two endpoints that mean well, and a network that does what a script says: every message arrives once, whole and
//! in order.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_proto::{
    Acknowledge, AssociationId, CloseReason, Command, Config, ConnectToken, Delivery, Endpoint, Event,
    Message, Part, PathPairing, PayloadProtocolId, StreamId, Urgency,
};

use super::script::Script;
use super::victim::check_packet;

const UDP: u16 = 9899;
const PORT: u16 = 5001;
const STREAMS: u16 = 4;
/// Decisions in one run at most.
const MAX_SCRIPT: usize = 2000;
/// Steps after the script has ended; far more than a healed network needs.
const MAX_STEPS: usize = 60_000;
const SIZES: [usize; 8] = [1, 2, 40, 300, 1200, 1500, 5000, 20_000];

/// # Panics
/// If a message is lost, repeated, torn, reordered or changed, or if the association gets stuck.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, MAX_SCRIPT);
    let mut world = World::new(&mut script);
    while !script.is_empty() {
        world.operate(&mut script);
    }
    world.heal();
}

/// Address number `network` of `side`.
fn address(side: usize, network: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, network, 1 + side as u8).into(), UDP)
}

/// Messages of one stream and delivery, one way.
type Lane = (StreamId, bool);

struct Side {
    endpoint: Endpoint,
    association: Option<AssociationId>,
    closed: Option<CloseReason>,
    restarted: bool,
    /// Contents accepted for sending, by lane, in order.
    sent: BTreeMap<Lane, Vec<Bytes>>,
    /// Contents received, by lane, in order.
    received: BTreeMap<Lane, Vec<Vec<u8>>>,
    /// The beginning of a message of which parts have come.
    partial: BTreeMap<Lane, Vec<u8>>,
    unreleased: usize,
    number: u32,
}

struct World {
    now: Instant,
    sides: [Side; 2],
    /// Datagrams on their way, by time of arrival and order of sending: receiver, its route, content.
    flying: BTreeMap<(Instant, u64), (usize, Route, Vec<u8>)>,
    count: u64,
    /// Networks that lose everything.
    dead: [bool; 2],
    /// Whether users take messages at once.
    eager: bool,
}

impl World {
    fn new(script: &mut Script<'_>) -> Self {
        let choice = script.byte();
        let mut config = if choice & 1 == 0 { Config::rfc() } else { Config::mobile() };
        config.limits.receive_buffer = if choice & 2 == 0 { 6000 } else { 200_000 };
        config.limits.send_buffer = if choice & 4 == 0 { 6000 } else { 200_000 };
        config.pairing = if choice & 8 == 0 { PathPairing::PerDestination } else { PathPairing::Mesh };
        config.streams.outbound = STREAMS;
        config.streams.inbound_max = STREAMS;
        // Patience, so that it is rare that the association is rightly given up.
        config.failure.association = whimbrel_proto::AssociationFailure::Errors(40);
        config.failure.max_init_retransmits = 40;
        let config = Arc::new(config);
        let side = |side: usize| Side {
            endpoint: Endpoint::new(
                Arc::clone(&config),
                Seed::from_u64(side as u64),
                vec![address(side, 1), address(side, 2)],
            ),
            association: None,
            closed: None,
            restarted: false,
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            partial: BTreeMap::new(),
            unreleased: 0,
            number: 0,
        };
        let mut world = Self {
            now: Instant::from_nanos(1_000_000_000),
            sides: [side(0), side(1)],
            flying: BTreeMap::new(),
            count: 0,
            dead: [false; 2],
            eager: choice & 16 == 0,
        };
        world.connect(0, script);
        if choice & 32 == 0 {
            // The other side waits for it.
            world.command(1, Command::Listen { port: PORT }, script);
        } else {
            world.connect(1, script);
        }
        world.pass(Duration::from_millis(100), script);
        world
    }

    fn connect(&mut self, side: usize, script: &mut Script<'_>) {
        let command = Command::Connect {
            token: ConnectToken(1),
            remote: vec![address(1 - side, 1), address(1 - side, 2)],
            remote_port: PORT,
            local_port: Some(PORT),
        };
        self.command(side, command, script);
    }

    fn operate(&mut self, script: &mut Script<'_>) {
        let operation = script.byte();
        let side = usize::from(operation >> 7);
        match operation & 15 {
            0..6 => self.send(side, script),
            6..10 => self.pass(Duration::from_millis(u64::from(script.byte())), script),
            10 => self.pass(Duration::from_millis(20 * u64::from(script.byte())), script),
            11 => self.dead[side] = operation & 0x60 == 0,
            12 => self.release(side, 1 + 50 * script.below(256), script),
            13 => self.eager = !self.eager,
            14 => {
                let Some(association) = self.sides[side].association else { return };
                let paths = self.sides[side].endpoint.paths(association);
                if paths.is_empty() {
                    return;
                }
                let path = paths[script.below(paths.len())].id;
                self.command(side, Command::SetPrimary { association, path }, script);
            }
            _ => self.pass(Duration::from_millis(1), script),
        }
    }

    fn send(&mut self, from: usize, script: &mut Script<'_>) {
        let Some(association) = self.sides[from].association else { return };
        if self.sides[from].closed.is_some() {
            return;
        }
        let choice = script.byte();
        let size = SIZES[usize::from(choice & 7)];
        let unordered = choice & 8 != 0;
        let stream = StreamId(u16::from(choice >> 4) % STREAMS);
        let side = &mut self.sides[from];
        side.number += 1;
        let payload = Bytes::from(content(from, side.number, size));
        let message = Message {
            stream,
            ppid: PayloadProtocolId(side.number),
            delivery: if unordered { Delivery::Unordered } else { Delivery::Ordered },
            acknowledge: if choice & 0x80 == 0 { Acknowledge::Delayed } else { Acknowledge::Immediately },
            urgency: if choice & 0x80 == 0 { Urgency::Usual } else { Urgency::Urgent },
            payload: payload.clone(),
        };
        side.sent.entry((stream, unordered)).or_default().push(payload);
        self.command(from, Command::Send { association, message }, script);
    }

    fn release(&mut self, side: usize, bytes: usize, script: &mut Script<'_>) {
        let Some(association) = self.sides[side].association else { return };
        let bytes = bytes.min(self.sides[side].unreleased);
        self.sides[side].unreleased -= bytes;
        self.command(side, Command::Release { association, bytes }, script);
    }

    fn command(&mut self, side: usize, command: Command, script: &mut Script<'_>) {
        self.sides[side].endpoint.handle_command(self.now, command);
        self.settle(side, script);
    }

    // ---- time

    /// When something happens next.
    fn next(&mut self) -> Option<Instant> {
        let arrival = self.flying.keys().next().map(|&(at, _)| at);
        let timers = self.sides.iter_mut().filter_map(|side| side.endpoint.next_deadline());
        timers.chain(arrival).min()
    }

    /// Lets time pass; a long while without progress of the clock is a finding.
    fn pass(&mut self, duration: Duration, script: &mut Script<'_>) {
        let end = self.now + duration;
        let mut steps = 0;
        while let Some(at) = self.next().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.step(script);
            steps += 1;
            assert!(steps < MAX_STEPS, "no end of events");
        }
        self.now = end;
    }

    /// Whatever is due now: one datagram, or the timers.
    fn step(&mut self, script: &mut Script<'_>) {
        let arrived = self.flying.first_key_value().is_some_and(|(&(at, _), _)| at <= self.now);
        if arrived && let Some((_, (side, route, bytes))) = self.flying.pop_first() {
            self.sides[side].endpoint.handle_datagrams(self.now, route, &bytes, bytes.len());
            self.settle(side, script);
            return;
        }
        self.settle(0, script);
        self.settle(1, script);
    }

    fn settle(&mut self, from: usize, script: &mut Script<'_>) {
        let side = &mut self.sides[from];
        side.endpoint.handle_timeout(self.now);
        let mut out = Vec::new();
        let mut buffer = Vec::new();
        while let Some(transmit) = side.endpoint.poll_transmit(self.now, 8, &mut buffer) {
            out.extend(buffer.chunks(transmit.segment).map(|bytes| (transmit.route, bytes.to_vec())));
            buffer.clear();
            assert!(out.len() < 10_000, "no end of packets");
        }
        while let Some(event) = side.endpoint.poll_event() {
            side.note(event);
        }
        let deadline = side.endpoint.next_deadline();
        assert!(deadline.is_none_or(|at| at > self.now), "the deadline has passed already");
        for (route, bytes) in out {
            check_packet(&bytes);
            self.transmit(1 - from, route.reversed(), bytes, script);
        }
        if self.eager && self.sides[from].unreleased > 0 {
            self.release(from, usize::MAX, script);
        }
    }

    // ---- the network

    /// Puts a datagram on its way to `to`, or not.
    fn transmit(&mut self, to: usize, route: Route, mut bytes: Vec<u8>, script: &mut Script<'_>) {
        let SocketAddr::V4(local) = route.local else { return };
        let network = usize::from(local.ip().octets()[2] - 1);
        let SocketAddr::V4(remote) = route.remote else { return };
        // There is no way between the networks.
        if local.ip().octets()[2] != remote.ip().octets()[2] || self.dead[network] {
            return;
        }
        let mut delay = Duration::from_millis([10, 25][network]);
        match script.byte() {
            0..150 => {}
            150..200 => return,
            200..220 => self.fly(to, route, bytes.clone(), delay + Duration::from_millis(3)),
            220..240 => delay += Duration::from_millis(u64::from(script.byte())),
            _ => {
                let at = usize::from(script.u16()) % bytes.len();
                bytes[at] ^= script.byte();
            }
        }
        self.fly(to, route, bytes, delay);
    }

    fn fly(&mut self, to: usize, route: Route, bytes: Vec<u8>, delay: Duration) {
        self.count += 1;
        self.flying.insert((self.now + delay, self.count), (to, route, bytes));
    }

    // ---- the end

    /// No more faults: what was sent arrives, and both sides part in peace.
    fn heal(&mut self) {
        let nothing = &mut Script::new(&[], 0);
        self.dead = [false; 2];
        self.eager = true;
        (0..2).for_each(|side| self.release(side, usize::MAX, nothing));
        self.run_until(|world| world.is_settled());
        self.check_integrity();
        if self.is_broken() {
            return;
        }
        assert!(self.is_delivered(), "settled, but not delivered");
        let Some(association) = self.sides[0].association else { return };
        self.command(0, Command::Shutdown { association }, nothing);
        self.run_until(|world| world.sides.iter().all(|side| side.closed.is_some()));
        for side in &mut self.sides {
            assert_eq!(side.closed, Some(CloseReason::Shutdown));
            assert_eq!(side.endpoint.association_count(), 0);
            assert_eq!(side.endpoint.next_deadline(), None, "timers of nobody");
        }
        self.check_integrity();
    }

    fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        let nothing = &mut Script::new(&[], 0);
        for _ in 0..MAX_STEPS {
            if done(self) {
                return;
            }
            let Some(at) = self.next() else { panic!("nothing will ever happen again") };
            self.now = self.now.max(at);
            self.step(nothing);
        }
        panic!("stuck");
    }

    /// The association was given up, or began anew: messages may then be lost, but nothing else.
    fn is_broken(&self) -> bool {
        self.sides.iter().any(|side| side.closed.is_some() || side.restarted)
    }

    fn is_settled(&self) -> bool {
        let up = self.sides.iter().all(|side| side.association.is_some());
        (up && self.is_delivered()) || self.is_broken()
    }

    fn is_delivered(&self) -> bool {
        (0..2).all(|from| {
            let (sent, received) = (&self.sides[from].sent, &self.sides[1 - from].received);
            sent.iter().all(|(lane, all)| received.get(lane).map_or(0, Vec::len) == all.len())
        })
    }

    /// What was received is what was sent: in order where that was asked for, and once.
    fn check_integrity(&self) {
        for from in 0..2 {
            let (sent, received) = (&self.sides[from].sent, &self.sides[1 - from].received);
            for (lane, messages) in received {
                let all = sent.get(lane).expect("nobody sent on that stream");
                assert!(messages.len() <= all.len(), "more than was sent");
                if lane.1 {
                    let mut left: Vec<&[u8]> = all.iter().map(|bytes| &bytes[..]).collect();
                    for message in messages {
                        let at = left.iter().position(|&candidate| candidate == message);
                        left.swap_remove(at.expect("received twice, or never sent"));
                    }
                } else {
                    assert!(messages.iter().zip(all).all(|(message, sent)| message == sent));
                }
            }
        }
    }
}

impl Side {
    fn note(&mut self, event: Event) {
        match event {
            Event::Up { association, .. } => {
                // After it was given up, the peer may still be on its way in.
                assert!(self.association.is_none() || self.closed.is_some(), "up twice");
                self.association = Some(association);
            }
            Event::Closed { reason, .. } | Event::ConnectFailed { reason, .. } => self.closed = Some(reason),
            Event::Restarted { .. } => self.restarted = true,
            Event::SendRefused { message, .. } => {
                let lane = (message.stream, message.delivery == Delivery::Unordered);
                let refused = self.sent.get_mut(&lane).and_then(Vec::pop);
                assert_eq!(refused, Some(message.payload));
            }
            Event::Message { received, .. } => {
                self.unreleased += received.payload.len();
                let lane = (received.stream, received.delivery == Delivery::Unordered);
                let mut whole = self.partial.remove(&lane).unwrap_or_default();
                let begins = matches!(received.part, Part::Whole | Part::First);
                assert_eq!(begins, whole.is_empty(), "parts of a message are torn apart");
                whole.extend_from_slice(&received.payload);
                if matches!(received.part, Part::Whole | Part::Last) {
                    self.received.entry(lane).or_default().push(whole);
                } else {
                    self.partial.insert(lane, whole);
                }
            }
            _ => {}
        }
    }
}

/// Bytes that tell one message from every other.
fn content(from: usize, number: u32, size: usize) -> Vec<u8> {
    let mark = number.wrapping_mul(0x9e37_79b9) ^ from as u32;
    (0..size).map(|at| (mark >> (8 * (at % 4))) as u8 ^ (at / 4) as u8).collect()
}
