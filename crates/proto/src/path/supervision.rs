use core::time::Duration;

use smallvec::{SmallVec, smallvec};
use whimbrel_machine::Instant;
use whimbrel_path::Quality;

use crate::association::{Estimates, PortProbe, WayOfAnswers};

/// What a path is supervised by (RFC 9260 §8.3): when it was last probed and heard, and which probes have not been answered.
#[derive(Debug)]
pub(crate) struct Supervision {
    /// When something that measures the RTT or a HEARTBEAT was last sent: the path is idle if that is long ago
    /// (RFC 9260 §8.3).
    pub(crate) last_probing: Instant,
    /// When a packet last came by this path.
    pub(crate) heard: Option<Instant>,
    /// When the peer's host first refused a packet (ICMP port unreachable) of those that went by this path after the peer was last heard.
    pub(crate) refused: Option<Instant>,
    /// A packet has come by this path after it had been silent for an RTO, and nothing has been made of that yet.
    pub(crate) silence_broken: bool,
    /// When DATA that went by this path alone, or the handshake, was last acknowledged, or should have been at the latest.
    pub(crate) proved: Option<Instant>,
    /// Since when there is the path, or the link that it leaves by.
    pub(crate) began: Instant,
    /// How many round trips were measured since, up to 255.
    pub(crate) measurements: u8,
    /// When one was measured last.
    pub(crate) measured: Option<Instant>,
    /// What the path is worth beside others.
    pub(crate) quality: Quality,
    /// What the path can carry, and carries.
    estimates: Estimates,
    /// When others may be asked because this one is silent.
    looks: Looks,
    /// When it last worked again after it had failed.
    returned: Option<Instant>,
    /// The HEARTBEAT whose answer is waited for.
    pub(crate) heartbeat: Option<PendingHeartbeat>,
    /// The last one whose time was over without an answer, which may still come: the next one continues it. `None` while one is waited for.
    pub(crate) overdue: Option<PendingHeartbeat>,
    /// The one that was answered last. What repetitions of it bring later tells the order in which packets arrive.
    answered: Option<PendingHeartbeat>,
    /// By which ways answers come and go.
    way_of_answers: WayOfAnswers,
    /// Somebody vouches for the path until it is confirmed, and it may carry data so far (`association/vouched.rs`).
    vouched: bool,
    /// The port that the peer seems to have now, which has not answered yet.
    pub(crate) new_port: Option<PortProbe>,
}

/// A HEARTBEAT that has not been answered yet, with its repetitions. Each has a nonce of its own, so that the answer to any of them
/// measures the round trip: Karn's rule (RFC 9260 §6.3.1 C5) is for what cannot be told apart.
#[derive(Clone, Debug)]
pub(crate) struct PendingHeartbeat {
    /// Of the oldest one in `sent`; each repetition has the next one.
    nonce: u64,
    /// When each was sent, the oldest first: one to [`KEPT`](Self::KEPT) times.
    sent: SmallVec<[Instant; 2]>,
    /// How often it has been repeated since it was first sent, or was continued by another whose time began then.
    repetitions: u32,
    /// The last one has left; otherwise it waits to be written.
    pub(crate) written: bool,
}

/// A path MTU probe that is to be written or has been sent: a padded HEARTBEAT (RFC 8899 §6.2.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MtuProbe {
    pub(crate) nonce: u64,
    /// The SCTP packet, in bytes.
    pub(crate) size: usize,
    /// It has left; otherwise it waits to be written.
    pub(crate) written: bool,
}

/// When others may be asked because this path is silent: for some time, and again after pauses that double, until it has not been silent for a while.
#[derive(Clone, Copy, Debug, Default)]
struct Looks {
    began: Option<Instant>,
    count: u32,
}

impl Looks {
    /// After so long all is forgotten.
    const FORGOTTEN: Duration = Duration::from_secs(30);
    /// The pause doubles no more often.
    const DOUBLED: u32 = 4;

    fn may_look(&mut self, now: Instant, time: Duration) -> bool {
        let Some(began) = self.began.filter(|began| now < *began + Self::FORGOTTEN) else {
            *self = Self { began: Some(now), count: 0 };
            return true;
        };
        if now < began + time {
            return true;
        }
        let again = began + time + time * (1 << self.count.min(Self::DOUBLED));
        if now >= again {
            *self = Self { began: Some(now), count: self.count.saturating_add(1) };
        }
        now >= again
    }
}

impl Supervision {
    /// The path works again after it had failed.
    pub(super) fn note_return(&mut self, now: Instant) {
        self.returned = Some(now);
    }

    /// Whether the path has failed and come back in this time.
    pub(super) fn has_returned_within(&self, now: Instant, time: Duration) -> bool {
        self.returned.is_some_and(|returned| now.saturating_since(returned) < time)
    }

    /// See [`Path::is_trusted`](super::Path::is_trusted).
    pub(crate) const fn is_vouched(&self) -> bool {
        self.vouched
    }

    /// Somebody vouches for the path from now on, or nobody does.
    pub(crate) const fn set_vouched(&mut self, vouched: bool) {
        self.vouched = vouched;
    }

    /// The heartbeat that is waited for, or the one that is overdue, has been answered.
    pub(crate) fn conclude_heartbeat(&mut self) {
        self.answered = self.heartbeat.take().or(self.overdue.take());
    }

    /// When the heartbeat with this nonce was sent, if that is a repetition of the one that was answered last.
    pub(crate) fn answered_before(&self, nonce: u64) -> Option<Instant> {
        self.answered.as_ref()?.sent_with(nonce)
    }

    /// A path that begins now.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            last_probing: now,
            quality: Quality::default(),
            estimates: Estimates::default(),
            heard: None,
            refused: None,
            silence_broken: false,
            proved: None,
            measured: None,
            began: now,
            measurements: 0,
            looks: Looks::default(),
            returned: None,
            heartbeat: None,
            overdue: None,
            answered: None,
            way_of_answers: WayOfAnswers::default(),
            vouched: false,
            new_port: None,
        }
    }

    /// Whether others may be asked now because this path is silent: for this `time`, and again after a pause of as much, twice as much and so on.
    pub(crate) fn may_look(&mut self, now: Instant, time: Duration) -> bool {
        self.looks.may_look(now, time)
    }

    /// By which ways answers come and go.
    pub(crate) const fn way_of_answers(&self) -> &WayOfAnswers {
        &self.way_of_answers
    }

    /// The same, to be told more.
    pub(crate) const fn way_of_answers_mut(&mut self) -> &mut WayOfAnswers {
        &mut self.way_of_answers
    }

    /// What the path can carry, and carries.
    pub(crate) const fn estimates(&self) -> &Estimates {
        &self.estimates
    }

    /// The same, to be told more.
    pub(crate) const fn estimates_mut(&mut self) -> &mut Estimates {
        &mut self.estimates
    }
}

impl PendingHeartbeat {
    /// Of repetitions that are still waited for there are no more than this.
    const KEPT: usize = 32;

    /// A HEARTBEAT that waits to be written.
    pub(crate) fn new(nonce: u64, now: Instant) -> Self {
        Self { nonce, sent: smallvec![now], repetitions: 0, written: false }
    }

    /// It is to be written once more.
    pub(crate) fn repeat(&mut self, now: Instant) {
        if self.sent.len() == Self::KEPT {
            self.sent.remove(0);
            self.nonce = self.nonce.wrapping_add(1);
        }
        self.sent.push(now);
        self.repetitions = self.repetitions.saturating_add(1);
        self.written = false;
    }

    /// It is sent again after its time was over, as the next one, which has a time of its own.
    pub(crate) fn begin_again(&mut self, now: Instant) {
        self.repeat(now);
        self.repetitions = 0;
    }

    /// How often it has been repeated in its time.
    pub(crate) const fn repetitions(&self) -> u32 {
        self.repetitions
    }

    /// The nonce of the last one.
    pub(crate) fn last_nonce(&self) -> u64 {
        self.nonce.wrapping_add(self.sent.len() as u64 - 1)
    }

    /// When the last one was sent.
    pub(crate) fn last_sent_at(&self) -> Instant {
        self.sent[self.sent.len() - 1]
    }

    /// It has not been repeated.
    pub(crate) fn is_first(&self) -> bool {
        self.sent.len() == 1
    }

    /// When the one with this nonce was sent.
    pub(crate) fn sent_with(&self, nonce: u64) -> Option<Instant> {
        let index = usize::try_from(nonce.wrapping_sub(self.nonce)).ok()?;
        self.sent.get(index).copied()
    }
}

#[cfg(test)]
#[path = "supervision_tests.rs"]
mod tests;
