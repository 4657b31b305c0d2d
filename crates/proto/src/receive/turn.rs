//! A message that needs more than the association's share of the endpoint's memory waits for its turn.

use super::Receive;

/// How an association stands that waits for the turn, has it, or has taken memory in it. What it means is said in `endpoint/turns.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// It waits, for longer than those with a higher one.
    pub(crate) ticket: Option<u64>,
    pub(crate) has_turn: bool,
    /// Has been refused something in its turn, for want of memory.
    pub(crate) refused: bool,
    /// Turns that it has lost, one after another.
    pub(crate) lost: u32,
    /// What it holds of the reserve.
    pub(crate) lent: usize,
    /// Something is here that the user gets only once more has come.
    pub(crate) held_up: bool,
    /// How many messages have been built of fragments.
    pub(crate) built: u64,
    /// What is here of the next one.
    pub(crate) built_bytes: usize,
}

impl Receive {
    /// `None` for those that have nothing to do with the turn.
    pub(crate) fn standing(&self) -> Option<Standing> {
        let share = self.window.share();
        let claim = share.claim()?;
        Some(Standing {
            ticket: claim.ticket,
            has_turn: claim.has_turn,
            refused: claim.refused,
            lost: claim.lost,
            lent: share.lent(),
            held_up: self.reassembly.is_held_up(),
            built: self.reassembly.built(),
            built_bytes: self.reassembly.built_bytes(),
        })
    }

    /// It has the turn. The peer, whose window is closed, is told, or it would find out by its own probes only (RFC 9260 §6.1 A).
    pub(crate) fn begin_turn(&mut self) {
        self.window.share_mut().begin_turn();
        self.acknowledgement.force();
    }

    /// It has the turn no more.
    pub(crate) fn end_turn(&mut self, lost: bool) {
        self.window.share_mut().end_turn(lost);
    }
}
