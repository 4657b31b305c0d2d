//! When the tail of what was sent is probed for, and what follows (RFC 8985 §7).

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Route};

use super::{Closing, Context, Open};
use crate::config::TailLoss;
use crate::interface::{PathId, PathState};
use crate::path::{Path, PendingHeartbeat, Verdict};
use crate::send::report::{T3, TailLost};
use crate::timers::TimerId;

/// The probe timeout is no shorter, however short the round trip: timers and busy hosts are not exact.
const SHORTEST: Duration = Duration::from_millis(10);

/// PTO: two round trips, or more where they vary, and `delay` for an acknowledgement that waits for a second packet (RFC 8985 §7.2).
/// `None` if T3-rtx comes no later, or nothing is known.
pub(super) fn probe_timeout(path: &Path, delay: Duration) -> Option<Duration> {
    let timeout = path.rto.probe_timeout()?.saturating_add(delay).max(SHORTEST);
    (path.state == PathState::Active && timeout < path.rto.current()).then_some(timeout)
}

/// After this time from the sending the answer to what was sent on the path is overdue, where the latest round trip took so long;
/// `None` if T3-rtx comes no later, or nothing is known.
fn overdue_after(path: &Path, round_trip: Duration) -> Option<Duration> {
    let timeout = path.rto.overdue(round_trip, SHORTEST)?;
    (path.state == PathState::Active && timeout < path.rto.current()).then_some(timeout)
}

/// Repetitions of a heartbeat follow each other so many times as closely in an RTO: the first ones are for what is lost.
const CLOSE: u32 = 8;
/// Where an RTO is longer than this they are close for this time only.
const CLOSE_FOR: Duration = Duration::from_secs(1);

/// After this time a heartbeat that has not been answered is sent again: some of them get through before its own time is over.
///
/// What is not answered for an RTO is rather on its way yet than lost, and where nothing has been measured no answer is due at any time that is known: the
/// pause doubles then. At the same pace for as long as it took, there were as many repetitions as data on a path of 2 s, and a link of 9.6 kbit/s was full of them.
pub(super) fn repetition_after(path: &Path) -> Duration {
    let pause = (path.rto.without_back_off() / CLOSE).max(SHORTEST);
    let measured = path.rto.srtt().is_some();
    let close =
        (1..CLOSE).take_while(|close| measured && pause * (close + 1) <= CLOSE_FOR).count() as u32 + 1;
    let repetitions = path.supervision.heartbeat.as_ref().map_or(0, PendingHeartbeat::repetitions);
    pause * (1 << (repetitions + 1).saturating_sub(close).min(CLOSE))
}

impl Open {
    /// T3-rtx of a path does as `t3` says, and the probe timer with it. `wait` is how long T3-rtx runs.
    pub(crate) fn set_t3(&self, context: &mut Context<'_>, id: PathId, t3: T3, wait: Duration) {
        // Without heartbeats nothing could say whether the path is alive once the probe has taken what T3-rtx guards to another: then only T3-rtx
        // finds a path that has failed (RFC 9260 §8.2).
        let asks = context.config.heartbeat.interval.is_some();
        // In a hurried set-up T3-rtx comes as soon, and a peer without keys answers no heartbeat.
        let probes = context.config.retransmission.tail == TailLoss::Probe && !self.is_hurried(context);
        if probes && asks {
            let timer = TimerId::TailProbe(id);
            let runs = t3 == T3::Start && context.timers.is_set(TimerId::T3Retransmit(id));
            let due = if t3 == T3::Stop { None } else { self.tail_due(context, id).map(|(due, _)| due) };
            match due {
                // A packet that has just left may have the peer send its SACK sooner.
                Some(due) if runs => {
                    if context.timers.deadline(timer).is_some_and(|at| due < at) && !self.sender.is_probed(id)
                    {
                        context.timers.set(timer, due.max(context.now));
                    }
                }
                None if runs => {}
                Some(due) => {
                    // Where a heartbeat is being repeated that goes on.
                    let repeats = context.timers.deadline(timer).filter(|_| self.is_asked(id));
                    let due = repeats.map_or(due, |at| at.min(due));
                    context.timers.set(timer, due.max(context.now));
                }
                None if self.is_asked(id) => {}
                None => context.timers.clear(timer),
            }
        }
        context.set_t3(id, t3, wait);
    }

    /// When the tail of what is in flight on a path is overdue (PTO), and how long after its sending that is. RFC 8985 §7.2 counts from the
    /// last acknowledgement, which was for something else, RFC 9002 §6.2 from the last packet, which a steady stream puts off for ever.
    fn tail_due(&self, context: &Context<'_>, id: PathId) -> Option<(Instant, Duration)> {
        let path = self.paths.get(id)?;
        // What has gone out again here and may be answered yet would be probed for as if it were the first copy, and so would the next one.
        if self.notes.sent_again.is_open() && !self.has_sound_other(id) {
            return None;
        }
        // Both ends are taken to be alike.
        let tail = self.sender.tail_of(id, context.config.sack.delay)?;
        let timeout = overdue_after(path, tail.round_trip)?;
        Some(((tail.since + timeout).max(tail.reordering.unwrap_or(tail.since)), timeout))
    }

    /// PTO has expired: a probe. If that is not answered within another round trip, two have passed (RFC 8985 §7.2), and a heartbeat asks
    /// whether the path itself is alive. Until it is answered it is repeated, as a single one may be lost on a path that is as good as ever.
    pub(crate) fn handle_tail_probe(&mut self, context: &mut Context<'_>, id: PathId) {
        let over = matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_));
        let Some(path) = self.paths.get(id).filter(|path| path.state == PathState::Active && !over) else {
            return;
        };
        let again = context.now + repetition_after(path);
        let rto = path.rto.current();
        let due = self.tail_due(context, id);
        let overdue = due.filter(|(due, _)| *due <= context.now).map(|(_, timeout)| timeout);
        // What was probed for may have been all that was in flight there.
        let nothing_tells = due.is_none() && self.sender.is_probed(id);
        if overdue.is_none() && !self.is_asked(id) && !nothing_tells {
            // Other acknowledgements have come since the timer was set.
            if let Some((due, _)) = due {
                context.timers.set(TimerId::TailProbe(id), due);
            }
            return;
        }
        self.look_for_another(context, id);
        if self.has_sound_other(id)
            && let Some(lost) = self.sender.give_tail_up(id, context.now)
        {
            self.handle_tail_lost(context, lost);
            // What left at this very moment is not.
            let t3 = if self.sender.has_in_flight(id) { T3::Start } else { T3::Stop };
            self.set_t3(context, id, t3, rto);
            context.timers.set(TimerId::TailProbe(id), again);
            return;
        }
        let probe =
            |timeout| self.sender.probe_tail(&self.paths, id, context.now, timeout).map(|t3| (t3, timeout));
        if let Some((t3, timeout)) = overdue.and_then(probe) {
            context.set_t3(id, t3, rto);
            // RFC 8985 §7.3: T3-rtx leaves the probe its time, or one SACK that is lost costs the window.
            let (t3, until) = (TimerId::T3Retransmit(id), context.now + timeout + context.config.sack.delay);
            if self.is_proved_of_late(context, id) && context.timers.deadline(t3).is_some_and(|at| at < until)
            {
                context.timers.set(t3, until);
            }
            if !self.is_asked(id) {
                context.timers.set(TimerId::TailProbe(id), context.now + timeout);
                return;
            }
        } else if !self.is_asked(id) && !self.sender.is_probed(id) {
            if self.sender.is_probing() && self.sender.has_in_flight(id) {
                context.timers.set(TimerId::TailProbe(id), again);
            }
            return;
        }
        match self.paths.get_mut(id).and_then(|path| path.supervision.heartbeat.as_mut()) {
            Some(pending) => pending.repeat(context.now),
            None => self.ask_patiently(context, id),
        }
        let due = due.map(|(due, _)| due).filter(|due| *due > context.now);
        context.timers.set(TimerId::TailProbe(id), due.map_or(again, |due| again.min(due)));
    }

    /// A heartbeat that was sent at `asked_at` has been answered. If a probe left before, and was not, then the path works, and the probe is lost or its SACK
    /// is: it goes out once more. T3-rtx, which is many round trips long where these are short, would wait for the same.
    pub(super) fn probe_again(&mut self, context: &mut Context<'_>, id: PathId, asked_at: Instant) {
        let Some((_, timeout)) = self.tail_due(context, id) else {
            return self.probe_by_order(context, id, asked_at);
        };
        if self.sender.last_sent(id).is_none_or(|sent| sent >= asked_at) {
            return;
        }
        let Some(t3) = self.sender.probe_again(&self.paths, id, context.now, timeout) else { return };
        self.await_probe(context, id, t3);
    }

    /// A heartbeat that has been answered before is answered once more, to a later repetition, which measures nothing that is not known.
    pub(super) fn note_later_answer(&mut self, context: &mut Context<'_>, id: PathId, nonce: u64) {
        let path = self.paths.get(id);
        let Some(asked_at) = path.and_then(|path| path.supervision.answered_before(nonce)) else { return };
        self.notes.sent_again.on_answer(asked_at);
        if self.tail_due(context, id).is_none() {
            self.probe_by_order(context, id, asked_at);
        }
    }

    /// Round trips vary so much that T3-rtx comes before PTO, perhaps in ten seconds. Where a heartbeat has been answered that left after all that is in flight,
    /// and late enough for a SACK that was kept back, no time is needed to tell that the tail is overdue: it has been overtaken.
    fn probe_by_order(&mut self, context: &mut Context<'_>, id: PathId, asked_at: Instant) {
        let probes = context.config.retransmission.tail == TailLoss::Probe && !self.is_hurried(context);
        let active = self.paths.get(id).is_some_and(|path| path.state == PathState::Active);
        let overtaken = |sent| asked_at >= sent + context.config.sack.delay;
        if !probes || !active || !self.sender.last_sent(id).is_some_and(overtaken) {
            return;
        }
        let took = context.now.saturating_since(asked_at);
        if let Some(t3) = self.sender.probe_by_order(&self.paths, id, context.now, took) {
            self.await_probe(context, id, t3);
        }
    }

    /// A probe is about to leave for a path that works.
    fn await_probe(&self, context: &mut Context<'_>, id: PathId, t3: T3) {
        let Some(path) = self.paths.get(id) else { return };
        let round_trip = path.rto.srtt().unwrap_or_default();
        context.set_t3(id, t3, path.rto.current());
        context.timers.set(TimerId::TailProbe(id), context.now + round_trip.max(SHORTEST));
    }

    /// Sends the heartbeat that goes with a probe. The probe is earlier than the two round trips that RFC 8985 §7.2 has it wait for; what a late
    /// answer means for the path is decided no sooner for that.
    pub(super) fn ask_patiently(&mut self, context: &mut Context<'_>, id: PathId) {
        if !self.is_asked(id) {
            self.ask_anew(context, id);
        }
    }

    /// Sends a heartbeat, or the one that waits for its answer once more: what was sent before counts for the answer, but gives it no less time.
    pub(super) fn ask_anew(&mut self, context: &mut Context<'_>, id: PathId) {
        let timer = TimerId::HeartbeatTimeout(id);
        let before = context.timers.deadline(timer).filter(|_| self.is_asked(id));
        if before.is_some() {
            self.repeat_heartbeat(context, id);
        } else {
            self.send_heartbeat_on(context, id);
        }
        let round_trip = self.paths.get(id).and_then(|path| path.rto.srtt());
        if let Some((at, round_trip)) = context.timers.deadline(timer).zip(round_trip) {
            context.timers.set(timer, (at + round_trip).max(before.unwrap_or(at)));
        }
    }

    /// Whether a heartbeat on the path waits for its answer.
    fn is_asked(&self, id: PathId) -> bool {
        self.paths.get(id).is_some_and(|path| path.supervision.heartbeat.is_some())
    }

    /// Whether DATA that went by the path alone, or the handshake, has been acknowledged within two round trips.
    /// Then T3-rtx has expired because something was lost more than once, which on a path with losses happens every minute, and the path
    /// is none the worse for it.
    pub(crate) fn is_proved_of_late(&self, context: &Context<'_>, id: PathId) -> bool {
        let of_late = |path: &Path| {
            let (proved, round_trip) = (path.supervision.proved?, path.rto.srtt()?);
            Some(context.now <= proved + round_trip * 2)
        };
        let probing = context.config.retransmission.tail == TailLoss::Probe;
        probing && self.paths.get(id).and_then(of_late).unwrap_or(false)
    }

    /// T3-rtx has expired on a path: a heartbeat asks whether it is alive, unless one does already. If that is not answered, that is the error.
    /// Meanwhile new data avoids the path, unless it has worked until a moment ago. Returns whether the path is asked.
    pub(crate) fn suspects(&mut self, context: &mut Context<'_>, id: PathId) -> bool {
        let probing = context.config.retransmission.tail == TailLoss::Probe;
        let asks = probing && context.config.heartbeat.interval.is_some();
        let active = |path: &&mut Path| path.state == PathState::Active;
        let avoids = self.has_sound_other(id) && !self.is_proved_of_late(context, id);
        let Some(path) = self.paths.get_mut(id).filter(active).filter(|_| asks) else { return false };
        if avoids {
            path.doubt.suspect(context.now, path.rto.long_round_trip());
        }
        let again = context.now + repetition_after(path);
        match path.supervision.heartbeat.as_mut() {
            Some(pending) => pending.repeat(context.now),
            None => self.send_heartbeat_on(context, id),
        }
        context.timers.set(TimerId::TailProbe(id), again);
        self.look_for_another(context, id);
        true
    }

    /// A path that was suspected has answered after such a time. Returns whether it should be asked again at once.
    pub(crate) fn judge_answer(&mut self, now: Instant, id: PathId, took: Duration) -> bool {
        let Some(since) = self.paths.get(id).and_then(|path| path.doubt.since()) else { return false };
        // What is known of others from before may hold no more.
        let lately =
            self.sound_others(id).filter(|path| path.supervision.measured.is_some_and(|at| at > since));
        let quickest = lately.filter_map(|path| path.rto.srtt()).min();
        let Some(path) = self.paths.get_mut(id) else { return false };
        let verdict = path.doubt.judge(took, quickest);
        if verdict == Verdict::StillSlow {
            path.supervision.quality.on_slow_answers(now, took);
        }
        verdict == Verdict::Slow
    }

    /// Other paths that work, and do not lose so much that what is kept back here would come there no sooner.
    fn sound_others(&self, id: PathId) -> impl Iterator<Item = &Path> {
        let sound = |path: &&Path| {
            path.is_usable()
                && path.state == PathState::Active
                && !path.doubt.is_any()
                && !path.supervision.quality.now().lossy
        };
        self.paths.iter().filter(move |path| path.id != id).filter(sound)
    }

    fn has_sound_other(&self, id: PathId) -> bool {
        self.sound_others(id).next().is_some()
    }

    /// Whether one of them does not fail with the same network: it has neither of this path's addresses, where there are others at all.
    pub(crate) fn has_sound_other_apart(&self, id: PathId) -> bool {
        let Some(route) = self.paths.get(id).map(|path| path.route) else { return false };
        let differs = |other: &Path, of: fn(Route) -> IpAddr| {
            let single = || self.paths.iter().all(|path| of(path.route) == of(route));
            of(other.route) != of(route) || single()
        };
        self.sound_others(id).any(|other| {
            differs(other, |route| route.local.ip()) && differs(other, |route| route.remote.ip())
        })
    }

    /// The path has shown that it works.
    pub(crate) fn trust(&mut self, context: &mut Context<'_>, id: PathId) {
        if self.paths.get_mut(id).is_some_and(|path| path.doubt.clear()) {
            self.sender.opportunity();
            self.notice_path_in_use(context);
        }
    }

    /// What was in flight on a path is lost, says the answer to a probe.
    pub(crate) fn handle_tail_lost(&mut self, context: &mut Context<'_>, lost: TailLost) {
        let TailLost { path: id, elsewhere, largest } = lost;
        if !elsewhere {
            self.notes.sent_again.note(context.now);
        }
        // Where another path carries data in any case, it costs little to leave this one for a round trip, and much to trust it for one too many.
        let trusted = !self.sender.combines_paths() && self.is_proved_of_late(context, id);
        let stays = trusted || !self.has_sound_other(id);
        let Some(path) = self.paths.get_mut(id) else { return };
        // It may be the size.
        path.pmtu.on_timeout(largest);
        let pmdcs = path.pmdcs();
        // The answer says whether it is the size or the path.
        self.ask_patiently(context, id);
        let asked = |path: &&mut Path| path.supervision.heartbeat.is_some() && elsewhere && !stays;
        if let Some(path) = self.paths.get_mut(id).filter(asked) {
            path.doubt.suspect(context.now, path.rto.long_round_trip());
            if self.sender.combines_paths() {
                // What other paths bring waits for all of it at the receiver.
                self.give_up(context, id);
            }
        }
        self.sender.on_packet_size(id, pmdcs);
        self.pending_probe(context, id);
        self.refresh_probe_timer(context, id);
    }
}
