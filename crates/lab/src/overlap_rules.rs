//! Whether b09's rules for the beginning and the end of concurrent transfer are obeyed.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{DropReason, Side};
use whimbrel_testbed::Notes;
use whimbrel_wire::{Chunk, Packet};

use crate::overlap_place::Trip;
use crate::setups::overlap::{NEW, OLD, Overlap, correspondent, mobile_in};

/// So many times the paper's file is still going when the overlap ends, however well both networks are used.
pub(crate) const LONGER: u64 = 4;
/// What is on its way to the old network when its path is given up is there after this time, wherever it has waited.
const UNDER_WAY: Duration = Duration::from_secs(5);

/// What is seen when the mobile node comes into the new network.
#[derive(Default)]
struct Seen {
    /// What the HEARTBEATs have that went there.
    asked: Vec<Vec<u8>>,
    /// When the correspondent node had the answer to one of them. It may come over the old network: before the mobile node knows that its address
    /// has been added it sends nothing from it (RFC 5061 section 5.2).
    answered: Option<Instant>,
    /// DATA chunks that were sent there before.
    early: u32,
}

impl Seen {
    fn see(&mut self, now: Instant, chunk: &Chunk<'_>, to: SocketAddr, least: Duration) {
        let is_early = self.answered.is_none_or(|at| now < at + least);
        match chunk {
            Chunk::Heartbeat(heartbeat) if to == mobile_in(NEW) && is_early => {
                self.asked.push(heartbeat.info.to_vec());
            }
            Chunk::HeartbeatAck(answer)
                if to == correspondent() && self.asked.iter().any(|info| *info == answer.info) =>
            {
                self.answered.get_or_insert(now);
            }
            Chunk::Data(_) if to == mobile_in(NEW) && is_early => self.early += 1,
            _ => {}
        }
    }
}

/// Somebody who looks at that.
pub(crate) struct Entry(Notes<Seen>);

impl Entry {
    /// Looks at a trip. A packet takes `least` to the new network at least: what arrives earlier after the answer was sent before it.
    pub(crate) fn watch(trip: &mut Trip, least: Duration) -> Self {
        let (notes, observer) = Notes::by(move |seen: &mut Seen, now, packet| {
            let Ok(parsed) = Packet::parse(packet.bytes) else { return };
            for chunk in parsed.chunks().flatten() {
                seen.see(now, &chunk, packet.route.remote, least);
            }
        });
        trip.bed.world.set_intruder(Some(observer));
        Self(notes)
    }

    /// DATA chunks that were sent before the answer; `None` if there was no answer.
    pub(crate) fn early(&self) -> Option<f64> {
        let seen = self.0.read();
        seen.answered.map(|_| f64::from(seen.early))
    }
}

/// Whether concurrent transfer ends as it has to: the path over the old network is no more, what was outstanding there goes out again on the
/// other one, and nothing more goes to the old network. `None` if the transfer was over before.
pub(crate) fn exit(mut trip: Trip) -> Option<f64> {
    let [_, leaves] = trip.overlap;
    let bed = &mut trip.bed;
    bed.run_until(leaves);
    if bed.done().is_some() || bed.paths().len() < 2 {
        return None;
    }
    let cn = bed.cn;
    let (mut outstanding, mut before) = (0, 0);
    let give_up = leaves + Duration::from_secs(30);
    bed.world.run_until_or(give_up, |world| {
        let paths = world.app(cn).paths(world.machine(cn));
        let old = paths.iter().find(|path| path.route.remote == mobile_in(OLD));
        if let Some(old) = old {
            let new = paths.iter().find(|path| path.route.remote == mobile_in(NEW));
            outstanding = old.flight_size;
            before = new.map_or(before, |path| path.counters.data_retransmitted);
        }
        old.is_none()
    });
    let ended = bed.world.now();
    let repeated = |bed: &Overlap| bed.path(NEW).map_or(0, |path| path.counters.data_retransmitted);
    let lost = |bed: &Overlap| {
        let stats = bed.world.stats(bed.radio[OLD].link, Side::AtoB);
        stats.dropped_for(DropReason::Down) + stats.dropped_for(DropReason::Cut)
    };
    bed.run_until(ended + UNDER_WAY);
    let settled = lost(bed);
    bed.run_until(ended + UNDER_WAY * 12);
    // A chunk in flight has its header, and the last one may be short.
    let chunks = outstanding.div_ceil(CHUNK) as u64;
    let ok = bed.paths().len() == 1 && repeated(bed) - before >= chunks && lost(bed) == settled;
    Some(f64::from(u8::from(ok)))
}

/// Bytes of a full DATA chunk.
const CHUNK: usize = 16 + 1452;
