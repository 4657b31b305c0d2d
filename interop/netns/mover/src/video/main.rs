//! Paper e13 on real stacks: a video over Whimbrel that is handed over, and bulk TCP of the kernel. See `--help`.

mod bulk;
mod clock;
mod profile;
mod sctp;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::profile::Window;

/// A video over Whimbrel that is handed over from one path to another, and bulk TCP of the kernel beside it.
///
/// All times are seconds after `--begin`, a time of the system's clock (seconds since 1970) that all processes of a run are told.
#[derive(Parser, Debug)]
#[command(version)]
struct Options {
    /// When the run begins, in seconds since 1970.
    #[arg(long)]
    begin: f64,
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand, Debug)]
enum Role {
    /// Sends the video: on the first path at first, on the second from the handover on.
    Serve {
        /// Own addresses on the two paths.
        #[arg(long, num_args = 2, required = true)]
        local: Vec<IpAddr>,
        /// The viewer's addresses on the two paths.
        #[arg(long, num_args = 2, required = true)]
        to: Vec<IpAddr>,
        /// Initial congestion window: packets of 1500 bytes, or NR for 100,000 bytes, which do not restrict.
        #[arg(long, default_value = "3")]
        window: Window,
        /// When message 0 is sent, the first on the second path.
        #[arg(long)]
        handover: f64,
        /// For so long before the handover the video runs on the first path.
        #[arg(long, default_value_t = 5.0)]
        ahead: f64,
        #[command(flatten)]
        video: Video,
    },
    /// Watches the video: prints one JSON object with the transfer time of each message from number 0 on.
    View {
        /// Own addresses on the two paths.
        #[arg(long, num_args = 2, required = true)]
        local: Vec<IpAddr>,
        /// Gives up then.
        #[arg(long)]
        until: f64,
        #[command(flatten)]
        video: Video,
    },
    /// Sends as much as TCP lets it, until the other end goes away.
    Flow {
        /// The sink.
        to: SocketAddr,
        /// When it connects.
        #[arg(long, default_value_t = 0.0)]
        start: f64,
        /// The kernel's congestion control: cubic, reno, bbr.
        #[arg(long, default_value = "cubic")]
        congestion: String,
    },
    /// Takes what one flow sends: prints one JSON object after each measurement point.
    Sink {
        /// Where it listens.
        listen: SocketAddr,
        /// Seconds of a measurement point.
        #[arg(long, default_value_t = 5.0)]
        point: f64,
    },
}

#[derive(Args, Clone, Copy, Debug)]
struct Video {
    /// Messages from the handover on.
    #[arg(long, default_value_t = 1970)]
    messages: u32,
    /// Milliseconds between messages.
    #[arg(long, default_value_t = 33)]
    interval: u32,
    /// Bytes of a message, at least 24.
    #[arg(long, default_value_t = 6395, value_parser = clap::value_parser!(u32).range(24..=60_000))]
    size: u32,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begin = clock::Begin::new(options.begin)?;
    runtime.block_on(async {
        match options.role {
            Role::Serve { local, to, window, handover, ahead, video } => {
                let [handover, ahead] = [handover, ahead].map(Duration::try_from_secs_f64);
                let plan = sctp::Plan { handover: handover?, ahead: ahead?, video };
                sctp::serve(begin, [&local, &to], window, plan).await
            }
            Role::View { local, until, video } => {
                sctp::view(begin, &local, Duration::try_from_secs_f64(until)?, video).await
            }
            Role::Flow { to, start, congestion } => {
                bulk::flow(begin, to, Duration::try_from_secs_f64(start)?, &congestion).await
            }
            Role::Sink { listen, point } => {
                bulk::sink(begin, listen, Duration::try_from_secs_f64(point)?).await
            }
        }
    })
}
