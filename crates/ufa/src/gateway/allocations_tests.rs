use whimbrel_machine::{Ecn, Route};

use super::*;
use crate::testing::{TARGET, address, gateway_config};

fn allocations() -> Allocations {
    let config = gateway_config(TARGET);
    Allocations::new(&config.access, config.resources, config.patience.heard)
}

/// The values that the scenario table of the paper implies.
#[test]
fn formulas_1_and_2() {
    let [wired, air] = [10, 2].map(Duration::from_millis);
    assert_eq!(bdp(1_000_000, wired * 2, air), 4500);
    let far = Duration::from_millis(200);
    for (throughput, expected) in
        [(100_000, 4050), (500_000, 14_250), (1_000_000, 27_000), (2_000_000, 52_500), (3_000_000, 78_000)]
    {
        assert_eq!(bdp(throughput, far, air), expected);
    }
    assert_eq!(bdp(0, far, air), 0);
}

#[test]
fn throughput_is_given_once() {
    let mut allocations = allocations();
    let first = allocations.expect(Instant::ZERO, 700_000, 1000).unwrap();
    assert_eq!(allocations.free_throughput(), 300_000);
    assert_eq!(allocations.expect(Instant::ZERO, 700_000, 1000), None);
    let second = allocations.expect(Instant::ZERO, 300_000, 1000).unwrap();
    assert_ne!(first, second);
    allocations.free(first);
    assert_eq!(allocations.free_throughput(), 700_000);
}

#[test]
fn room_is_kept_until_what_has_waited_has_left() {
    let mut allocations = allocations();
    let buffer = allocations.free_buffer();
    let address = allocations.expect(Instant::ZERO, 1_000_000, 10_000).unwrap();
    hold(&mut allocations, address, 1);
    allocations.arrived(Instant::ZERO, address);
    assert!(allocations.free_buffer() < buffer);
    assert!(allocations.release(Instant::ZERO, Release::AtOnce).is_some());
    assert!(allocations.release(Instant::ZERO, Release::AtOnce).is_none());
    assert_eq!((allocations.free_buffer(), allocations.next_release()), (buffer, None));
    assert_eq!(allocations.expected().count(), 0);
}

fn hold(allocations: &mut Allocations, address: IpAddr, packets: usize) {
    let waiting = allocations.get_mut(address).unwrap().waiting.as_mut().unwrap();
    let route = Route { local: (address, 0).into(), remote: (address, 0).into() };
    for _ in 0..packets {
        waiting.hold(route, Ecn::NotCapable, &[0; 980]);
    }
}

/// Packets that leave until then, one after the other at their times.
fn released(allocations: &mut Allocations, until: Duration) -> usize {
    let mut count = 0;
    while let Some(at) = allocations.next_release().filter(|at| *at <= Instant::ZERO + until) {
        count += usize::from(allocations.release(at, Release::AtGrantedRate).is_some());
    }
    count
}

/// A packet of 1,000 bytes takes 8 ms at 1 Mbit/s.
#[test]
fn what_has_waited_leaves_no_faster_than_the_access_network_carries_it() {
    let mut allocations = allocations();
    let address = allocations.expect(Instant::ZERO, 1_000_000, 100_000).unwrap();
    hold(&mut allocations, address, 100);
    allocations.arrived(Instant::ZERO, address);
    assert_eq!(released(&mut allocations, Duration::from_millis(79)), 10);
    // What comes meanwhile waits behind.
    hold(&mut allocations, address, 5);
    assert_eq!(released(&mut allocations, Duration::from_secs(1)), 95);
    assert_eq!(allocations.expected().count(), 0);
}

/// Whoever sends as fast as packets leave would have them wait here for ever.
#[test]
fn packets_do_not_wait_for_ever() {
    let mut allocations = allocations();
    let address = allocations.expect(Instant::ZERO, 1_000_000, 100_000).unwrap();
    hold(&mut allocations, address, 50);
    allocations.arrived(Instant::ZERO, address);
    let mut elapsed = Duration::ZERO;
    while allocations.next_release().is_some() {
        elapsed += Duration::from_millis(4);
        released(&mut allocations, elapsed);
        assert!(elapsed < Duration::from_secs(4), "packets still wait");
        if allocations.next_release().is_some() {
            // 2 Mbit/s.
            hold(&mut allocations, address, 1);
        }
    }
    assert!(elapsed > Duration::from_secs(1), "{elapsed:?}");
}

/// A granted bit/s says nothing of the network, and must not hold anybody up.
#[test]
fn who_is_granted_next_to_nothing_has_what_has_waited_within_seconds() {
    let mut allocations = allocations();
    let address = allocations.expect(Instant::ZERO, 1, 100_000).unwrap();
    hold(&mut allocations, address, 100);
    allocations.arrived(Instant::ZERO, address);
    assert_eq!(released(&mut allocations, Duration::from_secs(5)), 100);
}

/// Its session ends, or the gateway does. Of a terminal that has not come what has waited is dropped.
#[test]
fn what_has_waited_leaves_also_if_its_terminal_has_nothing_here_any_more() {
    for (comes, leave) in [(true, 3), (false, 0)] {
        let mut allocations = allocations();
        let address = allocations.expect(Instant::ZERO, 1_000_000, 100_000).unwrap();
        hold(&mut allocations, address, 3);
        if comes {
            allocations.arrived(Instant::ZERO, address);
        }
        allocations.free(address);
        let left = core::iter::from_fn(|| allocations.release(Instant::ZERO, Release::AtGrantedRate));
        assert_eq!(left.count(), leave);
    }
}

#[test]
fn an_address_that_has_become_free_is_given_last() {
    let mut allocations = allocations();
    let first = allocations.expect(Instant::ZERO, 1, 1).unwrap();
    allocations.free(first);
    let others: Vec<_> = (0..7).map(|_| allocations.expect(Instant::ZERO, 1, 1).unwrap()).collect();
    assert!(!others.contains(&first));
    assert_eq!(allocations.expect(Instant::ZERO, 1, 1), Some(first));
    assert_eq!(allocations.expect(Instant::ZERO, 1, 1), None, "there are eight");
}

#[test]
fn what_is_heard_from_elsewhere_takes_no_address_away() {
    let mut allocations = allocations();
    allocations.hear(Instant::ZERO, address(crate::testing::CORRESPONDENT, 0).ip());
    let given = allocations.expect(Instant::ZERO, 1, 1).unwrap();
    allocations.hear(Instant::ZERO, given);
    allocations.free(given);
    assert_eq!((0..8).filter_map(|_| allocations.expect(Instant::ZERO, 1, 1)).count(), 8);
}

/// A terminal that has left is heard for a while; its address is not lost for that.
#[test]
fn an_address_that_nobody_is_heard_with_any_more_is_given_again() {
    let access = crate::testing::gateway_config(crate::testing::TARGET).access;
    let only = access.addresses[0];
    let access = Access { addresses: vec![only], ..access };
    let resources = Resources { throughput: 10, per_terminal: 10, buffer: 1000, least_buffer: 10 };
    let mut allocations = Allocations::new(&access, resources, Duration::from_secs(60));
    let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
    allocations.hear(at(1), only);
    allocations.hear(at(30), only);
    assert_eq!(allocations.expect(at(89), 1, 1), None);
    assert_eq!(allocations.expect(at(90), 1, 1), Some(only));
}
