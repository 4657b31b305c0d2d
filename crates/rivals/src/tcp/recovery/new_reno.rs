use super::{LossRecovery, Reaction, Recovery};
use crate::tcp::scoreboard::{Acknowledged, Scoreboard};

/// Fast retransmit and fast recovery without SACK (RFC 5681 §3.2, RFC 6582), with limited transmit (RFC 3042).
///
/// Where the RFCs inflate cwnd by what duplicate acknowledgements say has left the network, this takes it off what is in
/// the network, which is the same comparison.
#[derive(Debug)]
pub struct NewReno {
    mss: u64,
    duplicate_threshold: u32,
    duplicates: u32,
    left_network: u64,
    stage: Option<Stage>,
    /// Duplicate acknowledgements of what lies below are echoes of an earlier recovery (RFC 6582 §3.2, recover).
    recover: u64,
}

/// A recovery that goes on.
#[derive(Debug)]
struct Stage {
    until: u64,
    /// A partial acknowledgement has come.
    partial: bool,
}

impl NewReno {
    /// A connection's recovery, at rest.
    pub fn boxed(mss: u64, duplicate_threshold: u32) -> Recovery {
        Recovery(Box::new(Self {
            mss,
            duplicate_threshold,
            duplicates: 0,
            left_network: 0,
            stage: None,
            recover: 0,
        }))
    }

    fn rest(&mut self) {
        (self.duplicates, self.left_network, self.stage) = (0, 0, None);
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard) -> Reaction {
        self.duplicates += 1;
        let echo = self.recover > 0 && board.acknowledged() <= self.recover;
        if self.duplicates < self.duplicate_threshold {
            // Limited transmit: two segments beyond cwnd.
            self.left_network = u64::from(self.duplicates.min(2)) * self.mss;
        } else if self.duplicates == self.duplicate_threshold && !echo {
            self.stage = Some(Stage { until: board.end(), partial: false });
            self.recover = board.end();
            self.left_network = u64::from(self.duplicate_threshold) * self.mss;
            board.lose_first();
            return Reaction::Enter;
        }
        Reaction::Grow
    }
}

impl LossRecovery for NewReno {
    fn wants_sack(&self) -> bool {
        false
    }

    fn on_acknowledged(&mut self, board: &mut Scoreboard, acknowledged: &Acknowledged) -> Reaction {
        let Some(stage) = &mut self.stage else {
            if acknowledged.bytes > 0 {
                self.rest();
            } else if acknowledged.duplicate {
                return self.on_duplicate(board);
            }
            return Reaction::Grow;
        };
        if board.acknowledged() >= stage.until {
            self.rest();
            return Reaction::Leave { deflate: true };
        }
        if acknowledged.bytes > 0 {
            // A partial acknowledgement: the next segment is lost too. Only the first restarts the timer (RFC 6582 §3.2).
            let restart_timer = !core::mem::replace(&mut stage.partial, true);
            self.left_network = self.left_network.saturating_sub(acknowledged.bytes) + self.mss;
            board.lose_first();
            return Reaction::Recovering { send_first: true, restart_timer };
        }
        if acknowledged.duplicate {
            self.left_network += self.mss;
        }
        Reaction::Recovering { send_first: false, restart_timer: false }
    }

    fn on_timeout(&mut self, board: &Scoreboard) {
        self.rest();
        self.recover = board.end();
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        board.pipe().saturating_sub(self.left_network)
    }
}
