use super::*;

#[test]
fn shards_add_up() {
    let mut one = Metrics { packets_sent: 1, established: 2, handovers: 3, ..Metrics::default() };
    one.states[2] = 4;
    one.endpoint.packets_dropped = 5;
    one.totals.stats.data_sent = 6;
    one.ended.count(&CloseReason::NoSctp);
    one.handover_gaps.record(core::time::Duration::from_millis(3));
    let other = one.clone();
    one.add(&other);
    assert_eq!((one.packets_sent, one.established, one.handovers), (2, 4, 6));
    assert_eq!(one.associations().find(|(_, count)| *count > 0), Some((AssociationState::Established, 8)));
    assert_eq!((one.endpoint.packets_dropped, one.totals.stats.data_sent), (10, 12));
    assert_eq!((one.ended.unreachable, one.handover_gaps.count()), (2, 2));
}

#[test]
fn a_train_is_as_many_packets_as_it_has_segments() {
    let mut metrics = Metrics::default();
    metrics.sent(3001, 1000);
    metrics.received(1000, 1000);
    metrics.received(0, 0);
    assert_eq!((metrics.packets_sent, metrics.bytes_sent), (4, 3001));
    assert_eq!((metrics.packets_received, metrics.bytes_received), (1, 1000));
}
