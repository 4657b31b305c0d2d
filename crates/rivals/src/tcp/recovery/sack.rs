use super::{LossRecovery, Reaction, Recovery};
use crate::tcp::scoreboard::{Acknowledged, Scoreboard};

/// Loss recovery with selective acknowledgements (RFC 6675). Rules 3 and 4 of NextSeg, which send segments that are not
/// taken for lost when there is nothing else to send, are left out.
#[derive(Debug)]
pub struct Sack {
    mss: u64,
    duplicate_threshold: u32,
    duplicates: u32,
    /// RecoveryPoint while a recovery goes on.
    until: Option<u64>,
    /// No recovery begins before this is acknowledged: a timeout has taken everything for lost (RFC 6675 §5.1).
    after: u64,
}

impl Sack {
    /// A connection's recovery, at rest.
    pub fn boxed(mss: u64, duplicate_threshold: u32) -> Recovery {
        Recovery(Box::new(Self { mss, duplicate_threshold, duplicates: 0, until: None, after: 0 }))
    }

    fn overtaking_bytes(&self) -> u64 {
        u64::from(self.duplicate_threshold.saturating_sub(1)) * self.mss
    }
}

impl LossRecovery for Sack {
    fn wants_sack(&self) -> bool {
        true
    }

    fn on_acknowledged(&mut self, board: &mut Scoreboard, acknowledged: &Acknowledged) -> Reaction {
        if let Some(until) = self.until {
            if board.acknowledged() >= until {
                (self.until, self.duplicates) = (None, 0);
                return Reaction::Leave { deflate: false };
            }
            board.lose_overtaken(self.overtaking_bytes());
            let restart_timer = acknowledged.bytes > 0;
            return Reaction::Recovering { send_first: false, restart_timer };
        }
        if acknowledged.bytes > 0 {
            self.duplicates = 0;
        }
        if acknowledged.sacked > 0 && board.acknowledged() >= self.after {
            self.duplicates += u32::from(acknowledged.bytes == 0);
            board.lose_overtaken(self.overtaking_bytes());
            if self.duplicates >= self.duplicate_threshold || board.first_is_lost() {
                if !board.first_is_lost() {
                    board.lose_first();
                }
                self.until = Some(board.end());
                return Reaction::Enter;
            }
        }
        Reaction::Grow
    }

    fn on_timeout(&mut self, board: &Scoreboard) {
        (self.until, self.duplicates, self.after) = (None, 0, board.end());
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        board.pipe()
    }
}
