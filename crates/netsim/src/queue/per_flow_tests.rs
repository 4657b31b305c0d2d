use core::net::SocketAddr;
use core::time::Duration;

use proptest::prelude::*;
use whimbrel_machine::{Fragmentation, Instant, Route, Seed};

use super::MAX_FLOWS;
use crate::{Change, DropReason, Fate, InFlight, LinkConfig, LinkDirection, Offered, QueueLimit, Queueing};

const MS: u64 = 1_000_000;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn flow(number: u16) -> Route {
    let to = |port| SocketAddr::from(([10, 0, 0, 1], port));
    Route { local: to(0), remote: to(number) }
}

/// A link with its packets, each called by its number, and the time each has left the bottleneck.
struct Driver {
    link: LinkDirection,
    offered: u32,
    left: Vec<(u32, Instant)>,
}

impl Driver {
    /// 8 Mbit/s: 1000 bytes take 1 ms.
    fn new(queueing: Queueing, queue: QueueLimit) -> Self {
        let config = LinkConfig { rate_bps: Some(8_000_000), queue, queueing, ..LinkConfig::default() };
        Self { link: LinkDirection::new(config, &Seed::from_u64(1), 0), offered: 0, left: Vec::new() }
    }

    fn serve_until(&mut self, now: Instant) {
        while let Some(due) = self.link.next_service().filter(|due| *due <= now) {
            let (packet, fate) = self.link.serve(due).unwrap();
            let Fate::Passed { first, .. } = fate else { panic!("{fate:?}") };
            self.left.push((packet, first.flight.departs));
            self.link.invariants();
        }
    }

    /// Returns whether there was room.
    fn offer(&mut self, now: Instant, of: u16, ip_bytes: u32) -> bool {
        self.serve_until(now);
        let (ticket, flow) = (self.offered, flow(of));
        self.offered += 1;
        let fragmentation = Fragmentation::Forbidden;
        let fate = self.link.offer_packet(now, Offered { ip_bytes, fragmentation, flow: &flow, ticket });
        self.link.invariants();
        if let Fate::Passed { first, .. } = fate {
            self.left.push((ticket, first.flight.departs));
        }
        fate != Fate::Dropped(DropReason::Queue)
    }

    fn finish(mut self) -> Vec<(u32, Instant)> {
        self.serve_until(at(u64::MAX - 1));
        self.left
    }
}

/// Two flows that always have something to send share the link by bytes, whatever the sizes of their packets.
#[test]
fn two_flows_share_the_link_by_bytes() {
    let mut driver = Driver::new(Queueing::PerFlow, QueueLimit::packets(20_000));
    let sizes = [1500, 300];
    let mut of = Vec::new();
    for (number, size) in sizes.iter().enumerate() {
        for _ in 0..2_400_000 / size {
            assert!(driver.offer(at(0), number as u16, *size) && driver.left.len() == 1);
            of.push(number);
        }
    }
    let left = driver.finish();
    let sent_by = |time| {
        let mut bytes = [0_u32; 2];
        for (packet, _) in left.iter().filter(|(_, departs)| *departs <= time) {
            bytes[of[*packet as usize]] += sizes[of[*packet as usize]];
        }
        bytes
    };
    for seconds in 1..=40 {
        let [large, small] = sent_by(at(seconds * 100 * MS));
        assert!(large.abs_diff(small) <= 3000, "{large} and {small} after {seconds}/10 s");
    }
    // 4.8 MB at 1 MB/s, without a pause.
    assert_eq!(left.last().unwrap().1, at(4_800 * MS));
}

#[test]
fn the_burst_of_one_flow_does_not_delay_another() {
    let second = |queueing| {
        let mut driver = Driver::new(queueing, QueueLimit::packets(1000));
        (0..500).for_each(|_| assert!(driver.offer(at(0), 1, 1000)));
        assert!(driver.offer(at(10 * MS), 2, 1000));
        driver.finish().iter().find(|(packet, _)| *packet == 500).unwrap().1
    };
    assert_eq!(second(Queueing::DropTail), at(501 * MS));
    // The packet being sent, and what the other flow may have in its turn: 1500 bytes.
    assert!(second(Queueing::PerFlow) <= at(14 * MS), "{}", second(Queueing::PerFlow));
}

#[test]
fn each_flow_has_the_limit_for_itself() {
    let passed = |limit| {
        let mut driver = Driver::new(Queueing::PerFlow, limit);
        let count = |driver: &mut Driver, of| (0..100).filter(|_| driver.offer(at(0), of, 1000)).count();
        let counts = (count(&mut driver, 1), count(&mut driver, 2), count(&mut driver, 3));
        let waiting = driver.link.waiting(at(0));
        assert_eq!(driver.link.stats().queue_bytes_max, waiting.1);
        assert_eq!(driver.finish().len(), counts.0 + counts.1 + counts.2);
        (counts, waiting)
    };
    // The one being sent does not count.
    assert_eq!(passed(QueueLimit::packets(10)), ((11, 10, 10), (30, 30_000)));
    assert_eq!(passed(QueueLimit::bytes(4_999)), ((5, 4, 4), (12, 12_000)));
    assert_eq!(passed(QueueLimit::packets(0)), ((1, 0, 0), (0, 0)));
}

#[test]
fn no_more_flows_than_are_possible() {
    let mut driver = Driver::new(Queueing::PerFlow, QueueLimit::packets(2));
    assert!(driver.offer(at(0), 0, 1000));
    let flows = MAX_FLOWS as u16;
    assert!((0..flows).all(|of| driver.offer(at(0), of, 1000)));
    assert!(!driver.offer(at(0), flows, 1000));
    // A flow that is there is not turned away, and one that is gone leaves its place to another.
    assert!(driver.offer(at(0), 1, 1000));
    assert!(driver.offer(at(MS), flows, 1000));
}

#[test]
fn what_waits_knows_a_new_rate_and_does_not_outlive_its_link() {
    let mut driver = Driver::new(Queueing::PerFlow, QueueLimit::packets(10));
    (0..4).for_each(|_| assert!(driver.offer(at(0), 1, 1000)));
    // Half of the first is sent; the rest of it takes twice as long, and so do the others.
    driver.link.change(at(MS / 2), Change::Rate(Some(4_000_000)), &mut []);
    assert_eq!(driver.link.next_service(), Some(at(MS / 2 + MS)));
    driver.serve_until(at(MS / 2 + MS));
    assert_eq!(driver.left.last(), Some(&(1, at(MS / 2 + 3 * MS))));
    driver.link.change(at(2 * MS), Change::Rate(None), &mut []);
    driver.serve_until(at(2 * MS));
    assert_eq!(driver.left[2..], [(2, at(2 * MS)), (3, at(2 * MS))]);

    driver.link.change(at(3 * MS), Change::Rate(Some(8_000)), &mut []);
    (0..4).for_each(|_| assert!(driver.offer(at(3 * MS), 1, 1000)));
    driver.link.change(at(4 * MS), Change::Down(InFlight::Lost), &mut []);
    assert_eq!((driver.link.next_service(), driver.link.waiting(at(4 * MS))), (None, (0, 0)));
    driver.link.invariants();
}

proptest! {
    /// A queue per flow is a drop-tail queue where there is one flow, to the nanosecond.
    #[test]
    fn with_one_flow_it_is_the_drop_tail_queue(
        packets in prop::collection::vec((0..2 * MS, 20_u32..1500), 1..300),
        limit in 0_u32..20,
        rate in 1_000_000_u64..20_000_000,
    ) {
        let run = |queueing| {
            let mut driver = Driver::new(queueing, QueueLimit { packets: limit, bytes: 20_000 });
            driver.link.change(at(0), Change::Rate(Some(rate)), &mut []);
            let mut now = at(0);
            for (after, bytes) in &packets {
                now += Duration::from_nanos(*after);
                driver.offer(now, 1, *bytes);
            }
            let dropped = driver.link.stats().dropped_for(DropReason::Queue);
            (driver.finish(), dropped)
        };
        prop_assert_eq!(run(Queueing::PerFlow), run(Queueing::DropTail));
    }

    /// Whatever comes: nothing is lost or doubled, the link never rests while something waits, and a flow keeps its order.
    #[test]
    fn the_link_never_rests_and_flows_keep_their_order(
        packets in prop::collection::vec((0..2 * MS, 0_u16..5, 20_u32..1500), 1..300),
    ) {
        let mut driver = Driver::new(Queueing::PerFlow, QueueLimit::packets(1000));
        let (mut now, mut offers) = (at(0), Vec::new());
        for (after, of, bytes) in packets {
            now += Duration::from_nanos(after);
            prop_assert!(driver.offer(now, of, bytes));
            offers.push((now, of, u64::from(bytes)));
        }
        let left = driver.finish();
        prop_assert_eq!(left.len(), offers.len());
        let mut free = at(0);
        let mut last = [None; 5];
        for (packet, departs) in &left {
            let (offered, of, bytes) = offers[*packet as usize];
            // All packets that were not sent before it came no earlier than the link was free, or it began at once.
            let begins = *departs - Duration::from_nanos(bytes * 1000);
            prop_assert!(begins == free.max(offered) || (begins > free && begins == offered));
            prop_assert!(last[usize::from(of)] < Some(*packet));
            last[usize::from(of)] = Some(*packet);
            free = *departs;
        }
    }
}
