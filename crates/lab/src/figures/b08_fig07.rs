//! b08 Figure 7: how long an association is silent when its primary path breaks and nothing but timers tell, by
//! Path.Max.Retrans, traffic and access networks.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Config, RetransmissionOrder};

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Watch};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, Scheme, Whose, cells,
    described,
};
use crate::setups::{FAILOVER, Hosts, TwoPaths, fail_over};
use crate::summary::Group;
use crate::two_networks::{Setting, Source};
use crate::value::Value;

/// The series in which the mobile node sees that its link has lost the carrier.
const SEAMLESS_CARRIER: &str = "seamless-carrier";

const CARRIER: &str = "the same; the mobile node sees that its link has lost the carrier and asks for the other path at once. The \
                       correspondent node keeps its own address as long as that works, and from there nothing leads to the \
                       other path in this topology, so that the request waits until its timer fails the path";

struct Figure {
    scenario: Scenario,
    setting: Setting,
    config: Config,
    mobile: Config,
    break_at: Instant,
    give_up: Instant,
}

/// The series with the paper's profile in which new data may pass lost data that waits for another path's window.
const PER_PATH: &str = "per-path-order";

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-fig7")?;
    let at = |path: &str| scenario.number_at(path).map(|s| Instant::ZERO + Duration::from_secs_f64(s));
    let (break_at, duration) = (at("events.primary_breaks_at")?, scenario.number_at("events.duration")?);
    let settings = papers.profile(scenario.profile())?;
    Ok(Box::new(Figure {
        setting: Setting::new(papers, &scenario)?,
        config: profile::config(&settings, Source::LARGEST)?,
        mobile: profile::mobile(&settings)?,
        break_at,
        give_up: break_at + Duration::from_secs_f64(duration),
        scenario,
    }))
}

impl Figure {
    fn bed(&self, cell: &Cell, seed: u64) -> TwoPaths {
        let scheme = Scheme::of(&cell.series);
        let mut config = scheme.config(&self.config, &self.mobile);
        if scheme.profile == Whose::Papers {
            config.failure.path_max_retrans = cell.count("pmr");
        }
        if cell.series == PER_PATH {
            config.retransmission.order = RetransmissionOrder::PerPath;
        }
        let hosts = Hosts::decided_by(scheme.policy, config);
        let source = Source::named(cell.word("src"));
        self.setting.build(seed, hosts, cell.word("pair"), source, cell.count("qs"))
    }

    /// Breaks the primary path until the first T3-rtx has expired on it, and sees whether an acknowledgement then clears
    /// the error counter.
    fn error_counter_is_reset(&self, cell: &Cell, seed: u64) -> f64 {
        let mut bed = self.bed(cell, seed);
        bed.break_path(0, self.break_at);
        bed.world.run_until(self.break_at);
        let errors = |bed: &TwoPaths| bed.path(0).map_or(0, |path| path.error_count);
        let step = Duration::from_millis(1);
        while errors(&bed) == 0 && bed.world.now() < self.give_up {
            bed.world.run_for(step);
        }
        bed.mend_path(0);
        let mended = bed.world.now();
        while errors(&bed) > 0 && bed.world.now() < mended + Duration::from_secs(60) {
            bed.world.run_for(step);
        }
        let moved = bed.world.app(bed.cn).first_move(Instant::ZERO).is_some();
        f64::from(u8::from(errors(&bed) == 0 && !moved))
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_fig07"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["pair", "src", "qs", "pmr"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        FAILOVER.into_iter().chain(["err_reset_ok"]).map(Name::from).collect()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let ours =
            described("Config::mobile() and the seamless policy; the break is silent, as in the paper");
        let per_path =
            "the paper's profile, but new data passes lost data that waits for the window of another path";
        let explained = [(SEAMLESS_CARRIER.into(), CARRIER), (PER_PATH.into(), per_path)];
        ours.into_iter().chain(explained).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.scenario.axis(name));
        let places = ["pair", "src", "qs"].map(|name| axis(Part::Place, name));
        let axes: Vec<_> = places.into_iter().chain([axis(Part::Profile, "pmr")]).collect();
        let heavy = |cell: &Cell| {
            cell.word("pair").starts_with("wlan") && cell.word("src") != "cbr45" && cell.count("qs") == 10
        };
        let others = [SEAMLESS, SEAMLESS_CARRIER, PROFILE_ALONE, POLICY_ALONE];
        let others = others.into_iter().flat_map(|series| cells(series, &axes));
        let per_path = cells(PER_PATH, &axes).into_iter().filter(heavy);
        cells(PAPER, &axes).into_iter().chain(per_path).chain(others).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut bed = self.bed(cell, seed);
        // A run that cannot be recorded is run all the same: whoever asked for the record sees that it is missing.
        let _ = bed.watch(watch);
        bed.break_path(0, self.break_at);
        if cell.series == SEAMLESS_CARRIER {
            bed.lose_carrier(0, self.break_at);
        }
        let mut sample = fail_over(&mut bed, self.break_at, self.give_up);
        let _ = bed.world.finish();
        let checked = cell.series == PAPER && cell.word("src") == "cbr45" && cell.count("qs") == 10;
        if checked && cell.count("pmr") > 0 {
            sample.put("err_reset_ok", self.error_counter_is_reset(cell, seed));
        }
        Outcome::of(sample, bed.world.trace_hash())
    }

    fn remarks(&self, groups: &[Group]) -> Vec<String> {
        let left = |group: &Group| {
            let share = group.metric("spurious_fraction").filter(|share| share.mean > 0.0)?;
            let series = if group.series == PAPER { "timers" } else { &group.series };
            let values = group.axes.iter().map(|(axis, value)| format!("{axis} {value}"));
            let place = core::iter::once(series.to_owned()).chain(values).collect::<Vec<_>>().join(", ");
            Some(format!("{} of {} in {place}", (share.mean * share.count as f64).round(), share.count))
        };
        let all: Vec<String> = groups.iter().filter_map(left).collect();
        if all.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "A run that leaves the working path before it breaks has no handover latency and is left out of the means \
             (spurious_fraction in the rows): {}.",
            all.join("; ")
        )]
    }

    fn plots(&self) -> Vec<Plot> {
        let pairs = ["wlan-umts", "umts-wlan", "geran-wlan"];
        ["7a", "7b", "7c"].into_iter().zip(pairs).map(|(figure, pair)| plot(figure, pair)).collect()
    }
}

fn plot(figure: &'static str, pair: &'static str) -> Plot {
    let sources = [("cbr45", 10), ("cbrmax", 10), ("bulk", 10), ("bulk", 50)];
    let at = |src: &str, qs: i64| {
        vec![("pair".into(), pair.into()), ("src".into(), Value::from(src)), ("qs".into(), Value::from(qs))]
    };
    let name = |src: &str, qs: i64| format!("{} (queue {qs})", Source::named(src).label());
    let line = |series: &'static str, label: &str| {
        let label = label.to_owned();
        move |&(src, qs): &(&str, i64)| Line {
            label: format!("{label}, {}", name(src, qs)),
            series: series.into(),
            at: at(src, qs),
        }
    };
    let compared = || [("cbr45", 10), ("bulk", 50)].iter();
    let lines: Vec<Line> = sources
        .iter()
        .map(line(PAPER, "timers"))
        .chain(compared().map(line(SEAMLESS, "seamless")))
        .chain(compared().map(line(PROFILE_ALONE, &format!("timers {PROFILE_ALONE_LABEL}"))))
        .chain(compared().map(line(POLICY_ALONE, POLICY_ALONE_LABEL)))
        .collect();
    let seen = Line {
        label: format!("seamless, carrier loss seen, {}", name("bulk", 50)),
        series: SEAMLESS_CARRIER.into(),
        at: at("bulk", 50),
    };
    let per_path = (pair == "wlan-umts").then(|| Line {
        label: format!("timers, new data passes lost data, {}", name("cbrmax", 10)),
        series: PER_PATH.into(),
        at: at("cbrmax", 10),
    });
    Plot {
        figure,
        title: format!("Failover from {}", crate::two_networks::spoken(pair)),
        x: Quantity::axis("pmr", "Path.Max.Retrans"),
        y: Quantity::metric("failover_latency", "handover latency (s)").logarithmic(),
        lines: lines.into_iter().chain([seen]).chain(per_path).collect(),
    }
}
