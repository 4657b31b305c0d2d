//! b08 section 4.3.2.2: a scheduler that heeds what paths can carry, beside round robin, on two unequal paths that are there all the time.
//!
//! The capacity of the paths is that of packet trains, which go out before the first data. Whether the rule is obeyed is judged from outside: by
//! what is in flight, and by the windows, after each step of the sender, in which it has sent so many chunks by either path.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, LinkConfig};
use whimbrel_node::Node;
use whimbrel_proto::{
    BurstLimit, Command, Config, FreshPath, HeartbeatForm, PathScheduler, PathState, PathView,
};
use whimbrel_testbed::{Notes, blank};
use whimbrel_wire::{Chunk, Packet, Tsn};

use crate::concurrent_profile::Concurrency;
use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::three_links::MESSAGE;
use crate::setups::{AccessNetwork, Hosts, TwoPaths, User, mn_address};

/// Those of the scenario, in its words: no table has them as numbers.
const NETWORKS: [&str; 2] = ["wlan", "umts"];
const WIRED_DELAY: Duration = Duration::from_millis(5);
const QUEUE: u32 = 50;
const FILE: usize = 8_000_000;
/// Bytes of a full DATA chunk, as they count in flight (RFC 9260 §7.2).
const CHUNK: usize = MESSAGE + 16;
/// By then trains have told what the paths can carry. The transfer begins up to a tenth of a second later.
const TRAINS: Duration = Duration::from_secs(3);
const JITTER: Duration = Duration::from_millis(100);
/// Longer than the slow network takes for the file.
const LONGEST: Duration = Duration::from_secs(400);

struct Figure {
    scenario: Scenario,
    config: Config,
    networks: [AccessNetwork; 2],
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-fpf")?;
    let settings = papers.profile(scenario.profile())?;
    let concurrency = Concurrency::new(&settings)?;
    let mut config = concurrency.apply(profile::with_requests(profile::config(&settings, MESSAGE)?));
    config.heartbeat.form = HeartbeatForm::Train;
    config.limits.send_buffer = FILE * 2;
    let ssthresh = Some(concurrency.ssthresh(config.limits.receive_buffer));
    let fresh =
        |path| FreshPath { address: mn_address(path), initial_window: None, ssthresh, rto_initial: None };
    config.fresh_paths = [0, 1].map(fresh).to_vec();
    let [first, second] = NETWORKS.map(|name| AccessNetwork::named(papers, name));
    Ok(Box::new(Figure { scenario, config, networks: [first?, second?] }))
}

/// What has arrived, as its numbers say.
#[derive(Default)]
struct Arrivals {
    highest: Option<Tsn>,
    chunks: u64,
    late: u64,
}

impl Arrivals {
    fn see(&mut self, packet: &[u8]) {
        let Ok(packet) = Packet::parse(packet) else { return };
        for chunk in packet.chunks() {
            let Ok(Chunk::Data(data)) = chunk else { continue };
            self.chunks += 1;
            match self.highest {
                Some(highest) if data.tsn.precedes(highest) => self.late += 1,
                _ => self.highest = Some(data.tsn),
            }
        }
    }
}

/// Judges each step of the sender.
struct Judge {
    before: Vec<PathView>,
    burst: usize,
    judged: u64,
    broken: u64,
}

impl Judge {
    fn new(config: &Config) -> Self {
        let burst = match config.congestion.burst {
            BurstLimit::Packets(packets) => packets as usize * CHUNK,
            _ => usize::MAX,
        };
        Self { before: Vec::new(), burst, judged: 0, broken: 0 }
    }

    fn look(&mut self, paths: Vec<PathView>) {
        let before = core::mem::replace(&mut self.before, paths);
        let pairs: Vec<_> = before.iter().zip(&self.before).collect();
        let sent: Vec<u64> =
            pairs.iter().map(|(then, now)| now.counters.data_sent - then.counters.data_sent).collect();
        // What is sent again has a rule of its own (RTX-CWND).
        let again = pairs
            .iter()
            .any(|(then, now)| now.counters.data_retransmitted > then.counters.data_retransmitted);
        if again || sent.iter().all(|count| *count == 0) {
            return;
        }
        self.judged += 1;
        if self.chosen(&sent).as_ref() != Some(&sent) {
            self.broken += 1;
        }
    }

    /// How many of the chunks that have been sent should have gone by each path; `None` if a capacity is not known.
    fn chosen(&self, sent: &[u64]) -> Option<Vec<u64>> {
        let capacity: Option<Vec<u128>> =
            self.before.iter().map(|path| path.capacity.map(|told| u128::from(told.rate / 8))).collect();
        let capacity = capacity?;
        let began: Vec<usize> = self
            .before
            .iter()
            .zip(sent)
            .map(|(path, count)| path.flight_size.saturating_sub(*count as usize * CHUNK))
            .collect();
        let mut flights = began.clone();
        let mut chosen = vec![0; sent.len()];
        for _ in 0..sent.iter().sum() {
            let has_room = |&path: &usize| {
                let (flight, view) = (flights[path], &self.before[path]);
                let active = view.state == PathState::Active;
                active && flight < view.cwnd && flight < began[path].saturating_add(self.burst)
            };
            let drained = |&path: &usize| (flights[path] + CHUNK) as u128 * 1_000_000_000 / capacity[path];
            let best = (0..flights.len()).filter(has_room).min_by_key(drained)?;
            flights[best] += CHUNK;
            chosen[best] += 1;
        }
        Some(chosen)
    }
}

impl Figure {
    fn bed(&self, cell: &Cell, seed: u64) -> TwoPaths {
        let mut config = self.config.clone();
        config.multipath.scheduler = match cell.word("sched") {
            "fpf" => PathScheduler::FastestPathFirst,
            _ => PathScheduler::RoundRobin,
        };
        let wired = LinkConfig { delay: WIRED_DELAY, ..LinkConfig::default() };
        // Trains of the reader would come between the answers.
        let mut readers = config.clone();
        readers.heartbeat.form = HeartbeatForm::Single;
        TwoPaths::new(seed, Hosts::Each(Box::new([config, readers])), self.networks, wired, QUEUE, |peer| {
            User::opener(Instant::ZERO, peer)
        })
    }

    /// The correspondent node knows both addresses from its user, and would have asked nothing of the second path yet.
    fn ask_for_trains(bed: &mut TwoPaths) {
        bed.world.run_until(Instant::ZERO + TRAINS / 3);
        let Some(association) = bed.world.app(bed.cn).association() else { return };
        for path in bed.paths().into_iter().filter(|path| path.capacity.is_none()) {
            bed.world.act(Action::Command(bed.cn, Command::RequestHeartbeat { association, path: path.id }));
        }
    }

    fn hand_over(bed: &mut TwoPaths) {
        let Some(association) = bed.world.app(bed.cn).association() else { return };
        for _ in 0..FILE.div_ceil(MESSAGE) {
            let message = blank(0, MESSAGE);
            bed.world.act(Action::Command(bed.cn, Command::Send { association, message }));
        }
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_fpf"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        vec!["sched".into()]
    }

    fn metrics(&self) -> Vec<Name> {
        ["rule_ok", "reorder_fraction", "max_reorder_bytes"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        grid(&[("sched", self.scenario.axis("sched"))]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut bed = self.bed(cell, seed);
        let _ = bed.watch(watch);
        let (arrivals, observer) = Notes::by(|arrivals: &mut Arrivals, _, packet| arrivals.see(packet.bytes));
        bed.world.set_intruder(Some(observer));
        let phase = bed.world.seed().stream("traffic.start", 0).duration_below(JITTER);
        Self::ask_for_trains(&mut bed);
        bed.world.run_until(Instant::ZERO + TRAINS + phase);
        let mut judge = Judge::new(&self.config);
        judge.before = bed.paths();
        Self::hand_over(&mut bed);
        judge.look(bed.paths());
        let (cn, mn, mut held) = (bed.cn, bed.mn, 0);
        let reader = bed.world.app(mn).association();
        let file = (FILE.div_ceil(MESSAGE) * MESSAGE) as u64;
        bed.world.run_until_or(Instant::ZERO + LONGEST, |world| {
            judge.look(world.app(cn).paths(world.machine(cn)));
            let stats = reader.and_then(|association| Node::stats(world.machine(mn), association));
            held = stats.map_or(held, |stats| held.max(stats.receive_queued));
            world.app(mn).received >= file
        });
        let complete = bed.world.app(mn).received >= file;
        let _ = bed.world.finish();
        let mut sample = Sample::default();
        if complete {
            let Arrivals { chunks, late, .. } = *arrivals.read();
            sample.put("rule_ok", f64::from(u8::from(judge.judged > 0 && judge.broken == 0)));
            sample.put("reorder_fraction", late as f64 / chunks as f64);
            sample.put("max_reorder_bytes", held as f64);
        }
        Outcome::of(sample, bed.world.trace_hash())
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |figure, title: &str, y: (&'static str, &'static str)| Plot {
            figure,
            title: title.to_owned(),
            x: Quantity::axis("sched", "scheduler"),
            y: Quantity::metric(y.0, y.1),
            lines: vec![Line { label: "two paths".to_owned(), series: PAPER.into(), at: Vec::new() }],
        };
        vec![
            plot("fpf-order", "What arrives behind later data", ("reorder_fraction", "share of the chunks")),
            plot(
                "fpf-held",
                "What waits at the receiver",
                ("max_reorder_bytes", "most of the receive buffer (bytes)"),
            ),
        ]
    }
}
