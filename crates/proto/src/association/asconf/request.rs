//! ASCONF chunks are made of the changes that wait (RFC 5061 §5.1 A1, A2, §5.3, §5.4).

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{AddressRequest, AsconfBuilder, EmitChunk, Parameter, cause_code, parameter_type};

use super::super::locals::{Locals, Standing};
use super::super::pairing;
use super::super::{Context, Open};
use super::answer_user;
use crate::config::Config;
use crate::interface::{AddressChange, AddressChangeError, PathId};

/// Changes in one chunk at most. The chunk and an answer that refuses every one of them fit the smallest packet of
/// IPv6 (RFC 5061 §5.1.1 C5).
const MAX_CHANGES: usize = 16;

/// An ASCONF chunk until it is acknowledged. Once made it stays as it is (RFC 5061 §5.1 B4).
#[derive(Debug)]
pub(super) struct Request {
    pub(super) serial: u32,
    /// The chunk, encoded.
    pub(super) chunk: Vec<u8>,
    pub(super) items: Vec<Item>,
    /// The only address it may leave from, if the meaning of a wildcard depends on it.
    pub(super) pinned: Option<IpAddr>,
    /// That address went down, and it has been sent from elsewhere: what the peer takes the wildcards for is not known.
    pub(super) astray: bool,
    /// Addresses it deletes: it must not leave from there (RFC 5061 §5.3 F6).
    pub(super) deleted: Vec<IpAddr>,
    /// How often it was sent.
    pub(super) sent: u32,
    /// It is to be sent as soon as there is a way.
    pub(super) due: bool,
    pub(super) tries: Tries,
    /// The answer to a HEARTBEAT that has reached an address it adds, while nothing else could leave ([`Open::hold_answer`]).
    pub(super) held: Option<HeldAnswer>,
}

/// Where a chunk has gone, and what became of that.
#[derive(Debug)]
pub(super) struct Tries {
    /// Where it was last sent.
    pub(super) route: Option<Route>,
    pub(super) sent_at: Instant,
    /// It has gone by more than one way.
    pub(super) several: bool,
    /// Where the peer has just been heard: it goes there next.
    pub(super) heard: Option<Route>,
    /// Where it has been sent since each way was tried last.
    pub(super) tried: Vec<Route>,
    /// How often T4 has expired since the address it leaves from changed for good.
    pub(super) timeouts: u32,
    /// T4 runs for less than the RTO: it is no error of the path if it expires.
    pub(super) early: bool,
    /// How often it was sent to addresses that nobody has confirmed, and when last.
    pub(super) to_strangers: u32,
    pub(super) to_stranger_at: Instant,
}

/// A HEARTBEAT ACK that waits until it may leave.
#[derive(Clone, Debug)]
pub(super) struct HeldAnswer {
    pub(super) route: Route,
    pub(super) chunk: Vec<u8>,
    /// When it was asked for.
    pub(super) since: Instant,
}

/// One change of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) change: AddressChange,
    /// The address to be added, wildcards resolved.
    pub(super) added: Option<SocketAddr>,
    pub(super) correlation_id: u32,
    /// As the chunk has it: perhaps a wildcard.
    pub(super) name: IpAddr,
}

impl Request {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = AddressChange> {
        self.items.iter().map(|item| item.change)
    }
}

/// What the addresses will be once the changes chosen so far are carried out.
pub(super) struct Draft {
    items: Vec<(AddressChange, Option<SocketAddr>)>,
    pub(super) members: Vec<SocketAddr>,
    pub(super) pinned: Option<IpAddr>,
    pub(super) deleted: Vec<IpAddr>,
}

/// Why a change that waits does not go into the chunk.
pub(super) enum Unfit {
    /// Nothing is to be done.
    Done,
    /// It cannot be done.
    Wrong(AddressChangeError),
    /// It goes into the next chunk.
    Later,
}

/// The address that a change adds, if it is fit.
pub(super) type Verdict = Result<Option<SocketAddr>, Unfit>;

impl Draft {
    fn new(locals: &Locals) -> Self {
        Self { items: Vec::new(), members: locals.members().collect(), pinned: None, deleted: Vec::new() }
    }

    fn has(&self, address: IpAddr) -> bool {
        self.members.iter().any(|member| member.ip() == address)
    }

    pub(super) fn delete(&mut self, address: IpAddr) {
        self.members.retain(|member| member.ip() != address);
        self.deleted.push(address);
    }

    fn added(&self) -> impl Iterator<Item = SocketAddr> {
        self.items.iter().filter_map(|&(_, added)| added)
    }
}

impl Open {
    /// Makes the next chunk, if changes wait and it could be sent now.
    pub(super) fn begin_request(&mut self, context: &mut Context<'_>) {
        let mut draft = Draft::new(&self.locals);
        while draft.items.len() < MAX_CHANGES {
            let Some(&change) = self.asconf.outgoing.waiting.front() else { break };
            let verdict = match change {
                AddressChange::Add(address) => self.judge_add(context.config, &mut draft, address),
                AddressChange::Delete(address) => self.judge_delete(context.config, &mut draft, address),
                AddressChange::SetPrimary(address) => {
                    self.judge_set_primary(context.config, &mut draft, address)
                }
            };
            match verdict {
                Ok(added) => draft.items.push((change, added)),
                Err(Unfit::Done) => answer_user(context, change, Ok(())),
                Err(Unfit::Wrong(error)) => answer_user(context, change, Err(error)),
                Err(Unfit::Later) => break,
            }
            self.asconf.outgoing.waiting.pop_front();
        }
        if draft.items.is_empty() {
            return;
        }
        if self.ways(draft.pinned, &draft.deleted, draft.added()).is_empty() {
            // Nothing can be sent now. The user may have something better in mind by then.
            for &(change, _) in draft.items.iter().rev() {
                self.asconf.outgoing.waiting.push_front(change);
            }
            return;
        }
        self.commit(context, draft);
    }

    fn understood(&self, parameter: u16) -> Result<(), Unfit> {
        let refused = self.asconf.outgoing.not_understood.contains(&parameter);
        let error = AddressChangeError::RefusedByPeer(cause_code::UNRECOGNIZED_PARAMETERS);
        if refused { Err(Unfit::Wrong(error)) } else { Ok(()) }
    }

    fn judge_add(&self, config: &Config, draft: &mut Draft, address: SocketAddr) -> Verdict {
        self.understood(parameter_type::ADD_IP_ADDRESS)?;
        let wildcard = address.ip().is_unspecified();
        let fresh = |up: &SocketAddr| {
            up.is_ipv4() == address.is_ipv4()
                && (address.port() == 0 || up.port() == address.port())
                && !up.ip().is_unspecified()
                && !draft.has(up.ip())
        };
        let found = if wildcard { self.locals.all_up().find(fresh) } else { self.locals.up(address.ip()) };
        let Some(local) = found.filter(|local| is_addable(local.ip())) else {
            return Err(Unfit::Wrong(AddressChangeError::NotOurs));
        };
        if draft.has(local.ip()) {
            return self.judge_known(draft, local.ip());
        }
        // F4: nothing leaves from an address until its deletion has been answered.
        if draft.deleted.contains(&local.ip()) {
            return Err(Unfit::Later);
        }
        if !pairing::reaches(local, &self.peer.addresses) {
            return Err(Unfit::Wrong(AddressChangeError::NotOurs));
        }
        if wildcard || self.is_translated(config, local.ip()) {
            pin(draft, local.ip())?;
        }
        draft.members.push(local);
        Ok(Some(local))
    }

    fn judge_delete(&mut self, config: &Config, draft: &mut Draft, address: IpAddr) -> Verdict {
        self.understood(parameter_type::DELETE_IP_ADDRESS)?;
        if address.is_unspecified() {
            let Some(kept) = self.source_of_wildcard(draft) else { return Err(Unfit::Later) };
            pin(draft, kept)?;
            for member in draft.members.clone().into_iter().filter(|member| member.ip() != kept) {
                draft.delete(member.ip());
            }
            return Ok(None);
        }
        let translated = self.is_translated(config, address);
        // Another translated one may have been deleted with it.
        if !(draft.has(address) || translated && draft.deleted.contains(&address)) {
            return Err(Unfit::Wrong(AddressChangeError::NotOurs));
        }
        if draft.pinned == Some(address) || draft.added().any(|added| added.ip() == address) {
            // It needs another source, or the answer to the addition first.
            return Err(Unfit::Later);
        }
        if translated && let Some(verdict) = self.judge_translated_delete(config, draft, address) {
            return verdict;
        }
        // RFC 5061 §5.3 F5; an address that cannot be sent from is as good as none.
        let is_up = |member: &SocketAddr| self.locals.up(member.ip()).is_some();
        let good = |member: &&SocketAddr| {
            member.ip() != address
                && pairing::reaches(**member, &self.peer.addresses)
                && (is_up(member) || self.locals.up(address).is_none())
        };
        if !draft.members.iter().any(|member| good(&member)) {
            return Err(Unfit::Wrong(AddressChangeError::LastAddress));
        }
        draft.delete(address);
        Ok(None)
    }

    fn judge_set_primary(&self, config: &Config, draft: &mut Draft, address: IpAddr) -> Verdict {
        self.understood(parameter_type::SET_PRIMARY_ADDRESS)?;
        if address.is_unspecified() {
            let Some(source) = self.source_of_wildcard(draft) else { return Err(Unfit::Later) };
            pin(draft, source)?;
            return Ok(None);
        }
        // RFC 5061 §5.4: only for an address that is part of the association by then.
        if !draft.has(address) {
            return Err(Unfit::Wrong(AddressChangeError::NotOurs));
        }
        if self.is_translated(config, address) {
            // The chunk would have to leave from there; what waits behind it must not wait for that.
            if self.locals.up(address).is_none() {
                return Err(Unfit::Wrong(AddressChangeError::AddressLost));
            }
            pin(draft, address)?;
        }
        Ok(None)
    }

    /// The address a chunk with a wildcard leaves from: the one the wildcard is to add, else where data goes from, else
    /// one that the chunk adds.
    fn source_of_wildcard(&self, draft: &Draft) -> Option<IpAddr> {
        let good = |address: &IpAddr| draft.has(*address) && !draft.deleted.contains(address);
        let in_use = self.route_to_use().map(|route| route.local.ip());
        let up = |member: &&SocketAddr| self.locals.up(member.ip()).is_some();
        draft
            .pinned
            .or_else(|| in_use.filter(good))
            .or_else(|| draft.members.iter().find(up).map(SocketAddr::ip).filter(good))
    }

    /// Numbers and encodes the chunk and changes the standing of the addresses.
    fn commit(&mut self, context: &mut Context<'_>, draft: Draft) {
        let address = self.lookup_name(context.config);
        let outgoing = &mut self.asconf.outgoing;
        let serial = outgoing.next_serial;
        outgoing.next_serial = serial.wrapping_add(1);
        let mut items = Vec::with_capacity(draft.items.len());
        let mut parameters = Vec::with_capacity(draft.items.len());
        for &(change, added) in &draft.items {
            let named = match change {
                AddressChange::Add(address) => address.ip(),
                AddressChange::Delete(address) | AddressChange::SetPrimary(address) => address,
            };
            let address = self.name_of(context.config, named);
            let outgoing = &mut self.asconf.outgoing;
            let correlation_id = outgoing.next_correlation;
            outgoing.next_correlation = correlation_id.wrapping_add(1);
            let request = AddressRequest { correlation_id, address };
            parameters.push(match change {
                AddressChange::Add(_) => Parameter::AddIpAddress(request),
                AddressChange::Delete(_) => Parameter::DeleteIpAddress(request),
                AddressChange::SetPrimary(_) => Parameter::SetPrimaryAddress(request),
            });
            items.push(Item { change, added, correlation_id, name: address });
        }
        let mut chunk = Vec::new();
        AsconfBuilder { sequence_number: serial, address, parameters: &parameters }.emit(&mut chunk);
        for &local in draft.items.iter().filter_map(|(_, added)| added.as_ref()) {
            self.locals.set(local, Standing::Adding);
        }
        for &deleted in &draft.deleted {
            self.begin_deletion(context, deleted);
        }
        self.asconf.outgoing.outstanding = Some(Request {
            serial,
            chunk,
            items,
            pinned: draft.pinned,
            astray: false,
            deleted: draft.deleted,
            sent: 0,
            due: true,
            tries: Tries {
                route: None,
                sent_at: context.now,
                tried: Vec::new(),
                several: false,
                heard: None,
                timeouts: 0,
                early: false,
                to_strangers: 0,
                to_stranger_at: context.now,
            },
            held: None,
        });
    }

    /// RFC 5061 §5.3 F4: received at, not sent from.
    fn begin_deletion(&mut self, context: &mut Context<'_>, address: IpAddr) {
        let member = self.locals.members().find(|member| member.ip() == address);
        if let Some(member) = member {
            self.locals.set(member, Standing::Deleting);
        }
        for id in self.paths_from(address) {
            self.close_egress(context, id);
        }
        // With one path per destination another address takes over.
        self.pair_addresses(context, None);
    }

    /// The changes of a request have come to nothing.
    pub(super) fn undo(&mut self, context: &mut Context<'_>, request: &Request) {
        for added in request.items.iter().filter_map(|item| item.added) {
            if self.locals.standing(added.ip()) == Some(Standing::Adding) {
                self.locals.remove(added.ip());
            }
        }
        for &deleted in &request.deleted {
            self.keep_address(context, deleted);
        }
        self.pair_addresses(context, None);
    }

    /// An address that was to be deleted stays.
    pub(super) fn keep_address(&mut self, context: &mut Context<'_>, address: IpAddr) {
        if !self.locals.is_leaving(address) {
            return;
        }
        self.locals.conceal(address);
        if let Some(path) = self.paths_from(address).first().and_then(|&id| self.paths.get(id)) {
            self.locals.set(path.route.local, Standing::Member);
        } else {
            let port = self.locals.up(address).map_or(0, |up| up.port());
            self.locals.set(SocketAddr::new(address, port), Standing::Member);
        }
        self.open_paths_from(context, address);
    }

    /// The address belongs to the association, perhaps once more: the last path is kept when its address is deleted, and may have been
    /// this one's.
    pub(super) fn open_paths_from(&mut self, context: &mut Context<'_>, address: IpAddr) {
        if self.locals.is_source(address) {
            for id in self.paths_from(address) {
                self.open_egress(context, id);
            }
        }
    }

    pub(crate) fn paths_from(&self, local: IpAddr) -> Vec<PathId> {
        self.paths.iter().filter(|path| path.route.local.ip() == local).map(|path| path.id).collect()
    }
}

/// All wildcards of a chunk mean the same address.
pub(super) fn pin(draft: &mut Draft, address: IpAddr) -> Result<(), Unfit> {
    match draft.pinned {
        Some(pinned) if pinned != address => Err(Unfit::Later),
        _ if draft.deleted.contains(&address) => Err(Unfit::Later),
        _ => {
            draft.pinned = Some(address);
            Ok(())
        }
    }
}

/// RFC 5061 §4.2.1: no broadcast or multicast address.
fn is_addable(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !address.is_unspecified() && !address.is_multicast() && !broadcast
}
