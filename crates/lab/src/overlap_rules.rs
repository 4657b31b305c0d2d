//! Whether b09's rules for the beginning and the end of concurrent transfer are obeyed.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{DropReason, Side};
use whimbrel_testbed::Notes;
use whimbrel_wire::{Chunk, Packet};

use crate::overlap_place::{LARGEST, Trip};
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

/// Whether concurrent transfer ends as it has to: the path over the old network is no more, what was lost there goes out again on the other one, and
/// nothing more goes to the old network. `None` if the transfer was over before.
pub(crate) fn exit(mut trip: Trip) -> Option<f64> {
    let [_, leaves] = trip.overlap;
    let bed = &mut trip.bed;
    bed.run_until(leaves);
    if bed.done().is_some() {
        return None;
    }
    let cn = bed.cn;
    bed.world.run_until_or(leaves + UNDER_WAY * 6, |world| {
        let paths = world.app(cn).paths(world.machine(cn));
        !paths.iter().any(|path| path.route.remote == mobile_in(OLD))
    });
    let ended = bed.world.now();
    let association = bed.world.app(cn).association()?;
    let sent = bed.world.machine(cn).stats(association)?.data_sent;
    bed.run_until(ended + UNDER_WAY);
    let lost = lost_in_old(bed);
    bed.run_until(ended + UNDER_WAY * 12);
    // There is no other path that what was lost could have come by.
    let all_there = bed.delivered() >= sent * LARGEST as u64;
    let ok = bed.paths().len() == 1 && all_there && lost_in_old(bed) == lost;
    Some(f64::from(u8::from(ok)))
}

/// Packets that were lost since the radio of the old network is gone.
fn lost_in_old(bed: &Overlap) -> u64 {
    let stats = bed.world.stats(bed.radio[OLD].link, Side::AtoB);
    stats.dropped_for(DropReason::Down) + stats.dropped_for(DropReason::Cut)
}
