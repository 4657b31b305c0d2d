//! Paths come and go with the addresses of both sides, and with the links below.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_path::{PathQuality, Quality};

use super::pairing;
use super::{Closing, Context, Open};
use crate::config::{Comparison, FirstMeasurement, PathVerification};
use crate::interface::{Event, PathId, PathState};
use crate::path::{Egress, Path, control_path};
use crate::timers::TimerId;

/// What was found on a path is compared with others for this long.
const COMPARED: Duration = Duration::from_millis(250);

impl Open {
    /// Makes paths of the address pairs that should be ones and are not, and removes those that have lost an address.
    /// `proven` is a route that an authenticated exchange has just been over: a path there needs no heartbeat to be
    /// confirmed.
    pub(crate) fn pair_addresses(&mut self, context: &mut Context<'_>, proven: Option<Route>) {
        self.pair_preferring(context, proven, proven);
    }

    /// As [`Self::pair_addresses`]. Where one of several routes will do, or there is no room for all, it is `preferred`: something has come over it, so that it
    /// may work, while of the others nothing is known.
    pub(crate) fn pair_preferring(
        &mut self,
        context: &mut Context<'_>,
        preferred: Option<Route>,
        proven: Option<Route>,
    ) {
        let sources = self.locals.sources();
        let remotes = self.remotes_to_pair();
        let routes = pairing::missing(context.config.pairing, &sources, &remotes, &self.paths, preferred);
        for route in routes {
            let full = self.paths.len() >= context.config.limits.paths;
            let superfluous = self.superfluous_path(preferred == Some(route));
            let superfluous = superfluous.or_else(|| self.doubtful_path(route, &sources, &remotes));
            let superfluous = superfluous.filter(|_| full);
            if full && superfluous.is_none() {
                continue;
            }
            let id = self.paths.next_id();
            let confirmed = proven == Some(route) || context.config.verification == PathVerification::Omitted;
            let path = Path::new(id, route, confirmed, context.config, context.now);
            self.sender.add_path(context.config, &path);
            self.paths.push(path);
            self.announce_path(context, id);
            self.supervise_new_path(context, id);
            if !confirmed {
                // It may be the only one: no time to lose.
                context.timers.set(TimerId::Heartbeat(id), context.now);
            }
            if proven == Some(route) {
                self.take_over(context, id);
            }
            // Only now: it may be the last one, which must not go before there is another.
            if let Some(superfluous) = superfluous {
                self.remove_path(context, superfluous);
            }
        }
        self.remove_stale_paths(context);
        self.notes.addresses_changed = true;
        self.notice_path_in_use(context);
        self.sender.opportunity();
    }

    /// A path that makes way for a new one where there may be no more: one that no longer belongs to the association, one that nothing can
    /// leave by, or, for a way that the peer has just been `heard` on, one that nobody has confirmed and where a heartbeat has got no answer, or that
    /// has failed.
    pub(crate) fn superfluous_path(&self, heard: bool) -> Option<PathId> {
        let find =
            |wanted: &dyn Fn(&Path) -> bool| self.paths.iter().find(|path| wanted(path)).map(|path| path.id);
        let failed = |path: &Path| path.state == PathState::Unconfirmed && path.error_count > 0;
        find(&|path| self.is_stale(path))
            .or_else(|| find(&|path| path.egress == Egress::Closed))
            .or_else(|| find(&failed).filter(|_| heard))
            .or_else(|| find(&|path| path.state == PathState::Inactive).filter(|_| heard))
    }

    /// A path that nobody has confirmed, with an address that both ends have, makes way for one without.
    fn doubtful_path(&self, route: Route, sources: &[SocketAddr], remotes: &[SocketAddr]) -> Option<PathId> {
        let doubtful = |route| pairing::is_of_both(route, sources, remotes);
        let unconfirmed = |path: &&Path| path.state == PathState::Unconfirmed && doubtful(path.route);
        let mut paths = self.paths.iter().filter(|_| !doubtful(route));
        paths.find(unconfirmed).map(|path| path.id)
    }

    /// Whether there is one, for a path to an address that the peer adds.
    pub(crate) fn doubtful_path_makes_way_to(&self, added: SocketAddr) -> bool {
        let (sources, remotes) = (self.locals.sources(), self.remotes_to_pair());
        let route = self.route_to_use().map(|route| Route { remote: added, ..route });
        route.is_some_and(|route| self.doubtful_path(route, &sources, &remotes).is_some())
    }

    /// The peer is heard from an address that no path leads to, since there was no room for one: a path that leads nowhere makes way.
    pub(crate) fn make_room_where_heard(&mut self, context: &mut Context<'_>, route: Route) {
        let full = self.paths.len() >= context.config.limits.paths;
        if full && self.paths.to_remote(route.remote.ip()).is_none() && self.superfluous_path(true).is_some()
        {
            self.pair_preferring(context, Some(route), None);
        }
    }

    /// Removes paths one address of which is no longer part of the association. The last path stays: an association
    /// without any would not even have a way to end.
    pub(crate) fn remove_stale_paths(&mut self, context: &mut Context<'_>) {
        let stale: Vec<PathId> = self.paths.iter().filter(|path| self.is_stale(path)).map(|p| p.id).collect();
        for id in stale {
            self.remove_path(context, id);
        }
        let sacks = self.receive.route();
        if !self.knows(sacks.remote.ip()) || !self.locals.accepts(sacks.local.ip()) {
            self.receive.set_route(self.route_in_use());
        }
    }

    fn is_stale(&self, path: &Path) -> bool {
        !self.knows(path.route.remote.ip()) || !self.locals.accepts(path.route.local.ip())
    }

    /// Whether this is an address of the peer.
    pub(crate) fn knows(&self, remote: IpAddr) -> bool {
        self.peer.addresses.iter().any(|address| address.ip() == remote)
    }

    /// Whether this address has proved to be the peer's (RFC 9260 §5.4).
    pub(crate) fn is_confirmed(&self, remote: IpAddr) -> bool {
        self.paths.iter().any(|path| path.confirmed && path.route.remote.ip() == remote)
    }

    /// Removes a path: what was in flight there goes elsewhere.
    fn remove_path(&mut self, context: &mut Context<'_>, id: PathId) {
        if self.paths.len() == 1 {
            return;
        }
        self.silence_path(context, id);
        let Some(path) = self.paths.remove(id) else { return };
        let open = || self.paths.iter().find(|path| path.egress == Egress::Open).map(|path| path.id);
        let any = || self.paths.iter().next().map(|path| path.id);
        let Some(successor) = control_path(&self.paths).or_else(open).or_else(any) else { return };
        if self.paths.primary() == id {
            self.paths.set_primary(successor);
        }
        self.sender.path_gone(id);
        self.vouched_is_gone(id, path.route.remote.ip());
        if let Closing::Sent(resend) | Closing::AckSent(resend) = &mut self.closing
            && resend.path == Some(id)
        {
            resend.path = None;
        }
        let association = context.identity.id;
        context.events.push_back(Event::PathGone { association, path: id, route: path.route });
        self.notes.addresses_changed = true;
    }

    /// Nothing leaves by this path any more: its link is down, or its local address is being deleted.
    pub(crate) fn close_egress(&mut self, context: &mut Context<'_>, id: PathId) {
        self.silence_path(context, id);
        if self.paths.get(id).is_some_and(Path::is_trusted) {
            self.change_path_state(context, id, PathState::Inactive);
        }
        self.notice_path_in_use(context);
    }

    /// Packets may leave by this path again; it carries data once a heartbeat has been answered, which is sent at once.
    pub(crate) fn open_egress(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id).filter(|path| path.egress == Egress::Closed) else { return };
        path.egress = Egress::Open;
        path.error_count = 0;
        path.rto.forget_back_off();
        // It may be another network that has the address now.
        path.supervision.quality = Quality::default();
        path.supervision.estimates_mut().forget();
        path.doubt.forget();
        (path.supervision.began, path.supervision.measurements) = (context.now, 0);
        self.sender.forget_least(id);
        _ = self.sender.take_lost(id);
        context.timers.set(TimerId::Heartbeat(id), context.now);
    }

    /// Ends everything that goes on on a path.
    fn silence_path(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.egress = Egress::Closed;
        (path.supervision.heartbeat, path.supervision.overdue) = (None, None);
        path.mtu_probe = None;
        path.supervision.estimates_mut().stop();
        TimerId::of_path(id).into_iter().for_each(|timer| context.timers.clear(timer));
        self.sender.silence(&self.paths, id);
    }

    // ---- shared

    /// Announces a path's state.
    pub(crate) fn announce_path(&self, context: &mut Context<'_>, id: PathId) {
        if let Some(&Path { route, state, .. }) = self.paths.get(id) {
            let association = context.identity.id;
            context.events.push_back(Event::Path { association, path: id, route, state });
        }
    }

    /// Changes a path's state and announces it if it is new.
    pub(crate) fn change_path_state(&mut self, context: &mut Context<'_>, id: PathId, state: PathState) {
        let Some(path) = self.paths.get_mut(id) else { return };
        if path.egress == Egress::Closed && state != PathState::Inactive {
            return;
        }
        if path.state != state {
            let worked = path.state == PathState::Active;
            let returns = path.state == PathState::Inactive && state == PathState::Active;
            if context.config.rto.first == FirstMeasurement::Superseded {
                if returns {
                    path.on_return(context.now);
                }
                self.sender.note_standing(context.now, id, state == PathState::Active);
            }
            path.state = state;
            if state != PathState::PotentiallyFailed {
                path.doubt.clear();
            }
            self.announce_path(context, id);
            self.refresh_probe_timer(context, id);
            self.notice_path_in_use(context);
            self.sender.opportunity();
            if worked {
                self.look_around(context, id);
            }
        }
    }

    /// Takes in what has been lost on a path, and announces it when its quality has changed.
    pub(crate) fn notice_quality(&mut self, context: &mut Context<'_>, id: PathId) {
        let (lost, late) = (self.sender.take_lost(id), self.sender.take_late(id));
        let Some(path) = self.paths.get_mut(id) else { return };
        if lost > 0 {
            path.supervision.quality.on_lost(lost);
        }
        if late > 0 {
            path.supervision.quality.on_late(late);
        }
        if context.config.heartbeat.comparison == Comparison::WhenWorse
            && let Some(quality) = path.supervision.quality.take_news()
        {
            let (association, route) = (context.identity.id, path.route);
            context.events.push_back(Event::PathQuality { association, path: id, route, quality });
            if self.is_in_use(id) {
                self.compare_paths(context, id, quality);
            }
        }
        self.notice_estimates(context, id);
    }

    /// The path in use is worse than another one was. Whoever thinks of leaving it has to know what the others are like now.
    fn compare_paths(&mut self, context: &mut Context<'_>, in_use: PathId, quality: PathQuality) {
        let asks = context.config.heartbeat.comparison == Comparison::WhenWorse;
        let closing = matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_));
        let least = quality.delay.map_or(Duration::ZERO, |delay| delay.least);
        let quicker =
            |path: &Path| path.supervision.quality.now().delay.is_some_and(|delay| delay.most < least);
        let worse = quality.lossy || self.paths.iter().any(quicker);
        if closing || !asks || !worse || context.config.heartbeat.interval.is_none() {
            return;
        }
        let old = |path: &&Path| {
            let delay = path.supervision.quality.now().delay;
            delay.is_none_or(|delay| delay.at + COMPARED < context.now) && path.state == PathState::Active
        };
        let others: Vec<PathId> =
            self.paths.iter().filter(|path| path.id != in_use).filter(old).map(|path| path.id).collect();
        for id in others {
            if let Some(path) = self.paths.get_mut(id) {
                path.supervision.quality.ask();
            }
            self.send_heartbeat_on(context, id);
        }
    }

    /// Announces it when new data goes another way than before. Where no path works it is tried on one after the other (RFC 7829 §4.1),
    /// which is no change that anybody could make use of: the path that was in use last remains so until one works, or it may not be sent
    /// on any more. Nor is it a change if new data avoids a path while a heartbeat asks whether it is alive.
    pub(crate) fn notice_path_in_use(&mut self, context: &mut Context<'_>) {
        let id = self.data_path();
        let works = |path: &Path| path.state == PathState::Active && !path.doubt.is_suspect();
        let in_use = self.paths.get(self.notes.in_use).filter(|path| path.is_usable());
        let stays = in_use.is_some_and(|path| {
            let doubted = path.is_merely_suspect() && path.id == self.paths.primary();
            doubted || !self.paths.get(id).is_some_and(works)
        });
        if id == self.notes.in_use || stays {
            return;
        }
        let carried = self.paths.get(self.notes.in_use).map_or(0, |path| path.supervision.quality.carried());
        self.notes.in_use = id;
        if let Some(path) = self.paths.get_mut(id) {
            path.supervision.quality.expect(carried);
            let route = path.route;
            let association = context.identity.id;
            context.events.push_back(Event::PathInUse { association, path: id, route });
        }
        self.leave_far_slower(context, id);
    }
}
