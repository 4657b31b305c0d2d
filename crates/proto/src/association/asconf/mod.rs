//! Addresses that come and go while the association lives (RFC 5061).
//!
//! Ours: a wish waits in `Outgoing`, `request` makes ASCONF chunks of what waits (`translated` behind a NAT), `transmit` sends
//! them, `answer` reads the ASCONF-ACK. The peer's: `incoming` keeps the serial numbers and the answers, `carry_out` does what is asked.

mod answer;
mod carry_out;
mod incoming;
mod repeat;
mod request;
mod restate;
mod translated;
mod transmit;

use core::net::IpAddr;
use std::collections::VecDeque;

use whimbrel_wire::{Tsn, chunk_type};

use self::incoming::Incoming;
pub(crate) use self::incoming::PacketAnswers;
use self::request::Request;
use self::restate::Restated;
use super::{Association, Closing, Context, Open, Phase};
use crate::auth::session::Auth;
use crate::config::{Config, DarMode, PeerRequests};
use crate::interface::{AddressChange, AddressChangeError, Event, Mobility, StaticReason};
use crate::negotiate::Extensions;
use crate::timers::TimerId;
use whimbrel_machine::Instant;

/// Address changes of one association, in both directions.
#[derive(Debug)]
pub(crate) struct Asconf {
    pub(crate) mobility: Mobility,
    outgoing: Outgoing,
    incoming: Incoming,
    /// The address the peer wants to be sent to, as soon as a path there is confirmed and works.
    pub(crate) wanted_primary: Option<IpAddr>,
}

/// Changes to our own addresses: one chunk under way, the rest waits in the order given.
#[derive(Debug)]
struct Outgoing {
    /// Sequence number of the next chunk (RFC 5061 §5.1 A2).
    next_serial: u32,
    next_correlation: u32,
    waiting: VecDeque<AddressChange>,
    outstanding: Option<Request>,
    /// Addresses whose addition has made way for others that waited, and is tried as long as any from then on.
    postponed: VecDeque<IpAddr>,
    /// The address that was added once more because nothing came back to it.
    restated: Option<Restated>,
    /// The peer has answered an ASCONF, authenticated.
    was_answered: bool,
    /// Parameter types that the peer does not understand (RFC 5061 §5.3 F3a, F3b).
    not_understood: Vec<u16>,
}

/// What the handshake makes possible.
pub(crate) fn mobility(config: &Config, auth: &Auth, peer: Extensions) -> Mobility {
    if config.dar.mode == DarMode::Off {
        Mobility::Static(StaticReason::SwitchedOff)
    } else if auth.session.is_none() && auth.protection.is_none() {
        Mobility::Static(StaticReason::PeerLacksAuth)
    } else if !peer.include(&[chunk_type::ASCONF, chunk_type::ASCONF_ACK]) {
        Mobility::Static(StaticReason::PeerLacksAsconf)
    } else {
        Mobility::Dynamic
    }
}

impl Asconf {
    /// Serial numbers begin with the initial TSNs (RFC 5061 §5.1 A2).
    pub(crate) fn new(mobility: Mobility, initial_tsn: Tsn, peer_initial_tsn: Tsn) -> Self {
        Self {
            mobility,
            outgoing: Outgoing {
                next_serial: initial_tsn.0,
                next_correlation: 0,
                waiting: VecDeque::new(),
                outstanding: None,
                postponed: VecDeque::new(),
                restated: None,
                was_answered: false,
                not_understood: Vec::new(),
            },
            incoming: Incoming::new(peer_initial_tsn.0.wrapping_sub(1)),
            wanted_primary: None,
        }
    }
}

/// Whether the peer's wish in its INIT or INIT ACK for a primary address is heard (RFC 5061 §4.2.4). These chunks are not
/// authenticated; but the address must be one that they list, and data goes there only once it has answered.
pub(crate) fn peer_may_choose(config: &Config) -> bool {
    config.dar.mode != DarMode::Off && config.dar.peer_requests != PeerRequests::Refuse
}

impl Association {
    /// The user wants the peer to be told of these changes.
    pub(crate) fn change_addresses(&mut self, now: Instant, changes: Vec<AddressChange>) {
        let (mut context, phase) = self.split(now);
        match phase {
            Phase::Open(open) => open.change_addresses(&mut context, changes),
            _ => refuse(&mut context, changes, AddressChangeError::Closed),
        }
    }

    /// What the handshake makes possible has changed: what can no longer be done is given up.
    pub(crate) fn announce_mobility(&mut self, now: Instant) {
        self.in_open(now, |open, context| {
            let mobility = open.asconf.mobility;
            if let Mobility::Static(reason) = mobility {
                open.abandon_changes(context, AddressChangeError::Static(reason));
            }
            context.events.push_back(Event::MobilityChanged { association: context.identity.id, mobility });
        });
    }
}

fn refuse(
    context: &mut Context<'_>,
    changes: impl IntoIterator<Item = AddressChange>,
    error: AddressChangeError,
) {
    for change in changes {
        answer_user(context, change, Err(error));
    }
}

fn answer_user(context: &mut Context<'_>, change: AddressChange, outcome: Result<(), AddressChangeError>) {
    let association = context.identity.id;
    context.events.push_back(Event::AddressChanged { association, change, outcome });
}

impl Open {
    pub(crate) fn is_dynamic(&self) -> bool {
        self.asconf.mobility == Mobility::Dynamic
    }

    pub(crate) fn change_addresses(&mut self, context: &mut Context<'_>, changes: Vec<AddressChange>) {
        if let Mobility::Static(reason) = self.asconf.mobility {
            return refuse(context, changes, AddressChangeError::Static(reason));
        }
        if matches!(self.closing, Closing::AckSent(_)) {
            return refuse(context, changes, AddressChangeError::ShuttingDown);
        }
        for change in changes {
            if !self.has_room(context.config) {
                self.give_up_what_is_past(context);
            }
            if !self.has_room(context.config) {
                answer_user(context, change, Err(AddressChangeError::QueueFull));
                continue;
            }
            let turn = self.turn_of(change);
            self.asconf.outgoing.waiting.insert(turn, change);
            if matches!(change, AddressChange::Add(_)) {
                self.retry_from_newcomer(context);
            }
        }
        self.sender.opportunity();
    }

    /// Where a change comes among those that wait. An address that the peer has, too, is perhaps one of a bridge that leads to nobody: an addition that leaves
    /// from there may take seconds, and what adds another network does not wait for it.
    fn turn_of(&self, change: AddressChange) -> usize {
        let of_both = |change: &AddressChange| matches!(change, AddressChange::Add(address) if self.knows(address.ip()));
        let waiting = &self.asconf.outgoing.waiting;
        let overtakes = matches!(change, AddressChange::Add(_)) && !of_both(&change);
        let passed = waiting.iter().rev().take_while(|waits| overtakes && of_both(waits)).count();
        waiting.len() - passed
    }

    fn has_room(&self, config: &Config) -> bool {
        let outgoing = &self.asconf.outgoing;
        let under_way = outgoing.outstanding.as_ref().map_or(0, Request::len);
        outgoing.waiting.len() + under_way < config.dar.queue
    }

    /// Of what waits, additions of addresses that are gone again, and wishes for those. In a long outage with one network after the other
    /// nothing else would wait in the end, and no room be left for the network that works: what waits to be added is where a request
    /// may leave from when everything else has gone.
    fn give_up_what_is_past(&mut self, context: &mut Context<'_>) {
        let locals = &self.locals;
        let here = |ip: IpAddr| ip.is_unspecified() || locals.up(ip).is_some();
        self.asconf.outgoing.waiting.retain(|&change| {
            let good = match change {
                AddressChange::Add(address) => here(address.ip()),
                AddressChange::SetPrimary(address) => here(address),
                AddressChange::Delete(_) => true,
            };
            if !good {
                answer_user(context, change, Err(AddressChangeError::AddressLost));
            }
            good
        });
    }

    /// Gives up every change that waits or is under way.
    pub(crate) fn abandon_changes(&mut self, context: &mut Context<'_>, error: AddressChangeError) {
        context.timers.clear(TimerId::T4Asconf);
        if let Some(request) = self.asconf.outgoing.outstanding.take() {
            refuse(context, request.changes(), error);
            self.undo(context, &request);
        }
        let waiting = core::mem::take(&mut self.asconf.outgoing.waiting);
        refuse(context, waiting, error);
    }

    /// The peer has answered ASCONF with an ERROR that says it does not know this chunk (RFC 5061 §5.1 A9). ERROR need not be
    /// authenticated: of a peer that has answered an ASCONF it is not believed.
    pub(crate) fn handle_asconf_not_understood(&mut self, context: &mut Context<'_>) {
        if self.asconf.outgoing.outstanding.is_none() || self.asconf.outgoing.was_answered {
            return;
        }
        let reason = StaticReason::PeerLacksAsconf;
        self.asconf.mobility = Mobility::Static(reason);
        self.abandon_changes(context, AddressChangeError::Static(reason));
        let (association, mobility) = (context.identity.id, self.asconf.mobility);
        context.events.push_back(Event::MobilityChanged { association, mobility });
    }
}
