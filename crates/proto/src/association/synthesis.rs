//! A peer that has IPv4 alone, and a host that is left with IPv6: many networks that have IPv6 alone translate (NAT64, RFC 6146), and reach
//! IPv4 addresses by IPv6 ones that are made of them (RFC 6052).
//!
//! What is made here is tried like any address that a peer has named: an ASCONF goes there, from where we are now, and no data before a
//! HEARTBEAT has been answered (RFC 9260 §5.4). The peer sees an IPv4 address that we do not know, so that wildcards stand for ours.

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::Instant;

use super::{Association, Context, Open, Phase, Translators};
use crate::config::AddressNaming;
use crate::interface::{Mobility, PathState};

impl Association {
    /// What IPv4 addresses are called where we are has changed.
    pub(crate) fn translators_changed(&mut self, now: Instant, translators: &Translators) {
        self.translators = translators.clone();
        let (mut context, phase) = self.split(now);
        match phase {
            Phase::CookieEchoed(echoed) => {
                echoed.open.follow_translators(translators);
            }
            Phase::Open(open) => {
                let again = open.follow_translators(translators);
                if open.synthesise(&mut context) || again {
                    open.pair_addresses(&mut context, None);
                    open.repeat_asconf_by_new_names(&mut context);
                }
            }
            Phase::CookieWait(_) | Phase::Closed => {}
        }
    }
}

impl Open {
    /// True if the peer is called again what it was called before: we are back in a network.
    fn follow_translators(&mut self, translators: &Translators) -> bool {
        let past: Vec<IpAddr> = self.past_names().collect();
        self.locals.translators.follow(translators, &self.peer.addresses);
        past.iter().any(|&name| !self.locals.translators.is_past(name))
    }

    /// Finds out by what other addresses the peer may be reached now that our links have changed, if it can be told of ours. True if there
    /// are new ones.
    pub(crate) fn synthesise(&mut self, context: &mut Context<'_>) -> bool {
        let naming = context.config.dar.naming;
        if self.asconf.mobility != Mobility::Dynamic || naming == AddressNaming::Literal {
            return false;
        }
        let most = context.config.limits.peer_addresses;
        let unveiled = self.unveil(most);
        let named = self.name_for_translators(most);
        self.notes.addresses_changed |= unveiled || named;
        unveiled || named
    }

    /// What the peer is called in this network may be all that is known of it: a host with one address lists none (RFC 9260 §3.3.2.1).
    /// In other networks the address that is meant leads there.
    fn unveil(&mut self, most: usize) -> bool {
        let known = self.peer.addresses.len();
        for called in self.peer.addresses.clone() {
            if let Some(meant) = self.locals.translators.meant(called.ip())
                && !self.knows(meant)
                && self.peer.addresses.len() < most
            {
                self.peer.addresses.push(SocketAddr::new(meant, called.port()));
            }
        }
        self.peer.addresses.len() > known
    }

    /// Names the peer's IPv4 addresses for a translator if there may be one, and nothing else leads to the peer: we have lost the last
    /// IPv4 address and have an IPv6 one, which the peer has not. They stay, though IPv4 may come back: they may be in use.
    fn name_for_translators(&mut self, most: usize) -> bool {
        let any_up = |v4: bool| self.locals.all_up().any(|local| local.is_ipv4() == v4 && local.port() != 0);
        let native = |remote: &SocketAddr| remote.is_ipv6() && self.own_name(remote.ip()) == remote.ip();
        if any_up(true) || !any_up(false) || self.peer.addresses.iter().any(native) {
            return false;
        }
        let names = self.peer.addresses.iter().map(|&address| self.locals.translators.names(address));
        let mut new: Vec<SocketAddr> = names.flatten().filter(|name| !self.knows(name.ip())).collect();
        if !new.is_empty() {
            self.forget_past_names();
            new.truncate(most.saturating_sub(self.peer.addresses.len()));
            self.peer.addresses.extend(&new);
        }
        !new.is_empty()
    }

    /// What the peer was called in networks that we have left makes room, unless it still works.
    fn forget_past_names(&mut self) {
        let works = |remote: IpAddr| {
            let mut paths = self.paths.iter().filter(|path| path.route.remote.ip() == remote);
            paths.any(|path| path.is_usable() && path.state == PathState::Active)
        };
        let past: Vec<IpAddr> = self.past_names().filter(|&name| !works(name)).collect();
        self.peer.addresses.retain(|known| !past.contains(&known.ip()));
    }

    fn past_names(&self) -> impl Iterator<Item = IpAddr> {
        let names = self.peer.addresses.iter().map(SocketAddr::ip);
        names.filter(|&name| self.own_name(name) != name && self.locals.translators.is_past(name))
    }

    /// The peer's addresses that new paths may lead to: none that it is called by in networks that we have left.
    pub(super) fn remotes_to_pair(&self) -> Vec<SocketAddr> {
        let past: Vec<IpAddr> = self.past_names().collect();
        self.peer.addresses.iter().copied().filter(|remote| !past.contains(&remote.ip())).collect()
    }

    /// The peer's own address for one of which it is called here.
    pub(super) fn own_name(&self, remote: IpAddr) -> IpAddr {
        self.locals.translators.meant(remote).filter(|v4| self.knows(*v4)).unwrap_or(remote)
    }

    /// The peer has deleted `address`: what was made of it goes, too.
    pub(super) fn forget_synthesised(&mut self, address: IpAddr) {
        let translators = &self.locals.translators;
        self.peer.addresses.retain(|known| translators.meant(known.ip()) != Some(address));
    }
}
