//! The rows of paper d10 on real sockets: hosts that are handed over by their network (UFA), or go by themselves as the paper has m-SCTP do. Packets are in
//! clear, as the paper's are.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context as _, ensure};
use tokio::sync::mpsc;
use whimbrel::handover::{Action, Decision, Fact, Instant, Pace, Policy, Reason, Seamless, Standing, View};
use whimbrel::proto::{AuthConfig, BurstLimit, DarConfig, DarMode, PrimaryChangeRule};
use whimbrel::secure::Identity;
use whimbrel::{Config, Endpoint, EndpointBuilder};
use whimbrel_gateway::{
    Agent, Attach, Gated, GatewayAddress, NetworkControl, Transition, Ufa, UfaPlus, UfaPlusPlus, trusting,
};

use super::Transport;

/// Who decides where the host goes, and how it gets there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    /// Of a mover the one that it is at, of a server all that it hears.
    pub(crate) gateways: Vec<GatewayAddress>,
    /// For `sh -c`, as `whimbrel send --attach`.
    pub(crate) attach: Option<String>,
}

impl Transport {
    /// RFC 9260's sender, as far as the paper has it; `None` for the rows that are not the paper's.
    fn of_paper(self) -> Option<Config> {
        let mut config = Config::rfc();
        config.congestion.burst = BurstLimit::Packets(u32::MAX / 2);
        config.auth = AuthConfig::offered();
        config.dar = DarConfig { mode: DarMode::Negotiated, ..config.dar };
        match self {
            Self::MSctp => config.primary_change = PrimaryChangeRule::AwaitTimer,
            Self::MSctpPlus => config.primary_change = PrimaryChangeRule::RetransmitAtOnce,
            Self::Ufa | Self::UfaPlus | Self::UfaPlusPlus => {
                self.transition().configure(&mut config);
                trusting(&mut config);
            }
            _ => return None,
        }
        Some(config)
    }

    fn transition(self) -> Box<dyn Transition> {
        match self {
            Self::Ufa => Box::new(Ufa),
            Self::UfaPlus => Box::new(UfaPlus),
            _ => Box::new(UfaPlusPlus),
        }
    }

    const fn is_handed_over(self) -> bool {
        matches!(self, Self::Ufa | Self::UfaPlus | Self::UfaPlusPlus | Self::Gateway)
    }

    /// What an endpoint of this row has besides its addresses.
    pub(crate) fn configure(self, builder: EndpointBuilder, control: &NetworkControl) -> EndpointBuilder {
        let control = control.clone();
        match self {
            Self::Aggregate => builder.config(Config::mobile().combining_paths()),
            Self::Gateway => builder
                .config(Config::mobile())
                .policy(move || Gated::new(control.clone(), || Seamless::policy(Pace::MOBILE))),
            _ => match self.of_paper() {
                None => builder.config(Config::mobile()),
                Some(config) if self.is_handed_over() => {
                    builder.config(config).policy(move || Gated::new(control.clone(), HardHandover::default))
                }
                Some(config) => builder.config(config).policy(HardHandover::default),
            },
        }
    }

    /// Who is told by gateways where the peers of a server have gone.
    pub(crate) async fn correspondent(self, network: &Network) -> anyhow::Result<Option<Agent>> {
        if !self.is_handed_over() {
            return Ok(None);
        }
        ensure!(!network.gateways.is_empty(), "--gateway is needed");
        let news = mpsc::unbounded_channel().0;
        let agent = Agent::correspondent(&identity()?, &network.gateways, self.transition(), news).await?;
        Ok(Some(agent))
    }

    /// Who goes where a gateway says.
    pub(crate) fn terminal(
        self,
        endpoint: &Endpoint,
        own: IpAddr,
        network: &Network,
        control: NetworkControl,
    ) -> anyhow::Result<Option<Agent>> {
        if !self.is_handed_over() {
            return Ok(None);
        }
        let &gateway = network.gateways.first().context("--gateway is needed")?;
        let attach = Attach { command: network.attach.clone() };
        let (news, mut told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(one) = told.recv().await {
                eprintln!("{one:?}");
            }
        });
        Ok(Some(Agent::terminal(endpoint, &identity()?, gateway, own, attach, control, news)?))
    }
}

/// The key that `whimbrel key` shows.
fn identity() -> anyhow::Result<Identity> {
    let home = std::env::var_os("XDG_CONFIG_HOME").context("XDG_CONFIG_HOME says where the key is")?;
    Ok(Identity::load_or_create(&std::path::Path::new(&home).join("whimbrel").join("key"))?)
}

/// The terminal of paper d10, section II.B: it adds the address that it gets, and asks for it to be the primary one when that is acknowledged.
#[derive(Debug, Default)]
pub(crate) struct HardHandover {
    last: Option<SocketAddr>,
}

impl Policy for HardHandover {
    fn observe(&mut self, _now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        let action = match fact {
            Fact::Link(_) | Fact::Begun => {
                let new = view.addresses.iter().find(|local| local.up && local.standing == Standing::Absent);
                let new = new.filter(|new| view.dynamic && self.last != Some(new.address));
                new.map(|new| {
                    self.last = Some(new.address);
                    Action::AddAddress(new.address)
                })
            }
            Fact::Added { address, accepted: true } => Some(Action::AskPrimary(address.ip())),
            _ => None,
        };
        action.into_iter().map(|action| Decision { action, reason: Reason::AddressAcquired }).collect()
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}
