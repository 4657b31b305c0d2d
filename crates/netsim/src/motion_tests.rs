use whimbrel_machine::Seed;

use super::*;

fn second(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64)
}

fn waypoints(area: &Area, start: Position, legs: u64) -> Trajectory {
    let mut rng = Seed::from_u64(4).stream("motion", 0);
    let length_m = legs as f64;
    Trajectory::random_waypoint(area, start, 1.0, second(length_m), &mut rng)
}

#[test]
fn a_straight_line_is_walked_at_the_given_speed() {
    let way = Trajectory::through(
        [Position::new(0.0, 0.0), Position::new(30.0, 40.0), Position::new(30.0, 0.0)],
        5.0,
    );
    assert_eq!(way.position(second(0.0)), Position::new(0.0, 0.0));
    assert_eq!(way.position(second(5.0)), Position::new(15.0, 20.0));
    assert_eq!(way.position(second(12.0)), Position::new(30.0, 30.0));
    assert_eq!(way.arrival(), second(18.0));
    assert_eq!(way.position(second(99.0)), Position::new(30.0, 0.0));
}

#[test]
fn an_oscillation_comes_back() {
    let (a, b) = (Position::new(226.0, 0.0), Position::new(294.0, 0.0));
    let way = Trajectory::oscillating(a, b, 2.0, second(300.0));
    assert!(way.arrival() >= second(300.0));
    assert_eq!(way.position(second(34.0)), b);
    assert_eq!(way.position(second(68.0)), a);
    assert_eq!(way.position(second(51.0)), Position::new(260.0, 0.0));
}

/// Who does not move, or asks for the impossible, stays.
#[test]
fn nonsense_stays_where_it_is() {
    let (a, b) = (Position::new(1.0, 1.0), Position::new(2.0, 2.0));
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Trajectory::oscillating(a, b, speed, second(10.0)).position(second(5.0)), a);
    }
    let way = waypoints(&Area::Rectangle(a, a), a, 10);
    assert_eq!(way.position(second(5.0)), a);
    assert_eq!(Area::Discs(vec![]).draw(&mut Seed::from_u64(1).stream("x", 0)), Position::default());
}

/// The mean distance of two random points of a unit square is (2 + √2 + 5·ln(1 + √2)) / 15 = 0.52141.
#[test]
fn legs_of_random_waypoint_are_as_long_as_in_theory() {
    const SIDE_M: f64 = 100.0;
    let area = Area::Rectangle(Position::new(0.0, 0.0), Position::new(SIDE_M, SIDE_M));
    let way = waypoints(&area, Position::new(50.0, 50.0), 5_000_000);
    let places: Vec<Position> = way.places().collect();
    let mean =
        places.windows(2).map(|leg| leg[0].distance_m(leg[1])).sum::<f64>() / (places.len() - 1) as f64;
    assert!((mean / (0.521_405 * SIDE_M) - 1.0).abs() < 0.01, "{mean}");
}

/// On a line of length a a random walker of this kind is found with density 6x(a-x)/a³ (Bettstetter et al. 2003): its mean is
/// a/2 and its variance a²/20, not a²/12 as for the waypoints themselves.
#[test]
fn random_waypoint_is_more_often_in_the_middle() {
    const LENGTH_M: f64 = 1000.0;
    let area = Area::Rectangle(Position::new(0.0, 0.0), Position::new(LENGTH_M, 0.0));
    let way = waypoints(&area, Position::new(0.0, 0.0), 20_000_000);
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for step in 0..200_000 {
        let x_m = way.position(second(f64::from(step) * 100.0)).x_m - LENGTH_M / 2.0;
        (sum, squares, count) = (sum + x_m, squares + x_m * x_m, count + 1.0);
    }
    assert!((sum / count).abs() < 0.01 * LENGTH_M);
    let variance = squares / count / (LENGTH_M * LENGTH_M);
    assert!((variance * 20.0 - 1.0).abs() < 0.02, "{variance}");
}

#[test]
fn two_discs_are_covered_evenly() {
    let discs = vec![(Position::new(0.0, 0.0), 300.0), (Position::new(520.0, 0.0), 300.0)];
    let area = Area::Discs(discs);
    let mut rng = Seed::from_u64(4).stream("motion", 0);
    let places: Vec<Position> = (0..100_000).map(|_| area.draw(&mut rng)).collect();
    assert!(places.iter().all(|&at| area.contains(at)));
    let left = places.iter().filter(|at| at.x_m < 260.0).count() as f64 / places.len() as f64;
    assert!((left - 0.5).abs() < 0.01, "{left}");
    // The lens where both overlap: 2r²·acos(d/2r) - d/2·√(4r²-d²) of the union 2πr² - lens.
    let (r, d) = (300.0_f64, 520.0_f64);
    let lens = 2.0 * r * r * (d / (2.0 * r)).acos() - d / 2.0 * (4.0 * r * r - d * d).sqrt();
    let expected = lens / (2.0 * core::f64::consts::PI * r * r - lens);
    let both = |at: &&Position| {
        at.distance_m(Position::new(0.0, 0.0)) <= r && at.distance_m(Position::new(d, 0.0)) <= r
    };
    let share = places.iter().filter(both).count() as f64 / places.len() as f64;
    assert!((share / expected - 1.0).abs() < 0.05, "{share} for {expected}");
}

#[test]
fn a_wanderer_rests_where_it_arrives_and_keeps_to_its_speeds() {
    let area = Area::Rectangle(Position::new(0.0, 0.0), Position::new(100.0, 100.0));
    let mut rng = Seed::from_u64(4).stream("motion", 0);
    let pause = Duration::from_secs(3);
    let way =
        Trajectory::wandering(&area, Position::new(1.0, 1.0), (1.0, 2.0), pause, second(10_000.0), &mut rng);
    let (walks, rests): (Vec<&Leg>, Vec<&Leg>) = way.legs.iter().partition(|leg| leg.from != leg.to);
    assert!(walks.len() > 100 && rests.len() == walks.len() && way.arrival() >= second(10_000.0));
    let speeds: Vec<f64> = walks
        .iter()
        .map(|leg| leg.from.distance_m(leg.to) / (leg.arrives - leg.leaves).as_secs_f64())
        .collect();
    assert!(speeds.iter().all(|speed| (1.0 - 1e-6..2.0 + 1e-6).contains(speed)));
    let mean = speeds.iter().sum::<f64>() / speeds.len() as f64;
    assert!((mean - 1.5).abs() < 0.1, "{mean}");
    let rest = rests[0];
    assert_eq!((rest.arrives - rest.leaves, way.position(rest.leaves + pause / 2)), (pause, rest.from));
    assert!(walks.iter().all(|leg| area.contains(leg.to)));
}
