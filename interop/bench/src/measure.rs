//! What one end reads about itself, in the words of `interop/common/bench.h`.

use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

/// The line that an end prints. Transfers fill in bytes and messages, set-ups the set-ups and memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EndReport {
    pub(crate) stack: String,
    pub(crate) role: String,
    pub(crate) size: usize,
    pub(crate) seconds: f64,
    pub(crate) bytes: u64,
    pub(crate) messages: u64,
    pub(crate) setups: usize,
    pub(crate) inflight: usize,
    pub(crate) cpu_user: f64,
    pub(crate) cpu_sys: f64,
    pub(crate) rss_before_kib: i64,
    pub(crate) rss_after_kib: i64,
}

impl EndReport {
    pub(crate) fn cpu(&self) -> f64 {
        self.cpu_user + self.cpu_sys
    }

    pub(crate) fn print(&self) -> anyhow::Result<()> {
        println!("{}", serde_json::to_string(self)?);
        Ok(())
    }
}

/// Clock and CPU time since a beginning.
pub(crate) struct Meter {
    start: Instant,
    user: f64,
    sys: f64,
}

impl Meter {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let (user, sys) = cpu()?;
        Ok(Self { start: Instant::now(), user, sys })
    }

    pub(crate) fn elapsed(&self) -> std::time::Duration {
        self.start.elapsed()
    }

    /// The readings up to now, as part of a report.
    pub(crate) fn read(&self) -> anyhow::Result<EndReport> {
        let (user, sys) = cpu()?;
        Ok(EndReport {
            seconds: self.start.elapsed().as_secs_f64(),
            cpu_user: user - self.user,
            cpu_sys: sys - self.sys,
            ..EndReport::default()
        })
    }
}

/// User and system seconds of this process, all threads.
fn cpu() -> anyhow::Result<(f64, f64)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    Ok((seconds(usage.user_time()), seconds(usage.system_time())))
}

/// Resident memory of this process, in KiB.
pub(crate) fn rss_kib() -> anyhow::Result<i64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: i64 = statm.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(pages * 4)
}
