use super::*;

#[test]
fn probes_of_all_paths_share_one_burst_per_rto() {
    let rto = Duration::from_millis(500);
    let mut burst = ProbeBurst::new(2);
    let start = Instant::from_nanos(7);
    assert!(burst.try_send(start, rto));
    assert!(burst.try_send(start, rto));
    assert!(!burst.try_send(start + Duration::from_millis(499), rto));
    assert_eq!(burst.next_opportunity(), start + rto);
    assert!(burst.try_send(start + rto, rto));
    assert!(ProbeBurst::new(0).try_send(start, rto));
}
