//! What a sender over two paths does, seen from the wire and from its own state: for b09 section III.A.

use core::time::Duration;
use std::collections::BTreeSet;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Forged, Forgery, Intruder, Overheard};
use whimbrel_proto::PathView;
use whimbrel_testbed::Notes;
use whimbrel_wire::{ChecksumMode, Chunk, Data, Packet, PacketWriter};

use crate::overlap_place::{LONGEST, Trip};
use crate::setups::overlap::{NEW, correspondent, mobile_in};

const DATA: u8 = 0;
const INIT: u8 = 1;
const INIT_ACK: u8 = 2;
const SACK: u8 = 3;

/// What went over the wires.
#[derive(Default)]
struct Seen {
    /// Packets with DATA that arrived.
    data: u64,
    /// SACKs that arrived.
    sacks: u64,
    /// When each DATA chunk arrived in the slow network.
    slow: Vec<Instant>,
    /// Types of chunks, with their flags where a new one could hide in them, and of parameters of the handshake.
    kinds: BTreeSet<(&'static str, u16, u8)>,
}

/// The chunks of a packet: type, flags, and all of it.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (u8, u8, &[u8])> {
    let mut rest = bytes.get(12..).unwrap_or_default();
    core::iter::from_fn(move || {
        let &[kind, flags, high, low, ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([high, low])).max(4);
        let chunk = rest.get(..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, flags, chunk))
    })
}

/// The types of the parameters of an INIT or INIT ACK.
fn parameters(chunk: &[u8]) -> impl Iterator<Item = u16> {
    let mut rest = chunk.get(20..).unwrap_or_default();
    core::iter::from_fn(move || {
        let &[a, b, high, low, ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([high, low])).max(4);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(u16::from_be_bytes([a, b]))
    })
}

impl Seen {
    fn see(&mut self, now: Instant, packet: &Overheard<'_>) {
        let mut has_data = false;
        for (kind, flags, chunk) in chunks(packet.bytes) {
            match kind {
                DATA => {
                    has_data = true;
                    if packet.route.remote == mobile_in(NEW) {
                        self.slow.push(now);
                    }
                }
                SACK => self.sacks += 1,
                INIT | INIT_ACK => {
                    self.kinds.extend(parameters(chunk).map(|parameter| ("parameter", parameter, 0)));
                }
                _ => {}
            }
            // Flags of DATA say where a message begins and ends.
            self.kinds.insert(("chunk", kind.into(), if kind == SACK { flags } else { 0 }));
        }
        self.data += u64::from(has_data);
    }
}

/// What becomes of the I bit (RFC 7053), with which a sender asks for a SACK at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asking {
    /// The receiver sees it.
    Heard,
    /// It is cleared on the way.
    Silenced,
}

/// A packet of nothing but DATA without I bits; `None` if it is another one.
fn silenced(bytes: &[u8]) -> Option<Vec<u8>> {
    let packet = Packet::parse(bytes).ok()?;
    let mut out = Vec::with_capacity(bytes.len());
    let mut writer = PacketWriter::new(&mut out, packet.header(), bytes.len());
    for chunk in packet.chunks() {
        let Ok(Chunk::Data(data)) = chunk else { return None };
        let fits = writer.push(&Data { immediate: false, ..data });
        debug_assert!(fits, "it is as long as before");
    }
    writer.finish(ChecksumMode::Crc32c);
    Some(out)
}

/// Somebody who watches the wires, and what the sender measures of the slow path.
pub(crate) struct Wire {
    seen: Notes<Seen>,
    sender: std::cell::RefCell<Sender>,
}

#[derive(Default)]
struct Sender {
    before: Option<PathView>,
    /// When each DATA chunk was sent in the slow network.
    sent: Vec<Instant>,
    /// Round trips that it has measured, and when.
    samples: Vec<(Instant, Duration)>,
}

impl Sender {
    fn look(&mut self, now: Instant, paths: &[PathView]) {
        let Some(slow) = paths.iter().find(|path| path.route.remote == mobile_in(NEW)) else { return };
        let count = |path: &PathView| path.counters.data_sent + path.counters.data_retransmitted;
        let before = self.before.as_ref();
        for _ in before.map_or(0, count)..count(slow) {
            self.sent.push(now);
        }
        if let (Some(old), Some(new)) = (before.and_then(|path| path.srtt), slow.srtt)
            && old != new
        {
            // RFC 9260 section 6.3.1 C3: one eighth of the sample is in the new value.
            let [old, new] = [old, new].map(|time| time.as_nanos() as i64);
            let sample = old + 8 * (new - old);
            self.samples.push((now, Duration::from_nanos(sample.max(0) as u64)));
        }
        self.before = Some(slow.clone());
    }
}

impl Wire {
    /// Watches a trip.
    pub(crate) fn watch(trip: &mut Trip, asking: Asking) -> Self {
        let (seen, observer) = Notes::by(move |seen: &mut Seen, now, packet| {
            seen.see(now, &packet);
            if asking == Asking::Silenced
                && let Some(silenced) = silenced(packet.bytes)
            {
                *packet.bytes = silenced;
            }
        });
        trip.bed.world.set_intruder(Some(observer));
        Self { seen, sender: std::cell::RefCell::default() }
    }

    /// Runs to the end of the transfer, and looks at the sender all the way.
    pub(crate) fn follow(&self, trip: &mut Trip) {
        let (cn, bed) = (trip.bed.cn, &mut trip.bed);
        let (mn, file) = (bed.mn, bed.file());
        let mut sender = self.sender.borrow_mut();
        bed.world.run_until_or(trip.began + LONGEST, |world| {
            sender.look(world.now(), &world.app(cn).paths(world.machine(cn)));
            world.app(mn).received >= file
        });
    }

    /// SACKs for each packet with DATA; `None` if there was none.
    pub(crate) fn sacks_per_packet(&self) -> Option<f64> {
        let seen = self.seen.read();
        (seen.data > 0).then(|| seen.sacks as f64 / seen.data as f64)
    }

    /// The round trips that the sender has measured on the slow path by DATA, each as a part of what that DATA took to arrive there and an
    /// acknowledgement takes to come back, in the mean. A packet takes `back` at least.
    pub(crate) fn bias(&self, back: Duration) -> Option<f64> {
        let (seen, sender) = (self.seen.read(), self.sender.borrow());
        // Nothing is lost and nothing overtakes on one path: what was sent n-th has arrived n-th.
        let ratio = |&(at, sample): &(Instant, Duration)| {
            let sent = at.as_nanos().checked_sub(sample.as_nanos() as u64)?;
            let place = sender.sent.iter().position(|one| one.as_nanos().abs_diff(sent) < 1_000)?;
            let true_one = *seen.slow.get(place)? - sender.sent[place] + back;
            Some(sample.as_secs_f64() / true_one.as_secs_f64())
        };
        let all: Vec<f64> = sender.samples.iter().filter_map(ratio).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }
}

/// Whether a transfer ends, and has nothing on the wire that the other one has not.
pub(crate) fn legacy_is_served(trip: Trip, plain: Trip) -> Option<f64> {
    let run = |mut trip: Trip| {
        let wire = Wire::watch(&mut trip, Asking::Heard);
        let ended = trip.go(&[]).time.is_some();
        let kinds = wire.seen.read().kinds.clone();
        (ended, kinds)
    };
    let ((ended, kinds), (_, known)) = (run(trip), run(plain));
    Some(f64::from(u8::from(ended && kinds.is_subset(&known))))
}

/// Repeats a SACK long after the first one that it sees from a time on.
struct Repeater {
    from: Instant,
    at: Instant,
    done: bool,
}

impl Intruder for Repeater {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, forge: &mut Vec<Forgery>) {
        let is_sack =
            packet.route.remote == correspondent() && chunks(packet.bytes).any(|(kind, ..)| kind == SACK);
        if !self.done && now >= self.from && is_sack {
            self.done = true;
            let what = Forged::Datagram { route: packet.route, bytes: packet.bytes.clone() };
            forge.push(Forgery { at: self.at, what });
        }
    }
}

/// Whether a SACK that comes again two seconds late changes nothing of what the sender knows of its paths. `None` if the transfer is over by then.
pub(crate) fn is_stale_ignored(mut trip: Trip) -> Option<f64> {
    let from = trip.began + Duration::from_secs(8);
    // At a moment in which nothing else happens.
    let at = from + Duration::from_nanos(2_000_000_007);
    trip.bed.world.set_intruder(Some(Box::new(Repeater { from, at, done: false })));
    trip.bed.world.run_until(at - Duration::from_nanos(1));
    if trip.bed.done().is_some() {
        return None;
    }
    let state = |trip: &Trip| {
        let mut paths = trip.bed.paths();
        for path in &mut paths {
            (path.counters.packets_received, path.counters.bytes_received) = (0, 0);
        }
        paths
    };
    let received =
        |trip: &Trip| trip.bed.paths().iter().map(|path| path.counters.packets_received).sum::<u64>();
    let (before, had) = (state(&trip), received(&trip));
    trip.bed.world.run_until(at);
    (received(&trip) > had).then(|| f64::from(u8::from(state(&trip) == before)))
}
