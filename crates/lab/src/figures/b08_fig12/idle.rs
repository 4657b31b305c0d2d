//! The first packets on an alternate path that has carried nothing.
//!
//! The primary path breaks while nothing is in flight and fails by its heartbeats, so that the alternate's window is still
//! the initial one; then a bulk source begins. The sender that knows the bandwidth is told so before it begins, in the way a
//! handover policy tells it: with a window that lets it send at the alternate's rate from its first packet on.

use core::time::Duration;

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_netsim::Action;
use whimbrel_proto::{BurstLimit, Command, Config, InitialWindow, Message, PathShape, StreamId};

use super::{KNOWN, Knows, PAIRS, Times, gains, startup_plot, times};
use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch};
use crate::plot::{Line, Plot};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, Scheme, Whose, cells,
    described,
};
use crate::setups::{Arrivals, Hosts, NUMBERED, TwoPaths, mn_address};
use crate::two_networks::{Setting, Source, spoken};
use crate::value::Value;

/// Packets that have gone over an alternate that is not fresh.
const BEFORE: u32 = 20;
/// Longer than any failover here takes: heartbeats are 30 s apart.
const PATIENCE: Duration = Duration::from_secs(1200);
/// A window and a burst that never limit the few packets looked at.
const OPEN: u32 = 1000;
/// How the paths count for the spread over Path.Max.Retrans.
const SPREAD_PMR: [u32; 3] = [1, 3, 5];
const SPREAD_PACKETS: usize = 4;

struct Figure {
    scenario: Scenario,
    setting: Setting,
    config: Config,
    mobile: Config,
    pmr: u32,
    /// Packets of room in the access networks.
    queue: u32,
    alternate: Alternate,
    packets: Vec<Value>,
}

/// The experiment.
pub(in crate::figures) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-fig12")?;
    let settings = papers.profile(scenario.profile())?;
    Ok(Box::new(Figure {
        setting: Setting::new(papers, &scenario)?,
        config: profile::config(&settings, Source::LARGEST)?,
        mobile: profile::mobile(&settings)?,
        pmr: scenario.number_at("parameters.pmr")? as u32,
        queue: scenario.number_at("parameters.qs")? as u32,
        alternate: if scenario.read("parameters.fresh_alternate")? {
            Alternate::Fresh
        } else {
            Alternate::Used
        },
        packets: scenario.axis("packets"),
        scenario,
    }))
}

/// What the alternate path has carried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alternate {
    /// Nothing: its window is the initial one.
    Fresh,
    /// [`BEFORE`] packets, which have opened its window.
    Used,
}

impl Figure {
    fn config(&self, cell: &Cell, pmr: u32, knows: Knows) -> Hosts {
        let scheme = Scheme::of(&cell.series);
        let mut config = scheme.config(&self.config, &self.mobile);
        if scheme.profile == Whose::Papers {
            config.failure.path_max_retrans = pmr;
            config.congestion.initial_window = InitialWindow::Packets(cell.count("alt_icw"));
        }
        if knows == Knows::Bandwidth {
            config.congestion.burst = BurstLimit::Packets(OPEN);
        }
        Hosts::decided_by(scheme.policy, config)
    }

    /// Runs one failover and the transfer after it; also the fingerprint.
    fn transfer(&self, hosts: Hosts, pair: &str, knows: Knows, seed: u64, watch: Watch) -> (Times, u64) {
        let mut bed = self.setting.build_idle(seed, hosts, pair, self.queue);
        let _ = bed.watch(watch);
        let break_at = Instant::ZERO + Duration::from_secs(10);
        bed.break_path(0, break_at);
        let cn = bed.cn;
        bed.world.run_until_or(break_at + PATIENCE, |world| world.app(cn).first_move(break_at).is_some());
        // An alternate whose last heartbeat is on its way would delay nothing, but let it be over.
        bed.world.run_for(Duration::from_secs(1));
        if self.alternate == Alternate::Used {
            send(&mut bed, (0..BEFORE).map(|_| 0));
            bed.world.run_for(Duration::from_secs(10));
        }
        let (arrivals, observer) = Arrivals::at(mn_address(1));
        bed.world.set_intruder(Some(observer));
        let began = bed.world.now();
        self.send(&mut bed, knows);
        bed.world.run_until_or(began + Duration::from_secs(60), |_| {
            arrivals.read().first_from(self.packets.len() as u32 - 1).is_some()
        });
        let _ = bed.world.finish();
        let at =
            |packet: u32| Some(arrivals.read().first_from(packet)?.saturating_since(began).as_secs_f64());
        ((0..self.packets.len() as u32).map(at).collect(), bed.world.trace_hash())
    }

    fn send(&self, bed: &mut TwoPaths, knows: Knows) {
        if knows == Knows::Bandwidth
            && let (Some(association), Some(alternate)) = (bed.world.app(bed.cn).association(), bed.path(1))
        {
            let cwnd = Some(OPEN as usize * alternate.packet_size);
            let shape = PathShape { cwnd, ssthresh: None, rto: None };
            bed.world
                .act(Action::Command(bed.cn, Command::ShapePath { association, path: alternate.id, shape }));
        }
        send(bed, (0..self.packets.len() as u32).map(|number| NUMBERED | number));
    }
}

/// A full packet for each of these protocol identifiers.
fn send(bed: &mut TwoPaths, identifiers: impl Iterator<Item = u32>) {
    let Some(association) = bed.world.app(bed.cn).association() else { return };
    for identifier in identifiers {
        let mut message = Message::new(StreamId(0), Bytes::from_static(&[0; Source::LARGEST]));
        message.ppid.0 = identifier;
        bed.world.act(Action::Command(bed.cn, Command::Send { association, message }));
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_fig12"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["pair", "alt_icw", "variant", "packets"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["transfer_time", "gain", "pmr_spread"].map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        described("Config::mobile() and the seamless policy: ten packets at first").into()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.scenario.axis(name));
        let axes = [axis(Part::Place, "pair"), axis(Part::Profile, "alt_icw")];
        let all = [PAPER, SEAMLESS, PROFILE_ALONE, POLICY_ALONE];
        all.into_iter().flat_map(|series| cells(series, &axes)).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let pair = cell.word("pair");
        let hosts = |pmr, knows| self.config(cell, pmr, knows);
        let wanted = watch.fingerprint;
        let (standard, fingerprint) =
            self.transfer(hosts(self.pmr, Knows::Nothing), pair, Knows::Nothing, seed, watch);
        if cell.series != PAPER {
            return Outcome { samples: times(&self.packets, &standard, None), fingerprint };
        }
        let further = |pmr, knows| {
            let watch = Watch { fingerprint: wanted, ..Watch::default() };
            self.transfer(hosts(pmr, knows), pair, knows, seed, watch)
        };
        let (optimal, other) = further(self.pmr, Knows::Bandwidth);
        let mut samples = times(&self.packets, &standard, Some("standard"));
        samples.extend(times(&self.packets, &optimal, Some("optimal")));
        samples.extend(gains(&self.packets, &standard, &optimal));
        let by_pmr = SPREAD_PMR.map(|pmr| further(pmr, Knows::Nothing).0[SPREAD_PACKETS - 1]);
        let mut spread = Sample::default();
        if let [Some(a), Some(b), Some(c)] = by_pmr {
            spread.put("pmr_spread", a.max(b).max(c) / a.min(b).min(c) - 1.0);
        }
        samples.push(spread);
        Outcome { samples, fingerprint: fingerprint.rotate_left(1) ^ other }
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |(figure, pair)| {
            let at = |icw: i64, variant: &str| {
                let [pair, variant] =
                    [("pair", pair), ("variant", variant)].map(|(axis, value)| (axis.into(), value.into()));
                vec![pair, ("alt_icw".into(), Value::from(icw)), variant]
            };
            let paper = [(1, "standard"), (2, "standard"), (1, "optimal")].map(|(icw, variant)| {
                let label = match variant {
                    "optimal" => KNOWN.to_owned(),
                    _ => format!("slow start from {icw} MTU"),
                };
                Line { label, series: PAPER.into(), at: at(icw, variant) }
            });
            let place = || ("pair".into(), Value::from(pair));
            let line = |series: &'static str, label: String, more: Axes| Line {
                label,
                series: series.into(),
                at: [place()].into_iter().chain(more).collect(),
            };
            let others = [
                line(SEAMLESS, SEAMLESS.to_owned(), Axes::new()),
                line(PROFILE_ALONE, format!("timers {PROFILE_ALONE_LABEL}"), Axes::new()),
                line(
                    POLICY_ALONE,
                    format!("{POLICY_ALONE_LABEL}, from 2 MTU"),
                    vec![("alt_icw".into(), Value::from(2))],
                ),
            ];
            let title = format!("Start-up on an idle alternate, from {}", spoken(pair));
            startup_plot(figure, title, paper.into_iter().chain(others).collect())
        };
        ["12a-idle", "12b-idle", "12c-idle"].into_iter().zip(PAIRS).map(plot).collect()
    }
}
