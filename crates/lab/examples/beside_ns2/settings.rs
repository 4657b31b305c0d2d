//! What an experiment changes, by name.

use core::time::Duration;

use whimbrel_proto::{Config, InitialWindow, RetransmissionOrder, RetransmissionPath};

/// What differs from the lab's b08 Figure 7. Each is `NAME=VALUE` on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// `room`: packets of room that the access networks' queues have beyond the cell's.
    pub(crate) room: i64,
    /// `from`: the time in the run at which `events` begins to print.
    pub(crate) from: Option<Duration>,
    /// `trace`: the file to which `events` writes all that happens.
    pub(crate) trace: Option<String>,
    /// `pcap`: the file to which `events` writes what the mobile node's interfaces see.
    pub(crate) pcap: Option<String>,
    /// `slow-start-threshold`: bytes at which the first slow start on the primary path ends; without it, with a loss.
    pub(crate) slow_start_threshold: Option<usize>,
    /// `granularity` in seconds, `order=per-path`, `heartbeat` in seconds or `off`, `initial-window` and `receive-window` in bytes,
    /// `retransmit=same-path`.
    config: Vec<Change>,
    /// `pair`, `src`, `qs`, `pmr`: only cells with this value.
    only: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
enum Change {
    Granularity(Duration),
    Order(RetransmissionOrder),
    Heartbeat(Option<Duration>),
    InitialWindow(usize),
    ReceiveWindow(usize),
    /// What T3-rtx finds lost stays on its path, as what fast retransmission finds does.
    SamePath,
}

impl Settings {
    /// `None` if there is no such setting or value.
    pub(crate) fn parse(words: &[String]) -> Option<Self> {
        let mut this = Self::default();
        for word in words {
            let (name, value) = word.split_once('=')?;
            this.set(name, value)?;
        }
        Some(this)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let seconds = || value.parse().ok().map(Duration::from_secs_f64);
        match (name, value) {
            ("room", _) => self.room = value.parse().ok()?,
            ("granularity", _) => self.config.push(Change::Granularity(seconds()?)),
            ("order", "per-path") => self.config.push(Change::Order(RetransmissionOrder::PerPath)),
            ("heartbeat", "off") => self.config.push(Change::Heartbeat(None)),
            ("heartbeat", _) => self.config.push(Change::Heartbeat(Some(seconds()?))),
            ("initial-window", _) => self.config.push(Change::InitialWindow(value.parse().ok()?)),
            ("receive-window", _) => self.config.push(Change::ReceiveWindow(value.parse().ok()?)),
            ("retransmit", "same-path") => self.config.push(Change::SamePath),
            ("slow-start-threshold", _) => self.slow_start_threshold = Some(value.parse().ok()?),
            ("from", _) => self.from = Some(seconds()?),
            ("trace", _) => self.trace = Some(value.to_owned()),
            ("pcap", _) => self.pcap = Some(value.to_owned()),
            ("pair" | "src" | "qs" | "pmr", _) => self.only.push((name.to_owned(), value.to_owned())),
            _ => return None,
        }
        Some(())
    }

    /// Whether the cell with this value on this axis is asked for.
    pub(crate) fn asks_for(&self, axis: &str, value: &str) -> bool {
        self.only.iter().all(|(name, wanted)| name != axis || wanted == value)
    }

    /// Whether it is named.
    pub(crate) fn names(&self, axis: &str, value: &str) -> bool {
        self.only.iter().any(|(name, wanted)| name == axis && wanted == value)
    }

    /// Whether this is the lab's Figure 7.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.room == 0 && self.slow_start_threshold.is_none() && self.config.is_empty()
    }

    /// Changes the configuration of both hosts.
    pub(crate) fn apply(&self, config: &mut Config, message: usize) {
        for change in &self.config {
            match *change {
                Change::Granularity(granularity) => config.rto.granularity = granularity,
                Change::Order(order) => config.retransmission.order = order,
                Change::Heartbeat(interval) => config.heartbeat.interval = interval,
                Change::InitialWindow(bytes) => {
                    config.congestion.initial_window = InitialWindow::Bytes(bytes);
                }
                // As in the lab's profiles: a reader takes each message just after the SACK for it has left.
                Change::ReceiveWindow(bytes) => config.limits.receive_buffer = bytes + message,
                Change::SamePath => config.retransmission.path = RetransmissionPath::Primary,
            }
        }
    }
}
