//! `whimbrel paths`: the associations of all this user's processes and the paths they have.

mod narrow;
mod rows;
mod screen;

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::control::ask_all;
use crate::exit::Failure;
use rows::{Sample, plain};

/// Paths
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel paths         a live table; q or Ctrl-C ends it
  whimbrel paths --once  once, as text
  whimbrel paths --json --once | jq '.processes[].associations[].paths[].state'

It shows the send, recv and perf commands of the same user, by sockets that only their owner can use, in \
$XDG_RUNTIME_DIR/whimbrel, /run/user/UID/whimbrel or /tmp/whimbrel-UID.")]
pub(crate) struct PathsArgs {
    /// Print once and exit; the default when the output is not a terminal.
    #[arg(long)]
    once: bool,
    /// Print one JSON object per second and line; with --once, one.
    #[arg(long)]
    json: bool,
    /// Seconds between two looks.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    interval: f64,
}

/// Between the two looks that rates need when there is only one table.
const SHORT: Duration = Duration::from_millis(300);

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds, from 0.1 to 3600".into()),
    }
}

pub(crate) async fn run(args: PathsArgs) -> Result<(), Failure> {
    let interval = Duration::from_secs_f64(args.interval);
    if !args.json && !args.once && std::io::stdout().is_terminal() {
        let handle = tokio::runtime::Handle::current();
        return Ok(tokio::task::spawn_blocking(move || screen::show(&handle, interval)).await??);
    }
    let mut before = Sample::take(ask_all().await?, None);
    if args.once || !args.json {
        tokio::time::sleep(SHORT).await;
        let now = Sample::take(ask_all().await?, Some(&before));
        print(&now, args.json);
        return Ok(());
    }
    let mut tick = tokio::time::interval(interval);
    tick.tick().await;
    // One future for all rounds: a Ctrl-C that comes while another branch is busy must not be lost.
    let mut interrupt = std::pin::pin!(crate::exit::interrupted());
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            _ = &mut interrupt => return Ok(()),
        }
        let now = Sample::take(ask_all().await?, Some(&before));
        if !print(&now, true) {
            return Ok(());
        }
        before = now;
    }
}

/// The width of the lines: what `COLUMNS` says, else the terminal's. What is no terminal takes lines of any length, a path
/// each: programs look for lines.
fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    if let Some(columns) = said.filter(|columns| *columns > 0) {
        return Some(columns);
    }
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let (columns, _) = ratatui::crossterm::terminal::size().ok()?;
    Some(usize::from(columns))
}

/// False when nobody reads any more.
fn print(sample: &Sample, json: bool) -> bool {
    if json {
        let fields = json!({ "processes": sample.to_json(), "failed": sample.failures() });
        return crate::output::json_line("paths", fields);
    }
    crate::output::text(plain(&sample.rows(), &sample.failures(), columns()).as_bytes())
}
