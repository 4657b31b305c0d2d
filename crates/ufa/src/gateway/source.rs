//! A terminal leaves: the source queries candidates (messages 1 and 2), hands the session to one (3 and 4), and tells both ends (5 to 7, 5A to 7A).

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::Instant;

use super::Gateway;
use super::config::Order;
use super::session::{Offer, State};
use crate::interface::{Event, Failure};
use crate::sip::{
    ALLOCATED_THROUGHPUT, APPLI_CONFIG, APPLICATION, AppliConfig, BDP, CONTEXT_TRANSFER, ClientId, Contact,
    Context, Dialog, Message, RESOURCE_QUERY, TERMINAL_CONFIG, TerminalSettings, number,
};

/// A terminal on its way out.
#[derive(Debug)]
pub(super) struct Departure {
    pub(super) until: Option<Instant>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Candidates have been asked.
    Querying { asked: Vec<(ClientId, SocketAddr)>, offers: Vec<Offer> },
    /// One of them has been given the session's context; the others are left to ask, the best first.
    Transferring { asked: ClientId, to: SocketAddr, others: Vec<Offer> },
    /// Both ends are told.
    Telling { granted: Granted, correspondent: Told, terminal: Told },
    /// The terminal stays after all, and the correspondent is told that.
    TakingBack { asked: ClientId, failure: Failure },
}

/// What the target has answered.
#[derive(Clone, Debug)]
struct Granted {
    target: SocketAddr,
    appli: AppliConfig,
    settings: TerminalSettings,
    bdp: u64,
}

/// How far one end is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    NotYet,
    Asked(ClientId),
    Agreed,
}

impl Departure {
    /// Whether this is the answer to one of its requests.
    pub(super) fn awaits(&self, transaction: ClientId) -> bool {
        match &self.phase {
            Phase::Querying { asked, .. } => asked.iter().any(|(asked, _)| *asked == transaction),
            Phase::Transferring { asked, .. } | Phase::TakingBack { asked, .. } => *asked == transaction,
            Phase::Telling { correspondent, terminal, .. } => {
                [correspondent, terminal].contains(&&Told::Asked(transaction))
            }
        }
    }
}

impl Gateway {
    /// The network wants a terminal that is here to go to one of these gateways.
    pub(super) fn hand_over(&mut self, now: Instant, terminal: IpAddr, candidates: Vec<SocketAddr>) {
        let stable =
            |session: &super::Session| session.is_at(terminal) && matches!(session.state, State::Stable);
        let Some(at) = self.sessions.iter().position(stable).filter(|_| !self.stopping) else {
            return self.agent.tell(Event::Stays { terminal, failure: Failure::NoSession });
        };
        let application = self.sessions[at].application;
        let family = |candidate: &SocketAddr| candidate.is_ipv4() == self.config.address.is_ipv4();
        let (candidates, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(family);
        if candidates.is_empty() && !others.is_empty() {
            return self.agent.tell(Event::Stays { terminal, failure: Failure::OtherFamily });
        }
        let mut asked = Vec::new();
        for candidate in candidates {
            // Message 1. Between gateways each request is a dialog of its own.
            let (call_id, tag) = (self.agent.token(), self.agent.token());
            let mut dialog =
                Dialog::opening(&call_id, &tag, ["source", "target"], self.gateway_at(candidate));
            let query = |request: Message| request.with(APPLICATION, application);
            asked.extend(
                self.agent.request(now, &mut dialog, RESOURCE_QUERY, query).map(|asked| (asked, candidate)),
            );
        }
        if asked.is_empty() {
            return self.agent.tell(Event::Stays { terminal, failure: Failure::NoTarget });
        }
        let until = Some(now + self.config.patience.query);
        let phase = Phase::Querying { asked, offers: Vec::new() };
        self.sessions[at].state = State::Leaving(Box::new(Departure { until, phase }));
    }

    /// Gateways speak to each other in the same way.
    const fn gateway_at(&self, address: SocketAddr) -> Contact {
        Contact { address, transport: self.config.sip.transport }
    }

    /// One of the requests has been answered, or has not.
    pub(super) fn departure_answered(
        &mut self,
        now: Instant,
        at: usize,
        transaction: ClientId,
        response: Option<&Message>,
    ) {
        let State::Leaving(departure) = &mut self.sessions[at].state else { return };
        let accepted = response.filter(|response| response.status() < 300);
        let failure = response.map_or(Failure::NoAnswer, |response| Failure::Status(response.status()));
        match &mut departure.phase {
            Phase::Querying { asked, offers } => {
                let candidate = asked.iter().position(|(asked, _)| *asked == transaction);
                let gateway = candidate.map(|candidate| asked.remove(candidate).1);
                let throughput = accepted.and_then(|response| number(response, ALLOCATED_THROUGHPUT).ok());
                let offer = gateway.zip(throughput.filter(|throughput| *throughput > 0));
                offers.extend(offer.map(|(gateway, throughput)| Offer { gateway, throughput }));
                if asked.is_empty() {
                    self.departure_due(now, at);
                }
            }
            Phase::Transferring { to, others, .. } => {
                let (to, others) = (*to, core::mem::take(others));
                match accepted.map(|response| granted(to, response)) {
                    Some(Some(granted)) => self.tell_ends(now, at, granted),
                    _ => self.transfer(now, at, others),
                }
            }
            Phase::Telling { .. } => self.end_answered(now, at, transaction, accepted, failure),
            Phase::TakingBack { failure, .. } => {
                let failure = *failure;
                let session = &mut self.sessions[at];
                if let Some(accepted) = accepted {
                    self.agent.acknowledge(transaction, &session.to_correspondent, accepted);
                    self.stay(now, at, failure);
                } else {
                    self.lose_track(at, failure);
                }
            }
        }
    }

    /// Nobody is waited for any longer.
    pub(super) fn departure_due(&mut self, now: Instant, at: usize) {
        let State::Leaving(departure) = &mut self.sessions[at].state else { return };
        departure.until = None;
        match &mut departure.phase {
            Phase::Querying { offers, .. } => {
                let mut offers = core::mem::take(offers);
                // The most throughput first; among equals the one that has answered first.
                offers.sort_by_key(|offer| core::cmp::Reverse(offer.throughput));
                self.transfer(now, at, offers);
            }
            Phase::Transferring { others, .. } => {
                let others = core::mem::take(others);
                self.transfer(now, at, others);
            }
            // SIP's own timers end these.
            Phase::Telling { .. } | Phase::TakingBack { .. } => {}
        }
    }

    /// Message 3, to the first of these.
    fn transfer(&mut self, now: Instant, at: usize, mut offers: Vec<Offer>) {
        while !offers.is_empty() {
            let Offer { gateway, throughput } = offers.remove(0);
            let session = &self.sessions[at];
            let context = Context {
                application: session.application,
                throughput,
                old_address: session.terminal,
                // Both ends get one more request from here.
                terminal: session.to_terminal.after(1),
                correspondent: session.to_correspondent.after(1),
            };
            let (call_id, tag) = (self.agent.token(), self.agent.token());
            let mut dialog = Dialog::opening(&call_id, &tag, ["source", "target"], self.gateway_at(gateway));
            let fill = |request: Message| request.with_body(context.written(self.config.sip.transport));
            if let Some(asked) = self.agent.request(now, &mut dialog, CONTEXT_TRANSFER, fill) {
                let until = Some(now + self.config.patience.transfer);
                let phase = Phase::Transferring { asked, to: gateway, others: offers };
                self.sessions[at].state = State::Leaving(Box::new(Departure { until, phase }));
                return;
            }
        }
        self.stay(now, at, Failure::NoTarget);
    }

    /// Messages 5 and 5A, one after the other or both.
    fn tell_ends(&mut self, now: Instant, at: usize, granted: Granted) {
        let correspondent = self.tell_correspondent(now, at, granted.appli, Some(granted.bdp));
        let terminal = match self.config.order {
            Order::OneAfterTheOther => Told::NotYet,
            Order::AtOnce => self.tell_terminal(now, at, &granted),
        };
        if correspondent == Told::NotYet {
            return self.stay(now, at, Failure::NoAnswer);
        }
        let phase = Phase::Telling { granted, correspondent, terminal };
        self.sessions[at].state = State::Leaving(Box::new(Departure { until: None, phase }));
    }

    /// Message 5.
    fn tell_correspondent(&mut self, now: Instant, at: usize, appli: AppliConfig, bdp: Option<u64>) -> Told {
        let dialog = &mut self.sessions[at].to_correspondent;
        let asked = self.agent.request(now, dialog, "INVITE", |request| {
            let request = request.with(APPLI_CONFIG, appli);
            match bdp {
                Some(bdp) => request.with(BDP, bdp),
                None => request,
            }
        });
        asked.map_or(Told::NotYet, Told::Asked)
    }

    /// Message 5A.
    fn tell_terminal(&mut self, now: Instant, at: usize, granted: &Granted) -> Told {
        let dialog = &mut self.sessions[at].to_terminal;
        let asked = self.agent.request(now, dialog, "INVITE", |request| {
            request.with(APPLI_CONFIG, granted.appli).with(TERMINAL_CONFIG, &granted.settings)
        });
        asked.map_or(Told::NotYet, Told::Asked)
    }

    /// Message 6 or 6A has come, or the end does not agree.
    fn end_answered(
        &mut self,
        now: Instant,
        at: usize,
        transaction: ClientId,
        accepted: Option<&Message>,
        failure: Failure,
    ) {
        let session = &mut self.sessions[at];
        let State::Leaving(departure) = &mut session.state else { return };
        let Phase::Telling { granted, correspondent, terminal } = &mut departure.phase else { return };
        let is_correspondent = *correspondent == Told::Asked(transaction);
        let Some(accepted) = accepted else {
            return if is_correspondent {
                self.correspondent_fails(now, at, failure)
            } else {
                self.terminal_fails(now, at, failure)
            };
        };
        if is_correspondent {
            *correspondent = Told::Agreed;
            self.agent.acknowledge(transaction, &session.to_correspondent, accepted);
        } else {
            *terminal = Told::Agreed;
            self.agent.acknowledge(transaction, &session.to_terminal, accepted);
        }
        match (*correspondent, *terminal) {
            (Told::Agreed, Told::Agreed) => {
                let (address, target) = (session.terminal, granted.target);
                self.sessions.remove(at);
                self.free(address);
                self.agent.tell(Event::HandedOver { terminal: address, target });
            }
            (Told::Agreed, Told::NotYet) => {
                let granted = granted.clone();
                let told = self.tell_terminal(now, at, &granted);
                let State::Leaving(departure) = &mut self.sessions[at].state else { return };
                if let Phase::Telling { terminal, .. } = &mut departure.phase {
                    *terminal = told;
                }
                if told == Told::NotYet {
                    self.terminal_fails(now, at, Failure::NoAnswer);
                }
            }
            _ => {}
        }
    }

    /// The correspondent does not agree. The terminal stays, unless it has been told already.
    fn correspondent_fails(&mut self, now: Instant, at: usize, failure: Failure) {
        let State::Leaving(departure) = &self.sessions[at].state else { return };
        match departure.phase {
            Phase::Telling { terminal: Told::NotYet, .. } => self.stay(now, at, failure),
            _ => self.lose_track(at, failure),
        }
    }

    /// The terminal does not agree. The correspondent is told that it has its old address.
    fn terminal_fails(&mut self, now: Instant, at: usize, failure: Failure) {
        let State::Leaving(departure) = &self.sessions[at].state else { return };
        let Phase::Telling { granted, .. } = &departure.phase else { return };
        let back = granted.appli.reversed();
        match self.tell_correspondent(now, at, back, None) {
            Told::Asked(asked) => {
                let phase = Phase::TakingBack { asked, failure };
                self.sessions[at].state = State::Leaving(Box::new(Departure { until: None, phase }));
            }
            _ => self.lose_track(at, failure),
        }
    }

    fn stay(&mut self, now: Instant, at: usize, failure: Failure) {
        let session = &mut self.sessions[at];
        session.state = State::Stable;
        // It was not asked whether it is there meanwhile.
        session.heard = now;
        let terminal = session.terminal;
        self.agent.tell(Event::Stays { terminal, failure });
    }

    /// Nobody knows where the terminal is.
    fn lose_track(&mut self, at: usize, failure: Failure) {
        let terminal = self.sessions.remove(at).terminal;
        self.free(terminal);
        self.agent.tell(Event::Astray { terminal, failure });
    }
}

/// What message 4 says.
fn granted(target: SocketAddr, response: &Message) -> Option<Granted> {
    Some(Granted {
        target,
        appli: AppliConfig::of(response).ok()?,
        settings: TerminalSettings::of(response).ok()?,
        bdp: number(response, BDP).ok()?,
    })
}
