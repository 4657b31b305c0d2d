//! The keys of an association by epoch, and which record is taken (RFC 9147 §4.2, §4.5; chunk draft §3.1, §5.2).

use core::cell::Cell;
use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::PacketWriter;
use whimbrel_wire::draft::Dtls;

use super::exchange::RecordCipher;
use super::number::{TURN, nearest};
use super::record;
use super::replay::ReplayWindow;

/// The epoch of the first keys (chunk draft §3.1).
const FIRST_EPOCH: u64 = 3;

/// New keys are agreed on once so many packets have been sealed with one: 94 GB of full ones, a quarter of what QUIC's analysis allows AES-GCM.
const RENEW_AFTER: u64 = 1 << 26;

/// No packet is sealed beyond this many with one key (draft-irtf-cfrg-aead-limits).
const MOST_SEALED: u64 = 1 << 28;

/// So many forged records under one key end the association (RFC 9147 §4.5.3).
const MOST_FORGED: u64 = 1 << 35;

/// After such a silence a record may be more than half a turn of its 16 bits ahead of the last one.
const SILENCE: Duration = Duration::from_secs(5);

/// Turns that are looked for then: half a million packets.
const TURNS: u64 = 8;

/// Searches a second at most, since each costs as many tries to open a record.
const SEARCHES: u32 = 4;

const SECOND: Duration = Duration::from_secs(1);

/// Why a record is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rejected {
    /// There are no keys for it, or it cannot be one.
    Unknown,
    /// It has come before, or is too old to tell.
    Old,
    /// It is not genuine.
    Forged,
}

/// The keys that are in use. Two sets for reading at most: new ones, and old ones until what was sealed with them has arrived.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    send: Option<SendKeys>,
    receive: SmallVec<[ReceiveKeys; 1]>,
    search: Search,
}

#[derive(Debug)]
struct SendKeys {
    epoch: u64,
    cipher: Box<dyn RecordCipher>,
    /// Record numbers are given once, whatever becomes of the packet.
    next: Cell<u64>,
}

#[derive(Debug)]
struct ReceiveKeys {
    epoch: u64,
    cipher: Box<dyn RecordCipher>,
    window: ReplayWindow,
    forged: u64,
}

/// Looks for records that are far ahead, sparingly.
#[derive(Debug, Default)]
struct Search {
    /// When a record was last taken.
    heard: Instant,
    /// The second that searches are counted in.
    began: Instant,
    count: u32,
}

impl Search {
    fn may_begin(&mut self, now: Instant) -> bool {
        if now < self.heard + SILENCE {
            return false;
        }
        if now >= self.began + SECOND {
            (self.began, self.count) = (now, 0);
        }
        self.count += 1;
        self.count <= SEARCHES
    }
}

impl KeyRing {
    /// Whether packets are sealed.
    #[inline]
    pub(crate) const fn seals(&self) -> bool {
        self.send.is_some()
    }

    /// Keys to read with, of the next epoch. Those before stay until [`Self::forget_old`].
    pub(crate) fn install_receive(&mut self, now: Instant, cipher: Box<dyn RecordCipher>) {
        let epoch = self.receive.last().map_or(FIRST_EPOCH, |last| last.epoch + 1);
        self.forget_old();
        self.receive.push(ReceiveKeys { epoch, cipher, window: ReplayWindow::default(), forged: 0 });
        self.search.heard = now;
    }

    /// Keys to write with, of the next epoch, in the place of those before.
    pub(crate) fn install_send(&mut self, cipher: Box<dyn RecordCipher>) {
        let epoch = self.send.as_ref().map_or(FIRST_EPOCH, |last| last.epoch + 1);
        self.send = Some(SendKeys { epoch, cipher, next: Cell::new(0) });
    }

    /// What was sealed with keys before the last ones is not taken any more.
    pub(crate) fn forget_old(&mut self) {
        let newest = self.receive.len().saturating_sub(1);
        self.receive.drain(..newest);
    }

    /// Seals a packet, see [`record::seal`].
    #[inline]
    pub(crate) fn seal(&self, packet: &mut PacketWriter<'_>) {
        if let Some(SendKeys { epoch, cipher, next }) = &self.send {
            let number = next.replace(next.get() + 1);
            record::seal(packet, &**cipher, *epoch, number);
        }
    }

    /// Whether it is time for new keys.
    pub(crate) fn are_worn(&self) -> bool {
        self.send.as_ref().is_some_and(|keys| keys.next.get() >= RENEW_AFTER)
    }

    /// Whether the keys must not be used any more.
    pub(crate) fn are_used_up(&self) -> bool {
        self.send.as_ref().is_some_and(|keys| keys.next.get() >= MOST_SEALED)
            || self.receive.iter().any(|keys| keys.forged >= MOST_FORGED)
    }

    /// The chunks in a record that is genuine and has not come before.
    pub(crate) fn open(&mut self, now: Instant, record: &Dtls<'_>) -> Result<Vec<u8>, Rejected> {
        let known = |keys: &&mut ReceiveKeys| keys.epoch as u8 & 3 == record.epoch && !record.restart;
        let Some(keys) = self.receive.iter_mut().find(known) else { return Err(Rejected::Unknown) };
        let Some(low) = record::low_number(record, &*keys.cipher) else { return Err(Rejected::Unknown) };
        let number = nearest(keys.window.next(), low);
        let is_new = keys.window.is_new(number);
        let near = if is_new { keys.take(record, number) } else { None };
        let found = near.or_else(|| {
            let expected = keys.window.next();
            let mut ahead = (1..=TURNS).map(|turn| number + turn * TURN).filter(|&at| at >= expected);
            self.search.may_begin(now).then(|| ahead.find_map(|number| keys.take(record, number)))?
        });
        if found.is_some() {
            self.search.heard = now;
        }
        found.ok_or(if is_new { Rejected::Forged } else { Rejected::Old })
    }
}

impl ReceiveKeys {
    /// The chunks in a record, if its number is this one. The number is taken only then.
    fn take(&mut self, record: &Dtls<'_>, number: u64) -> Option<Vec<u8>> {
        let chunks = record::open(record, &*self.cipher, number);
        match chunks {
            Some(_) => self.window.take(number),
            None => self.forged += 1,
        }
        chunks
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
