use super::*;

#[test]
fn probes_of_all_paths_share_one_burst_per_rto() {
    let rto = Duration::from_millis(500);
    let mut burst = ProbeBurst::new(2, StrangerProbes::default());
    let start = Instant::from_nanos(7);
    assert!(burst.try_send(start, rto));
    assert!(burst.try_send(start, rto));
    assert!(!burst.try_send(start + Duration::from_millis(499), rto));
    assert_eq!(burst.next_opportunity(), start + rto);
    assert!(burst.try_send(start + rto, rto));
    assert!(ProbeBurst::new(0, StrangerProbes::default()).try_send(start, rto));
}

#[test]
fn all_associations_share_one_budget_for_strangers() {
    let strangers = StrangerProbes::default();
    let (start, rto) = (Instant::from_nanos(7), Duration::from_secs(1));
    let burst = || ProbeBurst::new(8, strangers.clone());
    let sent = |now| (0..10_000).filter(|_| burst().try_send(now, rto)).count() as u64;
    assert_eq!(sent(start), STRANGERS_AT_ONCE);
    assert!(burst().try_send_to_peer(start, rto), "the peer itself is no stranger");
    let mut refused = burst();
    assert!(!refused.try_send(start, rto));
    assert_eq!(refused.next_opportunity(), start + rto);
    assert_eq!(sent(start + Duration::from_millis(100)), STRANGERS_PER_SECOND / 10);
    assert_eq!(sent(start + Duration::from_secs(3600)), STRANGERS_AT_ONCE, "a pause is not saved up");
}
