//! An endpoint: its associations, stateless answers, and finding the association a packet belongs to.

mod authentication;
mod connect;
mod cookie_echo;
mod deadlines;
mod departed;
mod directory;
mod hand_over;
mod icmp;
mod init;
mod links;
mod memory;
mod newcomers;
mod out_of_the_blue;
mod own_addresses;
mod peers;
mod shard;
mod spent;
mod stats;
mod table;
mod tags;
mod turns;
mod user_data;
mod views;

use core::net::SocketAddr;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use whimbrel_machine::{Instant, Rng, Route, Seed, Transmit, Unreachable};
use whimbrel_wire::{Chunk, Packet, RawChunk, chunk_type};

use self::cookie_echo::{Rest, cookie_echo};
use self::departed::Departed;
pub use self::hand_over::HandOver;
pub(crate) use self::init::MAX_PRESERVATIVE;
use self::own_addresses::OwnAddresses;
pub(crate) use self::own_addresses::Serial;
pub use self::shard::Shard;
pub use self::stats::EndpointStats;
use self::table::{Lookup, Table};
use self::turns::Turns;
use crate::arrival::{Arrival, Origin};
use crate::association::{Association, Phase, single_packet};
use crate::auth::SharedKeys;
use crate::auth::offer::Randoms;
use crate::config::{ChecksumPolicy, Config, RawPorts};
use crate::cookie::CookieKeys;
use crate::interface::{AssociationId, Command, Event};
use crate::receive::Buffers;

/// Stateless answers waiting to be sent, at most; further ones are dropped, as if lost on the way.
const MAX_ANSWERS: usize = 256;

/// An SCTP endpoint: one set of local addresses, any number of SCTP ports and associations.
///
/// Use it through four families of methods: inputs (`handle_*`), [`Self::handle_command`], outputs
/// ([`Self::poll_transmit`] until `None`, then [`Self::poll_event`] until `None`, then [`Self::next_deadline`]), and
/// views. `whimbrel-node` wraps it into the one `step` of a machine; use that unless you write a driver loop of your
/// own.
#[derive(Debug)]
pub struct Endpoint {
    config: Arc<Config>,
    supplies: Supplies,
    rng: Rng,
    locals: OwnAddresses,
    cookies: CookieKeys,
    departed: Departed,
    listening: BTreeSet<u16>,
    table: Table,
    /// Answers that belong to no association: INIT ACK, ABORT, SHUTDOWN COMPLETE, stale cookie errors.
    answers: VecDeque<(Route, Vec<u8>)>,
    events: VecDeque<Event>,
    handed_over: VecDeque<HandOver>,
    totals: EndpointStats,
}

/// What associations to come begin with.
#[derive(Debug)]
struct Supplies {
    seed: Seed,
    randoms: Randoms,
    keys: Arc<SharedKeys>,
    buffers: Buffers,
    /// When memory may be looked for again.
    relief: Instant,
    turns: Turns,
}

impl Endpoint {
    /// An endpoint with these local addresses. The port of each is its UDP encapsulation port, 0 for raw IP.
    ///
    /// `seed` decides every random choice: tags, initial TSNs, nonces, cookie keys, jitter. In real use it must come
    /// from the operating system's randomness.
    pub fn new(config: Arc<Config>, seed: Seed, locals: Vec<SocketAddr>) -> Self {
        Self::shard(config, seed, locals, Shard::alone())
    }

    /// As [`Self::new`], one shard of several. What it is told that another one has to handle comes out of [`Self::poll_hand_over`].
    /// Limits of the configuration are the endpoint's; each shard has its part of them.
    pub fn shard(config: Arc<Config>, seed: Seed, locals: Vec<SocketAddr>, shard: Shard) -> Self {
        Self {
            cookies: CookieKeys::new(seed.child("cookies", 0), config.cookie.key_period),
            departed: Departed::default(),
            rng: seed.stream("endpoint", u64::from(shard.number())),
            supplies: Supplies {
                randoms: Randoms::new(seed.child("auth", 0)),
                keys: Arc::new(config.auth.keys.clone()),
                buffers: Buffers::new(memory::of(&config.limits, &shard)),
                relief: Instant::ZERO,
                turns: Turns::default(),
                seed,
            },
            locals: OwnAddresses::new(locals),
            listening: BTreeSet::new(),
            table: Table::new(shard),
            answers: VecDeque::new(),
            events: VecDeque::new(),
            handed_over: VecDeque::new(),
            totals: EndpointStats::default(),
            config,
        }
    }

    // ---- inputs

    /// A train of datagrams, see [`whimbrel_machine::Input::Datagrams`].
    pub fn handle_datagrams(&mut self, now: Instant, route: Route, bytes: &[u8], segment: usize) {
        for datagram in bytes.chunks(segment.max(1)) {
            self.totals.packets_received += 1;
            if !self.handle_packet(now, route, datagram, Origin::Network) {
                self.totals.packets_dropped += 1;
            }
        }
        self.relieve_memory(now);
        self.pass_the_turn(now);
    }

    /// ICMP said that something we sent on `route` did not arrive (RFC 9260 §10). `quoted` is the beginning of it.
    pub fn handle_unreachable(&mut self, now: Instant, route: Route, reason: Unreachable, quoted: &[u8]) {
        self.handle_icmp(now, route, reason, quoted, Origin::Network);
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        // Once each: none has a deadline that has passed when it is done, unless it has too many.
        for _ in 0..self.table.len() {
            let Some(index) = self.table.pop_expired(now) else { return };
            if let Some(association) = self.table.touch(index) {
                association.handle_timeout(now);
                self.follow(index);
            }
        }
    }

    // ---- commands

    /// Carries out a wish of the user.
    pub fn handle_command(&mut self, now: Instant, command: Command) {
        match command {
            Command::Listen { port } => {
                self.listening.insert(port);
            }
            Command::StopListening { port } => {
                self.listening.remove(&port);
            }
            Command::Connect { token, remote, remote_port, local_port } => {
                self.connect(now, token, remote, remote_port, local_port);
            }
            Command::CancelConnect { token } => self.cancel_connect(now, token),
            Command::Send { association, message } => self.send(association, message),
            Command::Release { association, bytes } => self.release(now, association, bytes),
            Command::Shutdown { association } => self.with(association, |a| a.shutdown(now)),
            Command::Abort { association, reason } => self.with(association, |a| a.abort(now, reason)),
            Command::SetPrimary { association, path } => self.with(association, |a| a.set_primary(now, path)),
            Command::RequestHeartbeat { association, path } => {
                self.with(association, |a| a.request_heartbeat(now, path));
            }
            Command::ChangeAddresses { association, changes } => {
                self.change_addresses(now, association, changes);
            }
            Command::AgreeAddresses { association, changes } => {
                self.with(association, |a| a.agree_addresses(now, &changes));
            }
            Command::ShapePath { association, path, shape } => {
                self.with(association, |a| a.shape_path(path, shape));
            }
            Command::RetransmitLost { association, path } => {
                self.with(association, |a| a.retransmit_lost(now, path));
            }
            Command::ChangeAuthKey { scope, change } => self.change_key(scope, &change),
        }
    }

    // ---- outputs

    /// The next train of packets for one route, written to the end of `out`; `None` when there is nothing to send.
    pub fn poll_transmit(
        &mut self,
        now: Instant,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        if let Some((route, packet)) = self.answers.pop_front() {
            out.extend_from_slice(&packet);
            return Some(single_packet(&self.config, route, packet.len()));
        }
        while let Some(index) = self.table.first_touched() {
            if let Some(association) = self.table.get_mut(index) {
                // What an input asked for at once, such as the first heartbeat of a path, is part of its answer.
                association.handle_timeout(now);
                let changed = association.take_addresses_changed();
                let transmit = association.poll_transmit(now, max_segments, out);
                if changed {
                    self.table.follow(index);
                }
                if transmit.is_some() {
                    if self.table.get(index).is_some_and(|association| association.has_said_all(now)) {
                        self.settle(now, index);
                    }
                    return transmit;
                }
            }
            self.settle(now, index);
        }
        None
    }

    /// Takes the events of an association that has nothing more to send.
    fn settle(&mut self, now: Instant, index: usize) {
        if let Some(association) = self.table.get_mut(index) {
            while let Some(event) = association.poll_event() {
                self.events.push_back(event);
            }
        }
        if let Some((tag, ports)) = self.table.settle(index)
            && self.is_raw()
        {
            self.departed.note(now, tag, ports, self.config.rto.max * 5);
        }
    }

    /// The next event. Call after [`Self::poll_transmit`] has returned `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Self::handle_timeout`] must be called next.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        self.table.next_deadline()
    }

    // ---- packets

    /// Handles one packet; false if it was dropped.
    fn handle_packet(&mut self, now: Instant, route: Route, bytes: &[u8], origin: Origin) -> bool {
        let Ok(packet) = Packet::parse(bytes) else {
            self.totals.malformed += 1;
            return false;
        };
        let header = packet.header();
        // RFC 9260 §3.1: port 0 must not be used.
        if header.source_port == 0 || header.destination_port == 0 || !is_unicast(route) {
            return false;
        }
        if let Some(owner) = self.misrouted(header.verification_tag, origin) {
            return self.hand_over_by_tag(owner, route, bytes);
        }
        let lookup = Lookup { local: header.destination_port, remote: header.source_port };
        let by_tag = self.table.by_tag(header.verification_tag, lookup);
        let Some(Ok(first)) = packet.chunks().next_raw() else {
            return false;
        };
        if !self.checksum_is_acceptable(&packet, &first) {
            self.totals.wrong_checksum += 1;
            return false;
        }
        if !self.is_ours(now, route, header.verification_tag, lookup) {
            return false;
        }
        let arrival = &Arrival { now, route, packet: &packet, origin };
        match first.chunk_type() {
            chunk_type::INIT => self.handle_init(arrival, &first),
            _ if let Some(echo) = cookie_echo(&packet, &first) => self.handle_cookie_echo(arrival, echo),
            _ => match by_tag {
                Some(index) if self.table.is_of_another(index, route.remote, lookup) => false,
                Some(index) => self.deliver(index, arrival),
                None => self.handle_out_of_the_blue(arrival, lookup),
            },
        }
    }

    /// RFC 9260 §6.8; RFC 9653 §5.3: a zero checksum is good only where we have declared so to this peer.
    fn checksum_is_acceptable(&self, packet: &Packet<'_>, first: &RawChunk<'_>) -> bool {
        let declared = matches!(self.config.checksum, ChecksumPolicy::ZeroAcceptable { .. });
        let setup = || first.chunk_type() == chunk_type::INIT || cookie_echo(packet, first).is_some();
        // What belongs to no association may be processed, too (RFC 9653 §5.3, last paragraph): the peer that still believes in
        // one learns sooner that it is gone.
        (declared && packet.checksum() == 0 && !setup()) || packet.checksum_is_valid()
    }

    fn deliver(&mut self, index: usize, arrival: &Arrival<'_>) -> bool {
        let Some(association) = self.table.touch(index) else { return false };
        let was_open = association.open().is_some();
        association.handle_packet(arrival, self.locals.all());
        let stranger = association.take_stranger();
        if !was_open && association.open().is_some() {
            let tag = association.peer_tag().unwrap_or_default();
            let ports =
                Lookup { local: association.identity.local_port, remote: association.identity.remote_port };
            let end = arrival.now + self.config.cookie.lifetime + MAX_PRESERVATIVE;
            self.table.shard.directory.spend(arrival.now, tag, ports, end);
        }
        self.follow(index);
        if let Some(stranger) = stranger {
            self.tell_stranger(arrival, stranger);
        }
        true
    }

    /// The rest of a packet whose beginning belonged to the endpoint.
    fn deliver_rest(&mut self, index: usize, arrival: &Arrival<'_>, rest: Rest<'_>) -> bool {
        let Some(association) = self.table.touch(index) else { return false };
        association.handle_rest(arrival, rest);
        self.follow(index);
        true
    }

    /// Brings the table up to date after a packet.
    fn follow(&mut self, index: usize) {
        let Some(association) = self.table.get_mut(index) else { return };
        if association.take_wish_for_new_tag() {
            self.renew_tag(index);
        } else if association.take_addresses_changed() {
            self.table.follow(index);
        }
    }

    /// Whether other SCTP stacks may share an address with this endpoint.
    fn is_raw(&self) -> bool {
        self.locals.all().iter().any(|local| local.port() == 0)
    }

    /// Whether a packet is for this endpoint. On raw IP other SCTP stacks may share the address, and what is for their ports is
    /// not ours to answer.
    fn is_ours(&mut self, now: Instant, route: Route, tag: u32, ports: Lookup) -> bool {
        route.local.port() != 0
            || self.config.raw_ports == RawPorts::All
            || self.listening.contains(&ports.local)
            || self.table.uses_port(ports.local)
            || self.departed.knows(now, tag, ports)
    }

    fn answer(&mut self, route: Route, packet: Vec<u8>) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push_back((route, packet));
        }
    }

    // ---- associations

    fn with(&mut self, id: AssociationId, command: impl FnOnce(&mut Association)) {
        if let Some(association) = self.table.touch_by_id(id) {
            command(association);
        }
    }
}

/// Neither end of the route may be a group or everyone (RFC 9260 §8.4 rule 1).
fn is_unicast(route: Route) -> bool {
    let unicast = |ip: core::net::IpAddr| match ip {
        core::net::IpAddr::V4(v4) => !v4.is_multicast() && !v4.is_broadcast(),
        core::net::IpAddr::V6(v6) => !v6.is_multicast(),
    };
    unicast(route.local.ip()) && unicast(route.remote.ip()) && !route.remote.ip().is_unspecified()
}

/// The chunk if it can be read.
fn decoded<'a>(raw: &RawChunk<'a>) -> Option<Chunk<'a>> {
    raw.decode().ok()
}

/// Whether an INIT that meets this association belongs to a handshake under way.
const fn is_handshake(phase: &Phase) -> bool {
    matches!(phase, Phase::CookieWait(_) | Phase::CookieEchoed(_))
}
