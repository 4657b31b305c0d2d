//! e13's set-up: videos over SCTP handed over, all at once, to a network where TCP flows are at home, with various initial
//! windows on the new path.

use core::time::Duration;

use serde::Deserialize;
use whimbrel_machine::{Instant, Seed};
use whimbrel_proto::{Config, InitialWindow};
use whimbrel_rivals::tcp::{Cubic, TcpConfig};

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::{BIN, Bottleneck, SecondPath, SharedBottleneck, Video};
use crate::value::Value;

/// The profile of the flows that are there already.
const TCP: &str = "tcp-e13";
/// The paper's videos beside TCP with CUBIC: the paper does not say which TCP it was.
const CUBIC: &str = "cubic";
/// The paper's videos when a round trip on the second path has been measured before the handover.
const MEASURED: &str = "measured";
/// The initial windows of these two series: those that the paper compares.
const COMPARED: [&str; 2] = ["3", "10"];
/// Messages that make up the start.
const START: usize = 30;
/// With the default window the start-up on the network of high capacity is over after so many.
const TEN: usize = 10;
/// Retransmissions are counted for so long after the handover.
const FIRST: Duration = Duration::from_secs(2);

/// One of e13's two networks with the combinations of flows that are looked at.
pub(crate) struct HandedOverVideo {
    name: &'static str,
    scenario: Scenario,
    combinations: &'static [(i64, i64)],
    plots: fn() -> Vec<Plot>,
    bottleneck: Bottleneck,
    config: Config,
    mobile: Config,
    tcp: TcpConfig,
    cubic: TcpConfig,
    video: Video,
    unrestricted: usize,
    /// How many messages the start-up has.
    start_up: usize,
}

/// A video as the data have it.
#[derive(Deserialize)]
struct Frames {
    /// Bytes.
    message: usize,
    /// Seconds.
    interval: f64,
}

impl HandedOverVideo {
    /// From the data. `combinations` are pairs of numbers of videos and of TCP flows.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(
        papers: &Papers,
        (name, scenario): (&'static str, &str),
        combinations: &'static [(i64, i64)],
        plots: fn() -> Vec<Plot>,
    ) -> Result<Self, DataError> {
        let scenario = papers.scenario(scenario)?;
        let settings = papers.profile(scenario.profile())?;
        let seconds = |path| scenario.number_at(path).map(Duration::from_secs_f64);
        let Frames { message, interval } = scenario.read("traffic.video")?;
        let video = Video {
            message,
            interval: Duration::from_secs_f64(interval),
            messages: scenario.number_at("traffic.video_messages")? as u32,
            handover: Instant::ZERO + seconds("events.handover_at")?,
            set_up_before: seconds("events.set_up_before")?,
            second_path: scenario.read("events.second_path")?,
        };
        let bottleneck = Bottleneck {
            rate: scenario.number_at("topology.rate")?,
            round_trip: seconds("topology.rtt")?,
            queue: scenario.number_at("topology.queue_bytes")? as u64,
            loss: scenario.number_at("topology.loss")?,
            way_back: scenario.read("topology.ack_path")?,
        };
        let tcp = profile::tcp(&papers.profile(TCP)?)?;
        Ok(Self {
            name,
            combinations,
            plots,
            bottleneck,
            config: profile::config(&settings, video.message)?,
            mobile: profile::mobile(&settings)?,
            cubic: TcpConfig { congestion: Cubic::boxed, ..tcp.clone() },
            tcp,
            video,
            unrestricted: scenario.number_at("parameters.nr_bytes")? as usize,
            start_up: scenario.number_at("parameters.start_up_messages")? as usize,
            scenario,
        })
    }

    fn config(&self, cell: &Cell) -> Config {
        if cell.series == SEAMLESS {
            return self.mobile.clone();
        }
        let mut config = self.config.clone();
        config.congestion.initial_window = match cell.word("icw").parse() {
            Ok(packets) => InitialWindow::Packets(packets),
            Err(_) => InitialWindow::Bytes(self.unrestricted),
        };
        config
    }

    /// The measurement points that rows are about.
    fn points(&self) -> usize {
        self.scenario.axis("mp").len()
    }

    /// The end of the last measurement point.
    fn end(&self) -> Instant {
        Instant::ZERO + BIN * self.points() as u32
    }
}

impl Experiment for HandedOverVideo {
    fn name(&self) -> &str {
        self.name
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn rivals(&self) -> &[&'static str] {
        &[TCP]
    }

    fn axes(&self) -> Vec<Name> {
        ["nvideo", "ntcp", "icw", "msg", "mp"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        let all = [
            "mtt",
            "mmtt",
            "mmtt_start",
            "mtt_start",
            "mtt_ten",
            "tcp_thr",
            "tcp_thr_video",
            "tcp_thr_before",
            "video_rtx",
        ];
        all.map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        vec![
            (
                SEAMLESS.into(),
                "Config::mobile() with the window it brings along, handed over in the same way",
            ),
            (CUBIC.into(), "the paper's videos, and TCP flows with CUBIC instead of Reno's window"),
            (
                MEASURED.into(),
                "the paper's videos, and a HEARTBEAT that has measured a round trip on the second path before the handover",
            ),
        ]
    }

    fn cells(&self) -> Vec<Cell> {
        let (mut cells, mut variants) = (Vec::new(), Vec::new());
        for &(videos, flows) in self.combinations {
            let place = [("nvideo", vec![videos.into()]), ("ntcp", vec![flows.into()])];
            let [videos, flows] = place.clone();
            let paper = grid(&[videos, flows, ("icw", self.scenario.axis("icw"))]);
            let of = |series: &'static str| move |axes: Axes| Cell { series: series.into(), axes };
            cells.extend(paper.iter().cloned().map(of(PAPER)));
            cells.extend(grid(&place).into_iter().map(of(SEAMLESS)));
            for series in [CUBIC, MEASURED] {
                let all = paper.iter().cloned().map(of(series));
                variants.extend(all.filter(|cell| COMPARED.contains(&cell.word("icw"))));
            }
        }
        cells.extend(variants);
        cells
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut draws = Seed::from_u64(seed).stream("traffic.start", 0);
        // "s plus uniform(0, 0.033)" and "start uniform(0, 1) s" in the data.
        let mut video =
            Video { handover: self.video.handover + draws.duration_below(self.video.interval), ..self.video };
        if cell.series == MEASURED {
            video.second_path = SecondPath::Measured;
        }
        let flows =
            (0..cell.count("ntcp")).map(|_| Instant::ZERO + draws.duration_below(Duration::from_secs(1)));
        let videos = (self.config(cell), video, cell.count("nvideo") as u8);
        let tcp = if cell.series == CUBIC { &self.cubic } else { &self.tcp };
        let mut bed = SharedBottleneck::new(seed, self.bottleneck, videos, (tcp.clone(), flows.collect()));
        let _ = bed.watch(watch);
        bed.world.run_until(video.handover + FIRST);
        let retransmitted = bed.retransmitted();
        bed.world.run_until(self.end());
        let _ = bed.world.finish();
        Outcome { samples: self.samples(&bed, video, retransmitted), fingerprint: bed.world.trace_hash() }
    }

    fn plots(&self) -> Vec<Plot> {
        (self.plots)()
    }
}

impl HandedOverVideo {
    fn samples(&self, bed: &SharedBottleneck, video: Video, retransmitted: u64) -> Vec<Sample> {
        let took = |(number, &at): (u32, &Instant)| at - (video.handover + video.interval * number);
        let times: Vec<f64> = (0..).zip(bed.delivered()).map(|each| took(each).as_secs_f64()).collect();
        let mut whole = Sample::default();
        if times.len() >= video.messages as usize {
            whole.put("mmtt", times.iter().copied().fold(0.0, f64::max));
        }
        let mean_of_first =
            |count: usize| times.get(..count).map(|first| first.iter().sum::<f64>() / count as f64);
        whole.put_some("mtt_start", mean_of_first(START));
        whole.put_some("mtt_ten", mean_of_first(TEN));
        let first = times.get(..self.start_up);
        whole.put_some("mmtt_start", first.map(|first| first.iter().copied().fold(0.0, f64::max)));
        whole.put("video_rtx", retransmitted as f64);
        let throughput = |point: usize| bed.brought(point) as f64 * 8.0 / BIN.as_secs_f64();
        let mean = |points: core::ops::Range<usize>| {
            let count = points.len() as f64;
            points.map(throughput).sum::<f64>() / count
        };
        let point = |time: Instant| (time.as_nanos() / BIN.as_nanos() as u64) as usize;
        let (begin, end) = (point(video.handover), point(video.handover + video.interval * video.messages));
        whole.put("tcp_thr_video", mean(begin + 1..end));
        whole.put("tcp_thr_before", mean(begin - 2..begin));
        let mut samples = vec![whole];
        let mut put = |axis: &'static str, at: &Value, metric: &'static str, value: Option<f64>| {
            let mut sample = Sample { axes: vec![(axis.into(), at.clone())], ..Sample::default() };
            sample.put_some(metric, value);
            samples.push(sample);
        };
        for message in self.scenario.axis("msg") {
            let number = message.number().unwrap_or_default() as usize;
            put("msg", &message, "mtt", times.get(number).copied());
        }
        for at in self.scenario.axis("mp") {
            let point = at.number().unwrap_or_default() as usize;
            put("mp", &at, "tcp_thr", Some(throughput(point)));
        }
        samples
    }
}

/// One line for each initial window, one for our own profile, and one for each of the other `series`, which have the window and
/// the label named here.
fn lines(place: &Axes, label: &str, series: &[(&'static str, &str, &str)]) -> Vec<Line> {
    let line = |series: &'static str, window: &str, what: &str| {
        let mut at = place.clone();
        at.push(("icw".into(), window.into()));
        Line { label: format!("initial window {window}{label}{what}"), series: series.into(), at }
    };
    let paper = ["3", "10", "20", "NR"].into_iter().map(|window| line(PAPER, window, ""));
    let ours = Line { label: format!("seamless{label}"), series: SEAMLESS.into(), at: place.clone() };
    let others = series.iter().map(|&(series, window, what)| line(series, window, what));
    paper.chain([ours]).chain(others).collect()
}

fn place(videos: i64, flows: i64) -> Axes {
    vec![("nvideo".into(), videos.into()), ("ntcp".into(), flows.into())]
}

/// A panel with the transfer time of each message.
pub(crate) fn transfer_times(figure: &'static str, title: &str, videos: i64, flows: i64) -> Plot {
    Plot {
        figure,
        title: title.to_owned(),
        x: Quantity::axis("msg", "message").even(),
        y: Quantity::metric("mtt", "message transfer time, s"),
        lines: lines(
            &place(videos, flows),
            "",
            &[(MEASURED, "3", ", second path measured"), (MEASURED, "10", ", second path measured")],
        ),
    }
}

/// A panel with what is left to TCP.
pub(crate) fn throughputs(figure: &'static str, title: &str, videos: i64, flows: &[i64]) -> Plot {
    let label = |count| if flows.len() > 1 { format!(", {count} TCP") } else { String::new() };
    Plot {
        figure,
        title: title.to_owned(),
        x: Quantity::axis("mp", "measurement point of 5 s"),
        y: Quantity::metric("tcp_thr", "throughput of TCP, Mbit/s").times(1e-6),
        lines: flows
            .iter()
            .flat_map(|&count| lines(&place(videos, count), &label(count), &[(CUBIC, "10", ", CUBIC")]))
            .collect(),
    }
}
