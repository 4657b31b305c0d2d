//! Which cells there are.

use super::contender::Contender;
use super::place::{Place, Trouble};
use crate::experiment::Cell;

const RTTS: [u64; 5] = [2, 20, 50, 100, 300];
const QUEUES: [f64; 3] = [0.1, 1.0, 4.0];
/// Who is measured in each of them.
const CONTENDERS: [Contender; 4] =
    [Contender::Mobile, Contender::Reno, Contender::Cubic, Contender::TcpCubic];

/// One satellite and one access point, beside what every rate, round trip and queue is combined with.
const PROFILES: [Place; 2] = [
    Place { rate: 100, rtt: 40, queue: 1.0, trouble: Trouble::Leo },
    Place { rate: 100, rtt: 20, queue: 1.0, trouble: Trouble::Wifi },
];

/// Ten that span it, for who has half a minute.
pub(super) const FEW: [Place; 10] = [
    at(10, 20, 1.0, Trouble::Loss(0.0)),
    at(10, 20, 4.0, Trouble::Bursts),
    at(10, 300, 1.0, Trouble::Loss(0.001)),
    at(100, 2, 1.0, Trouble::Loss(0.001)),
    at(100, 50, 0.1, Trouble::Loss(0.0)),
    at(100, 50, 1.0, Trouble::Loss(0.01)),
    at(100, 20, 1.0, Trouble::Jitter),
    at(1000, 20, 1.0, Trouble::Loss(0.0001)),
    PROFILES[0],
    PROFILES[1],
];

const fn at(rate: u64, rtt: u64, queue: f64, trouble: Trouble) -> Place {
    Place { rate, rtt, queue, trouble }
}

/// All with this rate, Mbit/s. 10 Gbit/s has the three shorter round trips alone: more is more than chunks have numbers for.
pub(super) fn of_rate(rate: u64) -> Vec<Place> {
    let mut places = Vec::new();
    for &rtt in if rate > 1000 { &RTTS[..3] } else { &RTTS } {
        for queue in QUEUES {
            places.extend(Trouble::EVERYWHERE.map(|trouble| at(rate, rtt, queue, trouble)));
        }
    }
    places.extend(PROFILES.into_iter().filter(|place| place.rate == rate));
    places
}

/// All on which packets come in another order by more than [`Trouble::Jitter`].
pub(super) fn disordered() -> Vec<Place> {
    let on = |(rate, rtt)| Trouble::DISORDERED.map(|trouble| at(rate, rtt, 1.0, trouble));
    [(12, 20), (100, 20), (100, 100)].into_iter().flat_map(on).collect()
}

/// A place for each contender.
pub(super) fn for_all(places: &[Place]) -> Vec<Cell> {
    let of = |place: &Place| {
        let axes = place.axes();
        CONTENDERS.map(|contender| Cell { series: contender.name().into(), axes: axes.clone() })
    };
    places.iter().flat_map(of).collect()
}
