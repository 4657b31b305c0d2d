//! `[traffic]`: what one end sends to the other.

use core::time::Duration;

use serde::Deserialize;
use whimbrel_machine::Instant;
use whimbrel_rivals::tcp;

use super::world::after;
use crate::setups::traffic::{ConstantRate, File, Greedy, Schedule, Traffic as Source};

/// Bytes that are with the transport and not acknowledged: more than can be in flight.
const BACKLOG: usize = 8 << 20;
/// Of small messages not so many that they fill the memory.
const BACKLOG_MESSAGES: usize = 16_384;

/// What is sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Traffic {
    pub(super) kind: Kind,
    /// Bytes of each message, or of the file.
    pub(super) size: u64,
    /// Mbit/s at a constant rate.
    pub(super) rate: Option<f64>,
    /// Messages in a second of a video.
    pub(super) frames: Option<f64>,
    /// Messages of a video; it does not end unless given.
    pub(super) count: Option<u64>,
    /// Milliseconds after which a message is worth nothing.
    pub(super) deadline: Option<f64>,
    #[serde(default)]
    pub(super) from: End,
    /// Seconds after the start; some time in the second before it unless given.
    pub(super) start: Option<f64>,
    /// It begins up to so many seconds later, uniformly.
    #[serde(default)]
    pub(super) spread: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// As much as possible.
    Bulk,
    ConstantRate,
    /// One file, and then nothing.
    File,
    /// Messages of one size at a frame rate.
    Video,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::ConstantRate => "constant-rate",
            Self::File => "file",
            Self::Video => "video",
        }
    }
}

/// Which end sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum End {
    /// The correspondent node.
    #[default]
    Cn,
    /// The host in the access networks.
    Mn,
}

impl Traffic {
    /// Between two messages, of what is sent at even intervals.
    pub(super) fn interval(&self) -> Option<f64> {
        match self.kind {
            Kind::ConstantRate => self.rate.map(|rate| self.size as f64 * 8.0 / (rate * 1e6)),
            Kind::Video => self.frames.map(|frames| 1.0 / frames),
            Kind::Bulk | Kind::File => None,
        }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline.map(|deadline| after(deadline / 1e3))
    }

    /// How many bytes there are in all, where they end.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self.kind {
            Kind::File => Some(self.size),
            Kind::Video => self.count.map(|count| count.saturating_mul(self.size)),
            Kind::Bulk | Kind::ConstantRate => None,
        }
    }

    /// What an SCTP host sends, and when its messages are made if that is known beforehand: from `begins` on, be there an association or not.
    pub(super) fn source(&self, begins: Instant) -> (Box<dyn Source>, Option<Schedule>) {
        let size = self.size as usize;
        match self.kind {
            Kind::Bulk => {
                let backlog = BACKLOG.min(size.saturating_mul(BACKLOG_MESSAGES));
                (Box::new(Greedy::new(size, backlog)), None)
            }
            Kind::File => (Box::new(File::new(self.size, BACKLOG as u64)), None),
            Kind::ConstantRate | Kind::Video => {
                let interval = self.interval().map_or(Duration::MAX, after);
                let even = ConstantRate::every(size, interval, self.count.unwrap_or(u64::MAX));
                let even = even.starting(begins);
                let schedule = even.schedule();
                (Box::new(even), Some(schedule))
            }
        }
    }

    /// What a TCP host sends, with messages that are made at the same times.
    pub(super) fn tcp_source(&self, begins: Instant) -> Box<dyn tcp::Source> {
        match self.kind {
            Kind::Bulk => Box::new(tcp::Greedy),
            Kind::File => Box::new(tcp::File(self.size)),
            Kind::ConstantRate | Kind::Video => {
                let interval = self.interval().map_or(Duration::MAX, after);
                let even = tcp::ConstantRate::new(self.size, interval, self.count.unwrap_or(u64::MAX));
                Box::new(even.starting(begins))
            }
        }
    }
}
