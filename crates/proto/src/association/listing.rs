//! How many of our addresses a handshake lists, and what becomes of the others.

use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{Cause, Causes, Parameters};

use super::context::{MAX_CAUSES, aborted_by_peer};
use super::handshake::{ConnectRequest, CookieWait};
use super::own_parameters::addresses_to_list;
use super::{Association, Handled, Naming, Open, Phase};
use crate::interface::AddressChange;

/// The addresses an INIT ACK lists at most, unless the INIT lists more. Whoever sends an INIT under a false address must not have
/// much more than its length sent there; the rest follows by ASCONF when the cookie has come back.
const LISTED_UNASKED: usize = 4;

/// How many addresses the answer to an INIT that lists `theirs` may list.
pub(crate) fn listed_at_most(theirs: usize) -> usize {
    LISTED_UNASKED.max(theirs)
}

impl ConnectRequest {
    /// What INIT lists of our addresses.
    pub(super) fn listed(&self, naming: Naming<'_>) -> Vec<SocketAddr> {
        let mut listed = addresses_to_list(naming, &self.locals, &self.remotes);
        listed.truncate(self.listed_at_most);
        listed
    }

    /// What it leaves out.
    pub(super) fn omitted(&self, naming: Naming<'_>) -> Vec<SocketAddr> {
        let mut all = addresses_to_list(naming, &self.locals, &self.remotes);
        all.split_off(all.len().min(self.listed_at_most))
    }

    /// Whether a refusal is about addresses that INIT has left out since: it answers an earlier one, and is late.
    fn has_left_out(&self, naming: Naming<'_>, causes: Causes<'_>) -> bool {
        let new = causes.take(MAX_CAUSES).filter_map(|cause| match cause {
            Ok(Cause::RestartWithNewAddresses(parameters)) => Some(Parameters::from_wire(parameters)),
            _ => None,
        });
        let mut new = new.flatten().filter_map(|parameter| parameter.ok()?.address()).peekable();
        let omitted = self.omitted(naming);
        new.peek().is_some() && new.all(|new| omitted.iter().any(|omitted| omitted.ip() == new))
    }
}

impl Open {
    /// Whether an ABORT answers what was sent before something that the peer has answered since: before an address of ours was deleted (RFC 5061
    /// §5.3 F4, §5.3.1), or before the INIT or COOKIE ECHO that it has taken, with the same tag.
    pub(super) fn is_late_abort(&self, route: Route, causes: Causes<'_>) -> bool {
        self.locals.is_leaving(route.local.ip()) || names_new_addresses(causes)
    }
}

/// Whether an ABORT says that an INIT or a COOKIE ECHO looks like a restart with new addresses (RFC 9260 §5.2.1, §5.2.2).
fn names_new_addresses(causes: Causes<'_>) -> bool {
    causes.take(MAX_CAUSES).any(|cause| matches!(cause, Ok(Cause::RestartWithNewAddresses(_))))
}

impl Association {
    /// The peer refuses our INIT. If it has had an INIT ACK from us, which lists fewer addresses, and waits for the answer to its COOKIE
    /// ECHO, an INIT that lists more looks like somebody else's to it (RFC 9260 §5.2.1): another one lists no more than that.
    pub(super) fn handle_refusal(&mut self, now: Instant, causes: Causes<'_>) -> Handled {
        let surprised = names_new_addresses(causes);
        let naming = Naming { wanted: self.config.dar.naming, translators: &self.translators };
        match &mut self.phase {
            Phase::CookieWait(wait) if wait.request.has_left_out(naming, causes) => Ok(()),
            Phase::CookieEchoed(echoed) if echoed.request.has_left_out(naming, causes) => Ok(()),
            Phase::CookieEchoed(echoed) => Err(echoed.open.aborted_by_peer(causes)),
            Phase::CookieWait(wait) if surprised && wait.request.listed(naming).len() > LISTED_UNASKED => {
                let request = ConnectRequest {
                    remotes: core::mem::take(&mut wait.request.remotes),
                    locals: core::mem::take(&mut wait.request.locals),
                    listed_at_most: LISTED_UNASKED,
                };
                **wait = CookieWait::new(now, &self.config, &mut self.timers, request);
                Ok(())
            }
            _ => Err(aborted_by_peer(causes)),
        }
    }

    /// While we ask for an association ourselves: how many addresses our INIT lists, so that an INIT ACK lists as many.
    pub(crate) fn listed_at_most(&self) -> Option<usize> {
        match &self.phase {
            Phase::CookieWait(wait) => Some(wait.request.listed_at_most),
            Phase::CookieEchoed(echoed) => Some(echoed.request.listed_at_most),
            Phase::Open(_) | Phase::Closed => None,
        }
    }

    /// The handshake had no room for these addresses: a peer that can be told is told now. Nobody waits for what becomes of it.
    pub(crate) fn add_omitted(&mut self, now: Instant, omitted: Vec<SocketAddr>) {
        self.in_open(now, |open, context| {
            if open.is_dynamic() {
                open.change_addresses(context, omitted.into_iter().map(AddressChange::Add).collect());
            }
        });
    }
}
