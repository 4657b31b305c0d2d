use whimbrel_machine::Seed;

use super::*;

const RADIUS_M: f64 = 50.0;

fn cell(text: &str) -> CellPlan {
    toml::from_str(&format!("at = [0, 0]\n{text}")).unwrap()
}

fn only(plan: &CellPlan, way: &Trajectory) -> Vec<(Instant, CellEvent)> {
    events(&[plan], LayerTwo::Soft, way, Duration::from_secs(100)).remove(0)
}

fn second(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64)
}

/// Out of the middle of a cell and back, 2 m/s.
fn walk() -> Trajectory {
    let motion: Motion =
        toml::from_str("kind = \"path\"\npoints = [[0, 0], [100, 0], [0, 0]]\nspeed = 2").unwrap();
    motion.way(Duration::from_secs(100), &mut Seed::from_u64(1).stream("motion", 0))
}

#[test]
fn a_cell_is_heard_as_far_as_it_is_said() {
    let plan = cell("radius = 50");
    assert!(plan.is_heard([RADIUS_M - 0.1, 0.0]) && !plan.is_heard([0.0, RADIUS_M + 0.1]));
    // By its power: P h^4 / d^4 = 10^-12 W at −90 dBm.
    let watts = 1e-12 * RADIUS_M.powi(4) / 1.5_f64.powi(4);
    let plan = cell(&format!("power = {watts}"));
    assert!(plan.is_heard([RADIUS_M - 0.1, 0.0]) && !plan.is_heard([RADIUS_M + 0.1, 0.0]));
    let plan = cell(&format!("power = {watts}\nthreshold = -80"));
    assert!(!plan.is_heard([RADIUS_M * 0.6, 0.0]), "10 dB are a factor of 0.56 in distance");
}

#[test]
fn a_cell_is_lost_at_its_edge_and_found_again_after_its_times() {
    let plan = cell("radius = 50\nlayer2 = 0.5\naddress = 1.25");
    let events = only(&plan, &walk());
    let of = |wanted: CellEvent| {
        let times = events.iter().filter(|(_, event)| *event == wanted);
        times.map(|(at, _)| at.as_secs_f64()).collect::<Vec<_>>()
    };
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.05), "{found:?}");
    };
    near(of(CellEvent::Lost), &[25.0]);
    near(of(CellEvent::Attached), &[0.0, 75.5]);
    near(of(CellEvent::Addressed), &[0.0, 76.75]);
    assert!(events.is_sorted_by_key(|(at, _)| *at));
}

#[test]
fn a_signal_is_read_while_there_is_one_and_changes() {
    let readings = |way: &Trajectory| {
        let events = only(&cell("radius = 50"), way);
        let signals = events.iter().filter_map(|(at, event)| match event {
            CellEvent::Signal(power) => Some((*at, power.dbm())),
            _ => None,
        });
        signals.collect::<Vec<_>>()
    };
    let walked = readings(&walk());
    assert!(walked.iter().all(|(at, _)| *at <= second(25.1) || *at >= second(75.0)));
    let out: Vec<f64> = walked.iter().filter(|(at, _)| *at < second(50.0)).map(|(_, dbm)| *dbm).collect();
    assert!((245..=251).contains(&out.len()) && out.is_sorted_by(|a, b| a > b), "{}", out.len());
    assert!((out.last().unwrap() + 90.0).abs() < 0.2, "{out:?}");
    let standing: Motion = toml::from_str("kind = \"standing\"\nat = [10, 0]").unwrap();
    let way = standing.way(Duration::from_secs(100), &mut Seed::from_u64(1).stream("motion", 0));
    assert_eq!(readings(&way).len(), 1);
}
