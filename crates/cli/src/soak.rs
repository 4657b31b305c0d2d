//! `whimbrel soak`: random networks, faults and users in virtual time, from seed to seed.

use std::convert::Infallible;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::{Args, ValueEnum};
use whimbrel_soak::{Report, Watch, Worlds};

use crate::exit::Failure;

/// The first seeds are played twice, and must come out the same.
const TWICE: u64 = 5;

/// A world is told of when it has been played for this long; the longest that ends takes seconds.
const SLOW: Duration = Duration::from_secs(60);

/// Play random scenarios in virtual time
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  whimbrel soak --seeds 1000
  whimbrel soak --seed 4711 --seeds 1 --worlds rough --trace a.jsonl  replay one

Each seed makes its own networks, faults, configurations and traffic. When the faults are over, every message must have \
been delivered exactly once, whole, and in the order of its stream; both ends must be closed, with nothing left over. \
In some worlds hosts move: when they stand still, the paths must be the address pairs that there are. In others \
somebody attacks: who sees nothing must change nothing, and who sees everything must change neither addresses nor \
data that are authenticated. In rough ones networks fail in every way: no association may be lost, and a minute after the \
last trouble nothing may be stuck.")]
pub(crate) struct SoakArgs {
    /// How many seeds to play.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first of them.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only worlds of these sorts, each seed in each of them. A seed means another world in each.
    #[arg(long, value_enum, value_name = "SORT", value_delimiter = ',', default_values_t = [Sort::Mixed, Sort::Rough, Sort::Controllers, Sort::Multipath, Sort::Protected])]
    worlds: Vec<Sort>,
    /// Threads; one per processor unless given.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: Option<u64>,
    /// Capture every link of the run to this file, for Wireshark. Needs `--seeds 1` and one of `--worlds`.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write every event of the run to this file, one JSON object per line: packets, links, and what changes about paths
    /// (cwnd, rto, state). Needs `--seeds 1` and one of `--worlds`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print one JSON object per failure, and one at the end.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: SoakArgs) -> Result<(), Failure> {
    if (args.seeds > 1 || args.worlds.len() > 1) && (args.pcap.is_some() || args.trace.is_some()) {
        let what = "--pcap and --trace show one run: add --seeds 1, and one sort of --worlds";
        return Err(Failure::Usage(what.to_owned()));
    }
    let interrupt = crate::exit::interrupted();
    let shared = Arc::new(Shared::new(args));
    let (started, cpu) = (Instant::now(), cpu_time());
    let all = Arc::clone(&shared);
    let interrupted = tokio::select! {
        done = tokio::task::spawn_blocking(move || play(&all)) => {
            done??;
            false
        }
        never = tell_of_slow_worlds(&shared) => match never {},
        // The worlds that are being played are not waited for.
        _ = interrupt => true,
    };
    let mut played = shared.played();
    played.stopped = true;
    summarise(&shared.args, &played, started.elapsed(), cpu_time().saturating_sub(cpu));
    if interrupted {
        shared.playing().iter().for_each(|world| world.tell());
    }
    match (interrupted, played.failed) {
        (true, _) => Err(Failure::Interrupted("")),
        (false, 0) => Ok(()),
        (false, _) => Err(Failure::Reported),
    }
}

impl SoakArgs {
    /// Worlds to play.
    fn total(&self) -> u64 {
        self.seeds.saturating_mul(self.worlds.len() as u64)
    }
}

/// Sorts of worlds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Sort {
    /// Half are standing, a quarter moving, a quarter attacked
    Mixed,
    /// Hosts keep their addresses
    Standing,
    /// Addresses come and go
    Moving,
    /// Somebody attacks, on the path or off it; hosts stand or move
    Attacked,
    /// One host moves from behind one NAT to behind another, and the NATs forget it
    BehindNat,
    /// The profiles that users run, and networks that fail in every way, for up to a quarter of an hour
    Rough,
    /// All of these, and hosts have any congestion controller, and perhaps buffers that follow the path
    Controllers,
    /// The same, and hosts send on several paths at once
    Multipath,
    /// Any sort, and packets are encrypted
    Protected,
}

impl Sort {
    const fn worlds(self) -> Worlds {
        match self {
            Self::Mixed => Worlds::Mixed,
            Self::Standing => Worlds::Standing,
            Self::Moving => Worlds::Moving,
            Self::Attacked => Worlds::Attacked,
            Self::BehindNat => Worlds::BehindNat,
            Self::Rough => Worlds::Rough,
            Self::Controllers => Worlds::Controllers,
            Self::Multipath => Worlds::Multipath,
            Self::Protected => Worlds::Protected,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Standing => "standing",
            Self::Moving => "moving",
            Self::Attacked => "attacked",
            Self::BehindNat => "behind-nat",
            Self::Rough => "rough",
            Self::Controllers => "controllers",
            Self::Multipath => "multipath",
            Self::Protected => "protected",
        }
    }
}

/// What all threads work on.
struct Shared {
    args: SoakArgs,
    next: AtomicU64,
    played: Mutex<Played>,
    playing: Mutex<Vec<Playing>>,
}

/// A world that is being played.
#[derive(Clone, Debug)]
struct Playing {
    seed: u64,
    sort: Sort,
    since: Instant,
    /// It has been said that it takes long.
    told: bool,
}

impl Playing {
    /// Says on stderr which world it is: one that hangs never becomes a failure that names its seed.
    fn tell(&self) {
        let (seed, sort, seconds) = (self.seed, self.sort.name(), self.since.elapsed().as_secs());
        eprintln!(
            "seed {seed} has been played for {seconds} s; again: whimbrel soak --seed {seed} --seeds 1 --worlds {sort}"
        );
    }
}

/// What has been played so far.
#[derive(Default)]
struct Played {
    worlds: u64,
    failed: u64,
    report: Report,
    /// Nothing counts, or is told, from now on.
    stopped: bool,
}

impl Shared {
    fn new(args: SoakArgs) -> Self {
        Self { args, next: AtomicU64::new(0), played: Mutex::default(), playing: Mutex::default() }
    }

    fn played(&self) -> MutexGuard<'_, Played> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn playing(&self) -> MutexGuard<'_, Vec<Playing>> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells, once each, of worlds that take longer than any does that ends.
async fn tell_of_slow_worlds(shared: &Shared) -> Infallible {
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        for world in shared.playing().iter_mut().filter(|world| !world.told && world.since.elapsed() > SLOW) {
            world.told = true;
            world.tell();
        }
    }
}

/// Plays all there is to play.
fn play(shared: &Shared) -> anyhow::Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let jobs = shared.args.jobs.unwrap_or(cpus).min(shared.args.seeds);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(|| work(shared))).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(_) => Err(anyhow::anyhow!("a thread of the soak has panicked")),
        })
    })
}

fn work(shared: &Shared) -> anyhow::Result<()> {
    let args = &shared.args;
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= args.total() || shared.played().stopped {
            return Ok(());
        }
        let sorts = args.worlds.len() as u64;
        let seed = args.seed.wrapping_add(number / sorts);
        let sort = args.worlds[(number % sorts) as usize];
        shared.playing().push(Playing { seed, sort, since: Instant::now(), told: false });
        let result = play_one(args, seed, sort, number < TWICE).inspect_err(|_| {
            shared.played().stopped = true;
        });
        shared.playing().retain(|world| (world.seed, world.sort) != (seed, sort));
        let result = result?;
        let mut played = shared.played();
        if played.stopped {
            return Ok(());
        }
        played.worlds += 1;
        match result {
            Ok(report) => played.report += &report,
            Err(wrong) => {
                played.failed += 1;
                tell(args, seed, sort, &wrong);
            }
        }
    }
}

/// Plays one seed; `Ok(Err)` says what is wrong.
fn play_one(
    args: &SoakArgs,
    seed: u64,
    sort: Sort,
    twice: bool,
) -> anyhow::Result<Result<Report, Vec<String>>> {
    let watch = Watch { pcap: open(args.pcap.as_deref())?, trace: open(args.trace.as_deref())? };
    let report = match whimbrel_soak::run(seed, sort.worlds(), watch) {
        Ok(report) => report,
        Err(failure) => return Ok(Err(failure.wrong)),
    };
    let again = || whimbrel_soak::run(seed, sort.worlds(), Watch::default());
    if twice && again().map(|again| again.hash).ok() != Some(report.hash) {
        return Ok(Err(vec!["the same seed made another run".to_owned()]));
    }
    Ok(Ok(report))
}

fn open(path: Option<&Path>) -> anyhow::Result<Option<Box<dyn Write + Send>>> {
    let Some(path) = path else { return Ok(None) };
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Some(Box::new(BufWriter::new(file))))
}

fn tell(args: &SoakArgs, seed: u64, sort: Sort, wrong: &[String]) {
    let sort = sort.name();
    let replay = format!(
        "whimbrel soak --seed {seed} --seeds 1 --worlds {sort} --pcap soak.pcapng --trace soak.jsonl"
    );
    if args.json {
        say(format_args!("{}", serde_json::json!({ "seed": seed, "wrong": wrong, "replay": replay })));
    } else {
        say(format_args!("seed {seed} failed:\n  {}\n  replay: {replay}", wrong.join("\n  ")));
    }
}

fn summarise(args: &SoakArgs, played: &Played, wall: Duration, cpu: Duration) {
    let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
    let Played { worlds, failed, report, .. } = played;
    let virtual_seconds = report.virtual_time.as_secs_f64();
    let per_cpu = |amount: f64| amount / cpu.max(1e-9);
    let packets = (report.packets + report.dropped) as f64;
    if args.json {
        let summary = serde_json::json!({
            "seeds": args.seeds, "worlds": worlds, "failed": failed, "seconds": wall, "cpu_seconds": cpu,
            "virtual_seconds": virtual_seconds, "packets_delivered": report.packets, "packets_dropped": report.dropped,
            "messages": report.messages, "bytes": report.bytes, "associations": report.associations,
            "restarted": report.restarted, "aborted": report.aborted, "unreachable": report.unreachable,
            "connects_failed": report.connects_failed, "crashes": report.crashes,
            "moves": report.moves, "attacked": report.attacked,
            "longest_after_faults": report.after_faults.as_secs_f64(),
            "virtual_seconds_per_cpu_second": per_cpu(virtual_seconds), "packets_per_cpu_second": per_cpu(packets),
        });
        say(format_args!("{summary}"));
        return;
    }
    let passed = worlds - failed;
    let left = match args.total() {
        total if total > *worlds => format!("; {} of {total} were left", total - worlds),
        _ => String::new(),
    };
    say(format_args!("{passed} of {worlds} worlds passed in {wall:.1} s ({cpu:.1} s of CPU){left}"));
    say(format_args!(
        "  {virtual_seconds:.0} s of virtual time, {} packets delivered and {} dropped; per CPU second {:.0} s and {:.0} \
         packets",
        report.packets,
        report.dropped,
        per_cpu(virtual_seconds),
        per_cpu(packets)
    ));
    say(format_args!(
        "  {} messages, {:.1} MB, in {} associations' ends: {} restarted, {} aborted, {} lost to silence; {} failed \
         attempts to connect, {} crashes; {} moves; {} worlds attacked",
        report.messages,
        report.bytes as f64 / 1e6,
        report.associations,
        report.restarted,
        report.aborted,
        report.unreachable,
        report.connects_failed,
        report.crashes,
        report.moves,
        report.attacked
    ));
    say(format_args!(
        "  longest time to the end after the last fault: {:.1} s",
        report.after_faults.as_secs_f64()
    ));
}

/// A line on stdout.
fn say(line: std::fmt::Arguments<'_>) {
    crate::output::line(&line.to_string());
}

/// CPU time of this process so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
