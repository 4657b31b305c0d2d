//! What b09's profile says of concurrent transfer.

use whimbrel_proto::{
    Config, LossDetection, NewRoute, OutOfOrder, OvertakenSacks, PathScheduler, RecoveryScope,
    RetransmissionOrder, RetransmissionPath, WindowGrowth,
};

use crate::experiment::Cell;
use crate::scenario::{DataError, Settings};
use crate::value::Value;

/// The algorithms of CMT that a sender has, and what goes with them (paper b09 section III).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Concurrency {
    /// Which path carries new data.
    scheduler: PathScheduler,
    /// Each path's window grows by what is acknowledged of that path (cwnd update for CMT).
    pub(crate) cuc: bool,
    /// Miss indications are counted for each path by itself (split fast retransmit).
    pub(crate) sfr: bool,
    /// Data out of order is acknowledged like any other (delayed acknowledgement for CMT).
    pub(crate) dac: bool,
    /// One time-out makes a path potentially failed (CMT-PF).
    pub(crate) potentially_failed: bool,
    pub(crate) policy: RetransmissionPath,
    pub(crate) pmr: u32,
    /// Miss indications that make a chunk lost.
    threshold: u8,
    ssthresh: Threshold,
}

/// The slow-start threshold of a fresh path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threshold {
    /// So many bytes.
    Fixed(usize),
    /// The peer's window, but so many bytes at least.
    Window(usize),
}

impl Threshold {
    fn new(profile: &Settings) -> Result<Self, DataError> {
        if let Ok(bytes) = profile.number("ssthresh") {
            return Ok(Self::Fixed(bytes as usize));
        }
        let word = profile.word("ssthresh");
        let least = word.strip_prefix("max(").and_then(|rest| rest.strip_suffix(", rbuf)"));
        let least = least.and_then(|bytes| bytes.parse().ok());
        least.map(Self::Window).ok_or_else(|| DataError(format!("there is no ssthresh {word}")))
    }
}

impl Concurrency {
    /// Bytes: the slow-start threshold of a fresh path to a host with this receive buffer.
    pub(crate) fn ssthresh(&self, buffer: usize) -> usize {
        match self.ssthresh {
            Threshold::Fixed(bytes) => bytes,
            Threshold::Window(least) => least.max(buffer),
        }
    }

    /// That of a profile.
    ///
    /// # Errors
    /// When a value is missing, or is none that there is.
    pub(crate) fn new(profile: &Settings) -> Result<Self, DataError> {
        let algorithms = profile.get("cmt_algorithms").and_then(toml::Value::as_array);
        let names: Vec<&str> = algorithms.into_iter().flatten().filter_map(toml::Value::as_str).collect();
        let has = |name: &str| names.contains(&name);
        let scheduler = match profile.word("scheduler") {
            "fill-where-window-open, round robin" => PathScheduler::RoundRobin,
            "fill-where-window-open, lowest round trip" => PathScheduler::LowestRoundTrip,
            other => return Err(DataError(format!("there is no scheduler {other}"))),
        };
        Ok(Self {
            scheduler,
            cuc: has("cuc"),
            sfr: has("sfr"),
            dac: has("dac"),
            potentially_failed: has("pf"),
            policy: policy(profile.word("cmt_rtx_policy"))?,
            pmr: profile.number("pmr_cmt")? as u32,
            threshold: profile.number("frtx_threshold")? as u8,
            ssthresh: Threshold::new(profile)?,
        })
    }

    /// The same with what the axes of a cell say instead.
    pub(crate) fn of(&self, cell: &Cell) -> Self {
        let mut this = self.clone();
        let switches = [
            ("cuc", &mut this.cuc),
            ("sfr", &mut this.sfr),
            ("dac", &mut this.dac),
            ("pf", &mut this.potentially_failed),
        ];
        for (axis, switch) in switches {
            match cell.word(axis) {
                "on" => *switch = true,
                "off" => *switch = false,
                _ => {}
            }
        }
        if let Ok(policy) = policy(cell.word("policy")) {
            this.policy = policy;
        }
        if let Some(pmr) = cell.get("pmr").and_then(Value::number) {
            this.pmr = pmr as u32;
        }
        this
    }

    /// A configuration with it.
    pub(crate) fn apply(&self, mut config: Config) -> Config {
        config.multipath.scheduler = self.scheduler;
        config.multipath.growth =
            if self.cuc { WindowGrowth::PathPoints } else { WindowGrowth::CumulativePoint };
        config.multipath.overtaken = OvertakenSacks::Ignored;
        config.retransmission.loss = if self.sfr {
            LossDetection::SplitMissIndications(self.threshold)
        } else {
            LossDetection::MissIndications(self.threshold)
        };
        config.retransmission.recovery = RecoveryScope::Path;
        config.retransmission.path = self.policy;
        // Each path has a buffer of its own: what waits for one holds up no other (b09 section III.A).
        config.retransmission.order = RetransmissionOrder::PerPath;
        config.sack.new_route = NewRoute::Delay;
        config.sack.out_of_order = if self.dac { OutOfOrder::Delay } else { OutOfOrder::AcknowledgeAtOnce };
        config.failure.path_max_retrans = self.pmr;
        config.failure.potentially_failed_max_retrans = self.potentially_failed.then_some(0);
        config
    }
}

/// The retransmission policy of this name (b09 section III.A, its reference 3).
pub(crate) fn policy(name: &str) -> Result<RetransmissionPath, DataError> {
    match name {
        "rtx-same" => Ok(RetransmissionPath::Same),
        "rtx-asap" => Ok(RetransmissionPath::WithRoom),
        "rtx-cwnd" => Ok(RetransmissionPath::LargestWindow),
        "rtx-ssthresh" => Ok(RetransmissionPath::LargestThreshold),
        "rtx-lossrate" => Ok(RetransmissionPath::LeastLoss),
        other => Err(DataError(format!("there is no retransmission policy {other}"))),
    }
}
