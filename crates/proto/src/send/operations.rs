//! Random operations on [`Outstanding`], driven by bytes and compared with a naive model that is written from the
//! RFC: the body of a fuzz target and of a test.

use core::ops::Range;
use core::time::Duration;
use std::collections::BTreeSet;

use whimbrel_machine::Instant;
use whimbrel_wire::{PayloadProtocolId, Ssn, StreamId, Tsn};

use super::chunk::{ChunkState, Loss, data_chunk_len};
use super::loss::{Circumstances, MissIndications};
use super::outstanding::{Outstanding, SackError};
use super::recovery::{FastRecovery, RecoveryOfAssociation};
use super::report::{PathProof, Report};
use super::streams::Piece;
use crate::interface::PathId;
use crate::script::Script;

const PATHS: usize = 3;
const SIZES: [usize; 4] = [1, 3, 100, 1400];
/// Chunks sent in one run at most.
const MAX_CHUNKS: usize = 300;

/// Sends, acknowledgements true and false, timeouts and retransmissions.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, 4096);
    let mut model = Model::new(script.pick(&[Tsn(1), Tsn(u32::MAX - 7), Tsn(0x7fff_fff8), Tsn(0)]));
    while !script.is_empty() {
        model.operate(&mut script);
        model.compare();
    }
    model.finish();
}

#[derive(Clone, Debug)]
struct Sent {
    payload: usize,
    path: usize,
    state: ChunkState,
    misses: u8,
    fast_retransmitted: bool,
    several_paths: bool,
}

impl Sent {
    /// A miss indication (RFC 9260 §7.2.4).
    fn miss(&mut self) {
        if !self.fast_retransmitted {
            self.misses += 1;
            if self.misses >= 3 {
                self.state = ChunkState::Lost(Loss::Missing);
                self.fast_retransmitted = true;
            }
        }
    }
}

/// Everything ever sent, by number: chunk n has the n-th TSN.
struct Model {
    outstanding: Outstanding,
    initial: Tsn,
    now: Instant,
    sent: Vec<Sent>,
    /// How many chunks are acknowledged for good.
    cumulative: usize,
    /// What an honest receiver has.
    received: BTreeSet<usize>,
    released: usize,
}

impl Model {
    fn new(initial: Tsn) -> Self {
        Self {
            outstanding: {
                let mut outstanding = Outstanding::new(initial);
                (0..PATHS).for_each(|path| outstanding.add_path(PathId(path as u32)));
                outstanding
            },
            initial,
            now: Instant::ZERO,
            sent: Vec::new(),
            cumulative: 0,
            received: BTreeSet::new(),
            released: 0,
        }
    }

    fn tsn(&self, number: usize) -> Tsn {
        self.initial.plus(number as u32)
    }

    fn left(&self) -> usize {
        self.sent.len() - self.cumulative
    }

    fn operate(&mut self, script: &mut Script<'_>) {
        self.now += Duration::from_millis(1);
        match script.below(12) {
            0..3 => (0..=script.below(8)).for_each(|_| self.push(script)),
            3..5 => self.arrive(script),
            5..8 => self.honest_sack(script),
            8 => self.hostile_sack(script),
            9 => self.time_out(script.below(PATHS)),
            10 => self.retransmit(script),
            _ => match script.below(4) {
                0 => self.shutdown_ack(script),
                // The receiver reneges (RFC 9260 §6.2).
                1 => _ = self.received.pop_last(),
                _ => self.retransmit_all(script.below(PATHS)),
            },
        }
    }

    fn push(&mut self, script: &mut Script<'_>) {
        if self.sent.len() >= MAX_CHUNKS {
            return;
        }
        let (payload, path) = (script.pick(&SIZES), script.below(PATHS));
        let piece = Piece {
            payload: vec![0; payload].into(),
            ppid: PayloadProtocolId(self.sent.len() as u32),
            stream: StreamId(0),
            ssn: Ssn(0),
            unordered: false,
            beginning: true,
            ending: true,
            immediate: false,
            urgent: false,
        };
        let expected = (self.tsn(self.sent.len()), data_chunk_len(payload));
        let (tsn, chunk) = self.outstanding.push(piece, PathId(path as u32), self.now, true);
        assert_eq!((tsn, chunk.wire_len()), expected);
        self.sent.push(Sent {
            payload,
            path,
            state: ChunkState::InFlight,
            misses: 0,
            fast_retransmitted: false,
            several_paths: false,
        });
    }

    /// A chunk reaches the receiver.
    fn arrive(&mut self, script: &mut Script<'_>) {
        if self.left() > 0 {
            let number = self.cumulative + script.below(self.left());
            self.received.insert(number);
        }
    }

    /// RFC 9260 §6.3.3 E3.
    fn time_out(&mut self, path: usize) {
        let any = self.outstanding.lose_all(PathId(path as u32));
        let mut expected = false;
        for chunk in &mut self.sent[self.cumulative..] {
            if chunk.path == path && chunk.state == ChunkState::InFlight {
                expected = true;
                chunk.state = ChunkState::Lost(Loss::Timeout);
                chunk.misses = 0;
                chunk.fast_retransmitted = false;
            }
        }
        assert_eq!(any, expected);
    }

    fn lost(&self) -> Vec<usize> {
        let lost = |n: &usize| matches!(self.sent[*n].state, ChunkState::Lost(_));
        (self.cumulative..self.sent.len()).filter(lost).collect()
    }

    fn retransmit(&mut self, script: &mut Script<'_>) {
        let lost = self.lost();
        if !lost.is_empty() {
            self.retransmit_one(lost[script.below(lost.len())], script.below(PATHS));
        }
    }

    fn retransmit_all(&mut self, path: usize) {
        self.lost().into_iter().for_each(|number| self.retransmit_one(number, path));
    }

    fn retransmit_one(&mut self, number: usize, path: usize) {
        self.outstanding.retransmit(self.tsn(number), PathId(path as u32), self.now, true);
        let chunk = &mut self.sent[number];
        chunk.state = ChunkState::InFlight;
        chunk.misses = 0;
        chunk.several_paths |= chunk.path != path;
        chunk.path = path;
    }

    fn honest_sack(&mut self, script: &mut Script<'_>) {
        let first_missing = (self.cumulative..).find(|n| !self.received.contains(n)).unwrap_or(0);
        self.received.retain(|&n| n >= first_missing);
        let mut blocks: Vec<(u16, u16)> = Vec::new();
        for &number in &self.received {
            let offset = (number + 1 - first_missing) as u16;
            match blocks.last_mut() {
                Some((_, end)) if *end + 1 == offset => *end = offset,
                _ => blocks.push((offset, offset)),
            }
        }
        // RFC 9260 §6.7: as many as fit.
        blocks.truncate(1 + script.below(32));
        self.sack(first_missing as i64, &blocks, script.one_in(2));
    }

    fn hostile_sack(&mut self, script: &mut Script<'_>) {
        let cumulative = self.cumulative as i64
            + script.pick(&[0, 0, 0, 0, 1, 2, 5, -1, -3, 400, i64::from(i32::MAX), i64::from(-i32::MAX)]);
        let mut at = 0;
        let blocks: Vec<_> = (0..script.below(6))
            .map(|_| match script.below(8) {
                0 => (script.u16(), script.u16()),
                1 => (script.below(20) as u16, script.below(40) as u16),
                _ => {
                    let start = at + 1 + script.below(4) as u16;
                    at = start + script.below(4) as u16;
                    (start, at)
                }
            })
            .collect();
        self.sack(cumulative, &blocks, script.one_in(2));
    }

    /// RFC 9260 §6.2.1 and §7.2.4, the slow way.
    fn sack(&mut self, cumulative: i64, blocks: &[(u16, u16)], in_fast_recovery: bool) {
        let tsn = self.initial.plus(cumulative as u32).prev();
        let mut recovery = RecoveryOfAssociation::default();
        _ = in_fast_recovery.then(|| recovery.begin(&[PathId(0)], tsn));
        let (now, overtaken) = (self.now, Default::default());
        let met = Circumstances { now, recovery: &recovery, flows: &[], overtaken, packets: 1 };
        let rule = &mut MissIndications::new(3);
        let result = self.outstanding.on_sack(tsn, blocks.iter().copied(), core::iter::empty(), rule, met);
        let reach = blocks.iter().map(|&(_, end)| i64::from(end)).max().unwrap_or(0);
        if let Some(error) = self.refusal(cumulative, reach) {
            assert_eq!(result.err(), Some(error));
            return;
        }
        let report = result.expect("a SACK that can be true");
        let before = self.sent.clone();
        let gone = core::mem::replace(&mut self.cumulative, cumulative as usize)..cumulative as usize;
        let (covered, reported) = self.covered(blocks);
        let newly = |n: &usize| before[*n].state != ChunkState::GapAcknowledged;
        let highest_new = covered.iter().copied().filter(newly).max();
        let horizon = if in_fast_recovery && !gone.is_empty() { reported } else { highest_new };
        for number in self.cumulative..self.sent.len() {
            let chunk = &mut self.sent[number];
            let reneged = !covered.contains(&number) && chunk.state == ChunkState::GapAcknowledged;
            if covered.contains(&number) {
                chunk.state = ChunkState::GapAcknowledged;
                chunk.misses = 0;
            } else if reneged {
                chunk.state = ChunkState::InFlight;
            }
            // One indication per SACK: for being below what is newly acknowledged (§7.2.4, HTNA), or for having
            // been dropped by the receiver (§6.2.1 D iii).
            let missing = reneged || horizon.is_some_and(|horizon| number < horizon);
            if chunk.state == ChunkState::InFlight && missing {
                chunk.miss();
            }
        }
        self.check_report(&before, gone, &covered, &report);
    }

    fn refusal(&self, cumulative: i64, reach: i64) -> Option<SackError> {
        // TSNs are compared in serial arithmetic: half of them are older.
        let ahead = (cumulative - self.cumulative as i64) as i32;
        if ahead < 0 {
            Some(SackError::Old)
        } else {
            (i64::from(ahead) + reach > self.left() as i64).then_some(SackError::NeverSent)
        }
    }

    /// The chunks that the sane blocks cover, and the highest TSN they name.
    fn covered(&self, blocks: &[(u16, u16)]) -> (BTreeSet<usize>, Option<usize>) {
        let mut covered = BTreeSet::new();
        let mut last = 1;
        for &(start, end) in blocks {
            if start > last && end >= start {
                covered.extend((start..=end).map(|offset| self.cumulative + usize::from(offset) - 1));
                last = end;
            }
        }
        let highest = covered.last().copied();
        (covered, highest)
    }

    /// `before` is how things stood before, `gone` what is now acknowledged for good.
    fn check_report(
        &mut self,
        before: &[Sent],
        gone: Range<usize>,
        covered: &BTreeSet<usize>,
        report: &Report,
    ) {
        let newly: Vec<usize> = gone
            .clone()
            .chain(covered.iter().copied())
            .filter(|&n| before[n].state != ChunkState::GapAcknowledged)
            .collect();
        assert_eq!(report.paths.iter().any(|acks| acks.acked > 0), !newly.is_empty());
        assert_eq!(report.cumulative_advanced, !gone.is_empty());
        let released: usize = before[gone].iter().map(|chunk| chunk.payload).sum();
        assert_eq!(report.released, released);
        self.released += released;
        for path in 0..PATHS {
            let on = |n: &&usize| before[**n].path == path;
            let wire = |n: &usize| data_chunk_len(before[*n].payload);
            let acked: usize = newly.iter().filter(on).map(wire).sum();
            let entry = report.paths.iter().find(|acks| acks.path == PathId(path as u32));
            assert_eq!(entry.map_or(0, |acks| acks.acked), acked);
            let fell = |n: &usize| {
                let (was, is) = (before[*n].state, self.sent[*n].state);
                was != is && self.sent[*n].path == path && is == ChunkState::Lost(Loss::Missing)
            };
            let lost = (self.cumulative..self.sent.len()).any(|n| fell(&n));
            assert_eq!(entry.is_some_and(|acks| acks.lost), lost);
            // RFC 9260 §8.2: what counts for the path is an answer within the RTO, to what went there alone.
            let proof = |n: &usize| match before[*n].state {
                _ if before[*n].several_paths => PathProof::None,
                ChunkState::Lost(Loss::Timeout) => PathProof::Late,
                _ => PathProof::InTime,
            };
            let strongest = newly.iter().filter(on).map(proof).max();
            assert_eq!(
                entry.map_or(PathProof::None, |acks| acks.proof),
                strongest.unwrap_or(PathProof::None)
            );
        }
        assert!(report.paths.len() <= PATHS);
    }

    /// The Cumulative TSN Ack of a SHUTDOWN (RFC 9260 §3.3.8).
    fn shutdown_ack(&mut self, script: &mut Script<'_>) {
        let cumulative = self.cumulative as i64 + script.pick(&[0, 1, 3, -1, 500]);
        let tsn = self.initial.plus(cumulative as u32).prev();
        let mut result = self.outstanding.acknowledge_up_to(tsn, 0);
        _ = result.as_mut().map(|report| self.outstanding.renege_next(&mut MissIndications::new(3), report));
        if let Some(error) = self.refusal(cumulative, 0) {
            assert_eq!(result.err(), Some(error));
            return;
        }
        let before = self.sent.clone();
        let gone = core::mem::replace(&mut self.cumulative, cumulative as usize)..cumulative as usize;
        // What follows the Cumulative TSN Ack immediately cannot have been kept.
        let next = self.sent.get_mut(self.cumulative);
        if let Some(next) = next.filter(|chunk| chunk.state == ChunkState::GapAcknowledged) {
            next.state = ChunkState::InFlight;
            next.miss();
        }
        self.check_report(&before, gone, &BTreeSet::new(), &result.expect("it can be true"));
    }

    fn compare(&self) {
        let outstanding = &self.outstanding;
        outstanding.invariants();
        assert_eq!(outstanding.next_tsn(), self.tsn(self.sent.len()));
        assert_eq!(outstanding.cumulative_ack_point(), self.tsn(self.cumulative).prev());
        assert_eq!((outstanding.len(), outstanding.is_empty()), (self.left(), self.left() == 0));
        let lost: Vec<Tsn> = self.lost().into_iter().map(|n| self.tsn(n)).collect();
        assert_eq!(outstanding.lost().map(|(tsn, ..)| tsn).collect::<Vec<_>>(), lost);
        assert_eq!(outstanding.has_lost(), !lost.is_empty());
        let mut flight = [0; PATHS];
        let mut earliest = [None; PATHS];
        let (mut held, mut in_flight) = (0, 0);
        for (number, chunk) in self.sent.iter().enumerate().skip(self.cumulative) {
            let real = outstanding.get(self.tsn(number)).expect("outstanding");
            assert_eq!(real.data(Tsn(0)).ppid, PayloadProtocolId(number as u32), "content moved");
            let expected = (chunk.state, PathId(chunk.path as u32), chunk.several_paths);
            assert_eq!((real.state, real.path, real.several_paths), expected, "chunk {number}");
            held += chunk.payload;
            if chunk.state == ChunkState::InFlight {
                in_flight += chunk.payload;
                flight[chunk.path] += data_chunk_len(chunk.payload);
                earliest[chunk.path].get_or_insert(self.tsn(number));
            }
        }
        assert_eq!((outstanding.held_payload(), outstanding.in_flight_payload()), (held, in_flight));
        for (path, &first) in earliest.iter().enumerate() {
            assert_eq!(outstanding.flight_size(PathId(path as u32)), flight[path]);
            assert_eq!(outstanding.earliest_in_flight(PathId(path as u32)), first);
        }
        assert!(outstanding.get(self.tsn(self.sent.len())).is_none());
    }

    /// Everything arrives in the end: all of it is released, once.
    fn finish(&mut self) {
        self.retransmit_all(0);
        self.sack(self.sent.len() as i64, &[], false);
        self.compare();
        (0..PATHS).for_each(|path| assert_eq!(self.outstanding.flight_size(PathId(path as u32)), 0));
        assert_eq!(self.released, self.sent.iter().map(|chunk| chunk.payload).sum::<usize>());
    }
}

#[cfg(test)]
#[path = "operations_tests.rs"]
mod tests;
