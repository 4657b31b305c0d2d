//! `whimbrel recv --detach`: a receiver that stays when whoever began it has gone, for `whimbrel send --ssh`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use crate::exit::Failure;
use crate::output;

/// Who has begun a receiver and does not come, or come again, within this time never does.
pub(super) const IDLE: Duration = Duration::from_secs(60);
/// Seconds for which nothing may be heard of the sender. One that has died begins another receiver, which finds what has arrived when this one
/// has let go of it.
pub(super) const PATIENCE: u64 = 600;

/// Begins the same command anew, as a process of its own, and prints its ticket when it listens.
pub(super) fn begin() -> Result<(), Failure> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--detach");
    let mut command = Command::new(program);
    command.args(arguments).arg("--detached");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot begin a receiver")?;
    let mut ticket = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut ticket).context("cannot read from the receiver")?;
    }
    if ticket.starts_with("whm1") {
        output::line(ticket.trim_end());
        return Ok(());
    }
    let mut errors = String::new();
    if let Some(mut err) = child.stderr.take() {
        err.read_to_string(&mut errors).context("cannot read from the receiver")?;
    }
    let _ = child.wait();
    let text = errors.trim_end();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    Err(Failure::Error(anyhow::anyhow!(
        "{}",
        if text.is_empty() { "the receiver ended at once" } else { text }
    )))
}

/// The receiver has no terminal from now on, and is not told when that of its beginner closes.
pub(super) fn leave_terminal() {
    // Who leads a session already has none to leave.
    let _ = rustix::process::setsid();
}
