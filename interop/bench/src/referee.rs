//! Starts the two ends of a transfer and hears their reports.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::measure::EndReport;

/// Head start of the server.
const HEAD_START: Duration = Duration::from_millis(250);

/// What the two ends of a transfer report.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) server: EndReport,
    pub(crate) client: EndReport,
}

impl Pair {
    /// User bytes delivered per second of the receiver's clock, in MB.
    pub(crate) fn goodput(&self) -> f64 {
        self.server.bytes as f64 / self.server.seconds / 1e6
    }

    /// CPU seconds of both ends per GB delivered.
    pub(crate) fn cpu_per_gb(&self) -> f64 {
        self.cpu() / (self.server.bytes as f64 / 1e9)
    }

    /// Messages delivered per second.
    pub(crate) fn messages(&self) -> f64 {
        self.server.messages as f64 / self.server.seconds
    }

    /// CPU seconds of both ends.
    pub(crate) fn cpu(&self) -> f64 {
        self.server.cpu() + self.client.cpu()
    }
}

/// One match: what to start, and how long it may take.
pub(crate) struct Match {
    /// Arguments of the server, then of the client.
    pub(crate) ends: [Vec<String>; 2],
    pub(crate) limit: Duration,
}

impl Match {
    /// Plays it with `program` at both ends.
    pub(crate) fn play(&self, program: &Path) -> anyhow::Result<Pair> {
        let mut server = Running::start(program, &self.ends[0])?;
        std::thread::sleep(HEAD_START);
        let mut client = Running::start(program, &self.ends[1])?;
        let deadline = Instant::now() + self.limit;
        let client = client.report(deadline).context("the client")?;
        let server = server.report(deadline).context("the server")?;
        Ok(Pair { server, client })
    }
}

/// An end at work; killed if it is dropped early.
struct Running(Child);

impl Running {
    fn start(program: &Path, arguments: &[String]) -> anyhow::Result<Self> {
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self(child))
    }

    /// Waits for the end to close its output. Nothing looks after it meanwhile: a referee that woke up every few milliseconds
    /// drove two ends that take turns on one processor apart, and measured that.
    fn report(&mut self, deadline: Instant) -> anyhow::Result<EndReport> {
        let mut output = self.0.stdout.take().context("no output")?;
        let (finished, whole) = mpsc::channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            // Whoever waited may have given up.
            let _ = finished.send(output.read_to_string(&mut text).map(|_| text));
        });
        let patience = deadline.saturating_duration_since(Instant::now());
        let text = whole.recv_timeout(patience).context("took too long")??;
        let report = text.lines().find_map(|line| serde_json::from_str(line).ok());
        report.with_context(|| format!("said nothing: {text:?}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already, mostly.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
