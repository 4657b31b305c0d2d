//! The task behind an agent: facts in, orders to associations out.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use whimbrel::Association;
use whimbrel::proto::{self, AssociationId};
use whimbrel_machine::{Links, Machine};
use whimbrel_ufa::{Command, Event, TransportOrder};

use crate::connections::{Arrival, Connections};
use crate::driver::{Driver, Said};
use crate::follow::{follow, up};
use crate::moving::Moving;
use crate::news::AgentNews;
use crate::settling::Settled;

/// How long the network decides before the gateway has answered for the first time.
const ANSWER: Duration = Duration::from_secs(5);

/// What an agent is told.
pub(crate) enum Told {
    /// An association is up.
    Up(Association),
    /// SCTP has said this.
    Transport(proto::Event),
    /// The host's addresses are these.
    Links(Links),
    /// The gateway should have answered by now.
    Overdue,
    /// Whoever says this waits until all sessions are over.
    Finish(oneshot::Sender<()>),
    /// The host has gone where it was sent, or could not.
    Moved(Result<Settled, String>),
}

/// The task behind an agent.
pub(crate) struct Runner<M> {
    driver: Driver<M>,
    connections: Connections,
    arrivals: mpsc::Receiver<Arrival>,
    associations: BTreeMap<AssociationId, Association>,
    told: mpsc::Sender<Told>,
    news: mpsc::UnboundedSender<AgentNews>,
    pub(crate) terminal: Option<Moving>,
    finished: Option<oneshot::Sender<()>>,
}

impl<M: Machine<Command = Command, Event = Event>> Runner<M> {
    pub(crate) fn new(
        machine: M,
        connections: Connections,
        arrivals: mpsc::Receiver<Arrival>,
        told: mpsc::Sender<Told>,
        news: mpsc::UnboundedSender<AgentNews>,
    ) -> Self {
        let driver = Driver::new(machine);
        Self {
            driver,
            connections,
            arrivals,
            associations: BTreeMap::new(),
            told,
            news,
            terminal: None,
            finished: None,
        }
    }

    pub(crate) async fn run(mut self, mut facts: mpsc::Receiver<Told>) {
        loop {
            let said = tokio::select! {
                arrival = self.arrivals.recv() => match arrival {
                    Some(arrival) => self.driver.datagram(arrival.route, &arrival.message),
                    None => return,
                },
                fact = facts.recv() => match fact {
                    Some(fact) => self.take(fact),
                    None => return,
                },
                () = self.driver.due() => self.driver.time(),
            };
            self.carry_out(said);
            if self.associations.is_empty()
                && let Some(finished) = self.finished.take()
            {
                let _ = finished.send(());
            }
        }
    }

    fn take(&mut self, fact: Told) -> Said {
        match fact {
            Told::Up(association) => {
                tokio::spawn(follow(association.clone(), self.told.clone()));
                let up = up(&association);
                self.associations.insert(association.id(), association);
                let told = self.told.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(ANSWER).await;
                    let _ = told.send(Told::Overdue).await;
                });
                self.driver.command(Command::Transport(up))
            }
            Told::Transport(event) => {
                if let proto::Event::Closed { association, .. } = event {
                    self.associations.remove(&association);
                }
                self.driver.command(Command::Transport(event))
            }
            Told::Links(links) => self.driver.links(&links),
            Told::Overdue => {
                if self.terminal.as_ref().is_some_and(Moving::overdue) {
                    let _ = self.news.send(AgentNews::GatewaySilent);
                }
                Said::default()
            }
            Told::Finish(finished) => {
                self.finished = Some(finished);
                Said::default()
            }
            Told::Moved(outcome) => self.moved(outcome),
        }
    }

    fn carry_out(&mut self, mut said: Said) {
        said.send(&self.connections);
        for event in said.events {
            if let Some(news) = self.happened(event) {
                // Whoever does not listen need not be told.
                let _ = self.news.send(news);
            }
        }
    }

    fn happened(&mut self, event: Event) -> Option<AgentNews> {
        match event {
            Event::Transport(TransportOrder(order)) => self.order(order),
            Event::Established(session) => {
                self.decides(true);
                Some(AgentNews::SessionUp(session.into()))
            }
            Event::Refused(session, failure) => {
                self.decides(false);
                Some(AgentNews::SessionRefused { session: session.into(), reason: failure.to_string() })
            }
            Event::Ended(session) => {
                self.decides(false);
                Some(AgentNews::SessionEnded(session.into()))
            }
            Event::GatewaySilent => {
                self.decides(false);
                Some(AgentNews::GatewaySilent)
            }
            Event::GatewayBack => {
                self.decides(true);
                Some(AgentNews::GatewayBack)
            }
            Event::Lost(address, failure) => {
                self.decides(false);
                Some(AgentNews::NetworkLost { address, reason: failure.to_string() })
            }
            Event::Move(config, there) => Some(self.terminal.as_mut()?.go(config, there, self.told.clone())),
            Event::Arrived(address) => {
                // The gateway before may have been silent.
                self.decides(true);
                Some(self.terminal.as_mut()?.arrived(address))
            }
            // Those of gateways.
            Event::HandedOver { .. } | Event::Stays { .. } | Event::Astray { .. } => None,
        }
    }

    fn decides(&mut self, decides: bool) {
        if let Some(moving) = &mut self.terminal {
            moving.decides(decides);
        }
    }

    fn moved(&mut self, outcome: Result<Settled, String>) -> Said {
        match (outcome, &mut self.terminal) {
            (Ok(settled), Some(moving)) => moving.settled(settled),
            (Ok(_), None) => {}
            (Err(text), _) => {
                let _ = self.news.send(AgentNews::CannotMove { text });
                return self.driver.command(Command::CannotMove);
            }
        }
        Said::default()
    }

    /// Does to an association what the machine says.
    fn order(&self, order: proto::Command) -> Option<AgentNews> {
        use proto::{AgreedChange, Command};
        match order {
            Command::AgreeAddresses { association, changes } => {
                let moves = changes.iter().find_map(|change| match change {
                    AgreedChange::AddVouchedPeer { address, .. } => {
                        Some(AgentNews::PeerMoves { address: address.ip() })
                    }
                    _ => None,
                });
                self.associations.get(&association)?.agree_addresses(changes);
                moves
            }
            Command::ShapePath { association, path, shape } => {
                self.associations.get(&association)?.shape_path(path, shape);
                None
            }
            Command::SetPrimary { association, path } => {
                self.associations.get(&association)?.set_primary(path);
                None
            }
            _ => None,
        }
    }
}
