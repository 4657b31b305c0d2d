#[path = "command.rs"]
mod command;

use core::time::Duration;
use std::io::Write;

use anyhow::Context as _;
use clap::Parser;
use tokio::io::{AsyncBufReadExt, BufReader};
use tun_rs::{AsyncDevice, DeviceBuilder, Layer};
use whimbrel_emulator::{Cable, Direction};
use whimbrel_machine::Seed;
use whimbrel_netsim::{DirectionStats, DropReason, LinkConfig, Loss, QueueLimit, units};

use self::command::Order;

/// Frames read in one go, before the other end gets a turn.
const BATCH: usize = 64;

/// The longest frame of a TAP device.
const FRAME_MAX: usize = 65_550;

/// An emulated cable between two TAP devices.
///
/// Makes the devices A and B; move each into a network namespace, give it an address and set it up. What goes into one comes out
/// of the other after the bottleneck (rate, drop-tail queue) and the wire (delay, jitter, loss), the same model as in
/// virtual time. Says `{"ready":true}` when the devices exist. Reads commands from standard input, one a line, and ends with it:
///
///   cut                        carries nothing from now on; the devices keep their carrier
///   mend                       carries again
///   rate 5mbit | none          delay 30ms      jitter 2ms      loss 1%
///   mtu 1280                   drops longer IP packets and tells nobody
///   queue 2000 | 225000bytes   so many packets, or bytes, may wait in front of the bottleneck
///   pattern FILE               drops packets and changes delay and rate at positions, counted from now on
///   forth rate 1mbit           only from A to B; `back` only from B to A
#[derive(Parser, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:\n  mkfifo wifi; exec 3<>wifi\n  whimbrel-wire mn-wifi ap-wifi --rate 20mbit --delay 10ms --queue 100 <&3 &\n  ip link set mn-wifi netns mobile; ip link set ap-wifi netns router\n  echo cut >&3"
)]
struct Options {
    /// Name of the first device.
    a: String,
    /// Name of the second device.
    b: String,
    /// Rate of both directions: kbit, mbit, gbit or none.
    #[arg(long, default_value = "none", value_parser = |text: &str| units::rate(text).map(Rate))]
    rate: Rate,
    /// Time on the wire, one way.
    #[arg(long, default_value = "0ms", value_parser = units::duration)]
    delay: Duration,
    /// Each packet takes up to this much longer.
    #[arg(long, default_value = "0ms", value_parser = units::duration)]
    jitter: Duration,
    /// Packets overtake each other where jitter lets them, instead of waiting behind one another.
    #[arg(long)]
    overtaking: bool,
    /// Share of packets that the wire loses.
    #[arg(long, default_value = "0", value_parser = command::loss)]
    loss: Loss,
    /// Packets, or bytes as in `225000bytes`, that may wait in front of the bottleneck.
    #[arg(long, default_value = "100", value_parser = command::queue)]
    queue: QueueLimit,
    /// A file with a pattern that both directions follow from the beginning on: `packet 12 drop`, `packet 30-35 drop`, `ms 1500-1699 drop`,
    /// `packet 100 delay 80ms`, `ms 2000 rate 1mbit`, one a line. Every frame counts.
    #[arg(long)]
    pattern: Option<String>,
    /// Waits with a timer of less than a tenth of a millisecond. Otherwise a wait ends once in a millisecond, and what is due until then arrives as one
    /// burst: that matters where a queue holds a few packets.
    #[arg(long)]
    exact: bool,
    /// Decides which packets are lost and how much they jitter.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Keeps clap from taking `None` for an option that was not given.
#[derive(Clone, Copy, Debug)]
struct Rate(Option<u64>);

pub(crate) fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(options))
}

async fn run(options: Options) -> anyhow::Result<()> {
    let (a, b) = (device(&options.a)?, device(&options.b)?);
    let config = LinkConfig {
        rate_bps: options.rate.0,
        queue: options.queue,
        delay: options.delay,
        jitter: options.jitter,
        keep_order: !options.overtaking,
        loss: options.loss,
        ..LinkConfig::default()
    };
    let mut cable = Cable::new(config, config, Seed::from_u64(options.seed));
    if let Some(file) = &options.pattern {
        cable.follow(Direction::Both, &command::pattern(file)?);
    }
    say(&serde_json::json!({"ready": true, "a": options.a, "b": options.b}))?;
    let sleep = if options.exact { Sleep::Exact } else { Sleep::Timer };
    carry(&mut cable, &a, &b, sleep).await?;
    let (forth, back) = cable.stats();
    say(&serde_json::json!({"forth": summary(&forth), "back": summary(&back)}))
}

fn device(name: &str) -> anyhow::Result<AsyncDevice> {
    DeviceBuilder::new().name(name).layer(Layer::L2).enable(false).build_async().with_context(|| {
        format!("cannot make the TAP device {name} (this needs root or CAP_NET_ADMIN, and /dev/net/tun)")
    })
}

/// Until standard input ends.
async fn carry(cable: &mut Cable, a: &AsyncDevice, b: &AsyncDevice, sleep: Sleep) -> anyhow::Result<()> {
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    let mut buffer = vec![0; FRAME_MAX];
    loop {
        let next = cable.next_due();
        tokio::select! {
            line = commands.next_line() => match line? {
                Some(line) => match command::parse(&line) {
                    Ok((direction, Order::Change(change))) => cable.set(direction, change),
                    Ok((direction, Order::Follow(pattern))) => cable.follow(direction, &pattern),
                    Err(error) => eprintln!("whimbrel-wire: {error:#}"),
                },
                None => return Ok(()),
            },
            ready = a.readable() => { ready?; read(cable, a, true, &mut buffer); }
            ready = b.readable() => { ready?; read(cable, b, false, &mut buffer); }
            () = sleep.until(next) => {}
        }
        // A device that is down, or whose queue is full, takes no frame: it is lost, as on a cable that nobody listens to.
        cable.deliver(|forth, frame| drop(if forth { b.try_send(frame) } else { a.try_send(frame) }));
    }
}

/// Reads what there is. A device that is down has nothing.
fn read(cable: &mut Cable, from: &AsyncDevice, forth: bool, buffer: &mut [u8]) {
    for _ in 0..BATCH {
        match from.try_recv(buffer) {
            Ok(length) => cable.offer(forth, &buffer[..length]),
            Err(_) => break,
        }
    }
}

/// Tokio's timers have a resolution of 1 ms.
const TICK: Duration = Duration::from_millis(1);

/// How it is waited.
#[derive(Clone, Copy, Debug)]
enum Sleep {
    Timer,
    /// The last two ticks in a thread whose sleep is exact.
    Exact,
}

impl Sleep {
    async fn until(self, at: Option<std::time::Instant>) {
        let Some(at) = at else { return core::future::pending().await };
        let Self::Exact = self else { return tokio::time::sleep_until(at.into()).await };
        if let Some(early) = at.checked_sub(TICK * 2)
            && early > std::time::Instant::now()
        {
            tokio::time::sleep_until(early.into()).await;
        }
        let left = at.saturating_duration_since(std::time::Instant::now());
        if !left.is_zero() {
            let _ = tokio::task::spawn_blocking(move || std::thread::sleep(left)).await;
        }
    }
}

fn summary(stats: &DirectionStats) -> serde_json::Value {
    serde_json::json!({
        "packets": stats.delivered_packets,
        "bytes": stats.delivered_bytes,
        "lost": stats.dropped_for(DropReason::Loss),
        "no_room": stats.dropped_for(DropReason::Queue),
        "queue_bytes_max": stats.queue_bytes_max,
    })
}

fn say(value: &serde_json::Value) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    Ok(out.flush()?)
}
