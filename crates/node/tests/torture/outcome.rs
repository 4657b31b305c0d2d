//! What became of a row of the torture table.

use core::time::Duration;

/// What became of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The association that began is there at the end, and everything has arrived.
    pub survived: bool,
    /// The longest time without a record.
    pub gap: Duration,
    /// The most that a record came later than it was due.
    pub behind: Duration,
    /// From the end of the trouble to the next record.
    pub recovery: Duration,
    /// How often new data went another way.
    pub moves: usize,
    /// What both hosts sent from the beginning of the trouble to its end.
    pub packets: u64,
    /// The share, from 0 to 1, of what passed the mobile host's networks in the last two seconds of records and did not take the first of them.
    pub aside: f64,
}

impl Outcome {
    /// The association was not up yet when the trouble began. If it was `expected` to be, that is no way to survive.
    pub(super) const fn not_begun(expected: bool) -> Self {
        Self {
            survived: !expected,
            gap: Duration::ZERO,
            behind: Duration::ZERO,
            recovery: Duration::ZERO,
            moves: 0,
            packets: 0,
            aside: 0.0,
        }
    }

    /// The worse of the two in all that is measured.
    pub(super) fn worse(self, other: Self) -> Self {
        Self {
            survived: self.survived && other.survived,
            gap: self.gap.max(other.gap),
            behind: self.behind.max(other.behind),
            recovery: self.recovery.max(other.recovery),
            moves: self.moves.max(other.moves),
            packets: self.packets.max(other.packets),
            aside: self.aside.max(other.aside),
        }
    }
}
