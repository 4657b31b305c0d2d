//! Path supervision: heartbeats, path confirmation, path MTU probes (RFC 9260 §5.4, §8.3; RFC 8899).

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{Heartbeat, PadBuilder, RawChunk, chunk_type};

use super::heartbeat_info::{self, Kind};
use super::heartbeat_time;
use super::late_heartbeat::AWAITED;
use super::one_way::note_way_of_answer;
use super::replies::First;
use super::{Closing, Context, Handled, Open};
use crate::auth::chunk_writer::ChunkWriter;
use crate::config::{HeartbeatForm, TailLoss, Unanswered};
use crate::interface::{PathId, PathState};
use crate::path::{Egress, Path, PendingHeartbeat, Supervision};
use crate::timers::TimerId;

impl Open {
    /// The association is established: supervise every path, confirm those that need it (RFC 9260 §5.4, §8.3).
    pub(crate) fn start_path_supervision(&mut self, context: &mut Context<'_>) {
        let ids: Vec<PathId> = self.paths.iter().map(|path| path.id).collect();
        for id in ids {
            self.supervise_new_path(context, id);
        }
    }

    pub(crate) fn supervise_new_path(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id).filter(|path| path.egress == Egress::Open) else { return };
        if path.state == PathState::Active {
            self.schedule_heartbeat(context, id);
            self.refresh_probe_timer(context, id);
        } else {
            let at = heartbeat_time::first_probe(context.now, context.identity.token.is_some(), &path.rto);
            context.timers.set(TimerId::Heartbeat(id), at);
        }
    }

    // ---- inputs

    /// RFC 9260 §8.3: answered at once, everything in it copied unchanged. In SHUTDOWN-SENT that is no duty any more, but
    /// the peer may have much to send yet, and would think its paths dead.
    pub(crate) fn answer_heartbeat(&mut self, context: &Context<'_>, route: Route, raw: &RawChunk<'_>) {
        // Nor in clear what was asked sealed: the peer asks again.
        if matches!(self.closing, Closing::AckSent(_)) || self.auth.lacks_keys() {
            return;
        }
        let mut chunk = raw.bytes().to_vec();
        chunk[0] = chunk_type::HEARTBEAT_ACK;
        chunk[1] = 0;
        chunk.resize(chunk.len().next_multiple_of(4), 0);
        // Not from an address that the peer has not acknowledged yet (RFC 5061 §5.3 F1), nor from one that is leaving.
        let source = if self.locals.is_source(route.local.ip()) { Some(route) } else { self.route_to_use() };
        let Some(source) = source.filter(|source| self.locals.is_source(source.local.ip())) else {
            return self.hold_answer(context.now, route, chunk);
        };
        self.replies.push_raw(source, First::Other, &chunk);
        self.answer_elsewhere(context, [route, source], First::Other, &[chunk]);
    }

    /// The peer has sent a HEARTBEAT, and ours on this path may go, too: it goes with the answer, so that both ends are done
    /// after three packets instead of four.
    ///
    /// On a path that is yet to be confirmed this is the first probe; HEARTBEAT and HEARTBEAT ACK is just what RFC 9260
    /// §5.4 allows there. On others it is the heartbeat whose time has come within the jitter of §8.3. The peer cannot
    /// make us send more of either.
    pub(crate) fn return_heartbeat(&mut self, context: &mut Context<'_>, route: Route) {
        let Some(id) = self.paths.by_route(route) else { return };
        let Some(path) = self.paths.get(id) else { return };
        let waiting = path.error_count == 0 && context.timers.is_set(TimerId::Heartbeat(id));
        // It would come between the answers to the peer's train.
        let trains = context.config.heartbeat.form == HeartbeatForm::Train || path.wants_train(context);
        let apart = path.confirmed && trains;
        if !waiting || apart || self.heartbeats_are_over() {
            return;
        }
        let rto = path.rto.current();
        let due = match context.config.heartbeat.interval {
            _ if !path.confirmed => self.may_probe(context.now, id),
            Some(interval) => {
                context.now >= heartbeat_time::earliest(path.supervision.last_probing, interval, rto)
            }
            None => false,
        };
        if due {
            self.send_heartbeat_with_reply(context, id, route);
        }
    }

    /// The peer is heard on a path that has failed or never worked: perhaps it does now. A heartbeat finds out at once, or after a long
    /// outage the supervision, which has backed off, would leave it unused for many seconds. Once per RTO, and once more when a silence ends; repetitions count no errors.
    /// Unconfirmed paths share the limit of RFC 9260 §5.4 with all others of their kind.
    pub(crate) fn probe_heard_path(&mut self, context: &mut Context<'_>, route: Route) {
        if self.heartbeats_are_over() {
            return;
        }
        let Some(id) = self.paths.by_route(route) else { return };
        let Some(path) = self.paths.get_mut(id) else { return };
        let failed = path.state != PathState::Active && path.egress == Egress::Open;
        // RFC 7829 §3.2 rule 5: not where the user has switched them off.
        let allowed = !path.confirmed || context.config.heartbeat.interval.is_some();
        let rto = path.rto.without_back_off();
        // The last one may have been sent just before the way was open again.
        let opened = core::mem::take(&mut path.supervision.silence_broken)
            && context.config.heartbeat.unanswered == Unanswered::RepeatIfHeard;
        if !failed || !allowed || (context.now < path.supervision.last_probing + rto && !opened) {
            return;
        }
        if !path.confirmed && !self.probe_burst.try_send(context.now, rto) {
            return;
        }
        self.try_heard_path(context, id);
        self.ask_failed_path(context, id);
    }

    /// A path that has failed is asked now, however far its supervision has backed off.
    pub(crate) fn ask_failed_path(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let rto = path.rto.without_back_off();
        match &mut path.supervision.heartbeat {
            // The same one again, so that a slow answer to the first counts, too.
            Some(pending) => {
                pending.repeat(context.now);
                path.supervision.last_probing = context.now;
                // Its time must not be over just before the answer comes.
                let (timer, least) = (TimerId::HeartbeatTimeout(id), context.now + rto);
                if context.timers.deadline(timer).is_some_and(|at| at < least) {
                    context.timers.set(timer, least);
                }
            }
            None => self.send_heartbeat_on(context, id),
        }
    }

    pub(crate) fn handle_heartbeat_ack(&mut self, context: &mut Context<'_>, route: Route, info: &[u8]) {
        let Some((id, kind, nonce)) = heartbeat_info::decode(info) else { return };
        let Some(path) = self.paths.get_mut(id) else { return };
        match kind {
            Kind::Port => self.confirm_port(context, id, nonce),
            Kind::Path => {
                let Supervision { heartbeat, overdue, .. } = &mut path.supervision;
                let sent_with = |pending: &PendingHeartbeat| pending.sent_with(nonce);
                let Some(sent_at) = heartbeat.as_ref().or(overdue.as_ref()).and_then(sent_with) else {
                    return self.note_later_answer(context, id, nonce);
                };
                path.supervision.conclude_heartbeat();
                path.supervision.estimates_mut().on_answer(context.now, nonce, Kind::Path);
                let took = context.now.saturating_since(sent_at);
                path.supervision.quality.on_heartbeat(context.now, took);
                if note_way_of_answer(path, route) {
                    self.sender.note_answer(id, took);
                }
                self.notes.sent_again.on_answer(sent_at);
                if context.config.retransmission.tail == TailLoss::Probe {
                    self.sender.judge_guess(id, took, path.rto.probe_timeout());
                }
                // Where it took longer than the heartbeat and its repetition may take, a host was suspended, or a network kept it back.
                if took <= path.rto.current() * 3 {
                    path.on_measurement(context.now, took, &mut self.notes.round_trips);
                }
                context.timers.clear(TimerId::HeartbeatTimeout(id));
                let slower = self.judge_answer(context.now, id, took);
                self.note_path_alive(context, id);
                self.forget_restated(id);
                self.notice_quality(context, id);
                let reaction = self.primary.rule.on_heartbeat_answered(id);
                self.react(context, reaction);
                self.schedule_heartbeat(context, id);
                self.probe_again(context, id, sent_at);
                if slower {
                    self.send_heartbeat_on(context, id);
                }
                self.refresh_probe_timer(context, id);
            }
            Kind::Train => {
                path.supervision.estimates_mut().on_answer(context.now, nonce, Kind::Train);
                self.notice_estimates(context, id);
            }
            Kind::Pmtu => {
                let Some(probe) = path.mtu_probe.take_if(|probe| probe.nonce == nonce) else { return };
                path.pmtu.on_probe_acked(probe.size, context.now);
                self.sender.on_packet_size(id, path.pmdcs());
                self.refresh_probe_timer(context, id);
            }
        }
    }

    /// A HEARTBEAT that still waits for its answer is sent once more, and waited for anew: it was lost before the path worked, or went elsewhere.
    pub(crate) fn repeat_heartbeat(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let Some(pending) = &mut path.supervision.heartbeat else { return };
        pending.repeat(context.now);
        path.supervision.last_probing = context.now;
        context.timers.set(TimerId::HeartbeatTimeout(id), context.now + path.rto.without_back_off());
    }

    /// The heartbeat timer of a path expired: send one unless the path is busy.
    pub(crate) fn handle_heartbeat_due(&mut self, context: &mut Context<'_>, id: PathId) {
        if self.heartbeats_are_over() {
            return;
        }
        let Some(path) = self.paths.get(id) else { return };
        if path.supervision.heartbeat.is_some() {
            return;
        }
        let at_once = path.doubt.is_slower() || path.wants_train(context);
        let interval = context.config.heartbeat.interval.filter(|_| !at_once).unwrap_or(Duration::ZERO);
        let since = path.supervision.estimates().last_train(context).unwrap_or(path.supervision.last_probing);
        let rto = self.supervision_rto(context, path);
        if path.state == PathState::Active && context.now < heartbeat_time::earliest(since, interval, rto) {
            // Something else has measured the path meanwhile (RFC 9260 §8.3: only idle ones need it).
            let at = heartbeat_time::next(since, interval, rto, context.rng);
            context.timers.set(TimerId::Heartbeat(id), at);
            return;
        }
        // Without its backing off: a dead address must not keep the others waiting for their turn.
        if !path.confirmed && !self.may_probe(context.now, id) {
            context.timers.set(TimerId::Heartbeat(id), self.probe_burst.next_opportunity());
            return;
        }
        self.send_heartbeat_on(context, id);
        self.begin_train(context, id);
    }

    /// Whether an unconfirmed path may be probed now, which counts as done then.
    fn may_probe(&mut self, now: Instant, id: PathId) -> bool {
        let Some(path) = self.paths.get(id) else { return false };
        let (rto, remote) = (path.rto.without_back_off(), path.route.remote.ip());
        if self.paths.iter().any(|path| path.confirmed && path.route.remote.ip() == remote) {
            self.probe_burst.try_send_to_peer(now, rto)
        } else {
            self.probe_burst.try_send(now, rto)
        }
    }

    /// No answer within the RTO (RFC 9260 §8.3).
    pub(crate) fn handle_heartbeat_timeout(&mut self, context: &mut Context<'_>, id: PathId) -> Handled {
        if self.repeat_if_heard(context, id) {
            return Ok(());
        }
        let in_use = self.is_in_use(id);
        let Some(path) = self.paths.get_mut(id) else { return Ok(()) };
        let late = path.supervision.heartbeat.take();
        if context.config.heartbeat.unanswered == Unanswered::RepeatIfHeard {
            path.supervision.overdue = late;
        }
        path.rto.back_off();
        self.primary.rule.on_timeout();
        // RFC 9260 §8.1: it counts against the association only on the path used for data. Unconfirmed ones do not
        // (§5.4), unless there is no other: nothing else is sent then that a peer which is gone could fail to answer.
        let confirmed = path.confirmed;
        let of_association = in_use && (confirmed || self.paths.iter().all(|path| !path.confirmed));
        self.note_path_error(context, id, of_association)?;
        self.vouched_is_silent(context, id);
        let max = context.config.failure.path_max_retrans;
        let Some(path) = self.paths.get(id) else { return Ok(()) };
        let urgent = match path.state {
            PathState::Active => !confirmed && path.error_count <= max,
            // RFC 7829 §3.2 rules 5 and 6.
            PathState::PotentiallyFailed => context.config.heartbeat.interval.is_some(),
            // Its link has just come back, or it has failed a while ago, and may be back soon.
            PathState::Inactive if self.awaits_few(context) => {
                path.error_count <= max.saturating_add(AWAITED)
            }
            PathState::Unconfirmed | PathState::Inactive => path.error_count <= max,
        };
        if urgent {
            context.timers.set(TimerId::Heartbeat(id), context.now);
        } else {
            self.schedule_heartbeat(context, id);
        }
        Ok(())
    }

    // ---- commands

    /// Sends a heartbeat on a path, behind the answer that waits to go there.
    pub(crate) fn send_heartbeat_with_reply(&mut self, context: &mut Context<'_>, id: PathId, route: Route) {
        self.send_heartbeat_on(context, id);
        self.bundle_heartbeat(id, route);
    }

    /// Puts the HEARTBEAT that waits on a path among the answers that go there.
    pub(crate) fn bundle_heartbeat(&mut self, id: PathId, route: Route) {
        let pending = self.paths.get_mut(id).and_then(|path| path.supervision.heartbeat.as_mut());
        if let Some(pending) = pending.filter(|pending| !pending.written) {
            pending.written = true;
            let info = heartbeat_info::encode(id, Kind::Path, pending.last_nonce());
            self.replies.push(route, &Heartbeat { info: &info });
        }
    }

    /// The RTO of a path as its supervision has it: on standby it backs off no further than the configuration says.
    fn supervision_rto(&self, context: &Context<'_>, path: &Path) -> Duration {
        let rto = path.rto.current();
        let rto = match context.config.heartbeat.standby_back_off {
            Some(most) if !self.is_in_use(path.id) => rto.min(path.rto.without_back_off() + most),
            _ => rto,
        };
        self.probe_spacing(context, path).map_or(rto, |spacing| rto.min(spacing))
    }

    /// Sends a heartbeat on a path now.
    pub(crate) fn send_heartbeat_on(&mut self, context: &mut Context<'_>, id: PathId) {
        // It could not leave in clear, and the time in which it is not answered would double that of what does.
        if self.auth.lacks_keys() {
            return;
        }
        let nonce = context.rng.next_u64();
        let Some(path) = self.paths.get(id) else { return };
        let mut rto = self.supervision_rto(context, path);
        let guessed = path.rto.srtt().is_some() && !path.is_settled(context.now) && path.error_count == 0;
        if let Some(spacing) = self.probe_spacing(context, path) {
            // Never in step with a network that comes and goes (RFC 9260 §8.3 has the jitter for the same reason).
            let least = rto.min(path.rto.without_back_off());
            rto = rto.saturating_sub(context.rng.duration_below(spacing / 4)).max(least);
        } else if context.config.retransmission.tail == TailLoss::Probe && guessed {
            // Data avoids a path that is suspect in any case; a network with jitter is not given up for the first answer that takes long.
            rto = rto.max(path.rto.without_back_off() * 2).min(context.config.rto.max);
        }
        // One is under way: another would only put off the moment when its answer is missed.
        let ready = |path: &&mut Path| path.supervision.heartbeat.is_none() && path.egress == Egress::Open;
        let Some(path) = self.paths.get_mut(id).filter(ready) else { return };
        let Supervision { heartbeat, overdue, .. } = &mut path.supervision;
        *heartbeat = Some(match overdue.take() {
            Some(mut overdue) => {
                overdue.begin_again(context.now);
                overdue
            }
            None => PendingHeartbeat::new(nonce, context.now),
        });
        path.supervision.last_probing = context.now;
        context.timers.set(TimerId::HeartbeatTimeout(id), context.now + rto);
        context.timers.clear(TimerId::Heartbeat(id));
    }

    /// The next heartbeat of an idle path: RTO + HB.interval, jittered by half an RTO (RFC 9260 §8.3).
    fn schedule_heartbeat(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id) else { return };
        let Some(interval) = context.config.heartbeat.interval else {
            context.timers.clear(TimerId::Heartbeat(id));
            return;
        };
        // RFC 7829 §3.2 rule 5: once per RTO while potentially failed. So is one that data would go back to.
        let waits = path.state == PathState::PotentiallyFailed || path.doubt.is_slower();
        let interval = if waits || path.wants_train(context) { Duration::ZERO } else { interval };
        let rto = self.supervision_rto(context, path);
        let latest = self.probe_spacing(context, path).map(|spacing| path.supervision.last_probing + spacing);
        let at = heartbeat_time::next(context.now, interval, rto, context.rng);
        let at = latest.map_or(at, |latest| at.min(latest).max(context.now));
        context.timers.set(TimerId::Heartbeat(id), at);
    }

    // ---- outputs

    /// A heartbeat or a path MTU probe that is waiting to be written.
    pub(crate) fn poll_heartbeat(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<Route> {
        let checksum = self.checksum();
        let header = context.header(self.peer.tag);
        let waiting = |path: &&mut Path| {
            path.supervision.heartbeat.as_ref().is_some_and(|pending| !pending.written)
                || path.supervision.new_port.is_some_and(|probe| !probe.written)
                || path.mtu_probe.is_some_and(|probe| !probe.written)
                || path.supervision.estimates().is_leaving()
        };
        let path = self.paths.iter_mut().find(waiting)?;
        let of_train = path.next_of_train();
        let Supervision { heartbeat, new_port, .. } = &mut path.supervision;
        let (kind, nonce, size, route) = match (heartbeat, of_train, new_port, &mut path.mtu_probe) {
            (Some(pending), ..) if !pending.written => {
                pending.written = true;
                (Kind::Path, pending.last_nonce(), 0, path.route)
            }
            (_, Some((nonce, size)), ..) => (Kind::Train, nonce, size, path.route),
            (_, _, Some(probe), _) if !probe.written => {
                probe.written = true;
                (Kind::Port, probe.nonce, 0, probe.route)
            }
            (.., Some(probe)) => {
                probe.written = true;
                (Kind::Pmtu, probe.nonce, probe.size, path.route)
            }
            _ => return None,
        };
        let mut writer = ChunkWriter::new(&self.auth, out, header, size.max(path.packet_size()));
        let fits =
            writer.push(&self.auth, &Heartbeat { info: &heartbeat_info::encode(path.id, kind, nonce) });
        debug_assert!(fits);
        // RFC 8899 §6.2.1: a probe is a HEARTBEAT padded to the size under test.
        let room = size.saturating_sub(writer.len()).min(writer.room_for(&self.auth, chunk_type::PAD));
        if let Some(pad) = PadBuilder::filling(room).filter(|_| size > 0) {
            let fits = writer.push(&self.auth, &pad);
            debug_assert!(fits);
        }
        writer.finish(&self.auth, checksum);
        Some(route)
    }
}
