//! A host's user: connects, sends its traffic, reads in its own way, closes, and books everything.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_netsim::{App, Context};
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationId, CloseReason, Command, ConnectToken, Event, Message, PeerAddressChange, Received, SendError,
};

use crate::ledger::{End, Ledger};
use crate::notes::noteworthy;
use crate::scenario::{Closing, HostPlan, Reading, Sending};
use crate::talk::Talk;
use crate::traffic::Traffic;

/// SCTP port that both sides may use.
const PORT: u16 = 5001;
/// Cause code of an ERROR that a peer may well report: it was asked to set up an association while closing one.
const COOKIE_WHILE_SHUTTING_DOWN: u16 = 10;

type Now<'a> = Context<'a, Command>;

/// What a wake-up is for; the low bits of the token are the index of an incarnation.
#[derive(Clone, Copy)]
enum Wake {
    Connect,
    Send,
    Read,
    Abort,
    Meddle,
    Watch,
    Close,
}

const WAKES: [Wake; 7] =
    [Wake::Connect, Wake::Send, Wake::Read, Wake::Abort, Wake::Meddle, Wake::Watch, Wake::Close];

/// The app of a host.
pub(crate) struct User {
    plan: HostPlan,
    /// What the other side sends.
    inbound: Arc<Traffic>,
    peer: Vec<SocketAddr>,
    pub(crate) ledger: Ledger,
    connecting: bool,
    next_token: u64,
    /// The associations of this life.
    talks: Vec<Talk>,
}

impl User {
    pub(crate) fn new(plan: HostPlan, inbound: Arc<Traffic>, peer: Vec<SocketAddr>, ledger: Ledger) -> Self {
        Self { plan, inbound, peer, ledger, connecting: false, next_token: 1, talks: Vec::new() }
    }

    /// Associations that are up, for a look at their counters.
    pub(crate) fn associations(&self) -> impl Iterator<Item = AssociationId> {
        self.talks.iter().map(|talk| talk.association)
    }

    /// Associations that have been up since then at least.
    pub(crate) fn associations_since(&self, since: Instant) -> impl Iterator<Item = AssociationId> {
        let old = move |talk: &&Talk| self.ledger.incarnations[talk.incarnation].began <= since;
        self.talks.iter().filter(old).map(|talk| talk.association)
    }

    /// How often an association has moved to another path since then.
    pub(crate) fn moves_since(&self, association: AssociationId, since: Instant) -> usize {
        let talk = self.talks.iter().find(|talk| talk.association == association);
        talk.map_or(0, |talk| talk.moves_since(since))
    }

    /// The peer has moved; the next connection goes there.
    pub(crate) fn set_peer(&mut self, peer: Vec<SocketAddr>) {
        self.peer = peer;
    }

    fn wake(context: &mut Now<'_>, after: Duration, wake: Wake, incarnation: usize) {
        context.wake_at(context.now() + after, (wake as u64) << 32 | incarnation as u64);
    }

    fn connect(&mut self, context: &mut Now<'_>) {
        if self.ledger.done || self.connecting || self.ledger.any_live() {
            return;
        }
        self.connecting = true;
        self.ledger.connects += 1;
        let token = ConnectToken(self.next_token);
        self.next_token += 1;
        context.command(Command::Connect {
            token,
            remote: self.peer.clone(),
            remote_port: PORT,
            local_port: self.plan.user.fixed_port.then_some(PORT),
        });
    }

    fn reconnect(&mut self, context: &mut Now<'_>) {
        if self.plan.user.client && !self.ledger.done {
            Self::wake(context, self.plan.user.reconnect_after, Wake::Connect, 0);
        }
    }

    fn begin(&mut self, context: &mut Now<'_>, association: AssociationId, streams: u16) {
        let incarnation = self.ledger.begin(context.now(), streams);
        self.ledger.incarnations[incarnation].trusted = context.now() >= self.plan.user.trusted_from;
        self.talks.push(Talk::new(incarnation, association, context.now()));
        let user = &self.plan.user;
        if let Some(after) = user.abort_after.filter(|_| incarnation == 0) {
            Self::wake(context, after, Wake::Abort, incarnation);
        }
        if let Some(every) = user.meddle_every {
            Self::wake(context, every, Wake::Meddle, incarnation);
        }
        if let Some(hold) = self.plan.user.hold_until.filter(|hold| *hold > context.now()) {
            Self::wake(context, hold - context.now(), Wake::Close, incarnation);
        }
        if self.plan.user.watches {
            Self::wake(context, user.patience, Wake::Watch, incarnation);
        }
        if let Reading::After(after) = user.reading {
            Self::wake(context, after, Wake::Read, incarnation);
        }
        let at = self.talks.len() - 1;
        self.pump(context, at);
    }

    fn abort(context: &mut Now<'_>, association: AssociationId) {
        context.command(Command::Abort { association, reason: Bytes::from_static(b"enough") });
    }

    fn end(&mut self, context: &mut Now<'_>, at: usize, end: End, undelivered: usize) {
        let talk = self.talks.remove(at);
        if self.plan.user.client && end == End::Closed(CloseReason::Shutdown) {
            self.ledger.done = true;
        }
        self.ledger.end(context.now(), talk.incarnation, end, undelivered);
    }

    fn at(&self, association: AssociationId) -> Option<usize> {
        self.talks.iter().position(|talk| talk.association == association)
    }

    // ---- sending

    /// Hands over what may be handed over now, and closes if everything has been.
    fn pump(&mut self, context: &mut Now<'_>, at: usize) {
        while self.send_next(context, at) {}
        let talk = &mut self.talks[at];
        let incarnation = &self.ledger.incarnations[talk.incarnation];
        let all_sent = talk.next as usize == self.plan.traffic.messages.len() && talk.again.is_empty();
        let acknowledged = incarnation.sent_bytes == incarnation.accepted_bytes;
        let all_received = incarnation.received.len() == self.inbound.messages.len();
        let close = match self.plan.user.closing {
            Closing::Never => false,
            Closing::AfterSending => all_sent,
            Closing::AfterAcknowledgement => all_sent && acknowledged,
            Closing::AfterReceiving => all_sent && acknowledged && all_received,
        };
        let held = self.plan.user.hold_until.is_some_and(|hold| context.now() < hold);
        if close && !held && !talk.asked_to_close {
            talk.asked_to_close = true;
            context.command(Command::Shutdown { association: talk.association });
        }
    }

    fn send_next(&mut self, context: &mut Now<'_>, at: usize) -> bool {
        let talk = &mut self.talks[at];
        if talk.closed || talk.full || talk.resting || talk.asked_to_close {
            return false;
        }
        let traffic = &self.plan.traffic;
        let number = talk.again.front().copied().unwrap_or(talk.next);
        let Some(&planned) = traffic.messages.get(number as usize) else { return false };
        if talk.again.is_empty() && !talk.rested && planned.pause > Duration::ZERO {
            talk.resting = true;
            Self::wake(context, planned.pause, Wake::Send, talk.incarnation);
            return false;
        }
        let incarnation = &mut self.ledger.incarnations[talk.incarnation];
        let queued = incarnation.accepted_bytes - incarnation.sent_bytes;
        if let Sending::Polite(limit) = self.plan.user.sending
            && queued > 0
            && queued + planned.bytes > limit
        {
            return false;
        }
        if talk.again.pop_front().is_none() {
            talk.next += 1;
            talk.rested = false;
        }
        incarnation.accepted.push(number);
        incarnation.accepted_bytes += planned.bytes;
        let message = traffic.message(incarnation.number, number, incarnation.outbound_streams);
        context.command(Command::Send { association: talk.association, message });
        true
    }

    fn on_refused(
        &mut self,
        context: &mut Now<'_>,
        association: AssociationId,
        message: &Message,
        error: SendError,
    ) {
        let number = message.ppid.0 & 0x00ff_ffff;
        let of = (message.ppid.0 >> 24) as u8;
        let Some(incarnation) = self.ledger.incarnations.iter_mut().rfind(|i| i.number == of) else { return };
        let Some(at) = incarnation.accepted.iter().position(|&accepted| accepted == number) else {
            return self.ledger.complain(context.now(), format!("message {number} was refused twice"));
        };
        incarnation.accepted.remove(at);
        // Its end has been booked already if it was refused on account of it.
        incarnation.accepted_bytes -= message.payload.len();
        let polite = matches!(self.plan.user.sending, Sending::Polite(_));
        let talk = self.talks.iter_mut().find(|talk| talk.association == association);
        match (error, talk) {
            (SendError::BufferFull, Some(talk)) if !polite => {
                talk.full = true;
                let after = talk.again.partition_point(|&other| other < number);
                talk.again.insert(after, number);
            }
            (SendError::ShuttingDown | SendError::Closed, Some(talk)) => talk.closed = true,
            (SendError::Closed, None) => {}
            _ => self.ledger.complain(context.now(), format!("message {number} was refused: {error}")),
        }
    }

    // ---- reading

    fn on_message(&mut self, context: &mut Now<'_>, at: usize, received: &Received) {
        let talk = &mut self.talks[at];
        let bytes = received.payload.len();
        let trusted = self.ledger.incarnations[talk.incarnation].trusted;
        if let Some(what) = self.ledger.receive(talk.incarnation, &self.inbound, received)
            && trusted
        {
            self.ledger.complain(context.now(), what);
        }
        talk.held += bytes;
        let began = self.ledger.incarnations[talk.incarnation].began;
        match self.plan.user.reading {
            Reading::After(after) if context.now() < began + after => {}
            Reading::AtOnce | Reading::After(_) => self.read(context, at, usize::MAX),
            Reading::Slowly { every, .. } if !talk.reading => {
                talk.reading = true;
                Self::wake(context, every, Wake::Read, talk.incarnation);
            }
            Reading::Slowly { .. } => {}
        }
        let number = self.ledger.incarnations[self.talks[at].incarnation].received.len();
        if number == self.inbound.messages.len() {
            self.pump(context, at);
        }
    }

    fn read(&mut self, context: &mut Now<'_>, at: usize, most: usize) {
        let talk = &mut self.talks[at];
        let bytes = talk.held.min(most);
        talk.held -= bytes;
        if bytes > 0 {
            context.command(Command::Release { association: talk.association, bytes });
        }
    }

    // ---- ups and downs

    fn on_up(&mut self, context: &mut Now<'_>, association: AssociationId, streams: u16, ours: bool) {
        self.connecting &= !ours;
        if self.at(association).is_some() {
            self.ledger.complain(context.now(), "an association came up twice");
        }
        if self.plan.user.abort_stale {
            for talk in &self.talks {
                Self::abort(context, talk.association);
            }
        }
        self.begin(context, association, streams);
    }

    fn on_closed(&mut self, context: &mut Now<'_>, association: AssociationId, end: End, undelivered: usize) {
        match self.at(association) {
            Some(at) => self.end(context, at, end, undelivered),
            None => self.ledger.complain(context.now(), "an association ended that was not up"),
        }
        self.reconnect(context);
    }

    fn on_association_event(&mut self, context: &mut Now<'_>, event: &Event) {
        let (Event::Message { association, .. }
        | Event::Sent { association, .. }
        | Event::Path { association, .. }
        | Event::PathInUse { association, .. }
        | Event::PathQuality { association, .. }
        | Event::PathEstimates { association, .. }
        | Event::PeerShutdown { association, .. }
        | Event::PeerAddress { association, .. }
        | Event::PeerError { association, .. }) = event
        else {
            return;
        };
        let Some(at) = self.at(*association) else {
            // Paths are spoken of before the association is announced as up.
            if !matches!(event, Event::Path { .. } | Event::PathInUse { .. }) {
                self.ledger.complain(context.now(), format!("no association is up for {event:?}"));
            }
            return;
        };
        let talk = &mut self.talks[at];
        // A policy that asks in vain for what it needs asks again and again.
        if !matches!(event, Event::AddressChanged { outcome: Err(_), .. }) {
            talk.last_event = context.now();
        }
        match event {
            Event::Message { received, .. } => self.on_message(context, at, received),
            Event::Sent { bytes, .. } => {
                talk.full = false;
                self.ledger.incarnations[talk.incarnation].sent_bytes += bytes;
                self.pump(context, at);
            }
            Event::Path { path, .. } => {
                talk.paths.insert(*path);
            }
            Event::PathInUse { .. } => talk.note_move(context.now()),
            Event::PeerShutdown { .. } => talk.closed = true,
            Event::PeerAddress { address, change, .. } => {
                let has =
                    |own: &Vec<IpAddr>| *change == PeerAddressChange::Added && own.contains(&address.ip());
                if self.plan.user.peer_stays.as_ref().is_some_and(|own| !has(own)) {
                    self.ledger.complain(context.now(), format!("the peer does not move: {event:?}"));
                }
            }
            Event::PeerError { causes, .. }
                if !self.plan.user.overheard && causes.iter().any(|&c| c != COOKIE_WHILE_SHUTTING_DOWN) =>
            {
                self.ledger.complain(context.now(), format!("the peer reported errors {causes:?}"));
            }
            _ => {}
        }
    }

    fn meddle(&mut self, context: &mut Now<'_>, at: usize) {
        let talk = &self.talks[at];
        let association = talk.association;
        if talk.paths.is_empty() {
            return;
        }
        let nth = context.rng().below(talk.paths.len() as u64) as usize;
        let Some(&path) = talk.paths.iter().nth(nth) else { return };
        let command = if context.rng().chance(0.5) {
            Command::SetPrimary { association, path }
        } else {
            Command::RequestHeartbeat { association, path }
        };
        context.command(command);
    }
}

impl App<Node> for User {
    fn on_start(&mut self, context: &mut Now<'_>) {
        if !self.plan.user.client || self.plan.user.fixed_port {
            context.command(Command::Listen { port: PORT });
        }
        match self.plan.user.connect_after {
            Some(after) if self.plan.user.client || self.ledger.incarnations.is_empty() => {
                Self::wake(context, after, Wake::Connect, 0);
            }
            _ => {}
        }
    }

    fn on_event(&mut self, event: Event, context: &mut Now<'_>) {
        if let Some((name, value)) = noteworthy(&event) {
            context.note(name, value);
        }
        match event {
            Event::Up { association, outbound_streams, token, .. } => {
                self.on_up(context, association, outbound_streams, token.is_some());
            }
            Event::ConnectFailed { reason, .. } => {
                self.connecting = false;
                self.ledger.connects_failed += 1;
                let strange = matches!(reason, CloseReason::ProtocolViolation(_) | CloseReason::NoSctp);
                if strange && !self.plan.user.overheard {
                    self.ledger.complain(context.now(), format!("connecting failed: {reason}"));
                }
                self.reconnect(context);
            }
            Event::SendRefused { association, message, error } => {
                self.on_refused(context, association, &message, error);
            }
            Event::Restarted { association, outbound_streams, undelivered } => {
                match self.at(association) {
                    Some(at) => self.end(context, at, End::Restarted, undelivered),
                    None => self.ledger.complain(context.now(), "an association restarted that was not up"),
                }
                self.begin(context, association, outbound_streams);
            }
            Event::Closed { association, reason, undelivered } => {
                self.on_closed(context, association, End::Closed(reason), undelivered);
            }
            event => self.on_association_event(context, &event),
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Now<'_>) {
        let incarnation = (token & 0xffff_ffff) as usize;
        let wake = WAKES[(token >> 32) as usize];
        if matches!(wake, Wake::Connect) {
            return self.connect(context);
        }
        let Some(at) = self.talks.iter().position(|talk| talk.incarnation == incarnation) else { return };
        match wake {
            Wake::Connect => {}
            Wake::Send => {
                (self.talks[at].resting, self.talks[at].rested) = (false, true);
                self.pump(context, at);
            }
            Wake::Read => {
                let Reading::Slowly { bytes, every } = self.plan.user.reading else {
                    return self.read(context, at, usize::MAX);
                };
                self.read(context, at, bytes);
                self.talks[at].reading = self.talks[at].held > 0;
                if self.talks[at].reading {
                    Self::wake(context, every, Wake::Read, incarnation);
                }
            }
            Wake::Close => self.pump(context, at),
            Wake::Abort => Self::abort(context, self.talks[at].association),
            Wake::Meddle => {
                self.meddle(context, at);
                let every = self.plan.user.meddle_every.unwrap_or(self.plan.user.patience);
                Self::wake(context, every, Wake::Meddle, incarnation);
            }
            Wake::Watch => {
                let patience = self.plan.user.patience;
                if context.now().saturating_since(self.talks[at].last_event) >= patience {
                    return Self::abort(context, self.talks[at].association);
                }
                Self::wake(context, patience, Wake::Watch, incarnation);
            }
        }
    }
}
