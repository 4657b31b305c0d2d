use core::time::Duration;

/// Timer C: how long a call may ring without another word (RFC 3261 §16.6, item 11: longer than three minutes). Each provisional response but 100 sets it anew
/// (§16.7, item 2); whoever wants to ring for longer says so every minute (§13.3.1.1).
pub const RINGING: Duration = Duration::from_secs(190);

/// How long a call may ring in all, whatever the other end says.
pub const RINGING_MAX: Duration = Duration::from_secs(3600);

/// Who sends again what may be lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Repeats {
    /// Transactions.
    #[default]
    BySip,
    /// What carries them, so that they send each message once (RFC 3261 §17.1.1.2). A 2xx to INVITE comes again all the same (§13.3.1.4).
    ByTransport,
}

/// The times of RFC 3261 §17.1.1.1 and Table 4, for UDP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timers {
    /// T1: a guess of the round trip.
    pub t1: Duration,
    /// T2: the longest time between two copies of what is not INVITE.
    pub t2: Duration,
    /// T4: how long a message may stay in the network.
    pub t4: Duration,
    /// Timer J: how long the answer to what is no INVITE is kept for a request that comes again.
    pub answered: Duration,
    /// Timer I: how long a refused INVITE is known after its ACK has come.
    pub acknowledged: Duration,
    /// Timer C: how long an INVITE waits after a provisional answer, of either end. RFC 3261 would wait for ever where an agent has begun it, and a little more than
    /// three minutes where a proxy has passed it on (§16.6).
    pub ringing: Duration,
    /// Timers A, E and G run, or do not.
    pub repeats: Repeats,
}

impl Default for Timers {
    fn default() -> Self {
        let t1 = Duration::from_millis(500);
        let t4 = Duration::from_secs(5);
        let repeats = Repeats::BySip;
        Self {
            t1,
            t2: Duration::from_secs(4),
            t4,
            answered: t1.saturating_mul(64),
            acknowledged: t4,
            ringing: t1.saturating_mul(64),
            repeats,
        }
    }
}

impl Timers {
    /// For a transport that loses nothing but with a whole connection: answers are not kept for as long.
    #[must_use]
    pub fn reliable() -> Self {
        let usual = Self::default();
        Self { answered: usual.t4, ..usual }
    }

    /// Where requests have to prove something: one that comes again is no new one for as long as its proof passes, which is as long as requests come
    /// again.
    #[must_use]
    pub const fn watchful(self) -> Self {
        Self { acknowledged: self.patience(), ..self }
    }

    /// Where a person may have to come to the telephone: longer than [`RINGING`], after which whoever calls calls that off.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { ringing: RINGING.saturating_add(self.patience()), ..self }
    }

    /// Timers A, E and G at first; where they do not run, later than nobody waits any more.
    pub(super) fn first_copy(&self) -> Duration {
        match self.repeats {
            Repeats::BySip => self.t1,
            Repeats::ByTransport => self.patience().saturating_mul(2),
        }
    }

    /// Timers B, F, H, J, L and M: how long an end waits for another.
    pub const fn patience(&self) -> Duration {
        self.t1.saturating_mul(64)
    }

    /// Timer D: how long a final response that is no 2xx may come again.
    pub fn lull(&self) -> Duration {
        self.patience().max(Duration::from_secs(32))
    }
}
