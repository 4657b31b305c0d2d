//! The receive buffer and what is advertised of it (RFC 9260 §6.2, RFC 1122 §4.2.3.3).

use core::time::Duration;

use whimbrel_machine::Instant;

use super::allowance::Allowance;
use super::memory::{Memory, Share};
use crate::config::{LargeMessages, LimitConfig};

/// What each message or message part costs besides its payload, in bytes. A fragment that is held apart or a message that waits
/// for its turn counts as several such items, see [`HELD`].
///
/// Peers count payload bytes only, so a buffer of one-byte messages would hold many times its size in bookkeeping.
/// With this charge no more than `buffer / OVERHEAD` of them are held, read or not: memory stays below twice
/// the buffer. The advertised window shrinks with the charge as it does with the payload, whichever is less.
pub(super) const OVERHEAD: usize = 112;
/// Items that a chunk beyond a gap or a message before its turn counts as: it lies in a tree, in an allocation of its own, and is found
/// by its TSN and its SSN.
pub(super) const HELD: usize = 2;
/// However small the buffer, so many are accepted.
const MIN_ITEMS: usize = 16;
/// About the payload of one packet: the window does not open by less (RFC 1122 §4.2.3.3's Eff.snd.MSS).
pub(super) const PACKET: usize = 1452;

/// Accounts for every byte between arrival and release by the user.
#[derive(Debug)]
pub(super) struct Window {
    buffer: usize,
    /// What the peer may have sent that the user has not read.
    allowance: Allowance,
    max_items: usize,
    /// Messages are not delivered in parts.
    whole_only: bool,
    /// Payload bytes held here or by the user. At most `buffer`, except that one chunk of any size is let into an
    /// empty buffer: it could never be received otherwise.
    used: usize,
    /// So many bytes more may be used for what everything else waits for.
    spare: usize,
    /// The peer's credit: what was last advertised less what has arrived since.
    offered: usize,
    /// Payload bytes handed to the user and not yet released, and how many messages or parts they are.
    user_bytes: usize,
    user_items: usize,
    /// What is charged for all that in the endpoint's memory.
    share: Share,
}

impl Window {
    pub(super) fn new(limits: &LimitConfig, memory: Memory) -> Self {
        let buffer = limits.receive_buffer;
        let allowance = Allowance::new(limits);
        let max_items = buffer.div_ceil(OVERHEAD).max(MIN_ITEMS);
        let share = Share::new(memory);
        let offered = allowance.bytes();
        let whole_only = limits.large_messages == LargeMessages::Refuse;
        let (used, spare, user_bytes, user_items) = (0, 0, 0, 0);
        Self { buffer, allowance, max_items, whole_only, used, spare, offered, user_bytes, user_items, share }
    }

    pub(super) fn set_spare_room(&mut self, bytes: usize) {
        self.spare = bytes;
    }

    /// Whether `len` bytes may be taken beyond the buffer, and as one item beyond the `items` that are held and those of the user.
    pub(super) fn fits_spare_room(&self, len: usize, items: usize) -> bool {
        self.spare > 0
            && self.used.saturating_add(len) <= self.buffer.saturating_add(self.spare)
            && items + self.user_items < self.max_items + self.spare.div_ceil(OVERHEAD)
    }

    /// Whether `len` more bytes may be taken while `items` are held.
    #[inline]
    pub(super) fn fits(&self, len: usize, items: usize) -> bool {
        self.fits_without(0, 0, len, items)
    }

    /// As [`Window::fits`], as if `dropped_items` of the `items`, with `dropped` bytes, were not held.
    #[inline]
    pub(super) fn fits_without(
        &self,
        dropped: usize,
        dropped_items: usize,
        len: usize,
        items: usize,
    ) -> bool {
        self.has_room_without(dropped, dropped_items, len, items)
            && self.share.admits(len.saturating_add(OVERHEAD), dropped + dropped_items * OVERHEAD)
    }

    /// As [`Window::fits_without`], as if the endpoint had memory without end.
    #[inline]
    pub(super) fn has_room_without(
        &self,
        dropped: usize,
        dropped_items: usize,
        len: usize,
        items: usize,
    ) -> bool {
        let used = self.used.saturating_sub(dropped);
        (used == 0 || used.saturating_add(len) <= self.buffer)
            && items - dropped_items + self.user_items < self.max_items
    }

    /// Whether the endpoint's memory keeps `len` more bytes out, or the window closed, and not that the user does not read.
    pub(super) fn is_short_of_memory(&self, len: usize) -> bool {
        self.share.left() < len.saturating_add(OVERHEAD).max(self.step())
            && self.user_bytes < self.allowance.bytes()
    }

    /// What the association holds of the endpoint's memory.
    #[inline]
    pub(super) fn share(&self) -> &Share {
        &self.share
    }

    #[inline]
    pub(super) fn share_mut(&mut self) -> &mut Share {
        &mut self.share
    }

    /// Charges what is held now, with these `items` and those of the user, to the endpoint's memory.
    #[inline]
    pub(super) fn charge(&mut self, items: usize) {
        self.share.set(self.used + (items + self.user_items) * OVERHEAD);
    }

    /// Takes `len` bytes that came from the peer.
    #[inline]
    pub(super) fn take(&mut self, len: usize) {
        self.used += len;
        self.offered = self.offered.saturating_sub(len);
    }

    /// Gives back `len` bytes that were dropped.
    pub(super) fn drop_held(&mut self, len: usize) {
        debug_assert!(len <= self.used);
        self.used -= len;
    }

    /// `len` bytes go to the user as one item.
    #[inline]
    pub(super) fn hand_over(&mut self, len: usize) {
        self.user_bytes += len;
        self.user_items += 1;
    }

    /// The user has consumed `bytes`; `round_trip` says what data takes to it, if that is known. More than it was given counts as all.
    ///
    /// Which messages they were is not said, so the items go down in proportion.
    pub(super) fn release(
        &mut self,
        now: Instant,
        bytes: usize,
        round_trip: impl FnOnce() -> Option<Duration>,
    ) {
        let bytes = bytes.min(self.user_bytes);
        self.allowance.on_read(now, bytes, round_trip);
        let left = self.user_bytes - bytes;
        self.used -= bytes;
        if left == 0 {
            self.user_items = 0;
        } else {
            let items = (self.user_items as u128 * left as u128).div_ceil(self.user_bytes as u128);
            self.user_items = items as usize;
        }
        self.user_bytes = left;
    }

    /// What to advertise while `items` are held: the free space, here or in the endpoint's memory, as far as it is allowed, but the window opens
    /// only by a worthwhile step beyond the peer's credit (receiver silly window avoidance, RFC 1122 §4.2.3.3). An allowance that shrinks takes back no
    /// credit: the right edge of the window stays where it was.
    ///
    /// The end of a message that nearly fills the buffer must not wait for such a step: if it may not be delivered in parts and the user has
    /// nothing, only the peer can make room.
    #[inline]
    pub(super) fn current(&self, items: usize) -> usize {
        let bytes = self.buffer.saturating_sub(self.used);
        let held = items;
        let items = self.max_items.saturating_sub(held + self.user_items);
        // The smallest buffers have items to spare beyond their bytes.
        let own = bytes.min(items.saturating_mul(OVERHEAD));
        let left = self.share.left();
        let free =
            own.min(left).min(self.allowance.bytes().saturating_sub(self.user_bytes).max(self.offered));
        let last = self.whole_only && own < self.step() && own <= left && self.user_items == 0 && held == 1;
        if last || free >= self.offered + self.step() { free } else { free.min(self.offered) }
    }

    /// Whether the window has opened so far since the peer last heard of it that it should be told: by a quarter of
    /// what is allowed (RFC 9260 §6.2), or from less than a packet.
    pub(super) fn update_due(&self, items: usize) -> bool {
        let current = self.current(items);
        current >= self.offered + self.allowance.bytes() / 4
            || (self.offered < self.step() && current > self.offered)
    }

    /// Advertises [`Window::current`].
    pub(super) fn advertise(&mut self, items: usize) -> usize {
        self.offered = self.current(items);
        self.offered
    }

    /// Bytes that fit when nothing is here.
    pub(super) fn buffer(&self) -> usize {
        self.buffer
    }

    /// Whether the user holds nothing, so that there is nothing that it could release.
    pub(super) fn is_all_here(&self) -> bool {
        self.user_items == 0
    }

    #[inline]
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// The peer's credit: what was last advertised less what has arrived since.
    #[cfg(any(test, fuzzing))]
    pub(super) fn offered(&self) -> usize {
        self.offered
    }

    fn step(&self) -> usize {
        PACKET.min(self.buffer / 2)
    }

    #[cfg(any(debug_assertions, test, fuzzing))]
    /// Panics unless `held` bytes are all that the user does not have.
    pub(super) fn invariants(&self, held: usize, items: usize, largest_chunk: usize) {
        assert_eq!(self.used, held + self.user_bytes);
        assert!(self.used <= self.buffer.max(largest_chunk) + self.spare);
        assert_eq!(self.share.held(), self.used + (items + self.user_items) * OVERHEAD);
        assert!(items + self.user_items <= self.max_items + 8, "{items} + {} items", self.user_items);
        assert!(self.current(items) <= self.buffer);
        assert_eq!(self.user_items == 0, self.user_bytes == 0);
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
