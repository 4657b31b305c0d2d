//! Whether a recovery was for nothing, by what the receiver reports to have come twice (RFC 2883, RFC 3708).

/// The retransmissions of a recovery, until each is known to have been needless.
#[derive(Debug)]
pub(super) struct Undo {
    /// SND.UNA as the recovery began.
    from: u64,
    sent: u64,
    needless: u64,
}

impl Undo {
    /// A recovery begins.
    pub(super) const fn new(acknowledged: u64) -> Self {
        Self { from: acknowledged, sent: 0, needless: 0 }
    }

    /// A segment was sent again.
    pub(super) const fn on_sent_again(&mut self) {
        self.sent += 1;
    }

    /// What ends at `end` has come twice. Says whether all that was sent again has.
    pub(super) const fn on_duplicate(&mut self, end: u64) -> bool {
        if end > self.from {
            self.needless += 1;
        }
        self.sent > 0 && self.needless >= self.sent
    }
}
