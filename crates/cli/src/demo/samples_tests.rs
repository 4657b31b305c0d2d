use super::*;

const MS: u64 = 1_000_000;

fn seen(at_ms: u64, dropped: bool) -> Sighting {
    Sighting { at: at_ms * MS, bytes: 1250, dropped }
}

#[test]
fn what_is_lost_was_sent_and_did_not_get_through() {
    let first = [seen(10, false), seen(20, false), seen(30, true)];
    let second = [seen(25, false), seen(260, false)];
    let traffic = traffic([&first, &second], 0);
    assert_eq!((traffic.lost, traffic.bytes), (1, [2500, 2500]));
    let points = |network: usize| {
        traffic.points[network].iter().map(|p| ((p.sent * 1e6).round() as u64, p.lost)).collect::<Vec<_>>()
    };
    assert_eq!(points(0), [(1250, false), (2500, false), (5000, true)]);
    assert_eq!(points(1), [(3750, false), (6250, false)]);
    // 1,250 bytes in 100 ms are 0.1 Mbit/s.
    assert_eq!(traffic.rates[0].len(), 3);
    assert!((traffic.rates[0][0] - 0.2).abs() < 1e-9 && traffic.rates[0][2] == 0.0);
    assert!((traffic.rates[1][2] - 0.1).abs() < 1e-9);
}

#[test]
fn nothing_gives_nothing() {
    let traffic = traffic([&[], &[]], 5);
    assert!(traffic.points[0].is_empty() && traffic.rates[0].is_empty());
}

#[test]
fn many_points_become_few() {
    let points: Vec<Point> =
        (0..10_000).map(|at| Point { at: f64::from(at), sent: 0.0, lost: false }).collect();
    let few = thinned(&points);
    assert!(few.len() <= POINTS && few.len() > POINTS / 2);
    assert_eq!(between(&points, 10.0, 12.0).len(), 3);
    assert!(thinned(&[]).is_empty());
}
