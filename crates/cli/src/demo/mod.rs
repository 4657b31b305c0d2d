//! `whimbrel demo`: a file survives the loss of its network, for everyone to see.
//!
//! Two real endpoints in this process, real UDP over loopback, two emulated access networks between them. Nothing
//! in the endpoints knows that this is a demo.

mod arrivals;
mod capture;
mod live;
mod networks;
mod page;
mod samples;
mod stage;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::json;
use whimbrel_machine::Seed;

use crate::exit::Failure;
use arrivals::Pause;
use capture::Overheard;
use live::Live;
use samples::Traffic;
use stage::Stage;

/// The file's size: some 12 seconds' worth.
const FILE_BYTES: usize = 40_000_000;
/// The Wi-Fi dies when this share of the file is through.
const CUT_AT: f64 = 0.4;
/// It comes back after this long.
const DEAD_FOR: Duration = Duration::from_millis(2500);
/// Everything ends within this time, one way or the other: 12 seconds on a machine with time to spare, more on one
/// that is too busy to play two networks at their full rate.
const LIMIT: Duration = Duration::from_secs(120);
/// Waits before the cut that say what is typical.
const BEFORE: Duration = Duration::from_secs(2);

/// Demo
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel demo
  whimbrel demo --out /tmp/demo.html --seed 7
  whimbrel demo --json
  whimbrel demo --capture .  packets of both networks, for Wireshark

Needs no rights and no network: both ends run here, over loopback, through two emulated networks.")]
pub(crate) struct DemoArgs {
    /// Where to write the page with the pictures.
    #[arg(long, value_name = "FILE", default_value = "whimbrel-demo.html")]
    out: PathBuf,
    /// For the file's content and the networks' losses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write what passes both networks to DIR, as pcapng files.
    #[arg(long, value_name = "DIR")]
    capture: Option<PathBuf>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// When things happened.
#[derive(Clone, Copy, Debug)]
struct Timeline {
    begin: Instant,
    begin_unix: SystemTime,
    cut: Instant,
    back: Option<Instant>,
    end: Instant,
}

impl Timeline {
    fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begin).as_secs_f64()
    }
}

/// Everything the page shows.
struct Story {
    timeline: Timeline,
    pause: Pause,
    traffic: Traffic,
    /// What somebody has who listens in both networks.
    overheard: [Overheard; 2],
    /// DATA chunks that were sent again.
    retransmitted: u64,
    bytes: u64,
    hash: blake3::Hash,
    /// When data went over which network from then on: seconds, network.
    moves: Vec<(f64, usize)>,
}

/// Runs the demo.
pub(crate) async fn run(args: DemoArgs) -> Result<(), Failure> {
    let wrong_place = || format!("cannot write {} (choose another place with --out)", args.out.display());
    check_place(&args.out).with_context(wrong_place)?;
    let live = Live::new(args.json);
    let outcome = tokio::select! {
        outcome = tokio::time::timeout(LIMIT, perform(&args, &live)) => outcome
            .ok()
            .context("the demo did not finish in time; is this machine very busy?")
            .and_then(|outcome| outcome),
        _ = crate::exit::interrupted() => {
            live.close();
            return Err(Failure::Interrupted(""));
        }
    };
    live.close();
    let story = outcome?;
    std::fs::write(&args.out, page::render(&story)?).with_context(wrong_place)?;
    report(&live, &story, &args);
    Ok(())
}

/// Whether the page can be written; better known before the show than after it.
fn check_place(path: &Path) -> io::Result<()> {
    let new = !path.exists();
    File::options().append(true).create(true).open(path)?;
    if new { std::fs::remove_file(path) } else { Ok(()) }
}

async fn perform(args: &DemoArgs, live: &Live) -> anyhow::Result<Story> {
    let seed = Seed::from_u64(args.seed);
    live.say("Whimbrel demo: one file, two networks, one of them dies half-way.");
    let stage = Stage::build(&seed, args.capture.as_deref()).await?;
    live.begin(&stage);
    let outcome = stage.play(live).await?;
    ensure!(
        outcome.verified,
        "the content that arrived is not what was sent, or did not arrive: {}",
        outcome.text
    );
    let pause = stage.arrivals.pause(outcome.timeline.cut, BEFORE, DEAD_FOR);
    let overheard = stage.overheard()?;
    let begin = outcome.timeline.begin_unix.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Story {
        timeline: outcome.timeline,
        pause: pause.context("no content arrived after the Wi-Fi died")?,
        traffic: samples::traffic(
            [&overheard[0].sightings, &overheard[1].sightings],
            begin.as_nanos() as u64,
        ),
        overheard,
        retransmitted: outcome.retransmitted,
        bytes: FILE_BYTES as u64,
        hash: outcome.hash,
        moves: outcome.moves,
    })
}

fn report(live: &Live, story: &Story, args: &DemoArgs) {
    let Story { timeline, pause, .. } = story;
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    let seconds = timeline.seconds(timeline.end);
    let sum = |of: fn(&Overheard) -> u64| story.overheard.iter().map(of).sum::<u64>();
    live.event(
        "summary",
        json!({
            "ok": true, "verified": true, "blake3": story.hash.to_hex().to_string(), "bytes": story.bytes,
            "seconds": seconds, "gap_ms": millis(pause.gap), "typical_spacing_ms": millis(pause.typical),
            "longest_spacing_before_ms": millis(pause.longest_before),
            "cut_at_seconds": timeline.seconds(timeline.cut),
            "back_at_seconds": timeline.back.map(|back| timeline.seconds(back)),
            "retransmitted": story.retransmitted, "protected": true,
            "overheard": {
                "packets": sum(|heard| heard.packets), "sealed": sum(|heard| heard.sealed),
                "revealing": sum(|heard| heard.revealing),
            },
            "page": args.out.to_string_lossy(),
        }),
    );
    live.say(&format!(
        "The file is complete after {seconds:.1} s, and its content verified: BLAKE3 {}… at both ends.",
        &story.hash.to_hex()[..16]
    ));
    live.say(&format!(
        "The pause when the Wi-Fi died: {:.0} ms without data. (Before, a piece came every {:.1} ms; the longest wait was {:.0} ms.)",
        millis(pause.gap),
        millis(pause.typical),
        millis(pause.longest_before)
    ));
    live.say(&format!(
        "All of it was encrypted: of the {} packets in both networks, {} the file's name or its first bytes.",
        sum(|heard| heard.packets),
        match sum(|heard| heard.revealing) {
            0 => "none shows".to_owned(),
            some => format!("{some} show"),
        }
    ));
    live.say(&format!("Pictures: {}", args.out.display()));
}
