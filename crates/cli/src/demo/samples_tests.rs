use super::*;

const MS: u64 = 1_000_000;

fn segment(at_ms: u64, tsn: u32, dropped: bool) -> Segment {
    Segment { at: at_ms * MS, tsn, bytes: 1250, dropped }
}

#[test]
fn a_retransmission_counts_where_it_got_through() {
    // TSNs wrap around; 0 is lost in the first network and sent again in the second.
    let first = vec![segment(10, u32::MAX, false), segment(20, 0, false), segment(30, 1, true)];
    let second = vec![segment(250, 0, false), segment(260, 1, false)];
    let traffic = traffic(&[first, second], 0);
    assert_eq!(traffic.retransmitted, 2);
    assert_eq!(traffic.bytes, [1250, 2500]);
    let lost = |network: usize| traffic.points[network].iter().map(|p| (p.tsn, p.lost)).collect::<Vec<_>>();
    assert_eq!(lost(0), [(0, false), (1, true), (2, true)]);
    assert_eq!(lost(1), [(1, false), (2, false)]);
    // 1,250 bytes in 100 ms are 0.1 Mbit/s.
    assert_eq!(traffic.goodput[0].len(), 3);
    assert!((traffic.goodput[0][0] - 0.1).abs() < 1e-9 && traffic.goodput[0][2] == 0.0);
    assert!((traffic.goodput[1][2] - 0.2).abs() < 1e-9);
}

#[test]
fn nothing_gives_nothing() {
    let traffic = traffic(&[Vec::new(), Vec::new()], 5);
    assert!(traffic.points[0].is_empty() && traffic.goodput[0].is_empty());
}

#[test]
fn many_points_become_few() {
    let points: Vec<Point> = (0..10_000).map(|tsn| Point { at: f64::from(tsn), tsn, lost: false }).collect();
    let few = thinned(&points);
    assert!(few.len() <= POINTS && few.len() > POINTS / 2);
    assert_eq!(between(&points, 10.0, 12.0).len(), 3);
    assert!(thinned(&[]).is_empty());
}
