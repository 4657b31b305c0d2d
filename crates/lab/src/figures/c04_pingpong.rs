//! c04 section 3.2: to and fro inside the overlap, short of both cells' Primary-TH.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Position, Trajectory};

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, cells, described,
};
use crate::setups::two_cells::{MovingSctp, Noted, Way};
use crate::two_cell_place::TwoCellPlace;
use crate::value::Value;

/// Past both Primary-TH points, and short of the ends of coverage: there the primary path has to change.
const BEYOND: (f64, f64) = (221.5, 298.5);
/// The series that goes there, which shows that changes would be counted.
const FARTHER: &str = "farther";
/// "in 300 s" in the data.
const TIME: Duration = Duration::from_secs(300);
/// More than fits into that time.
const FILE: u64 = 1 << 40;

struct Figure {
    place: TwoCellPlace,
    /// Metres from AR 1.
    within: (f64, f64),
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let place = TwoCellPlace::new(papers, "c04-pingpong")?;
    let within = place.scenario.read("mobility.between")?;
    Ok(Box::new(Figure { place, within }))
}

impl Figure {
    fn way(&self, cell: &Cell) -> Way {
        let (near, far) = if cell.series == FARTHER { BEYOND } else { self.within };
        let [near, far] = [near, far].map(|x| Position::new(x, 0.0));
        let until = Instant::ZERO + TIME;
        let trajectory = Trajectory::oscillating(near, far, cell.number("speed"), until);
        Way::new(&self.place.cells(cell), &trajectory, until)
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "c04_pingpong"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["speed", "wired_ms", "primary_th"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        vec!["primary_changes".into()]
    }

    /// Nothing is drawn at random.
    fn repetitions(&self) -> u64 {
        1
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let farther = "to and fro between 221.5 m and 298.5 m, past both Primary-TH points of 3.794e-10 W: there the change is needed";
        let ours = described("Config::mobile() and the seamless policy on the same way");
        ours.into_iter().chain([(FARTHER.into(), farther)]).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.place.scenario.axis(name));
        // Our own policy has thresholds of its own.
        let axes =
            [axis(Part::Place, "speed"), axis(Part::Place, "wired_ms"), axis(Part::Policy, "primary_th")];
        let farther = cells(FARTHER, &axes).into_iter().filter(|cell| cell.count("wired_ms") == 5);
        let apart = [PROFILE_ALONE, POLICY_ALONE].into_iter().flat_map(|series| cells(series, &axes));
        let ours = cells(SEAMLESS, &axes);
        cells(PAPER, &axes).into_iter().chain(ours).chain(farther).chain(apart).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let place = &self.place;
        let (way, wires, config) = (self.way(cell), place.wires(cell), place.config(cell));
        let mut bed = MovingSctp::new(seed, config, place.policy(cell), &wires, &way, FILE);
        let (observer, ear) = Noted::observe();
        bed.observe(ear);
        let journey = bed.run(watch);
        let mut sample = Sample::default();
        sample.put("primary_changes", observer.read().set_primary.len() as f64);
        Outcome::of(sample, journey.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |series: &'static str, speed: &Value, label: String| Line {
            label,
            series: series.into(),
            at: vec![("speed".into(), speed.clone()), ("wired_ms".into(), Value::Integer(5))],
        };
        let speeds = self.place.scenario.axis("speed");
        let paper = speeds.iter().map(|speed| line(PAPER, speed, format!("{speed} m/s")));
        let farther = speeds.iter().map(|speed| line(FARTHER, speed, format!("{speed} m/s, farther")));
        let ours = speeds.iter().map(|speed| line(SEAMLESS, speed, format!("seamless, {speed} m/s")));
        let fastest = speeds.last().into_iter();
        let apart = fastest.flat_map(|speed| {
            let profile = format!("address management {PROFILE_ALONE_LABEL}, {speed} m/s");
            let policy = format!("{POLICY_ALONE_LABEL}, {speed} m/s");
            [line(PROFILE_ALONE, speed, profile), line(POLICY_ALONE, speed, policy)]
        });
        vec![Plot {
            figure: "pingpong",
            title: "To and fro in the overlap".to_owned(),
            x: Quantity::axis("primary_th", "Primary-TH (1e-10 W)"),
            y: Quantity::metric("primary_changes", "requests to change the primary path in 300 s"),
            lines: paper.chain(farther).chain(ours).chain(apart).collect(),
        }]
    }
}
