use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::arrivals::{Arrivals, Transmission};

/// A segment that is sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    at: Instant,
    /// The number of its last transmission among all of the connection's.
    order: u64,
    /// It has been sent more than once, so its acknowledgement measures nothing (Karn's rule, RFC 6298 §3).
    again: bool,
    sacked: bool,
    lost: bool,
    /// It has been sent again since it was taken for lost.
    repaired: bool,
}

impl Sent {
    /// The bytes that count as being in the network (RFC 6675 §4, SetPipe): a segment that is neither acknowledged nor
    /// lost, or lost and sent again.
    const fn pipe(&self) -> u64 {
        if !self.sacked && (!self.lost || self.repaired) { self.bytes } else { 0 }
    }

    /// The offset after its last byte, by which it can be found even if half of it has been acknowledged.
    pub(crate) const fn end(&self) -> u64 {
        self.offset + self.bytes
    }

    /// Its last transmission.
    pub(crate) const fn transmission(&self) -> Transmission {
        Transmission { order: self.order, at: self.at, again: self.again }
    }
}

/// What an acknowledgement did to the scoreboard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Acknowledged {
    /// Bytes the cumulative point has moved.
    pub(crate) bytes: u64,
    /// Bytes newly reported by SACK blocks.
    pub(crate) sacked: u64,
    /// It is a duplicate acknowledgement (RFC 5681 §2).
    pub(crate) duplicate: bool,
    /// When the last segment that it acknowledges was sent, if that measures the round trip.
    pub(crate) sent_at: Option<Instant>,
    /// What it reports that was not known to have arrived.
    pub(crate) arrivals: Arrivals,
    /// The edges of data that has come twice (DSACK, RFC 2883).
    pub(crate) duplicated: Option<(u64, u64)>,
    /// When it came.
    pub(crate) now: Instant,
    /// The smoothed round-trip time before it came.
    pub(crate) srtt: Option<Duration>,
}

/// The data sent and not acknowledged cumulatively, as offsets into the stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    acknowledged: u64,
    end: u64,
    pipe: u64,
    /// Bytes that are reported by SACK.
    sacked: u64,
    /// Segments sent, repeated ones included.
    transmissions: u64,
    /// All that is not acknowledged below this is already marked as lost.
    lost_below: u64,
    /// No segment below this is lost and waits to be sent again.
    repaired_below: u64,
}

impl Scoreboard {
    /// The first offset not acknowledged (SND.UNA).
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The offset after the last byte sent (SND.NXT, HighData).
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Bytes sent and not acknowledged cumulatively (FlightSize).
    pub(crate) const fn flight(&self) -> u64 {
        self.end - self.acknowledged
    }

    /// Bytes in the network (RFC 6675, pipe).
    pub(crate) const fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Bytes sent, not acknowledged cumulatively, and reported by SACK.
    pub(crate) const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// New data was sent.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        let (offset, order) = (self.end, self.transmissions);
        self.transmissions += 1;
        let fresh =
            Sent { offset, bytes, at: now, order, again: false, sacked: false, lost: false, repaired: false };
        self.segments.push_back(fresh);
        self.end += bytes;
        self.pipe += bytes;
    }

    /// Takes in the cumulative point; offsets never sent are ignored.
    pub(crate) fn acknowledge(&mut self, offset: u64, result: &mut Acknowledged) {
        if offset <= self.acknowledged || offset > self.end {
            return;
        }
        result.bytes = offset - self.acknowledged;
        self.acknowledged = offset;
        while let Some(first) = self.segments.front_mut()
            && first.offset < offset
        {
            if first.offset + first.bytes > offset {
                // A peer that acknowledges half a segment.
                let rest = first.end() - offset;
                self.pipe -= first.pipe();
                if first.sacked {
                    self.sacked -= first.bytes - rest;
                } else {
                    result.arrivals.bytes += first.bytes - rest;
                }
                (first.offset, first.bytes) = (offset, rest);
                self.pipe += first.pipe();
                break;
            }
            self.pipe -= first.pipe();
            if first.sacked {
                self.sacked -= first.bytes;
            } else {
                result.arrivals.add(first.end(), first.bytes, first.transmission());
            }
            result.sent_at = (!first.again).then_some(first.at);
            self.segments.pop_front();
        }
    }

    /// Takes in a SACK block (RFC 2018 §4).
    pub(crate) fn sack(&mut self, left: u64, right: u64, result: &mut Acknowledged) {
        let first = self.segments.partition_point(|segment| segment.offset < left);
        for segment in self.segments.range_mut(first..) {
            if segment.offset + segment.bytes > right {
                break;
            }
            if !segment.sacked {
                self.pipe -= segment.pipe();
                segment.sacked = true;
                self.sacked += segment.bytes;
                result.sacked += segment.bytes;
                result.arrivals.add(segment.end(), segment.bytes, segment.transmission());
            }
        }
    }

    /// Takes the first segment for lost.
    pub(crate) fn lose_first(&mut self) {
        if let Some(first) = self.segments.front_mut().filter(|first| !first.sacked) {
            self.pipe -= first.pipe();
            (first.lost, first.repaired) = (true, false);
            self.pipe += first.pipe();
            self.repaired_below = self.repaired_below.min(first.offset);
        }
    }

    /// Takes for lost every segment above which more than `bytes` bytes are reported by SACK (RFC 6675 §4, IsLost).
    pub(crate) fn lose_overtaken(&mut self, bytes: u64) {
        let mut above = 0;
        let mut index = self.segments.len();
        while index > 0 && above <= bytes {
            index -= 1;
            let segment = &self.segments[index];
            if segment.offset < self.lost_below {
                return;
            }
            above += if segment.sacked { segment.bytes } else { 0 };
        }
        if above <= bytes {
            return;
        }
        let Some(limit) = self.segments.get(index).map(|segment| segment.offset) else { return };
        for segment in self.segments.range_mut(..index).rev() {
            if segment.offset < self.lost_below {
                break;
            }
            if !segment.sacked && !segment.lost {
                self.pipe -= segment.pipe();
                segment.lost = true;
                self.repaired_below = self.repaired_below.min(segment.offset);
            }
        }
        self.lost_below = self.lost_below.max(limit);
    }

    /// Whether the first segment is taken for lost.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|first| first.lost)
    }

    /// Takes everything for lost that is not reported by SACK: the retransmission timer has expired.
    pub(crate) fn lose_all(&mut self) {
        for segment in &mut self.segments {
            segment.lost |= !segment.sacked;
            segment.repaired = false;
        }
        self.pipe = 0;
        self.lost_below = self.end;
        self.repaired_below = self.acknowledged;
    }

    /// The first segment that is lost and has not been sent again.
    pub(crate) fn next_lost(&mut self) -> Option<Sent> {
        let first = self.segments.partition_point(|segment| segment.offset < self.repaired_below);
        let found = self
            .segments
            .range(first..)
            .find(|segment| segment.lost && !segment.sacked && !segment.repaired)
            .copied();
        self.repaired_below = found.map_or(self.end, |segment| segment.offset);
        found
    }

    /// The segment at `offset` was sent again.
    pub(crate) fn on_repaired(&mut self, now: Instant, offset: u64) {
        let index = self.segments.partition_point(|segment| segment.offset < offset);
        if let Some(segment) = self.segments.get_mut(index) {
            self.pipe -= segment.pipe();
            (segment.at, segment.again, segment.repaired) = (now, true, true);
            segment.order = self.transmissions;
            self.transmissions += 1;
            self.pipe += segment.pipe();
        }
    }

    /// The segment that ends at `end`, if it is outstanding.
    pub(crate) fn ending_at(&self, end: u64) -> Option<&Sent> {
        self.index_of(end).map(|index| &self.segments[index])
    }

    /// The last segment sent for the first time.
    pub(crate) fn last(&self) -> Option<Sent> {
        self.segments.back().copied()
    }

    /// Whether the transmission of the segment that ends at `end` is its last one, and neither reported nor taken for lost.
    pub(crate) fn is_on_its_way(&self, end: u64, order: u64) -> bool {
        self.ending_at(end).is_some_and(|segment| segment.order == order && segment.pipe() > 0)
    }

    /// Takes the segment that ends at `end` for lost, its retransmission if it has been sent again.
    pub(crate) fn lose(&mut self, end: u64) {
        let Some(index) = self.index_of(end).filter(|&index| !self.segments[index].sacked) else { return };
        let segment = &mut self.segments[index];
        self.pipe -= segment.pipe();
        (segment.lost, segment.repaired) = (true, false);
        self.repaired_below = self.repaired_below.min(segment.offset);
    }

    fn index_of(&self, end: u64) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.end() < end);
        self.segments.get(index).filter(|segment| segment.end() == end).map(|_| index)
    }

    /// Checks what must hold between calls; for tests.
    #[cfg(test)]
    pub(crate) fn invariants(&self) {
        assert_eq!(self.pipe, self.segments.iter().map(Sent::pipe).sum::<u64>());
        let sacked = self.segments.iter().filter(|segment| segment.sacked);
        assert_eq!(self.sacked, sacked.map(|segment| segment.bytes).sum::<u64>());
        assert_eq!(self.flight(), self.segments.iter().map(|segment| segment.bytes).sum::<u64>());
        let waits = |segment: &&Sent| segment.lost && !segment.sacked && !segment.repaired;
        assert!(self.segments.iter().find(waits).is_none_or(|first| first.offset >= self.repaired_below));
    }
}

#[cfg(test)]
#[path = "scoreboard_tests.rs"]
mod tests;
