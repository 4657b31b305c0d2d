use super::*;

fn lost(count: u32) -> PacketSizes {
    PacketSizes { arrived: 0, lost: count, least_lost: 1452 }
}

fn lost_before_one_arrived(count: u32) -> PacketSizes {
    PacketSizes { arrived: 1452, ..lost(count) }
}

/// Three of a size speak against it where a network has hardly lost any.
#[test]
fn three_are_enough() {
    let mut vanished = Vanished::new();
    assert_eq!(vanished.on_packets(&lost(2), 548), None);
    assert_eq!(vanished.on_packets(&lost(1), 548), Some(1452));
}

/// Where a network loses five in a row and then one as large arrives, as many say nothing of the size later on, and twice as many do.
#[test]
fn what_a_network_loses_by_chance_is_not_its_size() {
    let mut vanished = Vanished::new();
    assert_eq!(vanished.on_packets(&lost_before_one_arrived(5), 548), None);
    assert_eq!(vanished.on_packets(&lost(8), 548), None);
    assert!(vanished.may_be_chance(1452, 548));
    assert_eq!(vanished.on_packets(&lost(1), 548), Some(1452));
    assert!(!vanished.may_be_chance(1452, 548));
}

/// However much a network has lost, a size that never passes is found.
#[test]
fn there_is_an_end_to_chance() {
    let mut vanished = Vanished::new();
    assert_eq!(vanished.on_packets(&lost_before_one_arrived(500), 548), None);
    assert_eq!(vanished.on_packets(&lost(12), 548), Some(1452));
}
