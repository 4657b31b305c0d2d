//! ASCONF chunks go out, one at a time, until they are acknowledged (RFC 5061 §5.1, §5.1.1).

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::COMMON_HEADER_LEN;

use super::super::locals::Standing;
use super::super::pairing;
use super::super::replies::Encoded;
use super::super::tail_probe::probe_timeout;
use super::super::{Closing, Context, Handled, Open};
use super::request::Request;
use crate::auth::chunk_writer::ChunkWriter;
use crate::config::{Config, TailLoss};
use crate::interface::{AddressChange, AddressChangeError, Mobility, PathId, PathState};
use crate::path::{Egress, Path};
use crate::timers::TimerId;

/// The wait for an ASCONF-ACK doubles this often at most.
const MAX_DOUBLINGS: u32 = 6;

/// A request leaves from an address that it deletes, or from another than its wildcards mean, when each other way has been tried so often in vain.
const TRIES_BEFORE_LEAVING: usize = 2;

impl Open {
    /// An ASCONF chunk, if one is to be sent now and there is a way.
    pub(crate) fn poll_asconf(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<Route> {
        let outgoing = &self.asconf.outgoing;
        if outgoing.outstanding.is_none() && outgoing.waiting.is_empty() {
            return None;
        }
        debug_assert_eq!(self.asconf.mobility, Mobility::Dynamic, "changes are given up when mobility ends");
        // RFC 5061 §5.1.1 C4.
        if matches!(self.closing, Closing::AckSent(_)) {
            self.abandon_changes(context, AddressChangeError::ShuttingDown);
            return None;
        }
        if self.asconf.outgoing.outstanding.is_none() {
            self.begin_request(context);
        }
        if !self.asconf.outgoing.outstanding.as_ref()?.due {
            return None;
        }
        let (route, ways) = self.next_way(context)?;
        let path = self.way_path(route).and_then(|id| self.paths.get(id));
        let base = path.map_or(context.config.rto.initial, |path| path.rto.without_back_off());
        let request = self.asconf.outgoing.outstanding.as_ref()?;
        // A4, B3: each destination has an RTO of its own, which doubles when that one has not answered this request. What the path
        // has backed off to before was for a network that may have come back since.
        let rounds = (request.tries.timeouts / ways as u32).min(MAX_DOUBLINGS);
        let rto = (base * (1 << rounds)).min(context.config.rto.max);
        let rto = self.try_spacing(context, base, ways).map_or(rto, |spacing| rto.min(spacing));
        let early = path.and_then(|path| self.early_try(context, path, ways)).filter(|wait| *wait < rto);
        let rto = early.unwrap_or(rto);
        let stranger = !self.is_confirmed(route.remote.ip());
        let request = self.asconf.outgoing.outstanding.as_mut()?;
        context.timers.set(TimerId::T4Asconf, context.now + rto);
        (request.due, request.tries.early) = (false, early.is_some());
        request.sent = request.sent.saturating_add(1);
        request.tries.sent_at = context.now;
        request.tries.several |= request.tries.route.is_some_and(|before| before != route);
        request.tries.route = Some(route);
        request.tries.tried.push(route);
        if stranger {
            request.tries.to_strangers = request.tries.to_strangers.saturating_add(1);
            request.tries.to_stranger_at = context.now;
        }
        let chunk = &request.chunk;
        let limit = COMMON_HEADER_LEN + chunk.len() + self.auth.largest_overhead();
        let mut writer = ChunkWriter::new(&self.auth, out, context.identity.header(self.peer.tag), limit);
        let fits = writer.push(&self.auth, &Encoded(chunk));
        debug_assert!(fits, "the packet is as large as it must be");
        writer.finish(&self.auth, self.checksum());
        Some(route)
    }

    /// T4-rto expired (RFC 5061 §5.1 B1 to B5).
    pub(crate) fn handle_t4(&mut self, context: &mut Context<'_>) -> Handled {
        let Some(request) = &mut self.asconf.outgoing.outstanding else { return Ok(()) };
        if request.due {
            // It has only waited until it may go to an address that nobody has confirmed.
            return Ok(());
        }
        request.due = true;
        request.tries.timeouts = request.tries.timeouts.saturating_add(1);
        if request.tries.early {
            return Ok(());
        }
        let Some(id) = request.tries.route.and_then(|route| self.way_path(route)) else {
            return self.note_association_error(context);
        };
        if let Some(path) = self.paths.get_mut(id) {
            path.rto.back_off();
        }
        self.note_path_error(context, id, true)
    }

    /// When the outstanding chunk goes out once more, by another path, although T4 of `path` has not expired: as with the tail of what was
    /// sent. A path that has just ceased to work costs two round trips instead of RTO.Min. Each is asked so once; then T4 is as B1 and B3 have it.
    fn early_try(&self, context: &Context<'_>, path: &Path, ways: usize) -> Option<Duration> {
        let request = self.asconf.outgoing.outstanding.as_ref()?;
        let allowed = context.config.retransmission.tail == TailLoss::Probe;
        let other = |other: &Path| {
            let route = other.route;
            let from = request.pinned.is_none_or(|pinned| pinned == route.local.ip());
            let from = from && !request.deleted.contains(&route.local.ip());
            route != path.route && from && self.works(route) && !request.tries.tried.contains(&route)
        };
        let first = (request.tries.timeouts as usize) < ways && !request.tries.tried.contains(&path.route);
        let timeout = probe_timeout(path, Duration::ZERO).filter(|_| allowed && first);
        timeout.filter(|_| self.paths.iter().any(other))
    }

    /// Whether an addition that has to leave from the address that it adds gives up early, once: that may be one of a bridge between containers, which leads
    /// to nobody, and what adds another network waits behind it.
    pub(super) fn makes_way(&self, request: &Request) -> bool {
        let adds = request.len() == 1 && request.items.iter().any(|item| item.added.is_some());
        let first = request.pinned.is_some_and(|pinned| !self.asconf.outgoing.postponed.contains(&pinned));
        adds && first && self.waiting_to_be_added().next().is_some()
    }

    /// Where the outstanding chunk goes next: the best way that has not been tried, and once all have been not where it went last, if there
    /// is another (B4). And how many ways there are.
    fn next_way(&mut self, context: &mut Context<'_>) -> Option<(Route, usize)> {
        let request = self.asconf.outgoing.outstanding.as_mut()?;
        let heard = request.tries.heard.take();
        let request = self.asconf.outgoing.outstanding.as_ref()?;
        // It has to be delivered all the same, since nothing else can be asked before (RFC 5061 §5.1 A3).
        let pinned = request.pinned.filter(|pinned| self.locals.up(*pinned).is_some());
        let added = request.items.iter().filter_map(|item| item.added);
        let mut ways = self.ways(pinned, &request.deleted, added.clone());
        let tries = if self.makes_way(request) { 1 } else { ways.len() } * TRIES_BEFORE_LEAVING;
        // Every address the peer knows has gone while it was under way, or does not work as far as anybody knows. What waits to be added cannot be, before this is
        // acknowledged: so it leaves from there, and the peer finds the association by the Address Parameter (§5.2).
        if request.tries.timeouts as usize >= ways.len() || !self.any_works(context.config, &ways) {
            ways = self.ways(pinned, &request.deleted, added.chain(self.waiting_to_be_added()));
        }
        if request.tries.timeouts as usize >= tries && pinned.is_some() {
            // The address that its wildcards mean has got nowhere. What becomes of them elsewhere is settled afterwards.
            ways.splice(0..0, self.ways_from_waiting());
        }
        if request.tries.timeouts as usize >= ways.len() * TRIES_BEFORE_LEAVING && pinned.is_none() {
            ways.extend(self.ways_from_leaving(&request.deleted));
        }
        let count = ways.len();
        let way = heard.or_else(|| self.choose_way(context, ways))?;
        if self.locals.standing(way.local.ip()).is_none() {
            // Its answer is to be let in.
            self.locals.set(way.local, Standing::Adding);
        }
        if let Some(request) = self.asconf.outgoing.outstanding.as_mut() {
            request.astray |= request.pinned.is_some_and(|pinned| pinned != way.local.ip());
        }
        Some((way, count))
    }

    /// The best of the `ways` that has not been tried, or of all if none is left; then all are to be tried anew. What nobody has confirmed gets
    /// its turn only within the budget of such addresses. If there is nothing else the chunk waits for that.
    fn choose_way(&mut self, context: &mut Context<'_>, mut ways: Vec<Route>) -> Option<Route> {
        let request = self.asconf.outgoing.outstanding.as_ref()?;
        let choose = |ways: &[Route]| {
            let untried = ways.iter().find(|way| !request.tries.tried.contains(way));
            let another = || ways.iter().find(|way| Some(**way) != request.tries.route);
            untried.or_else(another).or(ways.first()).map(|way| (*way, untried.is_none()))
        };
        let from = self.strangers_may_be_asked_from(context, request, &ways);
        let (mut best, mut left_out) = (choose(&ways), Vec::new());
        if best.is_some_and(|(way, _)| !self.is_confirmed(way.remote.ip()))
            && !(context.now >= from && self.probe_burst.try_send(context.now, context.config.rto.initial))
        {
            (ways, left_out) = ways.into_iter().partition(|way| self.is_confirmed(way.remote.ip()));
            best = choose(&ways);
            if best.is_none() {
                context.timers.set(TimerId::T4Asconf, from.max(self.probe_burst.next_opportunity()));
                return None;
            }
        }
        let Some((way, all_tried)) = best else {
            // It goes out when a link comes back.
            context.timers.clear(TimerId::T4Asconf);
            return None;
        };
        if all_tried && let Some(request) = self.asconf.outgoing.outstanding.as_mut() {
            // Those whose turn has not come keep theirs.
            request.tries.tried.retain(|tried| left_out.contains(tried));
        }
        Some(way)
    }

    /// RFC 9260 §5.4: the peer may have listed anybody's addresses. Each gets the outstanding chunk as often as HEARTBEATs until a path has failed; then
    /// it goes to one of them in each heartbeat interval.
    fn strangers_may_be_asked_from(
        &self,
        context: &Context<'_>,
        request: &Request,
        ways: &[Route],
    ) -> Instant {
        let mut strangers: Vec<IpAddr> = ways.iter().map(|way| way.remote.ip()).collect();
        strangers.retain(|remote| !self.is_confirmed(*remote));
        strangers.sort_unstable();
        strangers.dedup();
        let tries = strangers.len() * (context.config.failure.path_max_retrans as usize + 1);
        let interval = context.config.heartbeat.interval.unwrap_or(context.config.rto.max);
        if (request.tries.to_strangers as usize) < tries {
            Instant::ZERO
        } else {
            request.tries.to_stranger_at + interval
        }
    }

    /// The routes a chunk may take, best first: paths that work, then from an address that has no path, such as one that it adds,
    /// which is the only way when all others are gone (RFC 5061 §5.3 F1, §5.3.2), then paths that have failed, if only potentially. Never from
    /// an address that it deletes (F6), and to an address that has not been confirmed (RFC 9260 §5.4) after all others.
    pub(super) fn ways(
        &self,
        pinned: Option<IpAddr>,
        deleted: &[IpAddr],
        added: impl Iterator<Item = SocketAddr>,
    ) -> Vec<Route> {
        let allowed =
            |local: IpAddr| pinned.is_none_or(|pinned| pinned == local) && !deleted.contains(&local);
        let in_use = self.data_path();
        let mut paths: Vec<_> = self
            .paths
            .iter()
            .filter(|path| path.confirmed && path.egress == Egress::Open && allowed(path.route.local.ip()))
            .map(|path| {
                let rank = match path.state {
                    PathState::Active if self.is_sound(path) => 0,
                    PathState::Active | PathState::PotentiallyFailed => 1,
                    PathState::Unconfirmed | PathState::Inactive => 3,
                };
                ((rank, path.id != in_use, path.id), path.route)
            })
            .collect();
        paths.sort_unstable_by_key(|&(rank, _)| rank);
        let (remotes, unproven): (Vec<SocketAddr>, Vec<SocketAddr>) =
            self.peer.addresses.iter().copied().partition(|remote| self.is_confirmed(remote.ip()));
        // With one path per destination some of our addresses have none.
        let mut locals = self.locals.sources();
        locals.extend(added.filter(|local| self.locals.up(local.ip()).is_some()));
        locals.retain(|local| allowed(local.ip()));
        let between = |remotes: Vec<SocketAddr>| {
            let remotes = self.primary_first(remotes);
            locals
                .iter()
                .flat_map(move |&local| pairing::routes_from(local, remotes.clone().into_iter()))
                .collect::<Vec<_>>()
        };
        let known = between(remotes);
        let called_so = |route: &Route| self.is_called_so(route);
        let new =
            known.iter().copied().filter(|route| self.paths.by_route(*route).is_none()).filter(called_so);
        let working = paths.iter().filter(|((rank, ..), _)| *rank == 0).map(|&(_, route)| route);
        let failed = paths.iter().filter(|((rank, ..), _)| *rank > 0).map(|&(_, route)| route);
        let mut ways: Vec<Route> = working.chain(new).chain(failed).collect();
        // The peer may have moved, too, to where it has not proved to be; and no HEARTBEAT can be sent from a new address before this
        // is acknowledged.
        for way in self.called_so_first(known.iter().copied().chain(between(unproven))) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways
    }

    /// Whether the peer's address is called so where the route begins: what one network calls it leads nowhere from another, as a rule.
    fn is_called_so(&self, route: &Route) -> bool {
        self.locals.translators.call_it_so(route.local.ip(), route.remote.ip())
    }

    /// Whether one of the `ways` works, as far as anybody knows. Where nothing but T4 and HEARTBEATs tells, any path that has not failed speaks for all.
    pub(super) fn any_works(&self, config: &Config, ways: &[Route]) -> bool {
        match config.retransmission.tail {
            TailLoss::Timeout => !self.is_dormant(),
            TailLoss::Probe => ways.iter().any(|way| self.works(*way)),
        }
    }

    /// Whether this is the route of a path that works, as far as anybody knows.
    fn works(&self, route: Route) -> bool {
        let path = self.way_path(route).and_then(|id| self.paths.get(id));
        path.is_some_and(|path| path.state == PathState::Active && self.is_sound(path))
    }

    /// Whether nothing speaks against a path that has not failed.
    fn is_sound(&self, path: &Path) -> bool {
        !path.doubt.is_suspect() && !self.is_in_doubt(path)
    }

    /// Whether another path from the same address does not answer, and nothing has come by this one since that was last asked: it may be the
    /// network.
    fn is_in_doubt(&self, path: &Path) -> bool {
        let fails = |other: &&Path| {
            let state = matches!(other.state, PathState::PotentiallyFailed | PathState::Inactive);
            state && other.egress == Egress::Open && other.route.local.ip() == path.route.local.ip()
        };
        let mut asked = self.paths.iter().filter(fails).map(|other| other.supervision.last_probing);
        asked.any(|at| path.supervision.heard.is_none_or(|heard| heard < at))
    }

    /// The path whose RTO and error counter a chunk on this route goes by. One that nothing else is sent on knows nothing of today.
    pub(super) fn way_path(&self, route: Route) -> Option<PathId> {
        let open = |id: &PathId| self.paths.get(*id).is_some_and(|path| path.egress == Egress::Open);
        self.paths.by_route(route).filter(open)
    }

    /// All that is left, or that has not been tried in vain, are addresses that the chunk deletes. Nothing else can be asked before it is answered (RFC 5061 §5.1 A3), and
    /// so F6 would end the association. The peer refuses such a deletion (F8), and then the address stays.
    fn ways_from_leaving(&self, deleted: &[IpAddr]) -> Vec<Route> {
        let remotes = self.primary_first(self.peer.addresses.clone());
        let leaving = deleted.iter().filter_map(|&ip| self.locals.up(ip));
        self.called_so_first(leaving.flat_map(|local| pairing::routes_from(local, remotes.iter().copied())))
    }

    fn waiting_to_be_added(&self) -> impl Iterator<Item = SocketAddr> {
        self.asconf.outgoing.waiting.iter().filter_map(|change| match *change {
            AddressChange::Add(address) => self.locals.up(address.ip()),
            AddressChange::Delete(_) | AddressChange::SetPrimary(_) => None,
        })
    }

    fn ways_from_waiting(&self) -> Vec<Route> {
        let remotes = self.primary_first(self.peer.addresses.clone());
        let routes = |local| pairing::routes_from(local, remotes.iter().copied());
        self.called_so_first(self.waiting_to_be_added().flat_map(routes))
    }

    fn called_so_first(&self, routes: impl Iterator<Item = Route>) -> Vec<Route> {
        let mut routes: Vec<Route> = routes.collect();
        routes.sort_by_key(|route| !self.is_called_so(route));
        routes
    }

    /// The peer's primary address before its others.
    fn primary_first(&self, mut remotes: Vec<SocketAddr>) -> Vec<SocketAddr> {
        let primary = self.paths.get(self.paths.primary()).map(|path| path.route.remote.ip());
        remotes.sort_by_key(|remote| Some(remote.ip()) != primary);
        remotes
    }
}
