//! COOKIE ECHO: authenticated before anything else (RFC 9260 §5.1.5, §5.2.4).

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{
    AbortBuilder, Cause, Chunk, Chunks, CommonHeader, ErrorBuilder, Packet, RawChunk, chunk_type,
};

use super::own_addresses::Told;
use super::table::{Lookup, Owner};
use super::{Endpoint, decoded};
use crate::arrival::Arrival;
use crate::association::contains_abort;
use crate::association::peer_init::remotes;
use crate::association::{Association, single_chunk};
use crate::auth::gate::Gate;
use crate::cookie::{CookieContents, OpenedCookie};

/// What to do with a valid cookie that meets an existing association: the actions of RFC 9260 §5.2.4 table 12.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    /// A: the peer has restarted.
    Restart,
    /// B: both sides began at once, and the peer has chosen a new tag since.
    Collision,
    /// D: the cookie is for this very association.
    Confirm,
    /// C, and every case not in the table.
    Discard,
}

/// What is left of a packet, and how far the packet has been authenticated.
pub(super) type Rest<'a> = (Chunks<'a>, Gate);

/// A COOKIE ECHO at the beginning of a packet, where alone it may be, but for an AUTH chunk before it (RFC 4895 §6.3).
pub(super) struct CookieEchoAt<'a> {
    auth: Option<RawChunk<'a>>,
    echo: RawChunk<'a>,
    rest: Chunks<'a>,
}

/// The COOKIE ECHO of a packet with this `first` chunk.
#[inline]
pub(super) fn cookie_echo<'a>(packet: &Packet<'a>, first: &RawChunk<'a>) -> Option<CookieEchoAt<'a>> {
    // Few packets begin like that.
    matches!(first.chunk_type(), chunk_type::COOKIE_ECHO | chunk_type::AUTH).then(|| locate(packet))?
}

fn locate<'a>(packet: &Packet<'a>) -> Option<CookieEchoAt<'a>> {
    let mut rest = packet.chunks();
    let first = rest.next_raw()?.ok()?;
    match first.chunk_type() {
        chunk_type::COOKIE_ECHO => Some(CookieEchoAt { auth: None, echo: first, rest }),
        chunk_type::AUTH => {
            let echo = rest.next_raw()?.ok().filter(|raw| raw.chunk_type() == chunk_type::COOKIE_ECHO)?;
            Some(CookieEchoAt { auth: Some(first), echo, rest })
        }
        _ => None,
    }
}

impl Endpoint {
    /// True if the packet was taken.
    pub(super) fn handle_cookie_echo(&mut self, arrival: &Arrival<'_>, at: CookieEchoAt<'_>) -> bool {
        let Some(Chunk::CookieEcho(echo)) = decoded(&at.echo) else { return false };
        // RFC 9260 §9.1: a packet with an ABORT is not answered.
        if contains_abort(at.rest.clone()) {
            return false;
        }
        // Steps 1 and 2: what fails authentication is discarded without a word.
        let Ok(cookie) = self.cookies.open(arrival.now, echo.cookie) else {
            self.totals.cookies_refused += 1;
            return false;
        };
        let cookie = OpenedCookie::new(cookie, &self.supplies.randoms);
        // Step 3: the ports are part of what the MAC protects (RFC 5062 §7).
        let header = arrival.packet.header();
        let ports = Lookup { local: header.destination_port, remote: header.source_port };
        if (cookie.local_port, cookie.peer_port, cookie.local_tag)
            != (ports.local, ports.remote, header.verification_tag)
        {
            self.totals.cookies_refused += 1;
            return false;
        }
        let known = remotes(cookie.route.remote, cookie.peer_addresses.iter().copied());
        let existing = known.iter().find_map(|&remote| self.table.by_own_peer(remote, ports));
        let existing = match existing {
            Some(Owner::Elsewhere(_)) => return self.cookie_for_elsewhere(arrival, &cookie),
            Some(Owner::Here(index)) => Some(index),
            None => self.made_by(&cookie, ports),
        };
        let Some(gate) = self.admit_cookie(arrival.packet, at.auth.as_ref(), &cookie, existing) else {
            return false;
        };
        let rest = (at.rest, gate);
        match existing {
            Some(index) => self.cookie_for_existing(index, arrival, &cookie, rest),
            None => self.cookie_for_new(arrival, &cookie, rest),
        }
    }

    /// The association that a cookie made, wherever its peer is now: a translator may have given the peer another port before COOKIE ACK got
    /// there. Both tags match, so that the cookie is good however old (RFC 9260 §5.2.4 step 3, action D).
    fn made_by(&self, cookie: &CookieContents, ports: Lookup) -> Option<usize> {
        let index = self.table.by_tag(cookie.local_tag, ports)?;
        let theirs = self.table.get(index)?.peer_tag() == Some(cookie.agreement.peer_tag);
        theirs.then_some(index)
    }

    fn cookie_for_new(&mut self, arrival: &Arrival<'_>, cookie: &OpenedCookie, rest: Rest<'_>) -> bool {
        let Arrival { now, route, .. } = *arrival;
        // Step 4.
        if let Some(excess) = staleness(now, cookie) {
            self.report_stale(route, cookie, excess);
            return true;
        }
        // A cookie that was good once: its association has come and gone, or the tag is in use elsewhere.
        let ports = Lookup { local: cookie.local_port, remote: cookie.peer_port };
        let spent = self.table.shard.directory.is_spent(cookie.created, cookie.agreement.peer_tag, ports);
        if spent || self.table.has_tag(cookie.local_tag) {
            return false;
        }
        let full = self.table.is_full(self.config.limits.associations);
        if full || !self.listening.contains(&cookie.local_port) {
            let causes: &[Cause<'_>] = if full { &[Cause::OutOfResource] } else { &[] };
            let abort = single_chunk(back(cookie), &AbortBuilder { tag_reflected: false, causes });
            self.answer(route, abort);
            return true;
        }
        self.table.shard.directory.spend(now, cookie.agreement.peer_tag, ports, end_of_life(cookie));
        let told = self.told_by(cookie);
        let index = self.add(None, ports, cookie.local_tag, cookie.local_initial_tsn, |identity, means| {
            Association::accept(arrival, identity, means, &told.named, cookie)
        });
        self.complete_addresses(now, index, &told, cookie.families);
        self.note_newcomer(now, index, route.remote.ip());
        // DATA bundled with COOKIE ECHO (step 7).
        self.deliver_rest(index, arrival, rest)
    }

    fn cookie_for_existing(
        &mut self,
        index: usize,
        arrival: &Arrival<'_>,
        cookie: &OpenedCookie,
        rest: Rest<'_>,
    ) -> bool {
        let Arrival { now, route, .. } = *arrival;
        let told = self.told_by(cookie);
        let Some(association) = self.table.get_mut(index) else { return false };
        let ours = association.identity.local_tag == cookie.local_tag;
        let theirs = association.peer_tag() == Some(cookie.agreement.peer_tag);
        // RFC 9260 §5.2.4 step 3: a cookie of the current association is good however old.
        if !(ours && theirs)
            && let Some(excess) = staleness(now, cookie)
        {
            self.report_stale(route, cookie, excess);
            return true;
        }
        let action = action(association, cookie, ours, theirs);
        match action {
            Action::Discard => return false,
            // Whoever sends a COOKIE ECHO in clear has no keys: it neither restarts the association nor is it part of it.
            Action::Restart if association.is_protected() => return false,
            _ if association.is_protection_enforced() => return false,
            Action::Restart if association.is_waiting_for_shutdown_complete() => {
                association.repeat_shutdown_ack(route);
                self.table.touch(index);
                return true;
            }
            Action::Restart => association.restart(arrival, &told.named, cookie),
            Action::Collision => association.adopt_cookie(arrival, &told.named, cookie),
            Action::Confirm => association.confirm_cookie(arrival),
        }
        // One that is repeated (D) tells nothing new.
        if action != Action::Confirm {
            self.complete_addresses(now, index, &told, cookie.families);
        }
        let ports = Lookup { local: cookie.local_port, remote: cookie.peer_port };
        self.table.shard.directory.spend(now, cookie.agreement.peer_tag, ports, end_of_life(cookie));
        self.table.reindex(index);
        self.deliver_rest(index, arrival, rest)
    }

    /// A cookie whose tag is this shard's, while another shard has an association with the peer: it is from before that association, none of the tags
    /// match, and its Tie-Tags are not that one's, whose own cookies have tags of that shard (RFC 9260 §5.2.4 step 3, action C).
    fn cookie_for_elsewhere(&mut self, arrival: &Arrival<'_>, cookie: &OpenedCookie) -> bool {
        let excess = staleness(arrival.now, cookie);
        if let Some(excess) = excess {
            self.report_stale(arrival.route, cookie, excess);
        }
        excess.is_some()
    }

    fn told_by(&self, cookie: &CookieContents) -> Told {
        self.locals.told(cookie.created, cookie.named_below, cookie.route.local.ip())
    }

    fn report_stale(&mut self, route: Route, cookie: &CookieContents, excess: Duration) {
        let microseconds = u32::try_from(excess.as_micros()).unwrap_or(u32::MAX);
        let causes = [Cause::StaleCookie { microseconds }];
        let error = single_chunk(back(cookie), &ErrorBuilder { causes: &causes });
        self.answer(route, error);
    }
}

/// Table 12 of RFC 9260 §5.2.4.
fn action(association: &Association, cookie: &CookieContents, ours: bool, theirs: bool) -> Action {
    let tied = association.tie_tags() == Some(cookie.tie_tags) && cookie.tie_tags != (0, 0);
    match (ours, theirs) {
        (true, true) => Action::Confirm,
        (true, false) => Action::Collision,
        (false, false) if tied => Action::Restart,
        (false, true | false) => Action::Discard,
    }
}

fn end_of_life(cookie: &CookieContents) -> Instant {
    cookie.created + cookie.lifetime
}

/// How long ago the cookie's life ended.
fn staleness(now: Instant, cookie: &CookieContents) -> Option<Duration> {
    let end = end_of_life(cookie);
    (now > end).then(|| now.saturating_since(end))
}

fn back(cookie: &CookieContents) -> CommonHeader {
    CommonHeader {
        source_port: cookie.local_port,
        destination_port: cookie.peer_port,
        verification_tag: cookie.agreement.peer_tag,
    }
}
