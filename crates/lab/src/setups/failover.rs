use whimbrel_machine::Instant;
use whimbrel_netsim::{HostId, Intruder, World};
use whimbrel_node::Node;
use whimbrel_testbed::Notes;
use whimbrel_wire::{Chunk, Packet};

use super::{Arrivals, TwoPaths, User, mn_address};
use crate::experiment::Sample;

/// What [`fail_over`] measures. What each means is said in `data/scenarios.toml`, at `b08-fig7`.
pub const FAILOVER: [&str; 10] = [
    "failover_latency",
    "first_new_sent",
    "first_new_latency",
    "first_alt_latency",
    "gap_to_any",
    "gap_to_new",
    "rto_at_break",
    "t3_at_failover",
    "t3_before_break",
    "spurious_fraction",
];

/// Runs from the start until new data has arrived over the alternate path, the primary one being dead from `break_at` on, but not beyond
/// `give_up`.
pub fn fail_over(bed: &mut TwoPaths, break_at: Instant, give_up: Instant) -> Sample {
    let since_break = |at: Instant| at.saturating_since(break_at).as_secs_f64();
    let timeouts = |bed: &TwoPaths| bed.path(0).map_or(0, |path| path.counters.timeouts);
    let (over, watch) = Over::watch(break_at);
    bed.world.set_intruder(Some(watch));
    bed.world.run_until(break_at);
    let mut sample = Sample::default();
    let spurious = bed.world.app(bed.cn).uses.len() > 1;
    sample.put("spurious_fraction", f64::from(u8::from(spurious)));
    let before = timeouts(bed);
    sample.put("t3_before_break", before as f64);
    if spurious {
        return sample;
    }
    sample.put_some("rto_at_break", bed.path(0).map(|path| path.rto.as_secs_f64()));
    let cn = bed.cn;
    let (sent_before, mut sent) = (new_over_alternate(&bed.world, cn), None);
    let mut note_sent = |world: &World<Node, User>| {
        if sent.is_none() && new_over_alternate(world, cn) > sent_before {
            sent = Some(world.now());
        }
    };
    bed.world.run_until_or(give_up, |world| {
        note_sent(world);
        world.app(cn).first_move(break_at).is_some()
    });
    let Some(promoted) = bed.world.app(cn).first_move(break_at) else { return sample };
    let new_from = bed.first_not_carried();
    sample.put("failover_latency", since_break(promoted.at));
    sample.put("t3_at_failover", (timeouts(bed) - before) as f64);
    bed.world.run_until_or(give_up, |world| {
        note_sent(world);
        over.read().alternate.first_from(new_from).is_some()
    });
    let over = over.read();
    let received = over.alternate.first_from(new_from);
    sample.put_some("first_new_sent", sent.map(since_break));
    sample.put_some("first_new_latency", received.map(since_break));
    sample.put_some("first_alt_latency", over.alternate.first.map(since_break));
    let since_old = |at: Instant| Some(at.saturating_since(over.last_old?).as_secs_f64());
    sample.put_some("gap_to_any", over.next_any.and_then(since_old));
    sample.put_some("gap_to_new", received.and_then(since_old));
    sample
}

/// DATA chunks that the sender has sent for the first time over the alternate path.
fn new_over_alternate(world: &World<Node, User>, cn: HostId) -> u64 {
    let paths = world.app(cn).paths(world.machine(cn));
    let alternate = paths.iter().filter(|path| path.route.remote.ip() == mn_address(1));
    alternate.map(|path| path.counters.data_sent).sum()
}

/// What reaches the mobile node.
#[derive(Default)]
struct Over {
    /// From the break on.
    alternate: Arrivals,
    /// When user data was received last over the primary path.
    last_old: Option<Instant>,
    /// When it was received first over the alternate after that.
    next_any: Option<Instant>,
}

impl Over {
    fn watch(break_at: Instant) -> (Notes<Self>, Box<dyn Intruder>) {
        let [primary, alternate] = [0, 1].map(mn_address);
        Notes::by(move |over: &mut Self, now, packet| {
            let to = packet.route.remote.ip();
            if to == primary && carries_data(packet.bytes) {
                (over.last_old, over.next_any) = (Some(now), None);
            } else if to == alternate && carries_data(packet.bytes) {
                over.next_any.get_or_insert(now);
            }
            if to == alternate && now > break_at {
                over.alternate.add(now, packet.bytes);
            }
        })
    }
}

fn carries_data(bytes: &[u8]) -> bool {
    Packet::parse(bytes).is_ok_and(|packet| packet.chunks().any(|chunk| matches!(chunk, Ok(Chunk::Data(_)))))
}

#[cfg(test)]
#[path = "failover_tests.rs"]
mod tests;
