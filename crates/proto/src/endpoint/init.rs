//! INIT: answered without keeping anything (RFC 9260 §5.1 B, §5.2.1, §5.2.2).

use core::net::SocketAddr;
use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::{Instant, Route};
use whimbrel_wire::draft::{KeyManagement, KeyRoles};
use whimbrel_wire::{
    AbortBuilder, Cause, Chunk, CommonHeader, Init, InitAckBuilder, Parameter, RawChunk, Tsn,
};

use super::own_addresses::Serial;
use super::table::{Lookup, Owner};
use super::{Endpoint, decoded};
use crate::arrival::Arrival;
use crate::association::peer_init::{LEAST_A_RWND, PeerParameters, Problem};
use crate::association::{
    Closing, Naming, Phase, addresses_to_list, listed_at_most, own_parameters, single_chunk,
};
use crate::auth::offer::Offer;
use crate::cookie::CookieContents;
use crate::negotiate::{Agreement, Extensions};
use crate::protection::negotiate::{self, PeerProtection, Refusal};
use crate::protection::{Security, transcript};

/// The most a Cookie Preservative can add to a cookie's life (RFC 9260 §3.3.2.1.3 leaves it to us).
pub(crate) const MAX_PRESERVATIVE: Duration = Duration::from_secs(5);

/// What an INIT ACK and its cookie say about our side.
struct OurSide {
    tag: u32,
    initial_tsn: Tsn,
    tie_tags: (u64, u64),
    key_roles: KeyRoles,
}

/// Who has asked for no association can only answer when keys are agreed on.
const ANSWERS: KeyRoles = KeyRoles { client: false, server: true };

/// What an INIT says, and what its answer begins with.
struct Question<'a> {
    back: CommonHeader,
    init: &'a Init<'a>,
    parameters: PeerParameters<'a>,
    auth: Option<Offer>,
}

impl Endpoint {
    /// True if the packet was taken.
    pub(super) fn handle_init(&mut self, arrival: &Arrival<'_>, raw: &RawChunk<'_>) -> bool {
        let Arrival { route, packet, .. } = *arrival;
        let header = packet.header();
        // RFC 9260 §8.5.1 A: the tag is zero and INIT is the only chunk. §3.3.2: a zero Initiate Tag is discarded.
        let Some(Chunk::Init(init)) = decoded(raw) else { return false };
        if header.verification_tag != 0 || packet.chunks().count() != 1 || init.initiate_tag == 0 {
            return false;
        }
        let back = CommonHeader {
            source_port: header.destination_port,
            destination_port: header.source_port,
            verification_tag: init.initiate_tag,
        };
        // RFC 9260 §3.3.2: no streams is an error, and so is a window too small for a packet.
        if init.outbound_streams == 0 || init.inbound_streams == 0 || init.a_rwnd < LEAST_A_RWND {
            self.refuse(route, back, &[Cause::InvalidMandatoryParameter]);
            return true;
        }
        let max = self.config.limits.peer_addresses;
        match PeerParameters::read(init.parameters, route.remote.ip(), max) {
            Ok(parameters) => match parameters.judge_auth(&self.config) {
                Ok(auth) => {
                    return self.answer_init(arrival, &Question { back, init: &init, parameters, auth });
                }
                Err(refusal) => self.refuse(route, back, &[refusal.cause()]),
            },
            // RFC 9260 §5.1.2 B.
            Err(Problem::HostName(parameter)) => {
                self.refuse(route, back, &[Cause::UnresolvableAddress(&parameter)])
            }
            Err(Problem::Malformed) => {
                self.refuse(route, back, &[Cause::ProtocolViolation(b"parameter length")])
            }
        }
        true
    }

    /// True if the packet was taken.
    fn answer_init(&mut self, arrival: &Arrival<'_>, question: &Question<'_>) -> bool {
        let Arrival { now, route, .. } = *arrival;
        let back = question.back;
        let ports = Lookup { local: back.source_port, remote: back.destination_port };
        let remotes = question.parameters.remotes(route.remote);
        // RFC 9260 §5.1.2 D: any of its addresses identifies an existing association.
        let existing = remotes.iter().find_map(|&remote| self.table.by_own_peer(remote, ports));
        let existing = match existing {
            Some(Owner::Elsewhere(shard)) => return self.hand_over_by_peer(shard, arrival),
            Some(Owner::Here(index)) => Some(index),
            None => None,
        };
        let ours = match existing {
            Some(index) => match self.our_side_of(index, route, &remotes) {
                Ok(Some(ours)) => ours,
                Ok(None) => return true,
                Err(_) if self.is_late(index, question.init.initiate_tag) => return true,
                Err(added) => {
                    self.refuse(route, back, &[Cause::RestartWithNewAddresses(&added)]);
                    return true;
                }
            },
            None if !self.listening.contains(&ports.local) => {
                self.refuse(route, back, &[]);
                return true;
            }
            None => OurSide {
                tag: self.fresh_tag_of_next(),
                initial_tsn: Tsn(self.rng.next_u32()),
                tie_tags: (0, 0),
                key_roles: ANSWERS,
            },
        };
        let protection = match self.judge_protection(question, &ours) {
            Ok(protection) => protection,
            Err(refusal) => {
                self.refuse(route, back, &[refusal.cause()]);
                return true;
            }
        };
        self.totals.inits_answered += 1;
        let (locals, named_below) = self.addresses_to_list(route, &question.parameters, existing);
        let cookie = self.bake(now, route, question, &ours, named_below, protection);
        let answer = self.with_init_ack(question, &ours, &locals, Some(&cookie), |init_ack| {
            single_chunk(question.back, init_ack)
        });
        self.answer(route, answer);
        true
    }

    /// What the INIT says of keys, and both chunks together.
    fn judge_protection(
        &self,
        question: &Question<'_>,
        ours: &OurSide,
    ) -> Result<Option<PeerProtection>, Refusal> {
        let Some(own) = self.key_management(ours) else { return Ok(None) };
        let peer = question.parameters.key_management;
        let (role, _) = negotiate::agree(&own, peer)?;
        let digest = self.with_init_ack(question, ours, &[], None, |init_ack| {
            transcript::as_read(init_ack, |init_ack| transcript::digest(role, init_ack, question.init))
        });
        let parameter = peer.unwrap_or_default().into();
        Ok(digest.map(|digest| PeerProtection { parameter, digest }))
    }

    /// Our DTLS Key Management parameter; `None` if packets go in clear.
    fn key_management(&self, ours: &OurSide) -> Option<Vec<u8>> {
        match &self.config.security {
            Security::Off => None,
            Security::Required(exchanges) => {
                let random = self.supplies.randoms.of(ours.tag, ours.initial_tsn);
                Some(negotiate::own(&**exchanges, &random, ours.key_roles))
            }
        }
    }

    /// Our side of the answer to an INIT that meets an existing association. `Ok(None)`: there is no answer;
    /// `Err`: the INIT adds these addresses, which a restart must not (RFC 9260 §5.2.2).
    fn our_side_of(
        &mut self,
        index: usize,
        route: Route,
        remotes: &[SocketAddr],
    ) -> Result<Option<OurSide>, Vec<u8>> {
        let fresh = OurSide {
            tag: self.fresh_tag(),
            initial_tsn: Tsn(self.rng.next_u32()),
            tie_tags: (0, 0),
            key_roles: ANSWERS,
        };
        let Some(association) = self.table.get_mut(index) else { return Ok(None) };
        let original = OurSide {
            tag: association.identity.local_tag,
            initial_tsn: association.identity.initial_tsn,
            key_roles: association.identity.key_roles,
            ..fresh
        };
        let known: SmallVec<[SocketAddr; 4]> = association.peer_addresses().into();
        // RFC 9260 §5.2.1 rules 1 and 2: only to an address that the user named.
        let named = association.user_named(route.remote);
        match association.phase_mut() {
            Phase::Closed => Ok(None),
            Phase::CookieWait(_) => Ok(named.then_some(original)),
            Phase::CookieEchoed(echoed) => {
                refuse_additions(remotes, &known)?;
                Ok(Some(OurSide { tie_tags: echoed.open.tie_tags(), ..original }))
            }
            Phase::Open(open) => {
                // RFC 9260 §9.2: the peer has missed SHUTDOWN COMPLETE.
                if matches!(open.closing, Closing::AckSent(_)) {
                    open.repeat_shutdown_ack(route, false);
                    self.table.touch(index);
                    return Ok(None);
                }
                refuse_additions(remotes, &known)?;
                Ok(Some(OurSide { tie_tags: open.tie_tags(), ..fresh }))
            }
        }
    }

    /// Whether an INIT with this Initiate Tag is one of those that have led to this very association, kept back on its way: a peer that moves while
    /// it repeats its INIT sends some from new addresses. It does not restart, and an ABORT with its tag (RFC 9260 §5.2.2) would end the association.
    fn is_late(&self, index: usize, initiate_tag: u32) -> bool {
        let association = self.table.get(index);
        association.is_some_and(|up| up.open().is_some() && up.peer_tag() == Some(initiate_tag))
    }

    /// The addresses that the INIT ACK names, and the number of the first address it does not, if there is one.
    fn addresses_to_list(
        &self,
        route: Route,
        init: &PeerParameters<'_>,
        existing: Option<usize>,
    ) -> (Vec<SocketAddr>, Option<Serial>) {
        let remotes = init.remotes(route.remote);
        // RFC 9260 §3.3.2.1.5: nothing that the peer cannot use.
        let usable: Vec<SocketAddr> =
            self.locals.all().iter().copied().filter(|local| init.families.include(local.ip())).collect();
        let naming = Naming { wanted: self.config.dar.naming, translators: self.locals.translators() };
        let listed = addresses_to_list(naming, &usable, &remotes);
        // Where our own INIT is under way, INIT ACK says the same: the peer compares (RFC 9260 §5.2.1).
        let asked = existing.and_then(|index| self.table.get(index)?.listed_at_most());
        let most = asked.unwrap_or_else(|| listed_at_most(init.addresses.len()));
        self.locals.first(most, |local| listed.contains(&local))
    }

    fn bake(
        &mut self,
        now: Instant,
        route: Route,
        question: &Question<'_>,
        ours: &OurSide,
        named_below: Option<Serial>,
        protection: Option<PeerProtection>,
    ) -> Vec<u8> {
        let Question { back, init, parameters, auth } = question;
        let preservative =
            Duration::from_millis(u64::from(parameters.cookie_preservative)).min(MAX_PRESERVATIVE);
        let contents = CookieContents {
            created: now,
            lifetime: self.config.cookie.lifetime + preservative,
            local_tag: ours.tag,
            tie_tags: ours.tie_tags,
            local_port: back.source_port,
            peer_port: back.destination_port,
            local_initial_tsn: ours.initial_tsn,
            route,
            peer_addresses: parameters.addresses.clone(),
            families: parameters.families,
            named_below,
            agreement: Agreement::new(&self.config, init, parameters, auth.clone(), protection),
        };
        let mut cookie = Vec::with_capacity(256);
        self.cookies.seal(now, &contents, &mut cookie);
        cookie
    }

    /// What `act` makes of our INIT ACK with this `cookie`.
    fn with_init_ack<T>(
        &self,
        question: &Question<'_>,
        ours: &OurSide,
        locals: &[SocketAddr],
        cookie: Option<&[u8]>,
        act: impl FnOnce(&InitAckBuilder<'_>) -> T,
    ) -> T {
        // A peer that offers nothing is spared what it would not understand.
        let random = self.supplies.randoms.of(ours.tag, ours.initial_tsn);
        let auth = question.auth.as_ref().and_then(|_| Offer::own(&self.config, random));
        let key_management = self.key_management(ours);
        let authenticated = auth.is_some() || key_management.is_some();
        let extensions = Extensions::own(&self.config).with(authenticated).list();
        let mut parameters = own_parameters(&self.config, locals, auth.as_ref(), &extensions);
        if let Some(cookie) = cookie {
            parameters.insert(0, Parameter::StateCookie(cookie));
        }
        parameters.extend(key_management.as_deref().map(KeyManagement::parameter));
        let mut rest = whimbrel_wire::Parameters::from_wire(&question.parameters.unrecognized);
        while let Some(Ok(raw)) = rest.next_raw() {
            parameters.push(Parameter::UnrecognizedParameter(raw.bytes()));
        }
        act(&InitAckBuilder {
            initiate_tag: ours.tag,
            a_rwnd: self.supplies.buffers.memory().offer(self.config.limits.first_receive_window()),
            outbound_streams: self.config.streams.outbound.min(question.init.inbound_streams),
            inbound_streams: self.config.streams.inbound_max,
            initial_tsn: ours.initial_tsn,
            parameters: &parameters,
        })
    }

    /// An ABORT that answers an INIT: the tag is the INIT's, the T bit clear (RFC 9260 §5.1, §8.4 rule 3).
    fn refuse(&mut self, route: Route, back: CommonHeader, causes: &[Cause<'_>]) {
        self.answer(route, single_chunk(back, &AbortBuilder { tag_reflected: false, causes }));
    }
}

/// Fails with the addresses in `remotes` that are not `known`, as parameters.
fn refuse_additions(remotes: &[SocketAddr], known: &[SocketAddr]) -> Result<(), Vec<u8>> {
    let mut added = Vec::new();
    for remote in remotes.iter().filter(|r| !known.iter().any(|k| k.ip() == r.ip())) {
        let parameter = match remote.ip() {
            core::net::IpAddr::V4(v4) => Parameter::Ipv4Address(v4),
            core::net::IpAddr::V6(v6) => Parameter::Ipv6Address(v6),
        };
        parameter.emit(&mut added);
    }
    if added.is_empty() { Ok(()) } else { Err(added) }
}
