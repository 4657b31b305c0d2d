//! What an ASCONF of the peer asks for is done or refused, in order (RFC 5061 §5.2 V1 to V4, §5.3 F5 to F14, §5.4).

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_wire::cause::encode_causes;
use whimbrel_wire::{
    AddressRequest, Asconf as AsconfChunk, AsconfAck, Cause, Causes, ErrorCauseIndication, Parameter,
    Parameters, RawParameter, UnknownAction, parameter_type,
};

use super::super::pairing;
use super::super::peer_init::is_usable;
use super::super::{Context, Open};
use crate::config::PeerRequests;
use crate::interface::{Event, PathState, PeerAddressChange};

/// Bytes of an answer at most: it must fit one packet. Requests behind the last one that can be answered are not carried
/// out, which the peer concludes from the silence after a failure (RFC 5061 §5.1 A7).
const MAX_ANSWER: usize = 900;

/// Bytes of a request that are quoted back at most: any request that is understood is shorter.
const MAX_QUOTE: usize = 64;

/// Why a request is refused.
#[derive(Clone, Copy)]
pub(in crate::association) enum Refusal {
    LastAddress,
    SourceAddress,
    ResourceShortage,
    NoAuthorization,
    /// The address cannot be used: not a unicast address, out of scope, of a family that we cannot send to, or not part
    /// of the association. RFC 5061 has no cause for that; RFC 9260 §3.3.10.5 quotes the address parameter.
    Unresolvable,
}

/// What becomes of one request.
pub(in crate::association) type Outcome = Result<(), Refusal>;

impl Refusal {
    /// The error cause, which quotes the request.
    fn cause(self, request: &[u8]) -> Cause<'_> {
        const HEADER_AND_CORRELATION: usize = 8;
        match self {
            Self::LastAddress => Cause::DeleteLastAddress(request),
            Self::SourceAddress => Cause::DeleteSourceAddress(request),
            Self::ResourceShortage => Cause::ResourceShortage(request),
            Self::NoAuthorization => Cause::NoAuthorization(request),
            Self::Unresolvable => {
                Cause::UnresolvableAddress(request.get(HEADER_AND_CORRELATION..).unwrap_or_default())
            }
        }
    }
}

/// The answer to one chunk as it grows.
#[derive(Default)]
struct Answer {
    responses: Vec<u8>,
    /// Something was refused: from now on successes are reported, too.
    refusing: bool,
    /// An addition or deletion was refused, so all that follow are (F11).
    changes_fail: bool,
}

/// An answer ready to be sent.
pub(super) struct Acknowledgement {
    serial: u32,
    responses: Vec<u8>,
}

impl whimbrel_wire::EmitChunk for Acknowledgement {
    fn wire_len(&self) -> usize {
        self.chunk().wire_len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        self.chunk().emit(out);
    }
}

impl Acknowledgement {
    fn chunk(&self) -> AsconfAck<'_> {
        AsconfAck { sequence_number: self.serial, parameters: Parameters::from_wire(&self.responses) }
    }
}

impl Answer {
    fn respond(&mut self, response: &Parameter<'_>) {
        response.emit(&mut self.responses);
        self.responses.resize(self.responses.len().next_multiple_of(4), 0);
    }

    fn refuse(&mut self, correlation_id: u32, cause: Cause<'_>) {
        let mut causes = Vec::new();
        encode_causes(&[cause], &mut causes);
        let causes = Causes::from_wire(&causes);
        self.respond(&Parameter::ErrorCauseIndication(ErrorCauseIndication { correlation_id, causes }));
        self.refusing = true;
    }

    fn report(&mut self, request: AddressRequest, raw: &RawParameter<'_>, outcome: Outcome) {
        match outcome {
            Err(refusal) => self.refuse(request.correlation_id, refusal.cause(raw.bytes())),
            Ok(()) if self.refusing => self.respond(&Parameter::SuccessIndication(request.correlation_id)),
            Ok(()) => {}
        }
    }
}

impl Open {
    /// Carries out what an ASCONF from `route` asks for.
    pub(super) fn carry_out(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        asconf: &AsconfChunk<'_>,
    ) -> Acknowledgement {
        let mut answer = Answer::default();
        let mut requests = asconf.parameters;
        while let Some(raw) = requests.next_raw() {
            if answer.responses.len() > MAX_ANSWER {
                break;
            }
            // Where the next one begins cannot be told.
            let Ok(raw) = raw else {
                answer.refuse(0, Cause::InvalidMandatoryParameter);
                break;
            };
            if !self.carry_out_one(context, route, &raw, &mut answer) {
                break;
            }
        }
        Acknowledgement { serial: asconf.sequence_number, responses: answer.responses }
    }

    /// False if the rest of the chunk is to be ignored.
    fn carry_out_one(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        raw: &RawParameter<'_>,
        answer: &mut Answer,
    ) -> bool {
        let code = raw.parameter_type();
        let changes = matches!(code, parameter_type::ADD_IP_ADDRESS | parameter_type::DELETE_IP_ADDRESS);
        match raw.decode() {
            Ok(Parameter::AddIpAddress(request) | Parameter::DeleteIpAddress(request)) => {
                let outcome = if answer.changes_fail {
                    Err(Refusal::ResourceShortage)
                } else if code == parameter_type::ADD_IP_ADDRESS {
                    self.add_peer_address(context, route, request.address)
                } else {
                    self.delete_peer_address(context, route, request.address)
                };
                answer.changes_fail |= outcome.is_err();
                answer.report(request, raw, outcome);
            }
            Ok(Parameter::SetPrimaryAddress(request)) => {
                let outcome = self.set_primary_for_peer(context, route, request.address);
                answer.report(request, raw, outcome);
            }
            Ok(Parameter::Unknown(unknown)) => {
                let action: UnknownAction = unknown.action();
                if action.reports() {
                    let quote = &raw.bytes()[..raw.bytes().len().min(MAX_QUOTE)];
                    answer.refuse(correlation(raw), Cause::UnrecognizedParameters(quote));
                }
                return !action.stops();
            }
            // RFC 5061 §4.2: what may not appear here is ignored.
            Ok(_) => {}
            Err(_) if changes || code == parameter_type::SET_PRIMARY_ADDRESS => {
                answer.changes_fail |= changes;
                answer.refuse(correlation(raw), Cause::InvalidMandatoryParameter);
            }
            Err(_) => {}
        }
        true
    }

    /// Whether our user lets the peer do this.
    fn authorize(&self, context: &Context<'_>, address: IpAddr) -> Outcome {
        match context.config.dar.peer_requests {
            PeerRequests::Accept => Ok(()),
            PeerRequests::RefuseWildcards if !address.is_unspecified() => Ok(()),
            PeerRequests::RefuseWildcards | PeerRequests::Refuse => Err(Refusal::NoAuthorization),
        }
    }

    pub(super) fn add_peer_address(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        address: IpAddr,
    ) -> Outcome {
        self.authorize(context, address)?;
        let source = route.remote;
        // RFC 5061 §4.2.1: the wildcard means the source address.
        let address = if address.is_unspecified() { source.ip() } else { address };
        let added = SocketAddr::new(address, source.port());
        // One that we are about to add or delete counts, too: what will be left is not known yet.
        let reachable = self.locals.all().any(|local| pairing::reaches(local, &[added]));
        let ours: Vec<SocketAddr> = self.locals.all().collect();
        if !is_usable(address, source.ip()) || !reachable || pairing::is_ourselves(&ours, added) {
            return Err(Refusal::Unresolvable);
        }
        let heard = (added == source).then_some(route);
        self.admit_peer_address(context, added, heard)
    }

    /// Takes an address of the peer into the association if there is room. `heard` is the route by which it has spoken for itself.
    pub(in crate::association) fn admit_peer_address(
        &mut self,
        context: &mut Context<'_>,
        added: SocketAddr,
        heard: Option<Route>,
    ) -> Outcome {
        if self.knows(added.ip()) {
            return Ok(());
        }
        let limits = &context.config.limits;
        // F9.
        let full = self.paths.len() >= limits.paths && self.superfluous_path(heard.is_some()).is_none();
        if full && !self.doubtful_path_makes_way_to(added) {
            return Err(Refusal::ResourceShortage);
        }
        if self.peer.addresses.len() >= limits.peer_addresses {
            // A host lists bridges to its containers and the like, too. One that speaks for itself may be the only one that is left.
            let silent = heard.and_then(|_| self.silent_address()).ok_or(Refusal::ResourceShortage)?;
            self.forget_peer_address(context, silent);
        }
        self.peer.addresses.push(added);
        self.synthesise(context);
        self.tell_of_address(context, added, PeerAddressChange::Added);
        // F14: unconfirmed until a heartbeat has been answered. When it speaks for itself, all else may be gone.
        self.pair_preferring(context, heard, None);
        Ok(())
    }

    /// An address of the peer where nothing has been answered of late, at best one where nothing ever was.
    fn silent_address(&self) -> Option<IpAddr> {
        let ips = || self.peer.addresses.iter().rev().map(SocketAddr::ip);
        let asked_in_vain = |ip: &IpAddr, of: fn(PathState) -> bool| {
            let mut paths = self.paths.iter().filter(|path| path.route.remote.ip() == *ip);
            paths.all(|path| of(path.state) && path.error_count > 0)
        };
        ips()
            .find(|ip| asked_in_vain(ip, |state| state == PathState::Unconfirmed))
            .or_else(|| ips().find(|ip| asked_in_vain(ip, |state| state != PathState::Active)))
    }

    fn delete_peer_address(&mut self, context: &mut Context<'_>, route: Route, address: IpAddr) -> Outcome {
        self.authorize(context, address)?;
        // What it is called where we are is not its name.
        let source = self.own_name(route.remote.ip());
        // RFC 5061 §4.2.2: the wildcard means all but the source address.
        if address.is_unspecified() {
            let leads = |path: &crate::path::Path| self.own_name(path.route.remote.ip()) == source;
            if !self.knows(source) || !self.paths.iter().any(leads) {
                return Err(Refusal::LastAddress);
            }
            let others = self.peer.addresses.iter().map(SocketAddr::ip);
            let others: Vec<IpAddr> = others.filter(|other| self.own_name(*other) != source).collect();
            for other in others {
                self.forget_peer_address(context, other);
            }
            return Ok(());
        }
        if !self.knows(address) {
            return Err(Refusal::Unresolvable);
        }
        // F7: an address that we have no path to does not count.
        let leads_elsewhere = |path: &crate::path::Path| {
            let remote = path.route.remote.ip();
            self.own_name(remote) != address && self.knows(remote)
        };
        if !self.paths.iter().any(leads_elsewhere) {
            return Err(Refusal::LastAddress);
        }
        // F8.
        if address == source {
            return Err(Refusal::SourceAddress);
        }
        self.forget_peer_address(context, address);
        Ok(())
    }

    /// F13.
    pub(in crate::association) fn forget_peer_address(&mut self, context: &mut Context<'_>, address: IpAddr) {
        let Some(at) = self.peer.addresses.iter().position(|known| known.ip() == address) else { return };
        let removed = self.peer.addresses.remove(at);
        self.forget_synthesised(address);
        if self.asconf.wanted_primary == Some(address) {
            self.asconf.wanted_primary = None;
        }
        self.remove_stale_paths(context);
        self.repeat_asconf_to(context, address);
        self.notes.addresses_changed = true;
        self.tell_of_address(context, removed, PeerAddressChange::Deleted);
        self.notice_path_in_use(context);
    }

    /// RFC 5061 §5.4: advice, followed as soon as a path to the address works.
    fn set_primary_for_peer(&mut self, context: &mut Context<'_>, route: Route, address: IpAddr) -> Outcome {
        self.authorize(context, address)?;
        let address = if address.is_unspecified() { route.remote.ip() } else { address };
        if !self.knows(address) {
            return Err(Refusal::Unresolvable);
        }
        self.asconf.wanted_primary = Some(address);
        self.grant_wanted_primary(context);
        Ok(())
    }

    /// Makes the address that the peer wants the primary one, if a path to it works by now.
    pub(crate) fn grant_wanted_primary(&mut self, context: &mut Context<'_>) {
        let Some(wanted) = self.asconf.wanted_primary else { return };
        let usable = |path: &&crate::path::Path| path.is_usable() && path.state == PathState::Active;
        // Only the peer's side of the way is its business: while our address works it stays, unless its path to there has failed
        // (the networks may not be connected). Or a peer that answers at a metered or slow address of ours alone could make us
        // use that, at once.
        let patience = context.config.failure.path_max_retrans;
        let ours = self.paths.get(self.paths.primary()).map(|path| path.route.local.ip());
        let ours = ours.filter(|&ours| {
            let mut from_ours = self.paths.iter().filter(|path| path.route.local.ip() == ours);
            self.paths.iter().filter(usable).any(|path| path.route.local.ip() == ours)
                && from_ours.any(|path| path.route.remote.ip() == wanted && path.error_count <= patience)
        });
        let works = |path: &&crate::path::Path| {
            path.route.remote.ip() == wanted && ours.is_none_or(|ours| path.route.local.ip() == ours)
        };
        let cost = |path: &&crate::path::Path| {
            let delay = path.supervision.quality.now().delay;
            (path.error_count, delay.map_or(Duration::MAX, |delay| delay.least), path.id)
        };
        let best = self.paths.iter().filter(usable).filter(works).min_by_key(cost);
        let Some((id, address)) = best.map(|path| (path.id, path.route.remote)) else { return };
        self.asconf.wanted_primary = None;
        self.set_primary(id);
        self.primary.note_wish_of_peer();
        self.tell_of_address(context, address, PeerAddressChange::MadePrimary);
        self.notice_path_in_use(context);
    }

    fn tell_of_address(&self, context: &mut Context<'_>, address: SocketAddr, change: PeerAddressChange) {
        let association = context.identity.id;
        context.events.push_back(Event::PeerAddress { association, address, change });
    }
}

/// Where the correlation id would be if there is one.
fn correlation(raw: &RawParameter<'_>) -> u32 {
    raw.value().first_chunk().map_or(0, |&id| u32::from_be_bytes(id))
}
