//! A machine of `whimbrel-ufa` in real time: SIP by connections, what it says to whoever runs it.

use std::future::Future;
use std::io;
use std::time::Duration;

use whimbrel::Seed;
use whimbrel_machine::{Ecn, Input, Instant, Links, Machine, Route, Sink, Transmit};
use whimbrel_ufa::sip::Transport;
use whimbrel_ufa::{Command, Event};

use crate::connections::Connections;
use crate::witness::{Witness, Witnessed};

/// The longest that a driver sleeps.
const LONG: Duration = Duration::from_secs(3600);

/// What a machine has said in one step.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) events: Vec<Event>,
    /// Packets of others that it lets go.
    pub(crate) packets: Vec<Vec<u8>>,
    pub(crate) sip: Vec<(Route, Vec<u8>)>,
}

impl Sink<Event> for Said {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        // Packets of others have no port.
        if Transport::at_local_port(transmit.route.local.port()).is_some() {
            self.sip.push((transmit.route, bytes.to_vec()));
        } else {
            self.packets.push(bytes.to_vec());
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

impl Said {
    /// Sends its SIP.
    pub(crate) fn send(&mut self, connections: &Connections) {
        for (route, message) in self.sip.drain(..) {
            connections.send(route, message);
        }
    }
}

/// A machine and its clock.
pub(crate) struct Driver<M> {
    pub(crate) machine: M,
    epoch: std::time::Instant,
    deadline: Option<Instant>,
    /// Who reads all SIP, if anybody does.
    pub(crate) witness: Option<Box<dyn Witness>>,
}

impl<M: Machine<Command = Command, Event = Event>> Driver<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self { machine, epoch: std::time::Instant::now(), deadline: None, witness: None }
    }

    fn step(&mut self, input: Input<'_, Command>) -> Said {
        let mut said = Said::default();
        let now = Instant::ZERO + self.epoch.elapsed();
        self.deadline = self.machine.step(now, [input], &mut said);
        for (route, message) in &said.sip {
            self.show(*route, false, message);
        }
        said
    }

    fn show(&mut self, route: Route, inbound: bool, bytes: &[u8]) {
        if let Some(witness) = &mut self.witness
            && let Some(message) = Witnessed::new(route, inbound, bytes)
        {
            witness.sip(&message);
        }
    }

    /// A packet of others has come, or SIP.
    pub(crate) fn datagram(&mut self, route: Route, bytes: &[u8]) -> Said {
        self.show(route, true, bytes);
        self.step(Input::Datagrams { route, ecn: Ecn::NotCapable, bytes, segment: bytes.len().max(1) })
    }

    pub(crate) fn command(&mut self, command: Command) -> Said {
        self.step(Input::Command(command))
    }

    pub(crate) fn links(&mut self, links: &Links) -> Said {
        self.step(Input::Links(links))
    }

    pub(crate) fn time(&mut self) -> Said {
        self.step(Input::Timeout)
    }

    /// Until [`Self::time`] has to be called.
    pub(crate) fn due(&self) -> impl Future<Output = ()> + use<M> {
        let elapsed = self.epoch.elapsed();
        let wait = self.deadline.map_or(LONG, |deadline| {
            deadline.saturating_since(Instant::ZERO).saturating_sub(elapsed).min(LONG)
        });
        tokio::time::sleep(wait)
    }
}

/// Randomness of the operating system, for tags that nobody guesses.
pub(crate) fn seed() -> io::Result<Seed> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Seed::from_bytes(bytes))
}
