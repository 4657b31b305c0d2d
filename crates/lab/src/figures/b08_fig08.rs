//! b08 Figure 8: what a link-layer trigger gains over failover when a link degrades: throughput with a Set Primary at a
//! moment of the degradation, over throughput without.

use core::time::Duration;

use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, LinkFact};
use whimbrel_netsim::{Action, Change, Loss, Side};
use whimbrel_proto::{AddressChange, Command, Config};

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, Scheme, Whose, cells,
    described,
};
use crate::setups::{Hosts, TwoPaths, mn_address};
use crate::two_networks::{Setting, Source, spoken};
use crate::value::Value;

/// Steps in which the frame error rate rises.
const STEPS: u32 = 200;
/// The frame error rate at the end of the degradation.
const WORST: f64 = 0.10;

struct Figure {
    scenario: Scenario,
    setting: Setting,
    config: Config,
    mobile: Config,
    queue: u32,
    begins: Instant,
    window: Duration,
    triggers: Vec<Value>,
    periods: [(&'static str, Duration); 2],
    /// Which way packets are lost.
    lossy: Side,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-fig8")?;
    let settings = papers.profile(scenario.profile())?;
    let config = profile::with_requests(profile::config(&settings, Source::LARGEST)?);
    let period =
        |name: &str| scenario.number_at(&format!("events.{name}_period")).map(Duration::from_secs_f64);
    Ok(Box::new(Figure {
        setting: Setting::new(papers, &scenario)?,
        config,
        mobile: profile::mobile(&settings)?,
        queue: scenario.number_at("parameters.qs")? as u32,
        begins: Instant::ZERO + Duration::from_secs_f64(scenario.number_at("events.degradation_starts_at")?),
        window: Duration::from_secs_f64(scenario.number_at("parameters.averaging_window")?),
        triggers: scenario.axis("x"),
        periods: [("fast", period("fast")?), ("slow", period("slow")?)],
        lossy: match scenario.setting("events.fer_scope").and_then(toml::Value::as_str) {
            Some("both") => Side::Both,
            Some("down") => Side::AtoB,
            _ => return Err(DataError("b08-fig8: unknown events.fer_scope".to_owned())),
        },
        scenario,
    }))
}

impl Figure {
    fn period(&self, cell: &Cell) -> Duration {
        let [fast, slow] = &self.periods;
        if cell.word("pattern") == fast.0 { fast.1 } else { slow.1 }
    }

    fn bed(&self, cell: &Cell, seed: u64) -> TwoPaths {
        let scheme = Scheme::of(&cell.series);
        let mut config = scheme.config(&self.config, &self.mobile);
        if scheme.profile == Whose::Papers {
            config.failure.path_max_retrans = cell.count("pmr");
        }
        let hosts = Hosts::decided_by(scheme.policy, config);
        let mut bed = self.setting.build(seed, hosts, cell.word("pair"), Source::Bulk, self.queue);
        let period = self.period(cell);
        let ramp = (0..=STEPS).map(|step| {
            let part = f64::from(step) / f64::from(STEPS);
            (self.begins + period.mul_f64(part), Change::Loss(Loss::Bernoulli(WORST * part)))
        });
        bed.world.schedule_link(bed.access[0].link, self.lossy, ramp);
        bed.break_path(0, self.begins + period);
        bed
    }

    /// Throughput in the window in bit/s, with a Set Primary at `trigger`.
    fn throughput(&self, mut bed: TwoPaths, trigger: Option<Instant>) -> (f64, u64) {
        bed.world.run_until(self.begins);
        let before = bed.world.app(bed.mn).received;
        if let Some(trigger) = trigger {
            bed.world.run_until(trigger);
            if let Some(association) = bed.world.app(bed.mn).association() {
                let changes = vec![AddressChange::SetPrimary(mn_address(1))];
                bed.world.act(Action::Command(bed.mn, Command::ChangeAddresses { association, changes }));
            }
        }
        bed.world.run_until(self.begins + self.window);
        let bytes = bed.world.app(bed.mn).received - before;
        let _ = bed.world.finish();
        (bytes as f64 * 8.0 / self.window.as_secs_f64(), bed.world.trace_hash())
    }

    /// Our own policy: it is warned when the degradation begins, and decides for itself.
    fn seamless(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut bed = self.bed(cell, seed);
        let _ = bed.watch(watch);
        let (silent, _) = self.throughput(self.bed(cell, seed), None);
        let fact = LinkFact::Interface { interface: InterfaceId(0), fact: InterfaceFact::GoingDown };
        bed.world.schedule(self.begins, Action::Fact(bed.mn, fact));
        bed.lose_carrier(0, self.begins + self.period(cell));
        let (warned, fingerprint) = self.throughput(bed, None);
        let mut sample = Sample::default();
        sample.put("thr_ll", warned);
        sample.put("thr_failover", silent);
        sample.put("ratio", warned / silent);
        Outcome::of(sample, fingerprint)
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_fig08"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["pair", "pattern", "pmr", "x"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["thr_ll", "thr_failover", "ratio"].map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let what = "Config::mobile() and the seamless policy, warned when the degradation begins, over the same without any \
                    warning; the request of the mobile node waits, as in Figure 7, because nothing leads across the two paths";
        described(what).into()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.scenario.axis(name));
        let axes = [axis(Part::Place, "pair"), axis(Part::Place, "pattern"), axis(Part::Profile, "pmr")];
        let all = [PAPER, SEAMLESS, PROFILE_ALONE, POLICY_ALONE];
        all.into_iter().flat_map(|series| cells(series, &axes)).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        if Scheme::of(&cell.series).policy == Whose::Ours {
            return self.seamless(cell, seed, watch);
        }
        let wanted = watch.fingerprint;
        let mut reference = self.bed(cell, seed);
        let _ = reference.watch(watch);
        let (failover, mut fingerprint) = self.throughput(reference, None);
        let mut samples = Vec::new();
        for x in &self.triggers {
            let at = self.begins + self.period(cell).mul_f64(x.number().unwrap_or_default());
            let mut bed = self.bed(cell, seed);
            let _ = bed.watch(Watch { fingerprint: wanted, ..Watch::default() });
            let (triggered, hash) = self.throughput(bed, Some(at));
            fingerprint = fingerprint.rotate_left(1) ^ hash;
            let mut sample = Sample { axes: vec![("x".into(), x.clone())], ..Sample::default() };
            sample.put("thr_ll", triggered);
            sample.put("thr_failover", failover);
            sample.put("ratio", triggered / failover);
            samples.push(sample);
        }
        Outcome { samples, fingerprint }
    }

    fn plots(&self) -> Vec<Plot> {
        let panels = [("8a", "wlan-umts"), ("8b", "umts-geran")];
        panels.into_iter().map(|(figure, pair)| plot(figure, pair)).collect()
    }
}

fn plot(figure: &'static str, pair: &'static str) -> Plot {
    let at = |pattern: &str| vec![("pair".into(), pair.into()), ("pattern".into(), Value::from(pattern))];
    let mut lines = Vec::new();
    for pattern in ["fast", "slow"] {
        for pmr in [1_i64, 2, 3, 5] {
            let mut place = at(pattern);
            place.push(("pmr".into(), pmr.into()));
            lines.push(Line {
                label: format!("trigger, PMR {pmr}, {pattern}"),
                series: PAPER.into(),
                at: place,
            });
        }
    }
    for pattern in ["fast", "slow"] {
        let line = |series: &'static str, label: &str, at| Line {
            label: format!("{label}, {pattern}"),
            series: series.into(),
            at,
        };
        // Path.Max.Retrans of RFC 9260, which Figure 8 has, too.
        let usual = at(pattern).into_iter().chain([("pmr".into(), Value::from(5))]).collect();
        lines.push(line(SEAMLESS, "seamless, warned", at(pattern)));
        lines.push(line(PROFILE_ALONE, &format!("trigger {PROFILE_ALONE_LABEL}"), at(pattern)));
        lines.push(line(POLICY_ALONE, &format!("{POLICY_ALONE_LABEL}, warned, PMR 5"), usual));
    }
    Plot {
        figure,
        title: format!("Trigger against failover, {}", spoken(pair)),
        x: Quantity::axis("x", "normalised time of the trigger"),
        y: Quantity::metric("ratio", "throughput with trigger / without"),
        lines,
    }
}
