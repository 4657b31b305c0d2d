//! Options of commands whose host may move, and what happens to its addresses meanwhile.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use serde_json::json;
use whimbrel::handover::{
    Action, Decision, Failover, FastestNetwork, LayerTwoHandover, Pace, Seamless, SignalStrength, Thresholds,
};
use whimbrel::interfaces::{FactFile, Preferences};
use whimbrel::{
    AddressChange, Association, AssociationEvent, AuthKeyNews, Config, Endpoint, EndpointBuilder,
    EndpointEvent, Mobility, PathState, PeerAddressChange, ReceivedPower,
};
use whimbrel_wire::chunk_type;

use crate::display::plain_state_name;
use crate::key_file;

/// What a command that moves data understands about moving.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Moving")]
pub(crate) struct MobilityArgs {
    /// When and where to move.
    #[arg(long, value_enum, value_name = "POLICY", default_value_t)]
    pub(crate) policy: PolicyName,
    /// Interfaces in the order you like them, best first, such as wlan0,wwan0.
    #[arg(long, value_name = "INTERFACE", value_delimiter = ',', value_parser = interface)]
    pub(crate) prefer: Vec<String>,
    /// Interfaces where every byte costs money: used only when nothing else works.
    #[arg(long, value_name = "INTERFACE", value_delimiter = ',', value_parser = interface)]
    pub(crate) metered: Vec<String>,
    /// What this host does not know of its links itself (signal strength, cost): a file of JSON lines that some program
    /// appends to, or a Unix datagram socket to make (a name that ends in .sock).
    #[arg(long, value_name = "FILE|SOCKET", long_help = LINK_FACTS_HELP)]
    pub(crate) link_facts: Option<PathBuf>,
    /// Keys that both hosts know and nobody else, a line `ID KEY` each (KEY in hex or base64:…), the first to send with.
    /// Only who has one can connect, and change addresses. The file must be readable by you alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) auth_key_file: Option<PathBuf>,
}

/// The policies by name.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PolicyName {
    /// Another path when the one in use has failed.
    Failover,
    /// The fastest network there is, as soon as it is there.
    FastestNetwork,
    /// The strongest signal.
    SignalStrength,
    /// Before a link is lost if anything warns of it, at the first sign otherwise; metered links are spared.
    #[default]
    Seamless,
}

/// Below this nothing useful is received over Wi-Fi, and from this on it is good.
const WIFI_RANGE_DBM: (f64, f64) = (-88.0, -76.0);

impl PolicyName {
    fn apply(self, builder: EndpointBuilder) -> EndpointBuilder {
        match self {
            Self::Failover => builder.policy(|| Failover::policy(Pace::MOBILE)),
            Self::FastestNetwork => builder.policy(|| FastestNetwork::policy(Pace::MOBILE)),
            Self::SignalStrength => builder.policy(|| {
                let thresholds = Thresholds {
                    reception: ReceivedPower::from_dbm(WIFI_RANGE_DBM.0),
                    primary: ReceivedPower::from_dbm(WIFI_RANGE_DBM.1),
                };
                SignalStrength::policy(thresholds, LayerTwoHandover::Soft, Pace::MOBILE)
            }),
            Self::Seamless => builder.policy(|| Seamless::policy(Pace::MOBILE)),
        }
    }
}

const LINK_FACTS_HELP: &str = "\
What this host does not know of its links itself: a file of JSON lines that some program appends to, or, if the name ends \
in .sock, a Unix datagram socket that is made there for you alone and takes one line per datagram. For instance

  {\"interface\": \"wwan0\", \"kind\": \"cellular\", \"metered\": true, \"signal_dbm\": -97.5}
  {\"interface\": \"wlan0\", \"up\": false}
  {\"interface\": \"wlan0\", \"going_down\": true}

Of kind, up, addresses, signal_dbm, metered, bits_per_second, rank, going_down, handover_complete and selected, what a \
line does not mention stays as it was.";

fn interface(text: &str) -> Result<String, String> {
    let plausible =
        !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
    if plausible { Ok(text.into()) } else { Err("expected an interface's name, such as wlan0".into()) }
}

impl MobilityArgs {
    /// An endpoint on these addresses that moves as the options say.
    pub(crate) async fn bind(&self, addresses: Vec<SocketAddr>, config: Config) -> anyhow::Result<Endpoint> {
        let mut config = config;
        if let Some(path) = &self.auth_key_file {
            config.auth.keys = key_file::read(path).context("--auth-key-file")?;
            // Without this a host with the wrong key could connect, and would be noticed when it moves.
            config.auth.required = vec![chunk_type::COOKIE_ECHO, chunk_type::COOKIE_ACK];
        }
        let builder = self.policy.apply(Endpoint::builder().addresses(addresses).config(config));
        Ok(self.sources(builder)?.bind().await?)
    }

    /// What to check besides the network when nobody answers.
    pub(crate) fn key_hint(&self) -> &'static str {
        match self.auth_key_file {
            Some(_) => "; with --auth-key-file, a host that has another key, or none, gets no answer",
            None => "; a host that demands a key (--auth-key-file) does not answer those without",
        }
    }

    fn sources(&self, builder: EndpointBuilder) -> anyhow::Result<EndpointBuilder> {
        if let Some(both) =
            self.prefer.iter().find(|name| self.prefer.iter().filter(|n| n == name).count() > 1)
        {
            anyhow::bail!("--prefer names {both} twice");
        }
        let mut builder = builder;
        if !(self.prefer.is_empty() && self.metered.is_empty()) {
            let wishes = Preferences::default().prefer(self.prefer.clone()).metered(self.metered.clone());
            builder = builder.link_source(wishes);
        }
        let Some(path) = &self.link_facts else { return Ok(builder) };
        if path.extension().is_some_and(|extension| extension == "sock") {
            #[cfg(unix)]
            return Ok(
                builder.link_source(whimbrel::interfaces::FactSocket::bind(path).context("--link-facts")?)
            );
            #[cfg(not(unix))]
            anyhow::bail!("--link-facts takes a file on this system, not a socket");
        }
        let hint = "--link-facts (a file must exist; a name that ends in .sock makes a socket)";
        Ok(builder.link_source(FactFile::open(path).context(hint)?))
    }
}

/// Where news of the host's addresses goes.
pub(crate) trait News: Send + Sync + 'static {
    /// An object for programs.
    fn event(&self, kind: &str, fields: serde_json::Value);
    /// A sentence for people.
    fn note(&self, text: &str);
}

/// Tells of addresses that come and go, as long as the endpoint lives.
pub(crate) fn tell(endpoint: &Endpoint, news: Arc<impl News>) {
    let mut events = endpoint.events();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            match event {
                EndpointEvent::AddressUp { address, interface } => {
                    let on = interface.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
                    news.event(
                        "address",
                        json!({ "address": address, "interface": interface, "state": "up" }),
                    );
                    news.note(&format!("address {}{on} is up", address.ip()));
                }
                EndpointEvent::AddressDown { address } => {
                    news.event("address", json!({ "address": address, "state": "down" }));
                    news.note(&format!("address {} is down", address.ip()));
                }
                EndpointEvent::AddressRefused { address, reason } => {
                    news.event("address", json!({ "address": address, "state": "refused", "text": reason }));
                    news.note(&format!("address {} is not used: {reason}", address.ip()));
                }
                EndpointEvent::LinkSource { source, text } => {
                    news.event("link-facts", json!({ "source": source, "text": text }));
                    news.note(&format!("{source}: {text}"));
                }
                _ => {}
            }
        }
    });
}

/// Tells what happens to an association's paths and addresses, until it ends.
pub(crate) fn follow(association: &Association, news: Arc<impl News>) {
    let mut events = association.events();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            tell_of(&event, news.as_ref());
        }
    });
}

/// Tells what happens to an association's paths and addresses.
pub(crate) fn tell_of(event: &AssociationEvent, news: &impl News) {
    match event {
        AssociationEvent::Path { route, state, .. } if *state != PathState::Unconfirmed => {
            tell_path(route, plain_state_name(*state), news);
        }
        AssociationEvent::PathInUse { route, .. } => tell_path(route, "in use", news),
        AssociationEvent::PathGone { route, .. } => tell_path(route, "gone", news),
        AssociationEvent::Decision(decision) => tell_decision(decision, news),
        AssociationEvent::AddressChanged { change, outcome } => {
            let text = match change {
                AddressChange::Add(address) => format!("adding {}", address.ip()),
                AddressChange::Delete(ip) => format!("taking out {ip}"),
                AddressChange::SetPrimary(ip) => format!("asking to be sent to {ip}"),
            };
            let error = outcome.as_ref().err().map(ToString::to_string);
            news.event("address-changed", json!({ "change": text, "ok": outcome.is_ok(), "text": error }));
            if let Some(error) = error {
                news.note(&format!("{text}: {error}"));
            }
        }
        AssociationEvent::PeerAddress { address, change } => {
            let what = match change {
                PeerAddressChange::Added => "added",
                PeerAddressChange::Deleted => "deleted",
                PeerAddressChange::MadePrimary => "primary",
            };
            news.event("peer-address", json!({ "address": address, "change": what }));
            news.note(&format!("the peer's address {}: {what}", address.ip()));
        }
        AssociationEvent::AuthKey { key, news: AuthKeyNews::Unknown } => {
            news.event("auth-key", json!({ "key": key, "text": "unknown" }));
            news.note(&format!("the peer uses key {key}, which is not in the --auth-key-file here"));
        }
        AssociationEvent::MobilityChanged { mobility: Mobility::Static(reason) } => {
            news.note(&format!("addresses cannot change any more: {reason}"));
        }
        _ => {}
    }
}

fn tell_path(route: &whimbrel::Route, state: &str, news: &impl News) {
    news.event("path", json!({ "local": route.local, "remote": route.remote, "state": state }));
    news.note(&format!("path {} → {}: {state}", route.local.ip(), route.remote.ip()));
}

fn tell_decision(decision: &Decision, news: &impl News) {
    let text = match decision.action {
        Action::AddAddress(address) => format!("adding {}", address.ip()),
        Action::DeleteAddress(ip) => format!("taking out {ip}"),
        Action::AskPrimary(ip) => format!("asking to be sent to {ip}"),
        Action::UsePath(path) => format!("moving to path {}", path.number()),
        // Details that nobody but a program wants to know.
        Action::ShapePath { .. } => "shaping a path".into(),
        Action::RetransmitLost(_) => "sending again what was lost".into(),
    };
    let reason = decision.reason.to_string();
    news.event("decision", json!({ "action": text, "reason": reason }));
    if !matches!(decision.action, Action::ShapePath { .. } | Action::RetransmitLost(_)) {
        news.note(&format!("{text}: {reason}"));
    }
}

/// The addresses in words; an endpoint may have none yet.
pub(crate) fn describe(addresses: &[String]) -> String {
    if addresses.is_empty() {
        "no address yet (it will be used when there is one)".into()
    } else {
        addresses.join(", ")
    }
}
