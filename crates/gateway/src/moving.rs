//! What a terminal does besides: it goes where message 7A sends it.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use whimbrel::secure::{Keyring, PublicKey};
use whimbrel_ufa::sip::{AppliConfig, TerminalSettings};

use crate::agent::Attach;
use crate::network_control::NetworkControl;
use crate::news::AgentNews;
use crate::runner::Told;
use crate::settling::{self, Settled};

/// A host that goes where its gateway says.
pub(crate) struct Moving {
    attach: Attach,
    control: NetworkControl,
    /// Whether the gateway has said anything about an association.
    answered: bool,
    /// Gateways that it hears: the one that it is at, and on the way the one that it is sent to.
    trusted: Keyring,
    /// The key of the latter.
    next: Option<PublicKey>,
    /// How long the way has taken, and since when it is there.
    settled: Option<(Settled, Instant)>,
}

impl Moving {
    pub(crate) const fn new(attach: Attach, control: NetworkControl, trusted: Keyring) -> Self {
        Self { attach, control, answered: false, trusted, next: None, settled: None }
    }

    /// The gateway has answered; whether the network decides from now on.
    pub(crate) fn decides(&mut self, decides: bool) {
        self.answered = true;
        self.control.set(decides);
    }

    /// The gateway should have answered by now; whether it has not.
    pub(crate) fn overdue(&self) -> bool {
        if !self.answered {
            self.control.set(false);
        }
        !self.answered
    }

    /// Message 7A has come: goes there, and tells when that is done.
    pub(crate) fn go(
        &mut self,
        config: AppliConfig,
        there: TerminalSettings,
        told: mpsc::Sender<Told>,
    ) -> AgentNews {
        self.next = there.key.as_ref().and_then(|key| key.parse().ok());
        if let Some(key) = self.next {
            self.trusted.add(key);
        }
        let news = AgentNews::NetworkMove {
            gateway: there.gateway,
            essid: there.essid.clone(),
            address: config.add,
        };
        let command = self.attach.command.clone();
        tokio::spawn(async move {
            let outcome = settling::go(command.as_deref(), &config, &there).await;
            let _ = told.send(Told::Moved(outcome)).await;
        });
        news
    }

    pub(crate) fn settled(&mut self, settled: Settled) {
        self.settled = Some((settled, Instant::now()));
    }

    /// The gateway there has answered message 8.
    pub(crate) fn arrived(&mut self, address: IpAddr) -> AgentNews {
        if let Some(key) = self.next.take() {
            self.trusted.replace([key]);
        }
        let (Settled { attach, settle }, answer) = match self.settled.take() {
            Some((settled, since)) => (settled, since.elapsed()),
            // The address was there before the command had ended.
            None => (Settled::default(), Duration::ZERO),
        };
        AgentNews::NetworkArrived { address, attach, settle, answer }
    }
}
