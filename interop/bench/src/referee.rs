//! Starts the two ends of a transfer and hears their reports.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

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

    fn report(&mut self, deadline: Instant) -> anyhow::Result<EndReport> {
        while self.0.try_wait()?.is_none() {
            if Instant::now() > deadline {
                bail!("took too long");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = self.0.stdout.take().context("no output")?;
        for line in BufReader::new(output).lines() {
            if let Ok(report) = serde_json::from_str(&line?) {
                return Ok(report);
            }
        }
        bail!("said nothing ({})", self.0.wait()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already, mostly.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
