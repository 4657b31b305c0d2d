//! Retransmissions that are lost again, and SACKs that are lost (RFC 8985).

use core::time::Duration;
use std::collections::BTreeMap;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, Forgery, Intruder, Loss, Overheard, QueueLimit, Side};
use whimbrel_proto::{Config, LossDetection, SpuriousLoss};
use whimbrel_wire::{Chunk, Packet};

use whimbrel_testbed::at;
use whimbrel_testbed::bulk::{Bulk, Place};

const SECOND: Duration = Duration::from_secs(1);

/// Lets no packet through with a chunk in it that `chosen` names by how many were sent before it, this many times.
pub(crate) struct Swallower {
    first: Option<u32>,
    chosen: Box<dyn Fn(u32) -> bool + Send>,
    times: u32,
    swallowed: BTreeMap<u32, u32>,
}

impl Swallower {
    pub(crate) fn of(chosen: impl Fn(u32) -> bool + Send + 'static, times: u32) -> Self {
        Self { first: None, chosen: Box::new(chosen), times, swallowed: BTreeMap::new() }
    }
}

impl Intruder for Swallower {
    fn on_packet(&mut self, _now: Instant, packet: Overheard<'_>, _forge: &mut Vec<Forgery>) {
        let Ok(parsed) = Packet::parse(packet.bytes) else { return };
        let tsns = parsed.chunks().map_while(Result::ok).filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(data.tsn.0),
            _ => None,
        });
        let mut swallow = false;
        for tsn in tsns {
            let number = tsn.wrapping_sub(*self.first.get_or_insert(tsn));
            if (self.chosen)(number) {
                let times = self.swallowed.entry(number).or_default();
                *times += 1;
                swallow |= *times <= self.times;
            }
        }
        if swallow {
            packet.bytes.clear();
        }
    }
}

/// One chunk in 3,000 is lost three times in a row: each time what was sent after it tells, and no timer is waited for.
#[test]
fn a_retransmission_that_is_lost_again_takes_no_timeout() {
    let run = |loss| {
        let queue = QueueLimit::packets(1000);
        let place = Place { mbit: 20, rtt_ms: 50, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
        let mut config = Config::mobile();
        config.retransmission.loss = loss;
        let mut bulk = Bulk::new(place, config, 6);
        let swallower = Swallower::of(|number| number % 3000 == 2999, 3);
        bulk.pair.world.set_intruder(Some(Box::new(swallower)));
        bulk.pass(6 * SECOND);
        (bulk.totals(), bulk.path().counters.tail_probes)
    };
    let (totals, probes) = run(LossDetection::Rack(3));
    // Two chunks are in a packet.
    let chunks = totals.delivered / 700;
    assert!(chunks > 6_000, "{totals:?}");
    assert_eq!((totals.timeouts, probes, totals.duplicates), (0, 0, 0), "{totals:?}");
    assert!(totals.retransmitted >= 3 * (chunks / 3000 - 1), "{totals:?}");
    let (totals, probes) = run(LossDetection::MissIndications(3));
    assert!(totals.timeouts + probes > 0, "RFC 9260 section 7.2.4 step 5: {totals:?}");
}

/// For 300 ms no SACK comes through. What it costs is a little that is sent again, and no window.
#[test]
fn sacks_that_are_lost_for_a_while_cost_little() {
    let queue = QueueLimit::bytes(Place::capacity(20, 50));
    let place = Place { mbit: 20, rtt_ms: 50, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
    let mut bulk = Bulk::new(place, Config::mobile(), 8);
    bulk.pair.change(0, Side::BtoA, at(3_000), Change::Loss(Loss::Bernoulli(1.0)));
    bulk.pair.change(0, Side::BtoA, at(3_300), Change::Loss(Loss::None));
    bulk.pass(3 * SECOND);
    let before = bulk.totals();
    bulk.pass(SECOND);
    let after = bulk.totals();
    bulk.pass(2 * SECOND);
    let end = bulk.totals();
    let (during, later) = (after.mbit(before, SECOND), end.mbit(after, 2 * SECOND));
    // 300 ms and the time until the next retransmission are lost; the window is not full at once.
    assert!(during > 6.0 && later > 15.0, "{during:.1} and {later:.1} Mbit/s, {before:?}, {end:?}");
    assert!(end.retransmitted - before.retransmitted <= 4, "{before:?}, {end:?}");
    assert!(end.halvings == before.halvings && end.timeouts - before.timeouts <= 1, "{before:?}, {end:?}");
}

/// For 400 ms the network keeps everything back, and loses nothing. Timers expire; the window is what it was as soon as SACKs have told, and hardly
/// anything is sent again.
#[test]
fn a_delay_spike_is_no_loss() {
    let run = |spurious| {
        let queue = QueueLimit::bytes(2 * Place::capacity(20, 50));
        let place = Place { mbit: 20, rtt_ms: 50, queue, loss: 0.0, buffers: 4 << 20, seed: 1 };
        let mut config = Config::mobile();
        config.retransmission.spurious = spurious;
        let mut bulk = Bulk::new(place, config, 8);
        bulk.pair.delay(0, at(4_000), 425);
        bulk.pair.delay(0, at(4_010), 25);
        bulk.pass(4 * SECOND);
        let (before, cwnd) = (bulk.totals(), bulk.path().cwnd);
        bulk.pass(SECOND * 3 / 5);
        let after = bulk.totals();
        (cwnd, bulk.path().cwnd, after.retransmitted - before.retransmitted)
    };
    let (before, after, resent) = run(SpuriousLoss::Undone);
    assert!(after * 10 >= before * 9 && resent <= 16, "{before}, {after}, {resent}");
    let (_, _, ignored) = run(SpuriousLoss::Ignored);
    assert!(ignored > 4 * resent, "{ignored} and {resent}");
}
