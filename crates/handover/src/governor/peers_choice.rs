//! Moves from one address of the peer to another.

use core::net::IpAddr;

use whimbrel_machine::Instant;
use whimbrel_proto::PathView;

use super::Governor;
use crate::past::Pasts;
use crate::{Action, Blemish, Decision, Reason, View, Want};

/// The address that the peer wants to be sent to (RFC 5061 §4.2.4), or from which it began the association, once we have left it because the path
/// to it was worse than another. The peer has its reasons, such as what the other network costs: we return when nothing speaks against it any more.
#[derive(Debug, Default)]
pub(super) struct PeersChoice {
    left: Option<IpAddr>,
    /// Since when the path to it has been as good as any.
    sound_since: Option<Instant>,
    /// What was left, and how often.
    past: Pasts,
}

impl PeersChoice {
    /// The peer may have chosen another one.
    pub(super) fn forget(&mut self) {
        (self.left, self.sound_since) = (None, None);
    }
}

impl Governor {
    /// Moves to another address of the peer; ours stays. One that had to be left is shunned, as one of ours is.
    pub(super) fn change_remote(
        &mut self,
        now: Instant,
        path: &PathView,
        reason: Reason,
        view: &View<'_>,
        out: &mut Vec<Decision>,
    ) {
        let shunned = self.past.shunned_until(path.route.remote.ip());
        if let Some(until) = shunned.filter(|until| *until > now) {
            self.wake_at(now, until);
            return;
        }
        if !self.may(now, false) {
            return;
        }
        self.moves.take(now);
        if let Some(left) = view.primary_path() {
            self.past.shun(now, left.route.remote.ip(), &self.pace);
        }
        self.leave_remote(now, path, reason, view);
        out.push(Decision { action: Action::UsePath(path.id), reason });
    }

    /// Notes that the peer's address in use is left for that of `path`, if it is and the path to it is to blame.
    pub(super) fn leave_remote(&mut self, now: Instant, path: &PathView, reason: Reason, view: &View<'_>) {
        let Some(primary) = view.primary_path() else { return };
        let left = primary.route.remote.ip();
        if left == path.route.remote.ip() || !reason.is_of_path() {
            return;
        }
        self.peers_choice.past.shun(now, left, &self.pace);
        self.peers_choice.left.get_or_insert(left);
        self.peers_choice.sound_since = None;
    }

    /// Returns to the address that the peer has chosen, once that is certain to last.
    pub(super) fn go_back(
        &mut self,
        now: Instant,
        want: Option<Want>,
        view: &View<'_>,
        out: &mut Vec<Decision>,
    ) {
        let (Some(left), Some(primary)) = (self.peers_choice.left, view.primary_path()) else { return };
        if primary.route.remote.ip() == left || view.remotes.iter().all(|remote| remote.ip() != left) {
            self.peers_choice.forget();
            return;
        }
        let there = view.paths_from(primary.route.local.ip()).find(|path| path.route.remote.ip() == left);
        let moves = want.is_some_and(|want| want.calls_for_a_move(view));
        // One that loses much is not sound, even where all do.
        let sound = |path: &&PathView| {
            view.is_usable(path) && !path.quality.lossy && view.blemish(path) == Blemish::None
        };
        let Some(path) = there.filter(sound).filter(|_| !moves) else {
            self.peers_choice.sound_since = None;
            return;
        };
        let since = *self.peers_choice.sound_since.get_or_insert(now);
        let dwelt = self.moved_at.map(|at| at + self.pace.dwell);
        let due = [Some(since + self.pace.settle), self.peers_choice.past.shunned_until(left), dwelt];
        let due = due.into_iter().flatten().max().unwrap_or(now);
        self.wake_at(now, due);
        if due <= now && self.may(now, false) {
            self.moves.take(now);
            self.moved_at = Some(now);
            self.peers_choice.forget();
            out.push(Decision { action: Action::UsePath(path.id), reason: Reason::PeersChoice });
        }
    }
}

#[cfg(test)]
#[path = "peers_choice_tests.rs"]
mod tests;
