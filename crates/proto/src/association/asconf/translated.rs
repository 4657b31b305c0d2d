//! Changes of addresses that are translated on the way (RFC 6951 §5.7): we do not know by which address the peer knows them,
//! so the wildcard stands for them, and the chunk leaves from the address that is meant (RFC 5061 §4.2.1, §4.2.2, §4.2.4).

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::Route;

use super::super::locals::Standing;
use super::super::translation::{may_be_translated, wildcard_for};
use super::super::{Context, Naming, Open};
use super::request::{Draft, Request, Unfit, Verdict, pin};
use super::{answer_user, refuse};
use crate::config::{AddressNaming, Config};
use crate::interface::{AddressChange, AddressChangeError};

/// Postponed additions that are remembered.
const POSTPONED: usize = 16;

impl Open {
    /// Whether the peer knows this address of ours by another one.
    pub(in crate::association) fn is_translated(&self, config: &Config, address: IpAddr) -> bool {
        let hidden = config.dar.naming == AddressNaming::ByScope && self.locals.is_hidden(address);
        hidden || may_be_translated(self.naming(config), self.local_of(address), &self.peer.addresses)
    }

    fn naming(&self, config: &Config) -> Naming<'_> {
        Naming { wanted: config.dar.naming, translators: &self.locals.translators }
    }

    fn local_of(&self, address: IpAddr) -> SocketAddr {
        let known = self.locals.all().find(|local| local.ip() == address);
        // One that is gone altogether may still have to be named: by it the peer finds the association.
        let gone = SocketAddr::new(address, self.receive.route().local.port());
        self.locals.up(address).or(known).unwrap_or(gone)
    }

    /// What stands in a packet for this address of ours.
    pub(super) fn name_of(&self, config: &Config, address: IpAddr) -> IpAddr {
        if self.is_translated(config, address) { self.wildcard_of(address) } else { address }
    }

    /// What stands for this address of ours where it is not named.
    pub(super) fn wildcard_of(&self, address: IpAddr) -> IpAddr {
        wildcard_for(&self.locals.translators, self.local_of(address), &self.peer.addresses)
    }

    /// The Address Parameter: one of our addresses that the peer knows, by which it finds the association when the
    /// source address is new to it (RFC 5061 §4.1.1, §5.3.2).
    ///
    /// Once one of them has turned out to be translated, the others may be as well, and the tag is enough.
    pub(super) fn lookup_name(&self, config: &Config) -> IpAddr {
        let primary = self.paths.get(self.paths.primary()).map(|path| path.route.local.ip());
        let known = |address: &IpAddr| self.locals.standing(*address) == Some(Standing::Member);
        let member = || self.locals.members().next().map(|member| member.ip());
        let address = primary.filter(known).or_else(member).unwrap_or(self.receive.route().local.ip());
        if self.locals.hides_any() { self.wildcard_of(address) } else { self.name_of(config, address) }
    }

    /// Judges a deletion of an address that the peer knows by another name; `None` if it is to be judged under the name that we have.
    ///
    /// That an address is hidden is inferred from what the peer said once. Where the wildcard does not serve, the name may, and the
    /// peer refuses it at worst, whereas an address that nobody deletes stays with the peer for good.
    pub(super) fn judge_translated_delete(
        &mut self,
        config: &Config,
        draft: &mut Draft,
        address: IpAddr,
    ) -> Option<Verdict> {
        let verdict = self.judge_unnamed_delete(draft, address);
        let unnamed = matches!(verdict, Err(Unfit::Wrong(AddressChangeError::CannotBeNamed)));
        let seen = may_be_translated(self.naming(config), self.local_of(address), &self.peer.addresses);
        if !unnamed || seen {
            return Some(verdict);
        }
        self.locals.reveal(address);
        None
    }

    /// RFC 5061 §4.2.2 has one name for addresses that nobody can name: all but the source. That serves if nothing else
    /// is to be kept.
    fn judge_unnamed_delete(&self, draft: &mut Draft, address: IpAddr) -> Verdict {
        if draft.deleted.contains(&address) {
            return Ok(None);
        }
        let is_to_go =
            |ip| ip == address || self.asconf.outgoing.waiting.contains(&AddressChange::Delete(ip));
        let usable = |local: &SocketAddr| !is_to_go(local.ip()) && self.locals.up(local.ip()).is_some();
        let in_use = self.route_to_use().map(|route| route.local.ip());
        let mut good = draft.members.iter().copied().filter(usable).map(|local| local.ip());
        let kept = match draft.pinned {
            Some(pinned) if pinned == address => return Err(Unfit::Later),
            Some(pinned) => pinned,
            None => {
                match in_use.filter(|in_use| good.clone().any(|local| local == *in_use)).or(good.next()) {
                    Some(kept) => kept,
                    None => return Err(Unfit::Wrong(AddressChangeError::LastAddress)),
                }
            }
        };
        let lost: Vec<IpAddr> = draft.members.iter().map(SocketAddr::ip).filter(|ip| *ip != kept).collect();
        if !lost.iter().all(|&ip| is_to_go(ip)) {
            return Err(Unfit::Wrong(AddressChangeError::CannotBeNamed));
        }
        pin(draft, kept)?;
        for ip in lost {
            draft.delete(ip);
        }
        Ok(None)
    }

    /// The peer has answered a chunk that left from another address than its wildcards meant, at least once: which of them it took
    /// them for is not known. Whoever still wants an addition or a primary address may ask again, the peer minds no repetition. A
    /// deletion may have left the peer any one of our translated addresses: they are gone for us, too, and the one that it answered
    /// is added at once. A deletion that names its address means the same wherever it leaves from.
    pub(super) fn conclude_astray(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        request: &Request,
        outcomes: &[Result<(), AddressChangeError>],
    ) {
        let mut unnamed = Vec::new();
        for (item, &outcome) in request.items.iter().zip(outcomes) {
            match item.change {
                AddressChange::Delete(ip) if !item.name.is_unspecified() => {
                    outcome.is_ok().then(|| self.locals.remove(ip));
                    answer_user(context, item.change, outcome);
                }
                change => unnamed.push(change),
            }
        }
        self.undo(context, request);
        let deletes = |change: AddressChange| matches!(change, AddressChange::Delete(_));
        if self.makes_way(request) {
            let outgoing = &mut self.asconf.outgoing;
            outgoing.postponed.truncate(POSTPONED - 1);
            request.pinned.into_iter().for_each(|pinned| outgoing.postponed.push_front(pinned));
            return outgoing.waiting.extend(request.changes());
        }
        if !unnamed.iter().copied().any(deletes) {
            self.pair_addresses(context, None);
            return refuse(context, unnamed, AddressChangeError::AddressLost);
        }
        let translated = |local: &SocketAddr| self.is_translated(context.config, local.ip());
        let doubtful: Vec<SocketAddr> = self.locals.members().filter(translated).collect();
        for change in unnamed {
            let is_gone = |ip: IpAddr| ip != route.local.ip() && AddressChange::Delete(ip) == change;
            if !doubtful.iter().any(|local| is_gone(local.ip())) {
                answer_user(context, change, Err(AddressChangeError::AddressLost));
            }
        }
        for local in doubtful {
            if local.ip() == route.local.ip() {
                self.locals.set(local, Standing::Adding);
                self.asconf.outgoing.waiting.push_front(AddressChange::Add(local));
            } else {
                self.locals.remove(local.ip());
                answer_user(context, AddressChange::Delete(local.ip()), Ok(()));
            }
        }
        self.pair_addresses(context, None);
    }
}
