//! When the outstanding ASCONF goes out again before T4 expires: something has happened to a way that it went, or to one that it may go.

use core::net::IpAddr;

use whimbrel_machine::Route;

use super::super::{Context, Open};
use super::request::Request;
use crate::config::TailLoss;
use crate::timers::TimerId;

impl Open {
    /// The address that the outstanding chunk left from is down, or has just got a way out: no need to wait for T4.
    pub(crate) fn repeat_asconf_of(&mut self, context: &mut Context<'_>, source: IpAddr) {
        let Some(request) = &mut self.asconf.outgoing.outstanding else { return };
        if request.tries.route.is_some_and(|route| route.local.ip() == source) {
            request.due = true;
            // No timeout, and none on the routes from elsewhere.
            request.tries.timeouts = 0;
            request.tries.tried.retain(|tried| tried.local.ip() != source);
            context.timers.clear(TimerId::T4Asconf);
        }
    }

    /// The peer has deleted the address that the outstanding chunk was sent to: no need to wait for T4 either.
    pub(super) fn repeat_asconf_to(&mut self, context: &mut Context<'_>, deleted: IpAddr) {
        let Some(request) = &mut self.asconf.outgoing.outstanding else { return };
        if request.tries.route.is_some_and(|route| route.remote.ip() == deleted) {
            request.due = true;
            context.timers.clear(TimerId::T4Asconf);
        }
    }

    /// The peer's addresses change as well as ours, and by `heard` an ASCONF of its has come. What it has been asked at another address may find nobody there any more: it is
    /// asked again where it is heard, without waiting for T4.
    pub(super) fn repeat_asconf_by(&mut self, context: &mut Context<'_>, heard: Route) {
        let probes = context.config.retransmission.tail == TailLoss::Probe;
        let from = heard.local.ip();
        let Some(request) = self.asconf.outgoing.outstanding.as_mut().filter(|_| probes) else { return };
        let allowed = request.pinned.is_none_or(|pinned| pinned == from) && !request.deleted.contains(&from);
        if allowed && self.locals.is_source(from) && !request.tries.tried.contains(&heard) {
            (request.due, request.tries.heard) = (true, Some(heard));
            context.timers.clear(TimerId::T4Asconf);
        }
    }

    /// There are new names for the peer where it was looked for in vain: no need to wait for T4 either.
    pub(crate) fn repeat_asconf_by_new_names(&mut self, context: &mut Context<'_>) {
        let Some(request) = &mut self.asconf.outgoing.outstanding else { return };
        (request.due, request.tries.route, request.tries.timeouts) = (true, None, 0);
        context.timers.clear(TimerId::T4Asconf);
    }

    /// A path works again: the outstanding chunk has waited long enough once it has waited an RTO that is not backed off.
    pub(crate) fn hasten_asconf(&mut self, context: &mut Context<'_>) {
        let Some(deadline) = context.timers.deadline(TimerId::T4Asconf) else { return };
        let route = self.asconf.outgoing.outstanding.as_ref().and_then(|request| request.tries.route);
        let path = route.and_then(|route| self.way_path(route)).and_then(|id| self.paths.get(id));
        let rto = path.map_or(context.config.rto.initial, |path| path.rto.without_back_off());
        let Some(request) = &mut self.asconf.outgoing.outstanding else { return };
        request.tries.timeouts = 0;
        request.tries.tried.clear();
        let at = (request.tries.sent_at + rto.max(context.config.rto.initial)).max(context.now);
        if deadline > at {
            context.timers.set(TimerId::T4Asconf, at);
        }
    }

    /// Another address waits to be added, while the outstanding chunk has been sent in vain, or by a path that does not work as far as anybody
    /// knows: perhaps it gets away from there.
    pub(super) fn retry_from_newcomer(&mut self, context: &mut Context<'_>) {
        let fails = |route| self.paths.by_route(route).is_some() && !self.any_works(context.config, &[route]);
        let in_vain =
            |request: &Request| request.tries.timeouts > 0 || request.tries.route.is_some_and(fails);
        let in_vain = self.asconf.outgoing.outstanding.as_ref().is_some_and(in_vain);
        if let Some(request) = self.asconf.outgoing.outstanding.as_mut().filter(|_| in_vain) {
            request.due = true;
            context.timers.clear(TimerId::T4Asconf);
        }
    }
}
