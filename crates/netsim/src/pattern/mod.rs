//! Losses and changes at positions that are known beforehand, as KauNet's patterns (Garcia et al., MobiEval 2007): the same file does
//! the same to the same packets, in virtual time and on an emulated cable.

mod file;
mod replay;

use core::fmt;
use core::time::Duration;

pub(crate) use replay::Replay;

/// Bytes of a pattern's text at most.
pub const TEXT_MAX: usize = 16 << 20;

/// Lines of a pattern that say something at most.
pub const STEPS_MAX: usize = 1 << 20;

/// What happens to the packets that come to one direction of a link, by their number or by the time of their coming.
///
/// A pattern sits at the entrance, in front of the queue, as in KauNet: what it drops uses no bottleneck, and every packet that is
/// offered counts, also one that finds no room afterwards. A new rate or delay holds for packets that come from then on; what
/// waits already keeps its times. (Where flows have queues of their own, it holds for what is served from then on.)
///
/// The text has one step a line; `#` begins a comment:
///
/// ```text
/// packet 12 drop             # the twelfth packet; the first is 1
/// packet 30-35 drop
/// packet 100 delay 80ms      # the hundredth and those after it
/// packet 200 rate 1mbit
/// ms 1500-1699 drop          # what comes 1.5 s after the beginning and until 1.7 s are over
/// ms 2000 rate none
/// ```
///
/// Steps may stand in any order. No position has two rates or two delays; where a packet number and a time change the same at
/// the same packet, the packet number's value holds.
///
/// ```
/// use whimbrel_netsim::Pattern;
///
/// let pattern = Pattern::parse("packet 2-3 drop\nms 500 delay 40ms\n")?;
/// assert_eq!(pattern.to_string(), "packet 2-3 drop\nms 500 delay 40ms\n");
/// assert_eq!(Pattern::parse("packet two drop").unwrap_err().to_string(), "line 1: 'two' is no position");
/// # Ok::<(), whimbrel_netsim::PatternError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pattern {
    /// Positions are numbers of packets, the first is 1.
    packets: Track,
    /// Positions are whole milliseconds since the beginning.
    times: Track,
}

/// The steps along one of the two clocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Track {
    /// First and last position of what is dropped: in order, without a position in common.
    drops: Vec<(u64, u64)>,
    /// In order, no two of the same kind at the same position.
    settings: Vec<(u64, Setting)>,
}

/// What holds from a position on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Setting {
    Delay(Duration),
    Rate(Option<u64>),
}

impl Setting {
    const fn name(self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Rate(_) => "rate",
        }
    }
}

/// Why a text is no pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternError {
    /// The line, from 1 on; 0 if it is about the whole.
    line: usize,
    what: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl core::error::Error for PatternError {}

#[cfg(test)]
#[path = "../pattern_tests.rs"]
mod tests;
