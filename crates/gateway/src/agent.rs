//! The SIP side of a host beside its SCTP: a terminal, which goes where its gateway says, or a correspondent, which is told where its peers have gone.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use whimbrel::secure::{Identity, Keyring, PublicKey};
use whimbrel::{Association, Endpoint};
use whimbrel_machine::Machine;
use whimbrel_ufa::sip::{SipConfig, Timers, Transport};
use whimbrel_ufa::{Command, Correspondent, Event, Terminal, TerminalConfig, Transition};

use crate::connections::{Connections, Peers};
use crate::driver::seed;
use crate::follow::links;
use crate::gateway_address::GatewayAddress;
use crate::moving::Moving;
use crate::network_control::NetworkControl;
use crate::news::AgentNews;
use crate::runner::{Runner, Told};
use crate::settings::LEAST_SUPERVISION;

/// Facts that wait for the machine.
const QUEUE: usize = 256;

/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_millis(500);
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Why an agent cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Another program has the port.
    #[error("cannot listen for gateways on {address}: {error}")]
    Listen {
        /// Address and TCP port.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// What the system does not give.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// How a terminal gets to another network.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attach {
    /// For `sh -c`: attaches layer 2 where `WHIMBREL_ESSID`, `WHIMBREL_CHANNEL` and `WHIMBREL_MAC` say. Address and route are set by this crate, unless it has
    /// set the address `WHIMBREL_ADDRESS` itself.
    pub command: Option<String>,
}

/// An agent that runs, and ends with this value.
#[derive(Debug)]
pub struct Agent {
    told: mpsc::Sender<Told>,
    running: JoinHandle<()>,
}

impl Agent {
    /// Beside an endpoint that stays where it is: listens for gateways on TCP port 5061 of all addresses, and does to the associations that it
    /// [watches](Self::watch) what these gateways say. `transition` says how they go on. What it would
    /// [configure](Transition::configure) is not asked for: an address that goes has what was in flight to it sent again at once, and the rest is the endpoint's.
    ///
    /// # Errors
    /// [`AgentError`].
    pub async fn correspondent(
        identity: &Identity,
        gateways: &[GatewayAddress],
        transition: Box<dyn Transition>,
        news: mpsc::UnboundedSender<AgentNews>,
    ) -> Result<Self, AgentError> {
        let trusted = keyring(gateways);
        let peers = Box::new(Gateways(gateways.to_vec(), news.clone()));
        let (mut connections, arrivals) = Connections::new(identity, &trusted, peers)?;
        // Where one has IPv6 the socket takes IPv4, too.
        let v6 = gateways.iter().any(|gateway| gateway.address.is_ipv6());
        let any = if v6 { IpAddr::from([0_u16; 8]) } else { IpAddr::from([0_u8; 4]) };
        let address = SocketAddr::new(any, Transport::Tls.port());
        let listening = connections.listen(address, identity, &trusted).await;
        listening.map_err(|error| AgentError::Listen { address, error })?;
        let machine = Correspondent::new(address, sip(None), transition, &seed()?);
        Ok(Self::start(|told| Runner::new(machine, connections, arrivals, told, news)))
    }

    /// Beside an endpoint whose host goes where its gateway says. `own` is the host's address towards the gateway; `control` is told when the gateway
    /// decides.
    ///
    /// # Errors
    /// [`AgentError`].
    pub fn terminal(
        endpoint: &Endpoint,
        identity: &Identity,
        gateway: GatewayAddress,
        own: IpAddr,
        attach: Attach,
        control: NetworkControl,
        news: mpsc::UnboundedSender<AgentNews>,
    ) -> Result<Self, AgentError> {
        let trusted = keyring(&[gateway]);
        let (connections, arrivals) = Connections::new(identity, &trusted, Box::new(Anywhere(news.clone())))?;
        let port = Transport::Tls.port();
        let config = TerminalConfig {
            address: SocketAddr::new(own, port),
            gateway: SocketAddr::new(gateway.address, port),
            detection: Duration::ZERO,
            sip: sip(Some(SUPERVISION)),
        };
        let machine = Terminal::new(config, &seed()?);
        control.set(true);
        Ok(Self::start(|told| {
            tokio::spawn(links(endpoint.clone(), told.clone()));
            let mut runner = Runner::new(machine, connections, arrivals, told, news);
            runner.terminal = Some(Moving::new(attach, control, trusted));
            runner
        }))
    }

    /// Has the gateways control where this association goes, too.
    pub async fn watch(&self, association: &Association) {
        let _ = self.told.send(Told::Up(association.clone())).await;
    }

    /// Has gateways know that the associations, which have ended, have. Waits for a moment at most.
    pub async fn finish(&self) {
        let (finished, done) = oneshot::channel();
        let _ = self.told.send(Told::Finish(finished)).await;
        if matches!(tokio::time::timeout(GOODBYE, done).await, Ok(Ok(()))) {
            // What was said last is on its way to the kernel.
            tokio::time::sleep(LAST_WORDS).await;
        }
    }

    fn start<M>(runner: impl FnOnce(mpsc::Sender<Told>) -> Runner<M>) -> Self
    where
        M: Machine<Command = Command, Event = Event> + Send + 'static,
    {
        let (told, facts) = mpsc::channel(QUEUE);
        let running = tokio::spawn(runner(told.clone()).run(facts));
        Self { told, running }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The gateways that a correspondent hears: they can be called where they listen.
struct Gateways(Vec<GatewayAddress>, mpsc::UnboundedSender<AgentNews>);

impl Peers for Gateways {
    fn complain(&self, text: String) {
        let _ = self.1.send(AgentNews::Trouble { text });
    }

    fn place(&self, from: SocketAddr, _: &PublicKey) -> SocketAddr {
        SocketAddr::new(from.ip(), Transport::Tls.port())
    }

    fn may_answer(&self, at: SocketAddr, key: &PublicKey) -> bool {
        self.0.iter().any(|gateway| (gateway.address, gateway.key) == (at.ip(), *key))
    }
}

/// A terminal trusts the gateway that it is at, and the one that this one names.
struct Anywhere(mpsc::UnboundedSender<AgentNews>);

impl Peers for Anywhere {
    fn complain(&self, text: String) {
        let _ = self.0.send(AgentNews::Trouble { text });
    }
}

/// How often a terminal asks whether its gateway is there: one that is gone is noticed within twice as long.
const SUPERVISION: Duration = Duration::from_secs(LEAST_SUPERVISION as u64);

fn sip(supervision: Option<Duration>) -> SipConfig {
    SipConfig { transport: Transport::Tls, besides: None, timers: Timers::reliable(), supervision }
}

fn keyring(gateways: &[GatewayAddress]) -> Keyring {
    let keyring = Keyring::default();
    keyring.replace(gateways.iter().map(|gateway| gateway.key));
    keyring
}
