//! From chunks to messages: reassembly (RFC 9260 §6.9), order within streams (§6.6), partial delivery.

mod parts;
mod progress;

use std::collections::VecDeque;

use bytes::Bytes;
use whimbrel_wire::{Data, StreamId};

use super::buffers::Buffers;
use super::early::Early;
use super::held::{BEGUN_WITHIN, Header, Held, INCONSISTENT, NO_BEGINNING, Run, SSN_REUSED};
use super::streams::NextSsns;
use super::window::HELD;
use crate::interface::{Delivery, Part, Received};

pub(super) const SSN_OUT_OF_ORDER: &str = "stream sequence number out of order";

/// Capacity for received messages that is kept when there are none.
const KEPT_READY: usize = 16;
/// A message's first allocation is never larger than this on account of the message before it.
const MAX_HINT: usize = 1 << 20;

/// Turns DATA chunks into messages.
///
/// At the cumulative TSN every earlier chunk has been received, so there at most one message is unfinished: it is
/// *built* in one contiguous buffer. Chunks beyond a gap are *held*, unless they are a whole message whose turn has come. What
/// is whole before its turn in its stream, with no gap before it, is *early*.
#[derive(Debug)]
pub(super) struct Reassembly {
    building: Option<Building>,
    held: Held,
    early: Early,
    next_ssns: NextSsns,
    ready: VecDeque<Received>,
    ready_bytes: usize,
    /// Partial delivery begins when a message in the making is larger than this (RFC 9260 §6.9); `usize::MAX`: never.
    pub(super) first_part: usize,
    /// It goes on whenever so much more is there.
    further_part: usize,
    /// Length of the fragmented message before: the next one is probably as long.
    hint: usize,
    buffers: Buffers,
    totals: Totals,
}

/// What has become of it so far.
#[derive(Debug, Default)]
struct Totals {
    /// Messages built of fragments.
    built: u64,
    /// Messages delivered to their end.
    messages: u64,
    /// Bytes delivered.
    bytes: u64,
}

/// The message that the cumulative TSN has got into.
#[derive(Debug)]
struct Building {
    header: Header,
    /// The position of the next fragment.
    next: u64,
    payload: Vec<u8>,
    /// Its beginning has been delivered.
    partial: bool,
}

impl Reassembly {
    pub(super) fn new(buffer: usize, buffers: Buffers) -> Self {
        Self {
            building: None,
            held: Held::default(),
            early: Early::default(),
            next_ssns: NextSsns::default(),
            ready: VecDeque::new(),
            ready_bytes: 0,
            first_part: buffer / 2,
            further_part: buffer / 4,
            hint: 0,
            buffers,
            totals: Totals::default(),
        }
    }

    /// Takes the chunk right after the cumulative TSN.
    #[inline]
    pub(super) fn in_order(&mut self, position: u64, data: &Data<'_>) -> Result<(), &'static str> {
        let header = Header::of(data);
        if self.building.is_some() {
            return self.continue_building(position, header, data);
        }
        if !data.beginning {
            return Err(NO_BEGINNING);
        }
        if data.ending {
            self.whole(&header, Bytes::copy_from_slice(data.payload))?;
        } else {
            self.turn(&header)?;
            let mut payload = self.buffers.take(self.hint.max(data.payload.len().saturating_mul(2)));
            payload.extend_from_slice(data.payload);
            self.building = Some(Building { header, next: position + 1, payload, partial: false });
            self.deliver_part_if_large();
        }
        Ok(())
    }

    /// Takes a chunk beyond a gap.
    pub(super) fn beyond_gap(&mut self, position: u64, data: &Data<'_>) -> Result<(), &'static str> {
        let header = Header::of(data);
        if data.beginning && data.ending && self.may_deliver(&header)? {
            self.deliver(&header, Part::Whole, Bytes::copy_from_slice(data.payload));
            self.finished(&header, false);
            return Ok(());
        }
        let Some(first) = self.held.insert(position, header, data)? else { return Ok(()) };
        if self.may_deliver(&header)? {
            self.deliver_held(first);
            self.finished(&header, false);
            Ok(())
        } else if header.delivery == Delivery::Ordered {
            if self.early.contains(header.stream, header.ssn) {
                return Err(SSN_REUSED);
            }
            self.held.wait(first, &header)
        } else {
            Ok(())
        }
    }

    /// The cumulative TSN has advanced over held chunks, up to `cumulative`.
    pub(super) fn advanced(&mut self, cumulative: u64) -> Result<(), &'static str> {
        while let Some((first, run)) = self.held.take_up_to(cumulative) {
            self.build_from(first, run)?;
        }
        Ok(())
    }

    /// The next message or part for the user.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Received> {
        let received = self.ready.pop_front()?;
        self.ready_bytes -= received.payload.len();
        if self.ready.is_empty() && self.ready.capacity() > KEPT_READY {
            self.ready = VecDeque::new();
        }
        Some(received)
    }

    /// The first message or part for the user that is `wanted`.
    pub(super) fn take(&mut self, wanted: impl Fn(&Received) -> bool) -> Option<Received> {
        let position = self.ready.iter().position(wanted)?;
        let received = self.ready.remove(position)?;
        self.ready_bytes -= received.payload.len();
        Some(received)
    }

    /// Drops the held chunk with the highest TSN if it is beyond `position`; returns where it was and its bytes.
    pub(super) fn drop_highest(&mut self, position: u64) -> Option<(u64, usize)> {
        self.held.drop_highest(position)
    }

    /// How many things are kept apart, as the window counts them: fragments beyond gaps and messages before their turn [`HELD`]
    /// times, messages and parts not yet taken, a message being built.
    #[inline]
    pub(super) fn items(&self) -> usize {
        let held = self.held.fragments() + self.early.len();
        HELD * held + self.ready.len() + usize::from(self.building.is_some())
    }

    /// Of [`Reassembly::items`], those that can be dropped, and their bytes.
    pub(super) fn droppable(&self) -> (usize, usize) {
        (HELD * self.held.fragments(), self.held.bytes())
    }

    /// Whether a message has begun and not ended, or waits for one before it, with no TSN missing.
    pub(super) fn is_unfinished(&self) -> bool {
        self.building.is_some() || !self.early.is_empty()
    }

    /// Whether nothing is here for the user, so that only the peer can make room, by sending what comes before the rest.
    pub(super) fn is_stuck(&self) -> bool {
        let building = self.building.as_ref().is_some_and(|building| !self.is_turn(&building.header));
        self.ready.is_empty() && (building || !self.early.is_empty())
    }

    /// Whether the message that is being built, and may not be delivered in parts, is larger than `buffer` with the next `len` bytes.
    pub(super) fn is_too_large(&self, len: usize, buffer: usize) -> bool {
        self.refuses_parts() && self.building.as_ref().is_some_and(|b| b.payload.len() + len > buffer)
    }

    fn refuses_parts(&self) -> bool {
        self.first_part == usize::MAX
    }

    pub(super) fn messages(&self) -> u64 {
        self.totals.messages
    }

    pub(super) fn bytes(&self) -> u64 {
        self.totals.bytes
    }

    /// Payload bytes not yet taken by the user.
    #[cfg(any(debug_assertions, test, fuzzing))]
    pub(super) fn kept_bytes(&self) -> usize {
        let built = self.building.as_ref().map_or(0, |building| building.payload.len());
        built + self.held.bytes() + self.early.bytes() + self.ready_bytes
    }

    /// Whether it is the turn of a message with no gap before it. An SSN that has been used is an error.
    #[inline]
    fn turn(&self, header: &Header) -> Result<bool, &'static str> {
        if self.is_turn(header) {
            return Ok(true);
        }
        if !self.next_ssns.next(header.stream).precedes(header.ssn) {
            return Err(SSN_OUT_OF_ORDER);
        }
        let used =
            self.early.contains(header.stream, header.ssn) || self.held.is_waiting(header.stream, header.ssn);
        if used { Err(SSN_REUSED) } else { Ok(false) }
    }

    #[inline]
    fn is_turn(&self, header: &Header) -> bool {
        !header.is_ordered() || header.ssn == self.next_ssns.next(header.stream)
    }

    /// A message is whole, and no gap is before it (RFC 9260 §6.6: held until its turn).
    #[inline]
    fn whole(&mut self, header: &Header, payload: Bytes) -> Result<(), &'static str> {
        if !self.turn(header)? {
            return self.early.keep(*header, payload);
        }
        self.deliver(header, Part::Whole, payload);
        self.finished(header, false);
        Ok(())
    }

    /// Whether a whole message from beyond a gap is to be delivered now.
    fn may_deliver(&self, header: &Header) -> Result<bool, &'static str> {
        let building = self
            .building
            .as_ref()
            .filter(|b| (b.header.stream, b.header.delivery) == (header.stream, header.delivery));
        match header.delivery {
            // Nothing comes between the parts of a message (see `Part`).
            Delivery::Unordered => Ok(!building.is_some_and(|building| building.partial)),
            Delivery::Ordered if building.is_some_and(|building| building.header.ssn == header.ssn) => {
                Err(SSN_REUSED)
            }
            Delivery::Ordered => Ok(header.ssn == self.next_ssns.next(header.stream)),
        }
    }

    fn continue_building(
        &mut self,
        position: u64,
        header: Header,
        data: &Data<'_>,
    ) -> Result<(), &'static str> {
        let Some(building) = &mut self.building else { return Err(NO_BEGINNING) };
        building.expect(position, &header, data.beginning)?;
        if data.ending {
            building.payload.reserve_exact(data.payload.len());
        }
        building.payload.extend_from_slice(data.payload);
        building.next += 1;
        if data.ending {
            return self.finish_building();
        }
        self.deliver_part_if_large();
        Ok(())
    }

    /// The held `run` at `first` has no gap before it any more.
    fn build_from(&mut self, first: u64, run: Run) -> Result<(), &'static str> {
        let building = match &mut self.building {
            Some(building) => {
                building.expect(first, &run.header, run.begins)?;
                building
            }
            None if !run.begins => return Err(NO_BEGINNING),
            None if run.ends => return self.whole(&run.header.clone(), run.into_payload()),
            None => {
                self.turn(&run.header)?;
                self.building.insert(Building {
                    header: run.header,
                    next: first,
                    payload: self.buffers.take(self.hint.max(run.bytes())),
                    partial: false,
                })
            }
        };
        run.append_to(&mut building.payload);
        building.next += run.fragments();
        if run.ends {
            return self.finish_building();
        }
        self.deliver_part_if_large();
        Ok(())
    }

    fn finish_building(&mut self) -> Result<(), &'static str> {
        let Some(building) = self.building.take() else { return Ok(()) };
        self.totals.built += 1;
        let Building { header, payload, partial, .. } = building;
        self.hint = if partial { 0 } else { payload.len().min(MAX_HINT).min(self.first_part) };
        let payload = self.buffers.lend(payload);
        if !partial {
            return self.whole(&header, payload);
        }
        self.deliver(&header, Part::Last, payload);
        self.finished(&header, true);
        Ok(())
    }

    /// A message has been delivered to its end: those that waited for it follow.
    #[inline]
    fn finished(&mut self, header: &Header, partial: bool) {
        match header.delivery {
            Delivery::Ordered => {
                self.next_ssns.advance(header.stream);
                if !self.held.is_empty() || !self.early.is_empty() {
                    self.deliver_successors(header.stream);
                }
                // It may be the turn of that which has grown large meanwhile.
                self.deliver_part_if_large();
            }
            Delivery::Unordered if partial => {
                for first in self.held.unordered(header.stream) {
                    self.deliver_held(first);
                }
            }
            Delivery::Unordered => {}
        }
    }

    fn deliver_successors(&mut self, stream: StreamId) {
        loop {
            let ssn = self.next_ssns.next(stream);
            let held = || self.held.take_waiting(stream, ssn).map(|run| (run.header, run.into_payload()));
            let Some((header, payload)) = self.early.take(stream, ssn).or_else(held) else { return };
            self.deliver(&header, Part::Whole, payload);
            self.next_ssns.advance(stream);
        }
    }

    fn deliver_held(&mut self, first: u64) {
        if let Some(run) = self.held.take(first) {
            self.deliver(&run.header.clone(), Part::Whole, run.into_payload());
        }
    }

    #[inline]
    fn deliver(&mut self, header: &Header, part: Part, payload: Bytes) {
        self.totals.messages += u64::from(matches!(part, Part::Whole | Part::Last));
        self.totals.bytes += payload.len() as u64;
        self.ready_bytes += payload.len();
        let Header { stream, ppid, delivery, .. } = *header;
        self.ready.push_back(Received { stream, ppid, delivery, part, payload });
    }

    #[cfg(any(debug_assertions, test, fuzzing))]
    /// Panics if the parts contradict each other. Walks everything held.
    pub(super) fn invariants(&self, cumulative: u64) {
        self.held.invariants(cumulative);
        assert_eq!(self.ready_bytes, self.ready.iter().map(|r| r.payload.len()).sum::<usize>());
        if let Some(building) = &self.building {
            assert!(building.next <= cumulative + 1);
            let limit = if building.partial { self.further_part } else { self.first_part };
            assert!(building.payload.len() <= limit || !self.is_turn(&building.header));
        }
    }
}

impl Building {
    /// Whether the chunk at `position` goes on with this message.
    #[inline]
    fn expect(&self, position: u64, header: &Header, begins: bool) -> Result<(), &'static str> {
        if begins {
            Err(BEGUN_WITHIN)
        } else if self.next != position || self.header != *header {
            Err(INCONSISTENT)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
#[path = "reassembly_tests.rs"]
mod tests;
