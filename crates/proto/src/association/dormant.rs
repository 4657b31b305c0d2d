//! No path works (RFC 7829 §4), or soon none may: what is asked at once, and what follows when the peer is heard again.

use whimbrel_machine::Instant;

use super::{Context, Open};
use crate::interface::{PathId, PathState};
use crate::path::Path;
use crate::timers::TimerId;

/// When all that was in flight went out again, as the peer was heard while no path worked, or the tail of it, as a probe seemed to be answered; `None` once something
/// tells what has become of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentAgain(Option<Instant>);

impl SentAgain {
    /// It goes out again now.
    pub(crate) fn note(&mut self, now: Instant) {
        self.0 = Some(now);
    }

    /// Nothing that has left since then has been answered.
    pub(crate) fn is_open(self) -> bool {
        self.0.is_some()
    }

    /// What left at `sent_at`, and only then, has been answered, a heartbeat or DATA: what left before it has arrived by now, or is lost.
    ///
    /// That something of it is acknowledged tells nothing, as it may have been the first copy.
    pub(crate) fn on_answer(&mut self, sent_at: Instant) {
        self.0.take_if(|again| *again <= sent_at);
    }
}

impl Open {
    /// Whether no path works, as far as anybody knows.
    pub(crate) fn is_dormant(&self) -> bool {
        !self.paths.iter().any(|path| path.is_usable() && path.state == PathState::Active)
    }

    /// An answer on a path is overdue, and no other network is known to work: one that had failed may do so again by now, and nothing would tell
    /// until its supervision, which has backed off, asks. Each is asked once in two RTOs, and after that time in pauses that grow.
    pub(crate) fn look_for_another(&mut self, context: &mut Context<'_>, silent: PathId) {
        let apart = self.has_sound_other_apart(silent);
        let Some(path) = self.paths.get_mut(silent).filter(|_| !apart) else { return };
        let time = path.rto.without_back_off() * 2;
        if !path.supervision.may_look(context.now, time) {
            return;
        }
        let failed = |path: &&Path| {
            let due = context.now >= path.supervision.last_probing + path.rto.without_back_off() * 2;
            path.is_usable() && path.state != PathState::Active && due
        };
        let failed: Vec<PathId> = self.paths.iter().filter(failed).map(|path| path.id).collect();
        failed.into_iter().for_each(|id| self.ask_failed_path(context, id));
    }

    /// The last path that worked, `failed`, does not any more. All others are asked at once: while it worked they were asked seldom, and what they have not
    /// answered was asked long ago.
    pub(crate) fn look_around(&mut self, context: &mut Context<'_>, failed: PathId) {
        let off = context.config.heartbeat.interval.is_none();
        if off || !self.looks_for_peer(context) || self.heartbeats_are_over() || !self.is_dormant() {
            return;
        }
        // What nobody has confirmed has a budget of its own (RFC 9260 §5.4).
        let others = self.paths.iter().filter(|path| path.id != failed && path.is_usable());
        let others: Vec<PathId> = others.map(|path| path.id).collect();
        for id in others {
            let asked = self.paths.get(id).is_some_and(|path| path.supervision.heartbeat.is_some());
            if asked {
                self.repeat_heartbeat(context, id);
            } else {
                context.timers.set(TimerId::Heartbeat(id), context.now);
            }
        }
    }

    /// The peer is heard on a path while none works: what is in flight was sent into the silence, and goes out again, unless it has just left.
    ///
    /// It does so once. Where the path is only slow, or behind a queue of seconds, more of what the peer had sent comes all the time, and says
    /// nothing of what has been sent to it: that waits in the queue, and each copy of it waits behind it.
    pub(crate) fn try_heard_path(&mut self, context: &mut Context<'_>, id: PathId) {
        let usable = self.paths.get(id).is_some_and(Path::is_usable);
        if !usable || !self.is_dormant() || !self.looks_for_peer(context) {
            return;
        }
        if self.notes.sent_again.is_open() {
            return;
        }
        let old = |path: &Path| {
            // Where none has been measured nobody knows what is old: T3-rtx has to tell.
            let round_trip = path.rto.srtt()?;
            let sent = self.sender.last_sent(path.id);
            sent.is_some_and(|sent| sent + round_trip < context.now).then_some(path.id)
        };
        let old: Vec<PathId> = self.paths.iter().filter_map(old).collect();
        if !old.is_empty() {
            self.notes.sent_again.note(context.now);
        }
        old.into_iter().for_each(|id| self.give_up(context, id));
    }

    fn looks_for_peer(&self, context: &Context<'_>) -> bool {
        context.config.heartbeat.silent_peer.is_some()
    }
}
