use std::sync::Arc;

use whimbrel_machine::Instant;

use super::{Pattern, Setting, Track};

/// A pattern at work on one direction of a link.
#[derive(Debug)]
pub(crate) struct Replay {
    pattern: Arc<Pattern>,
    begin: Instant,
    /// Packets that have come.
    packets: u64,
    by_packet: Cursor,
    by_time: Cursor,
}

/// How far a track has been followed.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    drops: usize,
    settings: usize,
}

/// What a pattern has to say when a packet comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Verdict {
    /// The packet is lost.
    pub(crate) lost: bool,
    /// A new delay, from this packet on.
    pub(crate) delay: Option<core::time::Duration>,
    /// A new rate, from this packet on.
    pub(crate) rate: Option<Option<u64>>,
}

impl Replay {
    pub(crate) fn new(pattern: Arc<Pattern>, begin: Instant) -> Self {
        Self { pattern, begin, packets: 0, by_packet: Cursor::default(), by_time: Cursor::default() }
    }

    /// A packet comes at `now`, which never runs backwards.
    pub(crate) fn next(&mut self, now: Instant) -> Verdict {
        self.packets += 1;
        let ms = now.saturating_since(self.begin).as_millis() as u64;
        let mut verdict = Verdict::default();
        self.by_time.advance(&self.pattern.times, ms, &mut verdict);
        self.by_packet.advance(&self.pattern.packets, self.packets, &mut verdict);
        verdict
    }
}

impl Cursor {
    fn advance(&mut self, track: &Track, position: u64, verdict: &mut Verdict) {
        while let Some(&(from, setting)) = track.settings.get(self.settings)
            && from <= position
        {
            match setting {
                Setting::Delay(delay) => verdict.delay = Some(delay),
                Setting::Rate(rate) => verdict.rate = Some(rate),
            }
            self.settings += 1;
        }
        while track.drops.get(self.drops).is_some_and(|&(_, last)| last < position) {
            self.drops += 1;
        }
        verdict.lost |= track.drops.get(self.drops).is_some_and(|&(first, _)| first <= position);
    }
}
