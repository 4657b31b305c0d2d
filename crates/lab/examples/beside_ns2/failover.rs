//! b08 Figure 7 with other settings. Without any it is the lab's experiment, which it is held against.

use core::time::Duration;
use std::fs::File;
use std::io::Write;

use whimbrel_lab::testbed::traffic::{ConstantRate, Greedy, Traffic};
use whimbrel_lab::testbed::{AccessNetwork, Hosts, TwoPaths, User};
use whimbrel_lab::{Cell, Experiment, PAPER, Papers, Watch, figures, profile};
use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, LinkConfig, Stopped};
use whimbrel_proto::{Command, PathShape, PathView};

use crate::settings::{HandOver, Settings};
use crate::traffic::OnSack;
use crate::{LARGEST, PAIRS, start};

/// Bytes of a heartbeat in ns-2, with IP and SCTP headers.
const HEARTBEAT: f64 = 56.0;

/// Bytes of a full packet's DATA chunk.
const CHUNK: usize = LARGEST + 16;

/// A place of the sweep.
pub(crate) struct Place {
    pair: String,
    source: String,
    queue: u32,
    path_max_retrans: u32,
}

impl From<(String, String, u32, u32)> for Place {
    fn from((pair, source, queue, path_max_retrans): (String, String, u32, u32)) -> Self {
        Self { pair, source, queue, path_max_retrans }
    }
}

impl From<&Cell> for Place {
    fn from(cell: &Cell) -> Self {
        (cell.word("pair").to_owned(), cell.word("src").to_owned(), cell.count("qs"), cell.count("pmr"))
            .into()
    }
}

/// What a run of it needs besides the place.
struct Setup<'a> {
    papers: &'a Papers,
    settings: &'a Settings,
    wired: LinkConfig,
    break_at: Instant,
    give_up: Instant,
}

impl<'a> Setup<'a> {
    fn new(papers: &'a Papers, settings: &'a Settings) -> Self {
        let scenario = papers.scenario("b08-fig7").expect("it exists");
        let number = |path: &str| scenario.number_at(path).expect("the lab reads it, too");
        let break_at = Instant::ZERO + Duration::from_secs_f64(number("events.primary_breaks_at"));
        let wired = LinkConfig {
            rate_bps: Some(number("topology.wired_rate") as u64),
            delay: Duration::from_secs_f64(number("topology.wired_delay")),
            ..LinkConfig::default()
        };
        let give_up = break_at + Duration::from_secs_f64(number("events.duration"));
        Self { papers, settings, wired, break_at, give_up }
    }

    fn bed(&self, place: &Place, seed: u64) -> TwoPaths {
        let settings = self.papers.profile("b08").expect("it exists");
        let mut config = profile::config(&settings, LARGEST).expect("it is complete");
        config.failure.path_max_retrans = place.path_max_retrans;
        self.settings.apply(&mut config, LARGEST);
        let (primary, alternate) = place.pair.split_once('-').expect("two networks");
        let networks = [primary, alternate]
            .map(|name| AccessNetwork::named(self.papers, name).expect("a network of the paper"));
        let queue = u32::try_from(i64::from(place.queue) + self.settings.room).unwrap_or(0);
        let starts = Instant::ZERO + start(seed);
        let traffic = self.traffic(&place.source, &networks, starts);
        let mut bed = TwoPaths::new(seed, Hosts::Plain(config), networks, self.wired, queue, |peer| {
            User::sender(starts, peer, traffic)
        });
        bed.break_path(0, self.break_at);
        if let Some(threshold) = self.settings.slow_start_threshold {
            self.end_slow_start_at(&mut bed, threshold);
        }
        bed
    }

    /// From the moment when the association is up.
    fn end_slow_start_at(&self, bed: &mut TwoPaths, threshold: usize) {
        let cn = bed.cn;
        bed.world.run_until_or(self.break_at, |world| world.app(cn).association().is_some());
        if let (Some(association), Some(primary)) = (bed.world.app(cn).association(), bed.path(0)) {
            let shape = PathShape { ssthresh: Some(threshold), ..PathShape::default() };
            bed.world.act(Action::Command(cn, Command::ShapePath { association, path: primary.id, shape }));
        }
    }

    fn traffic(&self, source: &str, networks: &[AccessNetwork; 2], starts: Instant) -> Box<dyn Traffic> {
        let on_sack = self.settings.hand_over == HandOver::OnSack;
        let (size, rate) = match source {
            "cbr45" => (200, 45e3),
            "cbrmax" => (LARGEST, 0.7 * networks[0].rate),
            // What the peer's window does not let out has not been handed over.
            _ if on_sack => {
                return Box::new(Greedy::new(LARGEST, self.settings.receive_window() / CHUNK * LARGEST));
            }
            _ => return Box::new(Greedy::new(LARGEST, 256 << 10)),
        };
        if !on_sack {
            return Box::new(ConstantRate::new(size, rate));
        }
        // Small messages: as many as a packet takes. Large ones: all that wait, up to the window.
        let at_once =
            self.settings.at_once.unwrap_or(if size < LARGEST { CHUNK / (size + 16) } else { usize::MAX });
        Box::new(OnSack::new(size, rate, starts, self.confirming(networks), at_once))
    }

    /// A heartbeat there and back, over the slower path.
    fn confirming(&self, networks: &[AccessNetwork; 2]) -> Duration {
        let one_way = |network: &AccessNetwork| {
            let wire = HEARTBEAT * 8.0 * (1.0 / network.rate + 1.0 / self.wired.rate_bps.unwrap_or(1) as f64);
            self.wired.delay + network.delay + Duration::from_secs_f64(wire)
        };
        2 * networks.iter().map(one_way).max().unwrap_or_default()
    }
}

/// One run up to the promotion of the alternate.
struct Run {
    bed: TwoPaths,
    break_at: Instant,
    give_up: Instant,
}

impl Run {
    fn new(setup: &Setup<'_>, place: &Place, seed: u64) -> Self {
        Self { bed: setup.bed(place, seed), break_at: setup.break_at, give_up: setup.give_up }
    }

    fn primary(&self) -> Option<PathView> {
        self.bed.path(0)
    }

    fn timeouts(&self) -> u64 {
        self.primary().map_or(0, |path| path.counters.timeouts)
    }

    fn promoted_at(&self) -> Option<Instant> {
        self.bed.world.app(self.bed.cn).first_move(self.break_at).map(|used| used.at)
    }

    /// Whether the sender has left the primary path for another one, and perhaps come back.
    fn has_moved(&self) -> bool {
        self.bed.world.app(self.bed.cn).uses.len() > 1
    }

    fn row(mut self) -> [String; 4] {
        self.bed.world.run_until(self.break_at);
        let before = self.timeouts();
        if self.has_moved() {
            return ["early".into(), String::new(), String::new(), before.to_string()];
        }
        let rto = self.primary().map_or(0.0, |path| path.rto.as_secs_f64());
        let (cn, break_at) = (self.bed.cn, self.break_at);
        self.bed.world.run_until_or(self.give_up, |world| world.app(cn).first_move(break_at).is_some());
        let latency = self.promoted_at().map_or_else(
            || "none".to_owned(),
            |at| at.saturating_since(self.break_at).as_secs_f64().to_string(),
        );
        [latency, rto.to_string(), (self.timeouts() - before).to_string(), before.to_string()]
    }
}

fn experiment(papers: &Papers) -> Box<dyn Experiment> {
    figures::named(papers, &["b08_fig07".to_owned()]).expect("it exists").remove(0)
}

/// The cells that ns-2 is asked for, too.
fn cells(experiment: &dyn Experiment, settings: &Settings) -> Vec<Cell> {
    let asked = |cell: &Cell| {
        cell.series == PAPER
            && PAIRS.contains(&cell.word("pair"))
            && cell.axes.iter().all(|(axis, value)| settings.asks_for(axis, &value.to_string()))
    };
    experiment.cells().into_iter().filter(asked).collect()
}

/// Prints `count` repetitions of each cell as CSV.
pub(crate) fn figure(papers: &Papers, count: u64, settings: &Settings) {
    let experiment = experiment(papers);
    let setup = Setup::new(papers, settings);
    println!("pair,src,qs,pmr,seed,failover_latency,rto_at_break,t3_at_failover,t3_before_break");
    for cell in cells(experiment.as_ref(), settings) {
        let place: Vec<String> = cell.axes.iter().map(|(_, value)| value.to_string()).collect();
        for repetition in 0..count {
            let seed = experiment.seed(repetition);
            let row = Run::new(&setup, &Place::from(&cell), seed).row();
            if repetition == 0 && settings.changes_nothing() {
                same_as_the_lab(experiment.as_ref(), &cell, seed, &row[0]);
            }
            println!("{},{seed},{}", place.join(","), row.join(","));
        }
    }
}

/// Without settings this is the lab's experiment.
fn same_as_the_lab(experiment: &dyn Experiment, cell: &Cell, seed: u64, latency: &str) {
    let outcome = experiment.run(cell, seed, Watch::default());
    let found = outcome.samples[0].metrics.iter().find(|(name, _)| name == "failover_latency");
    let measured = latency.parse::<f64>().ok();
    assert_eq!(found.map(|(_, value)| *value), measured, "{}", cell.label());
}

/// Prints what counts against the primary path, or for it again, up to the promotion of the alternate.
pub(crate) fn events(papers: &Papers, place: &Place, repetition: u64, settings: &Settings) {
    let setup = Setup::new(papers, settings);
    let mut run = Run::new(&setup, place, experiment(papers).seed(repetition));
    let file = |path: &String| Box::new(File::create(path).expect("a file")) as Box<dyn Write + Send>;
    let watch = Watch {
        trace: settings.trace.as_ref().map(file),
        pcap: settings.pcap.as_ref().map(file),
        ..Watch::default()
    };
    run.bed.watch(watch).expect("it can be written");
    run.bed.world.run_until(settings.from.map_or(setup.break_at, |from| Instant::ZERO + from));
    println!(
        "since_break,errors,timeouts,rto,srtt,cwnd,data_sent,data_retransmitted,alternate_data_sent,alternate_retransmitted"
    );
    let mut counted = run.counted();
    let mut stopped = Stopped::Satisfied;
    while stopped == Stopped::Satisfied && run.promoted_at().is_none() {
        stopped = run.bed.world.run_until_or(setup.give_up, |_| true);
        if counted != run.counted() {
            counted = run.counted();
            run.print();
        }
    }
    run.bed.world.finish().expect("it can be written");
}

impl Run {
    /// Errors now, and time-outs so far.
    fn counted(&self) -> (u32, u64) {
        self.primary().map_or((0, 0), |path| (path.error_count, path.counters.timeouts))
    }

    fn print(&self) {
        let (Some(primary), Some(alternate)) = (self.primary(), self.bed.path(1)) else { return };
        let now = self.bed.world.now();
        let since_break = now.saturating_since(self.break_at).as_secs_f64()
            - self.break_at.saturating_since(now).as_secs_f64();
        println!(
            "{since_break:.6},{},{},{:.6},{:.6},{},{},{},{},{}",
            primary.error_count,
            primary.counters.timeouts,
            primary.rto.as_secs_f64(),
            primary.srtt.unwrap_or_default().as_secs_f64(),
            primary.cwnd,
            primary.counters.data_sent,
            primary.counters.data_retransmitted,
            alternate.counters.data_sent,
            alternate.counters.data_retransmitted
        );
    }
}
