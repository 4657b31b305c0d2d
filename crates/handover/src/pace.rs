use core::time::Duration;

/// How often a policy may act: the same measure for all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Minimum dwell time: after a move nobody moves on for mere advantage before this has passed.
    pub dwell: Duration,
    /// An advantage must have lasted this long before it is worth a move.
    pub settle: Duration,
    /// An address that had to be left in a hurry is shunned for one `dwell` the first time, twice as long the next, and so
    /// on up to this.
    pub longest_shun: Duration,
    /// How many moves may follow each other at once when one address after the other fails.
    pub moves: u32,
    /// After that, one move per this time, whatever happens.
    pub move_every: Duration,
    /// How many requests about addresses may be made at once.
    pub requests: u32,
    /// After that, one request per this time.
    pub request_every: Duration,
    /// An address that has gone down is deleted from the association after this time, if it has not come back.
    pub forget_after: Duration,
}

impl Pace {
    /// For networks as people move through them.
    pub const MOBILE: Self = Self {
        dwell: Duration::from_secs(2),
        settle: Duration::from_millis(500),
        longest_shun: Duration::from_secs(64),
        moves: 4,
        move_every: Duration::from_secs(1),
        requests: 16,
        request_every: Duration::from_millis(500),
        forget_after: Duration::from_secs(5),
    };

    /// As papers have it: every wish is carried out at once. Only the limits against endless loops are left.
    pub const AT_ONCE: Self = Self {
        dwell: Duration::ZERO,
        settle: Duration::ZERO,
        longest_shun: Duration::ZERO,
        moves: 16,
        move_every: Duration::from_millis(50),
        requests: 64,
        request_every: Duration::from_millis(10),
        forget_after: Duration::ZERO,
    };
}
