//! Connections whose network decides where they go: the options, and the agent beside an endpoint.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use tokio::sync::mpsc;
use whimbrel::{Association, Endpoint};
use whimbrel_gateway::{
    Agent, AgentNews, Attach, GatewayAddress, NetworkControl, Transition, Ufa, UfaPlus, UfaPlusPlus,
};

use crate::commands::leave;
use crate::exit::Failure;
use crate::identity;
use crate::news::{News, tell_as_is};

/// What a command that moves data understands about a network that decides.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Moving")]
pub(crate) struct NetworkArgs {
    /// The gateway that decides where this host goes (`whimbrel gateway`); KEY is what `whimbrel key` prints there. Where this host only listens: gateways that
    /// say where its peers have gone. A gateway that is silent for six seconds decides nothing, and --policy does.
    #[arg(long, value_name = "sip:KEY@ADDRESS", value_delimiter = ',')]
    pub(crate) gateway: Vec<GatewayAddress>,
    /// For `sh -c`: attaches this host's link to the network that the gateway sends it to, $WHIMBREL_ESSID on $WHIMBREL_CHANNEL. Address and route
    /// are set afterwards.
    #[arg(long, value_name = "COMMAND", requires = "gateway")]
    pub(crate) attach: Option<String>,
    /// Where this host only listens: how data goes on when the network has moved a peer.
    #[arg(long, value_enum, value_name = "TRANSITION", requires = "gateway")]
    pub(crate) transition: Option<TransitionName>,
    /// Whether the network decides now.
    #[arg(skip)]
    pub(crate) control: NetworkControl,
    /// Where networks have moved this host or its peers.
    #[arg(skip)]
    pub(crate) ordered: OrderedMoves,
}

/// The addresses to which networks have moved this host or its peers: the latest ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderedMoves(Arc<Mutex<VecDeque<IpAddr>>>);

/// So many are known. Who serves thousands of hosts that move is told of the latest.
const ORDERED_MAX: usize = 4096;

impl OrderedMoves {
    fn note(&self, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|one| *one != address);
        known.truncate(ORDERED_MAX - 1);
        known.push_front(address);
    }

    /// Whether a network has ordered a move to this address.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&address)
    }
}

/// How data goes on when the network has moved a peer (paper d10, section V.B).
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum TransitionName {
    /// New data goes to the new address; what is lost on the way to the old one is found as any loss is.
    #[value(name = "ufa")]
    Ufa,
    /// What was on its way to the old address is sent again first.
    #[value(name = "ufa+")]
    UfaPlus,
    /// As ufa+, and as much at once as the gateway says that the new network holds.
    #[default]
    #[value(name = "ufa++")]
    UfaPlusPlus,
}

impl TransitionName {
    fn transition(self) -> Box<dyn Transition> {
        match self {
            Self::Ufa => Box::new(Ufa),
            Self::UfaPlus => Box::new(UfaPlus),
            Self::UfaPlusPlus => Box::new(UfaPlusPlus),
        }
    }
}

/// Whoever stands beside an endpoint and hears gateways, if anybody does.
pub(crate) struct Beside(Option<Agent>);

impl NetworkArgs {
    /// Whether a gateway decides at all.
    pub(crate) fn is_given(&self) -> bool {
        !self.gateway.is_empty()
    }

    /// Beside an endpoint that connects.
    ///
    /// # Errors
    /// More than one gateway is named, or there is no key.
    pub(crate) fn terminal(&self, endpoint: &Endpoint, news: Arc<impl News>) -> Result<Beside, Failure> {
        let gateway = match self.gateway[..] {
            [] => return Ok(Beside(None)),
            [only] => only,
            [..] => {
                let text = "--gateway: this host is at one gateway; that one sends it to others";
                return Err(Failure::Usage(text.into()));
            }
        };
        if self.transition.is_some() {
            let text = "--transition: it is the hosts that listen who go on when this one has been moved; give it there";
            return Err(Failure::Usage(text.into()));
        }
        let attach = Attach { command: self.attach.clone() };
        let own = towards(gateway.address).unwrap_or(gateway.address);
        let control = self.control.clone();
        let agent =
            Agent::terminal(endpoint, &identity::own()?, gateway, own, attach, control, self.listener(news));
        Ok(Beside(Some(agent.map_err(anyhow::Error::from)?)))
    }

    /// Beside an endpoint that is connected to.
    ///
    /// # Errors
    /// Another program listens for gateways, or there is no key.
    pub(crate) async fn correspondent(&self, news: Arc<impl News>) -> Result<Beside, Failure> {
        if !self.is_given() {
            return Ok(Beside(None));
        }
        if self.attach.is_some() {
            return Err(Failure::Usage("--attach: a host that is connected to is sent nowhere".into()));
        }
        let transition = self.transition.unwrap_or_default().transition();
        let agent =
            Agent::correspondent(&identity::own()?, &self.gateway, transition, self.listener(news)).await;
        Ok(Beside(Some(agent.map_err(anyhow::Error::from)?)))
    }

    /// Tells what an agent says, and keeps in mind where networks have moved somebody.
    fn listener(&self, news: Arc<impl News>) -> mpsc::UnboundedSender<AgentNews> {
        let (sender, mut receiver) = mpsc::unbounded_channel::<AgentNews>();
        let ordered = self.ordered.clone();
        tokio::spawn(async move {
            while let Some(one) = receiver.recv().await {
                if let AgentNews::NetworkArrived { address, .. } | AgentNews::PeerMoves { address } = one {
                    ordered.note(address);
                }
                tell_as_is(&one, news.as_ref());
            }
        });
        sender
    }
}

impl Beside {
    /// Has gateways control where this association goes.
    pub(crate) async fn watch(&self, association: &Association) {
        if let Some(agent) = &self.0 {
            agent.watch(association).await;
        }
    }

    /// Closes the endpoint, and has gateways know that its associations are gone.
    pub(crate) async fn leave(&self, endpoint: &Endpoint, reason: &'static str) {
        leave(endpoint, reason).await;
        if let Some(agent) = &self.0 {
            agent.finish().await;
        }
    }
}

/// The address that this host has towards another.
fn towards(other: IpAddr) -> Option<IpAddr> {
    let any = if other.is_ipv4() { IpAddr::from([0_u8; 4]) } else { IpAddr::from([0_u16; 8]) };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(SocketAddr::new(other, 5061)).ok()?;
    socket.local_addr().ok().map(|own| own.ip())
}
