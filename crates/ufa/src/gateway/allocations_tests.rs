use super::*;
use crate::testing::{TARGET, address, gateway_config};

fn allocations() -> Allocations {
    let config = gateway_config(TARGET);
    Allocations::new(&config.access, config.resources)
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
    let first = allocations.expect(700_000, 1000).unwrap();
    assert_eq!(allocations.free_throughput(), 300_000);
    assert_eq!(allocations.expect(700_000, 1000), None);
    let second = allocations.expect(300_000, 1000).unwrap();
    assert_ne!(first, second);
    allocations.free(first);
    assert_eq!(allocations.free_throughput(), 700_000);
}

#[test]
fn room_is_kept_until_the_terminal_has_come() {
    let mut allocations = allocations();
    let address = allocations.expect(1, 60_000).unwrap();
    assert_eq!(allocations.expect(1, 60_000), None, "100,000 bytes in all");
    assert!(allocations.arrived(address).is_some());
    assert!(allocations.arrived(address).is_none(), "it comes once");
    assert!(allocations.expect(1, 60_000).is_some());
}

#[test]
fn an_address_that_has_become_free_is_given_last() {
    let mut allocations = allocations();
    let first = allocations.expect(1, 1).unwrap();
    allocations.free(first);
    let others: Vec<_> = (0..7).map(|_| allocations.expect(1, 1).unwrap()).collect();
    assert!(!others.contains(&first));
    assert_eq!(allocations.expect(1, 1), Some(first));
    assert_eq!(allocations.expect(1, 1), None, "there are eight");
}

#[test]
fn what_is_heard_from_elsewhere_takes_no_address_away() {
    let mut allocations = allocations();
    allocations.hear(address(crate::testing::CORRESPONDENT, 0).ip());
    let given = allocations.expect(1, 1).unwrap();
    allocations.hear(given);
    allocations.free(given);
    assert_eq!((0..8).filter_map(|_| allocations.expect(1, 1)).count(), 8);
}
