use whimbrel_machine::{ReceivedPower, TwoRayGround};
use whimbrel_netsim::{Acquisition, Cell, LayerTwo, Position};

use super::*;

fn second(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64)
}

/// c04's cells, and a walk along the line between their routers at 15 m/s.
fn walk(places: &[f64]) -> Way {
    let radio = TwoRayGround::plain(0.584_42, 1.5);
    let reception = ReceivedPower::from_watts(3.6526e-10);
    let acquisition = Acquisition { layer_two: Duration::from_secs(1), address: Duration::from_secs(1) };
    let cells = Cells {
        cells: [0.0, 520.0]
            .map(|x_m| Cell { at: Position::new(x_m, 0.0), radio, reception, acquisition })
            .to_vec(),
        thresholds: vec![],
        layer_two: LayerTwo::Soft,
        sampling: Duration::from_millis(10),
    };
    let places = places.iter().map(|&x_m| Position::new(x_m, 0.0));
    Way::new(&cells, &Trajectory::through(places, 15.0), second(100.0))
}

/// The overlap lies between 220 m and 300 m.
#[test]
fn a_crossing_leads_from_one_exclusive_zone_to_the_other() {
    let way = walk(&[0.0, 400.0, 0.0]);
    let [there, back] = way.crossings[..] else { panic!("{:?}", way.crossings) };
    let near = |at: Instant, seconds: f64| (at.as_secs_f64() - seconds).abs() < 0.03;
    assert!(there.from == 0 && near(there.enters, 220.0 / 15.0) && near(there.leaves, 20.0), "{there:?}");
    assert!(back.from == 1 && near(back.enters, 500.0 / 15.0) && near(back.leaves, 580.0 / 15.0), "{back:?}");
    assert_eq!(walk(&[0.0, 290.0, 0.0]).crossings, [], "turning back in the overlap");
}

#[test]
fn latency_is_the_silence_between_the_cells() {
    let way = walk(&[0.0, 400.0, 0.0]);
    let at = |arrivals: &[(f64, usize)]| {
        let arrivals: Vec<_> = arrivals.iter().map(|&(at, cell)| (second(at), cell)).collect();
        way.latencies(&arrivals)
    };
    let ms = Duration::from_millis;
    assert_eq!(at(&[(1.0, 0), (20.0, 0), (21.5, 1), (39.0, 1), (39.25, 0)]), [ms(1500), ms(250)]);
    assert_eq!(
        at(&[(1.0, 0), (19.0, 1), (19.5, 0), (30.0, 1)]),
        [ms(0)],
        "never negative; nothing came after the second"
    );
    assert_eq!(at(&[]), []);
}
