//! The receiving half of an association (RFC 9260 §6.2, §6.5 to §6.7, §6.9).
//!
//! ```text
//! DATA -> TSN map -> room in the window? -> reassembly, order of the stream -> pop() -> release()
//!              \-> acknowledgement -> write_sack()
//! ```
//!
//! Leaf state: it does no I/O and starts no timers; [`Receive::ack_deadline`] says when to come back.
//!
//! What a peer can make it hold is bounded: payload by the receive buffer, bookkeeping by [`window::OVERHEAD`], TSNs
//! by [`tsn_map::WINDOW`], duplicates by [`acknowledgement::MAX_DUPLICATES`], streams by two bytes each.

mod acknowledgement;
mod allowance;
mod buffers;
mod early;
mod held;
mod memory;
mod non_renegable;
#[cfg(any(test, fuzzing))]
pub(crate) mod operations;
mod outcome;
mod prompt;
mod reassembly;
mod refused;
mod sacks;
mod streams;
mod tsn_map;
#[cfg(any(test, fuzzing))]
pub(crate) mod tsn_map_operations;
mod turn;
mod view;
mod window;

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{Data, Tsn};

use self::acknowledgement::{Acknowledgement, Urgency};
pub(crate) use self::buffers::Buffers;
pub(crate) use self::memory::Memory;
pub(crate) use self::outcome::DataOutcome;
use self::prompt::Prompt;
use self::reassembly::Reassembly;
use self::sacks::LastSack;
use self::tsn_map::{Place, TsnMap};
pub(crate) use self::turn::Standing;
use self::window::Window;
use crate::config::{LargeMessages, LimitConfig, SackConfig};
use crate::interface::Received;

/// Bytes that a SACK without gaps and a few duplicates needs; a longer one goes alone.
pub(crate) const SACK_ROOM: usize = 32;

/// Everything the peer sent that the user has not yet released, and what to tell the peer about it.
///
/// Per packet: [`Receive::on_data`] for each DATA chunk, then [`Receive::packet_done`]; then [`Receive::pop`] until
/// `None`, and a SACK if [`Receive::ack_due`].
#[derive(Debug)]
pub(crate) struct Receive {
    tsns: TsnMap,
    window: Window,
    reassembly: Reassembly,
    acknowledgement: Acknowledgement,
    inbound_streams: u16,
    duplicates: u64,
    violation: Option<&'static str>,
    last_sack: LastSack,
    /// Where the last DATA came from: SACKs go there (RFC 9260 §6.4).
    route: Route,
    prompt: Prompt,
    #[cfg(any(debug_assertions, test, fuzzing))]
    largest_chunk: usize,
}

impl Receive {
    /// For a peer at `route` whose first DATA will have `peer_initial_tsn`, with streams `0..inbound_streams`; the handshake has
    /// advertised what `limits` allow at first. Large messages lie in `buffers`.
    pub(crate) fn new(
        peer_initial_tsn: Tsn,
        inbound_streams: u16,
        limits: &LimitConfig,
        buffers: Buffers,
        sack: &SackConfig,
        route: Route,
    ) -> Self {
        let mut reassembly = Reassembly::new(limits.receive_buffer, buffers.clone());
        if limits.large_messages == LargeMessages::Refuse {
            reassembly.first_part = usize::MAX;
        }
        Self {
            tsns: TsnMap::new(peer_initial_tsn),
            window: Window::new(limits, buffers.memory().clone()),
            reassembly,
            acknowledgement: Acknowledgement::new(sack.delay, sack.packets),
            inbound_streams,
            duplicates: 0,
            violation: None,
            last_sack: LastSack::default(),
            route,
            prompt: Prompt::new(sack),
            #[cfg(any(debug_assertions, test, fuzzing))]
            largest_chunk: 0,
        }
    }

    // ---- inputs

    /// Takes one DATA chunk. Its payload must not be empty (the caller answers that with "No User Data").
    #[inline]
    pub(crate) fn on_data(&mut self, data: &Data<'_>) -> DataOutcome {
        if let Some(what) = self.violation {
            return DataOutcome::Violation(what);
        }
        let position = match self.tsns.place(data.tsn) {
            Place::New(position) => position,
            Place::Duplicate => {
                self.duplicates += 1;
                if data.tsn.at_or_before(self.tsns.cumulative_tsn()) {
                    self.last_sack.note_repeated();
                }
                self.acknowledgement.on_duplicate(data.tsn);
                return DataOutcome::Duplicate;
            }
            Place::OutsideWindow => {
                self.acknowledgement.on_chunk(Urgency::Immediate);
                return DataOutcome::OutsideWindow;
            }
        };
        let (valid, len) = (data.stream.0 < self.inbound_streams, data.payload.len());
        if valid && !self.admit(position, len) {
            return self.refused(position, len);
        }
        // RFC 7053 §5.2: the I bit. RFC 5681 §4.2: what fills a gap, wholly or in part, is acknowledged at once.
        let urgent = data.immediate || self.prompt.beside_gaps() && self.tsns.has_gaps();
        self.acknowledgement.on_chunk(if urgent { Urgency::Immediate } else { Urgency::Delayed });
        let outcome = match self.accept(position, data, valid) {
            Err(what) => return self.violated(what),
            Ok(()) if valid => DataOutcome::New,
            Ok(()) => DataOutcome::InvalidStream,
        };
        self.quick_invariants();
        outcome
    }

    /// DATA has come by `route`, where SACKs go from now on (RFC 9260 §6.4).
    #[inline]
    pub(crate) fn came_by(&mut self, route: Route) {
        if core::mem::replace(&mut self.route, route) != route && self.prompt.by_new_route() {
            self.acknowledgement.force();
        }
    }

    /// All chunks of a packet have been taken: decides when to acknowledge it. Nothing happens if none was DATA.
    #[inline]
    pub(crate) fn packet_done(&mut self, now: Instant) {
        self.acknowledgement.packet_done(now, self.prompt.beside_gaps() && self.tsns.has_gaps());
    }

    // ---- commands

    /// The user has consumed `bytes` of what it got; `round_trip` says what data takes to it, if that is known. Makes a SACK due if the window has
    /// opened by a quarter of what is allowed, or from less than a packet, since the peer last heard of it (RFC 9260 §6.2).
    pub(crate) fn release(
        &mut self,
        now: Instant,
        bytes: usize,
        round_trip: impl FnOnce() -> Option<Duration>,
    ) {
        self.window.release(now, bytes, round_trip);
        self.window.charge(self.reassembly.items());
        if self.window.update_due(self.reassembly.items()) {
            self.acknowledgement.force();
        }
        self.quick_invariants();
    }

    /// The endpoint needs memory: what is held beyond gaps is dropped, as a receiver may (RFC 9260 §6.2). The next SACK tells.
    pub(crate) fn drop_held(&mut self) {
        while self.drop_highest(self.tsns.cumulative()) {}
        self.quick_invariants();
    }

    /// So many bytes are taken beyond the buffer if everything else waits for them and nobody reads yet.
    pub(crate) fn set_spare_room(&mut self, bytes: usize) {
        self.window.set_spare_room(bytes);
    }

    /// NR-SACKs are sent from now on.
    pub(crate) fn tell_what_is_kept(&mut self) {
        self.last_sack.split = Some(Box::default());
    }

    /// Makes a SACK due now.
    pub(crate) fn force_ack(&mut self) {
        self.acknowledgement.force();
    }

    /// SACKs go by `route` from now on.
    pub(crate) fn set_route(&mut self, route: Route) {
        self.route = route;
    }

    // ---- outputs

    /// The next message or part to deliver. Its bytes count as buffered until [`Receive::release`].
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Received> {
        let received = self.reassembly.pop()?;
        self.window.hand_over(received.payload.len());
        self.quick_invariants();
        Some(received)
    }

    /// The first message to deliver that is `wanted`, whatever comes before it. It takes no room any more.
    pub(crate) fn take(&mut self, now: Instant, wanted: impl Fn(&Received) -> bool) -> Option<Received> {
        let received = self.reassembly.take(wanted)?;
        self.window.hand_over(received.payload.len());
        self.release(now, received.payload.len(), || None);
        Some(received)
    }

    /// When a delayed SACK becomes due; `None` if one is due already or there is nothing to acknowledge.
    pub(crate) fn ack_deadline(&self) -> Option<Instant> {
        self.acknowledgement.deadline()
    }

    fn violated(&mut self, what: &'static str) -> DataOutcome {
        self.violation = Some(what);
        DataOutcome::Violation(what)
    }

    /// Whether `len` bytes at `position` can be taken; makes room for what fills a gap (RFC 9260 §6.2).
    #[inline]
    fn admit(&mut self, position: u64, len: usize) -> bool {
        let items = self.reassembly.items();
        if position > self.tsns.highest() {
            // With the window closed, anything new beyond the highest TSN MUST be dropped.
            self.window.current(items) > 0 && self.window.fits(len, items)
        } else {
            let is_next = position == self.tsns.cumulative() + 1;
            self.window.fits(len, items)
                || self.make_room(position, len)
                || is_next && self.window.fits_spare_room(len, items)
        }
    }

    /// Drops the highest TSNs held until `len` bytes fit at `position` below them (RFC 9260 §6.2: SHOULD).
    ///
    /// What is missing right after the cumulative TSN can displace everything held, so a full buffer never keeps
    /// out the one chunk that would empty it.
    fn make_room(&mut self, position: u64, len: usize) -> bool {
        let items = self.reassembly.items();
        let (droppable, droppable_bytes) = self.reassembly.droppable();
        if !self.window.fits_without(droppable_bytes, droppable, len, items) {
            return false;
        }
        while !self.window.fits(len, self.reassembly.items()) {
            if !self.drop_highest(position) {
                return false;
            }
            self.acknowledgement.on_chunk(Urgency::Immediate);
        }
        true
    }

    /// Drops the highest TSN that is held if it is beyond `position`; false if there is none.
    fn drop_highest(&mut self, position: u64) -> bool {
        let Some((dropped, bytes)) = self.reassembly.drop_highest(position) else { return false };
        self.tsns.remove(dropped);
        self.window.drop_held(bytes);
        self.window.charge(self.reassembly.items());
        true
    }

    /// Notes the TSN and, if its stream is valid, takes the payload.
    #[inline]
    fn accept(&mut self, position: u64, data: &Data<'_>, valid: bool) -> Result<(), &'static str> {
        let in_order = position == self.tsns.cumulative() + 1;
        self.tsns.record(position);
        if valid {
            #[cfg(any(debug_assertions, test, fuzzing))]
            {
                self.largest_chunk = self.largest_chunk.max(data.payload.len());
            }
            self.window.take(data.payload.len());
            if in_order {
                self.reassembly.in_order(position, data)?;
            } else {
                self.reassembly.beyond_gap(position, data)?;
            }
        }
        if in_order {
            self.window.share_mut().go_on();
            self.reassembly.advanced(self.tsns.cumulative())?;
        }
        self.window.charge(self.reassembly.items());
        Ok(())
    }

    /// [`Receive::invariants`], as long as there is little to walk.
    #[inline]
    fn quick_invariants(&self) {
        #[cfg(debug_assertions)]
        if self.reassembly.items() <= 32 && self.tsns.highest() - self.tsns.cumulative() <= 64 {
            self.invariants();
        }
    }

    /// Panics if anything contradicts anything. Walks everything.
    #[cfg(any(debug_assertions, test, fuzzing))]
    pub(crate) fn invariants(&self) {
        if self.violation.is_some() {
            return;
        }
        let items = self.reassembly.items();
        self.tsns.invariants();
        self.reassembly.invariants(self.tsns.cumulative());
        self.window.invariants(self.reassembly.kept_bytes(), items, self.largest_chunk);
        assert!(self.tsns.has_gaps() || self.reassembly.droppable() == (0, 0), "held without a gap");
    }
}

fn saturated(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
