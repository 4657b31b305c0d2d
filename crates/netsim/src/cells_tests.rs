use super::*;
use crate::cells::CellEvent::{Addressed, Attached, Lost, Signal};

const MS: u64 = 1_000_000;

/// c04 section 3.1: two access routers 520 m apart that are heard for 300 m, so that they overlap for 80 m.
fn two(layer_two: LayerTwo) -> Cells {
    let radio = TwoRayGround {
        transmit_power: 0.584_42,
        transmit_gain: 1.0,
        receive_gain: 1.0,
        transmit_height: 1.5,
        receive_height: 1.5,
        loss: 1.0,
    };
    let cell = |x_m| Cell {
        at: Position::new(x_m, 0.0),
        radio,
        reception: ReceivedPower::from_watts(3.6526e-10),
        acquisition: Acquisition { layer_two: Duration::from_millis(2500), address: Duration::from_secs(1) },
    };
    Cells {
        cells: vec![cell(0.0), cell(520.0)],
        thresholds: vec![ReceivedPower::from_watts(3.794e-10)],
        layer_two,
        sampling: Duration::from_millis(10),
    }
}

fn across(cells: &Cells, speed_m_s: f64) -> Vec<(u64, usize, CellEvent)> {
    let way = Trajectory::through([Position::new(0.0, 0.0), Position::new(520.0, 0.0)], speed_m_s);
    let events = cells.events(&way, Instant::from_nanos(100_000 * MS));
    events.into_iter().map(|(at, cell, event)| (at.as_nanos() / MS, cell, event)).collect()
}

fn links(events: &[(u64, usize, CellEvent)]) -> Vec<(u64, usize, CellEvent)> {
    events.iter().filter(|(.., event)| !matches!(event, Signal(_))).copied().collect()
}

/// At 15 m/s the second cell is heard after 220 m or 14.67 s, the first is lost after 300 m or 20 s.
#[test]
fn a_soft_handover_keeps_both_cells() {
    let events = across(&two(LayerTwo::Soft), 15.0);
    let expected = [
        (0, 0, Attached),
        (0, 0, Addressed),
        (14_670 + 2500, 1, Attached),
        (14_670 + 3500, 1, Addressed),
        (20_010, 0, Lost),
    ];
    for ((at, cell, event), wanted) in links(&events).into_iter().zip(expected) {
        assert_eq!((cell, event), (wanted.1, wanted.2));
        assert!(at.abs_diff(wanted.0) <= 20, "{event:?} of {cell} at {at} ms instead of {}", wanted.0);
    }
    assert_eq!(links(&events).len(), 5);
}

/// When the layer-2 handover to the second is complete the first is no longer heard.
#[test]
fn a_hard_handover_leaves_the_first_cell() {
    let events = across(&two(LayerTwo::Hard), 15.0);
    let kinds: Vec<_> = links(&events).into_iter().map(|(_, cell, event)| (cell, event)).collect();
    assert_eq!(kinds, [(0, Attached), (0, Addressed), (0, Lost), (1, Attached), (1, Addressed)]);
    let times: Vec<u64> = links(&events).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(times[2], times[3]);
    assert!(times[2].abs_diff(17_170) <= 20 && times[4] == times[3] + 1000, "{times:?}");
    let deaf = events
        .iter()
        .any(|&(at, cell, event)| cell == 0 && at >= times[2] && event == Signal(ReceivedPower::NONE));
    assert!(deaf, "the radio hears the first no more");
}

/// The thresholds are crossed where formula 1 has them: 3.794e-10 W at 297.2 m.
#[test]
fn crossings_of_thresholds_are_told_once() {
    let events = across(&two(LayerTwo::Soft), 1.0);
    assert!(events.is_empty() || events.iter().all(|&(at, ..)| at <= 100_000), "only as long as asked for");
    let events = across(&two(LayerTwo::Soft), 10.0);
    let signals = |cell: usize| -> Vec<f64> {
        let of = events.iter().filter(|(_, of, event)| *of == cell && matches!(event, Signal(_)));
        of.map(|(at, ..)| *at as f64 / 100.0).collect()
    };
    // The first: at the start, when the second becomes the strongest at 260 m, below Primary-TH, gone.
    let expected = [[0.0, 260.0, 297.2, 300.0], [220.0, 222.8, 260.0, 300.0]];
    for (cell, places) in expected.into_iter().enumerate() {
        let told = signals(cell);
        let near = |a: &[f64]| a.iter().zip(&places).all(|(a, b)| (a - b).abs() < 0.3);
        assert!(near(&told) && told.len() >= 3, "cell {cell}: {told:?}");
    }
}

/// Who leaves the second cell before the handover is complete has attached to nothing, and under a hard handover returns
/// to the first only when the second is lost.
#[test]
fn turning_back_in_the_overlap() {
    for layer_two in [LayerTwo::Soft, LayerTwo::Hard] {
        let cells = two(layer_two);
        let at = |x_m| Position::new(x_m, 0.0);
        let way = Trajectory::through([at(0.0), at(225.0), at(0.0)], 15.0);
        let events = cells.events(&way, Instant::from_nanos(100_000 * MS));
        assert!(events.iter().all(|&(_, cell, event)| cell == 0 || matches!(event, Signal(_))), "{events:?}");
        let way = Trajectory::through([at(0.0), at(290.0), at(0.0)], 15.0);
        let of_first: Vec<_> = cells.events(&way, Instant::from_nanos(100_000 * MS));
        let of_first =
            of_first.into_iter().filter(|&(_, cell, event)| cell == 0 && !matches!(event, Signal(_)));
        let kinds: Vec<CellEvent> = of_first.into_iter().map(|(.., event)| event).collect();
        match layer_two {
            LayerTwo::Soft => assert_eq!(kinds, [Attached, Addressed]),
            LayerTwo::Hard => assert_eq!(kinds, [Attached, Addressed, Lost, Attached, Addressed]),
        }
    }
}
