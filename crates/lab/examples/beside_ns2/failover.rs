//! b08 Figure 7 with other settings. Without any it is the lab's experiment, which it is held against.

use core::time::Duration;
use std::fs::File;
use std::io::Write;

use whimbrel_lab::setups::traffic::{ConstantRate, Greedy, Traffic};
use whimbrel_lab::setups::{AccessNetwork, FAILOVER, Hosts, TwoPaths, User, fail_over};
use whimbrel_lab::{Cell, Experiment, PAPER, Papers, Sample, Watch, figures, profile};
use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, LinkConfig, Stopped};
use whimbrel_proto::{Command, PathShape, PathView};

use crate::settings::Settings;
use crate::{LARGEST, PAIRS, start};

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
        let traffic = Self::traffic(&place.source, &networks);
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

    fn traffic(source: &str, networks: &[AccessNetwork; 2]) -> Box<dyn Traffic> {
        match source {
            "cbr45" => Box::new(ConstantRate::new(200, 45e3)),
            "cbrmax" => Box::new(ConstantRate::new(LARGEST, 0.7 * networks[0].rate)),
            _ => Box::new(Greedy::new(LARGEST, 256 << 10)),
        }
    }
}

/// One run up to the promotion of the alternate.
struct Run {
    bed: TwoPaths,
    break_at: Instant,
}

impl Run {
    fn new(setup: &Setup<'_>, place: &Place, seed: u64) -> Self {
        Self { bed: setup.bed(place, seed), break_at: setup.break_at }
    }

    fn primary(&self) -> Option<PathView> {
        self.bed.path(0)
    }

    fn promoted_at(&self) -> Option<Instant> {
        self.bed.world.app(self.bed.cn).first_move(self.break_at).map(|used| used.at)
    }
}

fn experiment(papers: &Papers) -> Box<dyn Experiment> {
    figures::named(papers, &["b08_fig07".to_owned()]).expect("it exists").remove(0)
}

/// The cells that ns-2 is asked for, too, and those of a pair that is named.
fn cells(experiment: &dyn Experiment, settings: &Settings) -> Vec<Cell> {
    let asked = |cell: &Cell| {
        let pair = cell.word("pair");
        cell.series == PAPER
            && (PAIRS.contains(&pair) || settings.names("pair", pair))
            && cell.axes.iter().all(|(axis, value)| settings.asks_for(axis, &value.to_string()))
    };
    experiment.cells().into_iter().filter(asked).collect()
}

/// Prints `count` repetitions of each cell as CSV.
pub(crate) fn figure(papers: &Papers, count: u64, settings: &Settings) {
    let experiment = experiment(papers);
    let setup = Setup::new(papers, settings);
    println!("pair,src,qs,pmr,seed,{}", FAILOVER.join(","));
    for cell in cells(experiment.as_ref(), settings) {
        let place: Vec<String> = cell.axes.iter().map(|(_, value)| value.to_string()).collect();
        for repetition in 0..count {
            let seed = experiment.seed(repetition);
            let measured =
                fail_over(&mut setup.bed(&Place::from(&cell), seed), setup.break_at, setup.give_up);
            if repetition == 0 && settings.changes_nothing() {
                same_as_the_lab(experiment.as_ref(), &cell, seed, &measured);
            }
            let row = FAILOVER
                .map(|name| value(&measured, name).map(|value| value.to_string()).unwrap_or_default());
            println!("{},{seed},{}", place.join(","), row.join(","));
        }
    }
}

fn value(sample: &Sample, metric: &str) -> Option<f64> {
    sample.metrics.iter().find(|(name, _)| name == metric).map(|&(_, value)| value)
}

/// Without settings this is the lab's experiment.
fn same_as_the_lab(experiment: &dyn Experiment, cell: &Cell, seed: u64, measured: &Sample) {
    let outcome = experiment.run(cell, seed, Watch::default());
    for name in FAILOVER {
        assert_eq!(value(&outcome.samples[0], name), value(measured, name), "{name} in {}", cell.label());
    }
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
