//! c04 section 2.2: what the correspondent node does when the primary path changes after losses, with and without a probe.

use core::time::Duration;
use std::collections::BTreeSet;

use whimbrel_handover::{LayerTwoHandover, Pace, Policy, SignalStrength};
use whimbrel_machine::Instant;
use whimbrel_netsim::{CellEvent, Position, Trajectory};
use whimbrel_proto::{Config, PathView, PrimaryChangeRule, RetransmissionPath};
use whimbrel_testbed::Notes;

use crate::belated::Belated;
use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::two_cells::{MovingSctp, Noted, Way, mobile};
use crate::two_cell_place::TwoCellPlace;

/// A walk in which other things tell of the losses before a probe can.
const WALK: &str = "walk";
/// A receive window that limits nothing.
const OPEN_WINDOW: usize = 1 << 20;
/// More than is sent.
const FILE: u64 = 1 << 40;
/// Metres beyond the second access router where the walk ends.
const BEYOND: f64 = 150.0;
/// What is looked at: so long after Set Primary.
const AFTER: Duration = Duration::from_secs(20);
/// The old path breaks here.
const BREAK: Instant = Instant::from_nanos(20_000_000_000);

struct Figure {
    place: TwoCellPlace,
    /// From the break to Set Primary.
    silence: Duration,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let place = TwoCellPlace::new(papers, "c04-probe")?;
    let silence = Duration::from_secs_f64(place.scenario.number_at("parameters.silence")?);
    Ok(Box::new(Figure { place, silence }))
}

/// What the correspondent node's counters showed.
#[derive(Default)]
struct Counted {
    /// When Set Primary arrived.
    asked: Option<Instant>,
    /// DATA chunks sent for the first time until then.
    sent_before: u64,
    /// The first new data on the new path.
    first_new: Option<Instant>,
    /// The first retransmission on the new path.
    first_again: Option<Instant>,
    /// T3-rtx expiries from the break to there, on paths that still exist.
    expiries: u64,
    /// Retransmissions on the old path after Set Primary.
    on_old: u64,
}

impl Figure {
    fn config(&self, cell: &Cell) -> Config {
        let mut config = self.place.config.clone();
        if cell.word("probe") == "off" {
            config.primary_change = PrimaryChangeRule::Standard;
            config.retransmission.path = RetransmissionPath::Alternate;
        }
        if cell.word("rwnd_full") == "no" {
            config.limits.receive_buffer = OPEN_WINDOW;
        }
        config
    }

    /// Always within reach of the second access router, or (for [`WALK`]) from one to the other.
    fn way(&self, cell: &Cell) -> Way {
        let until = Instant::ZERO + Duration::from_secs(60);
        if cell.series == WALK {
            let far = Position::new(self.place.distance + BEYOND, 0.0);
            let trajectory = Trajectory::through([Position::default(), far], self.place.speed(cell));
            return Way::new(&self.place.cells(cell), &trajectory, until);
        }
        let events = vec![
            (Instant::ZERO, 0, CellEvent::Attached),
            (Instant::ZERO, 0, CellEvent::Addressed),
            (Instant::ZERO, 1, CellEvent::Attached),
            (Instant::ZERO + Duration::from_secs(5), 1, CellEvent::Addressed),
            (BREAK, 0, CellEvent::Lost),
        ];
        Way { events, crossings: Vec::new(), until }
    }

    fn bed(&self, cell: &Cell, seed: u64) -> MovingSctp {
        let thresholds = self.place.thresholds(cell);
        let (walks, silence) = (cell.series == WALK, self.silence);
        let policy = move || -> Box<dyn Policy> {
            if walks {
                return Box::new(SignalStrength::policy(thresholds, LayerTwoHandover::Soft, Pace::AT_ONCE));
            }
            Box::new(Belated::new(silence))
        };
        MovingSctp::new(seed, self.config(cell), policy, &self.place.wires(cell), &self.way(cell), FILE)
    }

    /// Until well after Set Primary.
    fn count(&self, bed: &mut MovingSctp, observer: &Notes<Noted>) -> Counted {
        let mut counted = Counted::default();
        let mut before = Before::default();
        bed.run_until(|now, paths| {
            if counted.asked.is_none() {
                counted.asked = observer.read().set_primary.first().map(|&(at, _)| at);
                if counted.asked.is_none() {
                    before = Before::of(paths, observer.read().data.last().map(|&(at, ..)| at), before);
                }
                counted.sent_before = before.sent;
            }
            if counted.asked.is_none() {
                return false;
            }
            let on = |cell: usize| paths.iter().filter(move |path| path.route.remote == mobile(cell));
            if counted.first_new.is_none() && on(1).any(|path| path.counters.data_sent > 0) {
                counted.first_new = Some(now);
            }
            if counted.first_again.is_none() {
                counted.expiries = before.noticed.max(expiries(paths).saturating_sub(before.expiries));
                if on(1).any(|path| path.counters.data_retransmitted > 0) {
                    counted.first_again = Some(now);
                }
            }
            let again = on(0).map(|path| path.counters.data_retransmitted).sum::<u64>();
            counted.on_old = again.saturating_sub(before.again_on_old);
            counted.asked.is_some_and(|asked| now >= asked + AFTER)
        });
        counted
    }

    /// How long T3-rtx runs on the new path where nothing is acknowledged, from a run in which the first packet is lost there. What the
    /// old path's timer has sent again there meanwhile starts it anew.
    fn timer_of_the_probe(&self, cell: &Cell, seed: u64) -> Duration {
        let mut bed = self.bed(cell, seed);
        let on_new = |paths: &[PathView], counter: fn(&PathView) -> u64| {
            paths.iter().filter(|path| path.route.remote == mobile(1)).map(counter).sum::<u64>()
        };
        bed.run_until(|_, paths| on_new(paths, |path| path.counters.data_sent) > 0);
        bed.cut(1);
        let (mut sent, mut last) = (0, Instant::ZERO);
        let expired = bed.run_until(|now, paths| {
            if on_new(paths, |path| path.counters.timeouts) > 0 {
                return true;
            }
            let all = on_new(paths, |path| path.counters.data_sent + path.counters.data_retransmitted);
            if core::mem::replace(&mut sent, all) != all {
                last = now;
            }
            false
        });
        expired - last
    }
}

/// Counters as they were last before Set Primary.
#[derive(Clone, Copy, Default)]
struct Before {
    sent: u64,
    /// Up to the last arrival of data, that is before the break.
    expiries: u64,
    /// From there on.
    noticed: u64,
    again_on_old: u64,
    last: Option<Instant>,
}

impl Before {
    fn of(paths: &[PathView], last: Option<Instant>, known: Self) -> Self {
        let sum = |counter: fn(&PathView) -> u64| paths.iter().map(counter).sum::<u64>();
        let all = expiries(paths);
        let expiries = if last == known.last { known.expiries } else { all };
        Self {
            sent: sum(|path| path.counters.data_sent),
            expiries,
            noticed: all - expiries,
            again_on_old: sum(|path| path.counters.data_retransmitted),
            last,
        }
    }
}

fn expiries(paths: &[PathView]) -> u64 {
    paths.iter().map(|path| path.counters.timeouts).sum()
}

/// What arrived first over the new path, in order: how many chunks after the first of all.
fn over_the_new_path(noted: &Noted) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let new = noted.data.iter().filter(|&&(_, cell, _)| cell == 1).map(|&(.., chunk)| u64::from(chunk));
    new.filter(|&chunk| seen.insert(chunk)).collect()
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "c04_probe"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["probe", "rwnd_full"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        let names = [
            "first_rtx_delay",
            "probe_is_new",
            "probe_rto",
            "rtx_before_new",
            "rtx_on_old",
            "new_before_recovery",
            "dup_reports",
            "recovered_by_t3",
        ];
        names.map(Name::from).to_vec()
    }

    /// Nothing is drawn at random.
    fn repetitions(&self) -> u64 {
        1
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let what = "a walk from one cell to the other with an acquisition time of 7 s: the old cell is lost 1.7 s before the new one can be \
                    used, so that T3-rtx has expired when Set Primary comes, and DELETEIP comes with it";
        vec![(WALK.into(), what)]
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.place.scenario.axis(name));
        let places = grid(&[axis("probe"), axis("rwnd_full")]);
        let walks = places.clone().into_iter().map(|axes| Cell { series: WALK.into(), axes });
        places.into_iter().map(Cell::paper).chain(walks).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut bed = self.bed(cell, seed);
        let (observer, ear) = Noted::observe();
        bed.observe(ear);
        bed.record(watch);
        let counted = self.count(&mut bed, &observer);
        let (mut sample, noted) = (Sample::default(), observer.read());
        let Some(asked) = counted.asked else { return Outcome::of(sample, bed.fingerprint()) };
        let order = over_the_new_path(&noted);
        let is_old = |&chunk: &u64| chunk < counted.sent_before;
        let ahead = order.iter().take_while(|chunk| !is_old(chunk)).count();
        let behind = &order[ahead..];
        let first_new = behind.iter().position(|chunk| !is_old(chunk)).unwrap_or(behind.len());
        let recovery = counted.first_again.unwrap_or(asked + AFTER);
        let reports = noted.reports.iter().filter(|&&at| at >= asked && at <= recovery).count();
        sample.put_some("first_rtx_delay", counted.first_again.map(|at| (at - asked).as_secs_f64()));
        sample.put("rtx_before_new", flag(!behind[first_new..].iter().any(is_old)));
        sample.put("rtx_on_old", counted.on_old as f64);
        sample.put("new_before_recovery", ahead as f64);
        sample.put("dup_reports", reports as f64);
        sample.put("recovered_by_t3", flag(counted.expiries > 0));
        if cell.word("probe") == "on" {
            sample.put("probe_is_new", flag(order.first() == Some(&counted.sent_before)));
            sample.put("probe_rto", self.timer_of_the_probe(cell, seed).as_secs_f64());
        }
        Outcome::of(sample, bed.fingerprint())
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |series: &'static str, full: &'static str, label: &str| Line {
            label: label.to_owned(),
            series: series.into(),
            at: vec![("rwnd_full".into(), full.into())],
        };
        vec![Plot {
            figure: "probe",
            title: "From Set Primary to the first retransmission".to_owned(),
            x: Quantity::axis("probe", "probe"),
            y: Quantity::metric("first_rtx_delay", "delay (s)"),
            lines: vec![
                line(PAPER, "yes", "receive window full"),
                line(PAPER, "no", "receive window open"),
                line(WALK, "yes", "walk, receive window full"),
                line(WALK, "no", "walk, receive window open"),
            ],
        }]
    }
}
