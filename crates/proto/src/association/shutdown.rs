//! Graceful shutdown (RFC 9260 §9.2).

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{
    Cause, EmitChunk, ErrorBuilder, Shutdown, ShutdownAck, ShutdownComplete, Tsn, chunk_type,
};

use super::abort::one_chunk;
use super::context::Farewell;
use super::pairing;
use super::silence::last_word;
use super::{Association, Context, Ending, Handled, Open, Phase};
use crate::auth::chunk_writer::ChunkWriter;
use crate::config::{AssociationFailure, Config, RtoConfig};
use crate::interface::{AssociationState, CloseReason, Event, Mobility, PathId, PathState};
use crate::path::{Egress, Path};
use crate::send::Loss;
use crate::timers::TimerId;

/// A peer that goes on sending gets this many times T5-shutdown-guard. What it had queued takes as long as it takes; but
/// nobody may keep an association for ever that its user has closed.
const MAX_GUARDS: u32 = 20;

/// T5-shutdown-guard (RFC 9260 §9.2).
fn guard(config: &Config) -> Duration {
    let standard = config.rto.max * 5;
    match config.failure.association {
        AssociationFailure::Errors(_) => standard,
        // The peer may have much to send yet, and is out of reach for no longer than any other would be waited for.
        AssociationFailure::Silence(patience) => patience.max(standard),
    }
}

/// The RTO after this many timeouts on ways that have none of their own (RFC 9260 §6.3.3 E2).
fn backed_off(rto: &RtoConfig, timeouts: u32) -> Duration {
    rto.initial.saturating_mul(1 << timeouts.min(16)).min(rto.max)
}

/// How far the shutdown has come (RFC 9260 §9.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    /// ESTABLISHED.
    No,
    /// SHUTDOWN-PENDING: the user wants to close, data is outstanding.
    Pending,
    /// SHUTDOWN-SENT.
    Sent(Resend),
    /// SHUTDOWN-RECEIVED: the peer wants to close, data is outstanding.
    Received,
    /// SHUTDOWN-ACK-SENT.
    AckSent(Resend),
}

impl Association {
    /// The state as RFC 9260 §4 has it.
    pub(crate) fn state(&self) -> AssociationState {
        match &self.phase {
            Phase::CookieWait(_) => AssociationState::CookieWait,
            Phase::CookieEchoed(_) => AssociationState::CookieEchoed,
            Phase::Closed => AssociationState::Closed,
            Phase::Open(open) => match open.closing {
                Closing::No => AssociationState::Established,
                Closing::Pending => AssociationState::ShutdownPending,
                Closing::Sent(_) => AssociationState::ShutdownSent,
                Closing::Received => AssociationState::ShutdownReceived,
                Closing::AckSent(_) => AssociationState::ShutdownAckSent,
            },
        }
    }
}

/// The retransmission of SHUTDOWN or SHUTDOWN ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resend {
    /// The chunk is to be sent now.
    pub(crate) due: bool,
    /// How often T2-shutdown expired in a row.
    pub(crate) timeouts: u32,
    /// The path it was last sent on, or is to be sent on next; `None` before the first time.
    pub(crate) path: Option<PathId>,
    /// When the shutdown is over at the latest.
    limit: Instant,
}

impl Resend {
    const fn new(limit: Instant) -> Self {
        Self { due: true, timeouts: 0, path: None, limit }
    }
}

impl Open {
    /// The user's SHUTDOWN primitive.
    pub(crate) fn begin_shutdown(&mut self, context: &mut Context<'_>) {
        // In SHUTDOWN-RECEIVED and later the user's wish is ignored: it is happening already.
        if self.closing == Closing::No {
            self.closing = Closing::Pending;
            self.advance_shutdown(context);
        }
    }

    /// Goes on when nothing is left to be sent or acknowledged.
    pub(crate) fn advance_shutdown(&mut self, context: &mut Context<'_>) {
        if !self.sender.is_idle() || !self.sender.is_all_acknowledged() {
            return;
        }
        match self.closing {
            Closing::Pending => {
                let limit = context.now + guard(context.config).saturating_mul(MAX_GUARDS);
                self.closing = Closing::Sent(Resend::new(limit));
                context.timers.set(TimerId::T5ShutdownGuard, context.now + guard(context.config));
            }
            Closing::Received => {
                // T2-shutdown rests while no link is up. The peer may be long gone, and to a peer that is not, addresses
                // cannot be named any more (RFC 5061 §5.1.1 C4): no longer than repetitions could take.
                let limit = context.now + last_word(context.config);
                self.closing = Closing::AckSent(Resend::new(limit));
                context.timers.set(TimerId::T5ShutdownGuard, limit);
            }
            Closing::No | Closing::Sent(_) | Closing::AckSent(_) => {}
        }
    }

    /// New DATA came while we wait for SHUTDOWN ACK: the peer is on its way to the end of what it has queued.
    pub(crate) fn prolong_guard(&mut self, context: &mut Context<'_>) {
        if let Closing::Sent(resend) = &self.closing {
            let at = (context.now + guard(context.config)).min(resend.limit);
            context.timers.set(TimerId::T5ShutdownGuard, at);
        }
    }

    /// SHUTDOWN from the peer.
    pub(crate) fn handle_shutdown(&mut self, context: &mut Context<'_>, cumulative: Tsn) -> Handled {
        self.handle_cumulative_ack(context, cumulative)?;
        match self.closing {
            Closing::No | Closing::Pending => {
                self.closing = Closing::Received;
                context.events.push_back(Event::PeerShutdown { association: context.identity.id });
            }
            // Both sides at once: acknowledge right away.
            Closing::Sent(Resend { limit, .. }) => {
                let limit = limit.min(context.now + last_word(context.config));
                self.closing = Closing::AckSent(Resend::new(limit));
                let guard = context.timers.deadline(TimerId::T5ShutdownGuard);
                context.timers.set(TimerId::T5ShutdownGuard, guard.map_or(limit, |guard| guard.min(limit)));
                context.timers.clear(TimerId::T2Shutdown);
            }
            Closing::Received => {}
            Closing::AckSent(ref mut resend) => resend.due = true,
        }
        Ok(())
    }

    /// SHUTDOWN ACK from the peer: the association is over, SHUTDOWN COMPLETE tells so.
    pub(crate) fn handle_shutdown_ack(&mut self, context: &mut Context<'_>, route: Route) -> Handled {
        match self.closing {
            Closing::Sent(_) | Closing::AckSent(_) => {
                let complete = ShutdownComplete { tag_reflected: false };
                let packet = one_chunk(context.identity, self.peer.tag, &self.auth, &complete);
                let Some(route) = self.confirmed_or_in_use(route) else {
                    return Err(Ending::Silent(CloseReason::Shutdown));
                };
                let route = self.way_of_last_word(route);
                Err(Ending::Farewell(Box::new(Farewell { reason: CloseReason::Shutdown, route, packet })))
            }
            Closing::No | Closing::Pending | Closing::Received => Ok(()),
        }
    }

    /// T2-shutdown expired.
    pub(crate) fn handle_t2(&mut self, context: &mut Context<'_>) -> Handled {
        let full = self.receive.is_full();
        let sent = matches!(self.closing, Closing::Sent(_));
        let (Closing::Sent(resend) | Closing::AckSent(resend)) = &mut self.closing else { return Ok(()) };
        resend.due = true;
        if sent && full {
            // The peer still has data for which we have no room, so that it has nothing to answer yet: it is to have
            // ample opportunity (RFC 9260 §9.2). T5-shutdown-guard goes on.
            if let Some(path) = resend.path.and_then(|id| self.paths.get_mut(id)) {
                path.rto.back_off();
            }
            return Ok(());
        }
        resend.timeouts += 1;
        let Resend { timeouts, path, .. } = *resend;
        self.give_up_if_unreachable(context, timeouts)?;
        let Some(id) = path else { return Ok(()) };
        if let Some(path) = self.paths.get_mut(id) {
            path.rto.back_off();
        }
        self.note_path_error(context, id, false)?;
        let next = self.next_shutdown_path(id);
        if let Closing::Sent(resend) | Closing::AckSent(resend) = &mut self.closing {
            resend.path = Some(next);
        }
        Ok(())
    }

    /// RFC 9260 §8.3: HEARTBEATs end once SHUTDOWN or SHUTDOWN ACK has been sent. Who has no confirmed path that works goes on looking
    /// for one among the others: a peer that has moved meanwhile answers there, and only there.
    pub(crate) fn heartbeats_are_over(&self) -> bool {
        let closing = matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_));
        let works = |path: &Path| path.is_usable() && path.state == PathState::Active;
        let unproved = |path: &Path| !path.confirmed && path.egress == Egress::Open;
        let other_way = || self.paths.iter().any(Path::is_usable) && !self.paths.iter().any(unproved);
        closing && (self.paths.iter().any(works) || other_way())
    }

    pub(crate) fn shutdown_took_too_long(&self) -> Ending {
        Ending::abort(CloseReason::Unreachable, &[])
    }

    /// The peer began anew while we wait for SHUTDOWN COMPLETE: SHUTDOWN ACK once more, and an explanation if it
    /// was a COOKIE ECHO (RFC 9260 §5.2.4 A, §9.2).
    pub(crate) fn repeat_shutdown_ack(&mut self, route: Route, explain: bool) {
        if let Closing::AckSent(resend) = &mut self.closing {
            resend.due = true;
            if explain {
                let causes = [Cause::CookieReceivedWhileShuttingDown];
                if let Some(destination) = self.confirmed_or_in_use(route) {
                    self.replies.push(destination, &ErrorBuilder { causes: &causes });
                }
            }
        }
    }

    /// SHUTDOWN or SHUTDOWN ACK, if one is to be sent now.
    pub(crate) fn poll_shutdown(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<Route> {
        let in_use = self.data_path();
        let open = |id: &PathId| self.paths.get(*id).is_some_and(|path| path.is_usable());
        let (Closing::Sent(resend) | Closing::AckSent(resend)) = self.closing else { return None };
        if !resend.due {
            return None;
        }
        // Without a way it goes out when a link comes back.
        let id = resend.path.filter(open).or(Some(in_use).filter(open));
        let path = id.and_then(|id| self.paths.get(id));
        let route = path.map(|path| path.route).or_else(|| self.last_way(resend.timeouts))?;
        let rto =
            path.map_or_else(|| backed_off(&context.config.rto, resend.timeouts), |path| path.rto.current());
        if let Closing::Sent(resend) | Closing::AckSent(resend) = &mut self.closing {
            (resend.due, resend.path) = (false, id);
        }
        // A repetition that the peer has asked for, by SHUTDOWN or INIT, is not a new beginning: whoever asks again and again
        // must not keep the association. Where the timer is to be restarted it has been cleared.
        if !context.timers.is_set(TimerId::T2Shutdown) {
            context.timers.set(TimerId::T2Shutdown, context.now + rto);
        }
        let checksum = self.checksum();
        let limit = self.packet_size(context, route);
        let mut writer = ChunkWriter::new(&self.auth, out, context.header(self.peer.tag), limit);
        let fits = match self.closing {
            Closing::Sent(_) => {
                let shutdown = Shutdown { cumulative_tsn_ack: self.receive.cumulative_tsn() };
                // Gaps and duplicates need a SACK besides (RFC 9260 §9.2).
                if self.receive.has_gaps() || self.receive.ack_due(context.now) {
                    let auth_len = self.auth.overhead(chunk_type::SHUTDOWN);
                    self.write_sack(context, &mut writer, shutdown.wire_len() + auth_len);
                }
                writer.push(&self.auth, &shutdown)
            }
            _ => writer.push(&self.auth, &ShutdownAck),
        };
        debug_assert!(fits);
        writer.finish(&self.auth, checksum);
        Some(route)
    }

    /// Every address that the peer knows has gone after SHUTDOWN ACK, and no other can be added any more (RFC 5061 §5.1.1 C4). From
    /// wherever it comes, it is answered by SHUTDOWN COMPLETE (RFC 9260 §8.4 rule 5). The ways to confirmed addresses take turns (§5.4). Who cannot
    /// tell of other addresses has none.
    fn last_way(&self, timeouts: u32) -> Option<Route> {
        if self.asconf.mobility != Mobility::Dynamic {
            return None;
        }
        let up: Vec<_> = self.locals.all_up().collect();
        let remotes: Vec<_> =
            self.peer.addresses.iter().copied().filter(|remote| self.is_confirmed(remote.ip())).collect();
        let routes = pairing::handshake_routes(&up, &remotes);
        let turn = (timeouts as usize).checked_rem(routes.len())?;
        let stranded = self.paths.iter().all(|path| path.egress == Egress::Closed);
        let route = routes.get(turn).copied();
        route.filter(|_| stranded && matches!(self.closing, Closing::AckSent(_)))
    }

    /// Where to try again what got no answer on `last`: like retransmitted data on another active path
    /// (RFC 9260 §6.4). Without one the confirmed paths take turns, so that one that works is found soon.
    fn next_shutdown_path(&self, last: PathId) -> PathId {
        let again = self.sender.retransmission_path(&self.paths, last, Loss::Timeout);
        let active = |id: &PathId| self.paths.get(*id).is_some_and(|path| path.state == PathState::Active);
        if let Some(id) = again.filter(active) {
            return id;
        }
        let confirmed = || self.paths.iter().filter(|path| path.is_usable()).map(|path| path.id);
        confirmed().find(|&id| id > last).or_else(|| confirmed().next()).unwrap_or(last)
    }
}
