//! The first packets after a failover, as the paper describes it (section 4.3.1): the set-up of Figure 7, a bulk source, and a clock
//! that starts with the decision to leave the primary path.
//!
//! Counted are packets of new data. The chunk whose timer expired goes out again on the alternate in that instant and is no part of the start-up.
//! Whimbrel's own policy has no such instant: it sends new data on the alternate before it says that it has left the primary path.
//! The sender that knows the bandwidth is paced: from that instant on its window lets one packet more out each time the access network
//! has carried one.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::Action;
use whimbrel_proto::{Command, Config, PathShape};

use super::{KB_IN_PACKET, KNOWN, Knows, PAIRS, Times, gains, startup_plot, times};
use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::{Arrivals, Hosts, TwoPaths, mn_address};
use crate::two_networks::{Setting, Source, spoken};
use crate::value::Value;

/// Longer than the first packets take on any of these networks.
const PATIENCE: Duration = Duration::from_secs(60);

struct Figure {
    scenario: Scenario,
    setting: Setting,
    config: Config,
    /// Packets of room in the access networks.
    queue: u32,
    break_at: Instant,
    give_up: Instant,
    packets: Vec<Value>,
}

/// The experiment.
pub(in crate::figures) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-fig12-failover")?;
    let seconds = |path: &str| scenario.number_at(path).map(Duration::from_secs_f64);
    let break_at = Instant::ZERO + seconds("events.primary_breaks_at")?;
    let settings = papers.profile(scenario.profile())?;
    let mut config = profile::config(&settings, Source::LARGEST)?;
    config.failure.path_max_retrans = scenario.number_at("parameters.pmr")? as u32;
    Ok(Box::new(Figure {
        setting: Setting::new(papers, &scenario)?,
        config,
        queue: scenario.number_at("parameters.qs")? as u32,
        break_at,
        give_up: break_at + seconds("events.duration")?,
        packets: scenario.axis("packets"),
        scenario,
    }))
}

impl Figure {
    /// Runs one failover and what follows it; also the fingerprint. A run that leaves the primary path before it breaks has no times.
    fn transfer(&self, cell: &Cell, knows: Knows, seed: u64, watch: Watch) -> (Times, u64) {
        let pair = cell.word("pair");
        let hosts = Hosts::Plain(self.config.clone());
        let mut bed = self.setting.build(seed, hosts, pair, Source::Bulk, self.queue);
        let _ = bed.watch(watch);
        bed.break_path(0, self.break_at);
        bed.world.run_until(self.break_at);
        let (arrivals, observer) = Arrivals::at(mn_address(1));
        bed.world.set_intruder(Some(observer));
        let (cn, break_at) = (bed.cn, self.break_at);
        if bed.world.app(cn).uses.len() == 1 {
            bed.world.run_until_or(self.give_up, |world| world.app(cn).first_move(break_at).is_some());
        }
        let Some(left) = bed.world.app(cn).first_move(break_at) else {
            let _ = bed.world.finish();
            return (vec![None; self.packets.len()], bed.world.trace_hash());
        };
        let new_from = bed.first_not_carried();
        if knows == Knows::Bandwidth {
            self.pace(&mut bed, self.setting.pair(pair)[1].rate);
        }
        let last = new_from + self.packets.len() as u32 - 1;
        bed.world.run_until_or(left.at + PATIENCE, |_| arrivals.read().first_from(last).is_some());
        let _ = bed.world.finish();
        let at = |number| Some(arrivals.read().first_from(number)?.saturating_since(left.at).as_secs_f64());
        ((new_from..=last).map(at).collect(), bed.world.trace_hash())
    }

    /// Has one packet more leave on the alternate each time that its network, of `rate` bit/s, has carried one.
    fn pace(&self, bed: &mut TwoPaths, rate: f64) {
        for _ in &self.packets {
            let (Some(association), Some(alternate)) = (bed.world.app(bed.cn).association(), bed.path(1))
            else {
                return;
            };
            let cwnd = Some(alternate.flight_size + alternate.packet_size);
            let shape = PathShape { cwnd, ssthresh: None, rto: None };
            let command = Command::ShapePath { association, path: alternate.id, shape };
            bed.world.act(Action::Command(bed.cn, command));
            bed.world.run_for(Duration::from_secs_f64(PACKET_BITS / rate));
        }
    }
}

/// A full packet with its IP header.
const PACKET_BITS: f64 = 8.0 * (profile::IP_HEADER + profile::SCTP_HEADERS + Source::LARGEST) as f64;

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_fig12_failover"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["pair", "variant", "packets"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["transfer_time", "gain"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        grid(&[("pair", self.scenario.axis("pair"))]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let wanted = watch.fingerprint;
        let (standard, fingerprint) = self.transfer(cell, Knows::Nothing, seed, watch);
        let watch = Watch { fingerprint: wanted, ..Watch::default() };
        let (optimal, other) = self.transfer(cell, Knows::Bandwidth, seed, watch);
        let mut samples = times(&self.packets, &standard, Some("standard"));
        samples.extend(times(&self.packets, &optimal, Some("optimal")));
        samples.extend(gains(&self.packets, &standard, &optimal));
        Outcome { samples, fingerprint: fingerprint.rotate_left(1) ^ other }
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |(figure, pair)| {
            let paper = [("slow start", "standard"), (KNOWN, "optimal")].map(|(label, variant)| Line {
                label: label.to_owned(),
                series: PAPER.into(),
                at: vec![("pair".into(), Value::from(pair)), ("variant".into(), Value::from(variant))],
            });
            startup_plot(figure, format!("Start-up after failover from {}", spoken(pair)), paper.into())
        };
        let gain = |&pair: &&str| Line {
            label: format!("from {}", spoken(pair)),
            series: PAPER.into(),
            at: vec![("pair".into(), pair.into())],
        };
        let gains = Plot {
            figure: "12-gain",
            title: "What knowing the bandwidth saves after a failover".to_owned(),
            x: Quantity::axis("packets", "user data received (kB)").times(KB_IN_PACKET),
            y: Quantity::metric("gain", "share of the transfer time saved (%)").times(100.0),
            lines: PAIRS.iter().map(gain).collect(),
        };
        ["12a", "12b", "12c"].into_iter().zip(PAIRS).map(plot).chain([gains]).collect()
    }
}
