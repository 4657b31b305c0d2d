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
fn room_is_kept_until_the_terminal_has_come() {
    let mut allocations = allocations();
    let address = allocations.expect(Instant::ZERO, 1, 60_000).unwrap();
    assert_eq!(allocations.expect(Instant::ZERO, 1, 60_000), None, "100,000 bytes in all");
    assert!(allocations.arrived(address).is_some());
    assert!(allocations.arrived(address).is_none(), "it comes once");
    assert!(allocations.expect(Instant::ZERO, 1, 60_000).is_some());
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
