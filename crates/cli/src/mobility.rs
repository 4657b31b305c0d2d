//! Options of commands whose host may move.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::json;
use whimbrel::handover::{
    Failover, FastestNetwork, LayerTwoHandover, Pace, Policy, Seamless, SignalStrength, Thresholds,
};
use whimbrel::interfaces::{FactFile, Interfaces, Preferences};
use whimbrel::proto::{AssociationFailure, HeartbeatForm};
use whimbrel::{Config, Endpoint, EndpointBuilder, LargeMessages, ReceivedPower};
use whimbrel_gateway::Gated;

use crate::args::{A_YEAR, size};
use crate::controller::ControllerName;
use crate::exit::Failure;
use crate::key_file;
use crate::multipath::Multipath;
use crate::network_control::NetworkArgs;
use crate::news::News;
use crate::watching::WatchingArgs;

/// Seconds for which nothing may be heard of a peer.
const A_DAY: u64 = 86_400;

/// What a command that moves data understands about moving.
#[derive(Args, Clone, Debug)]
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
    /// How long a conversation is kept while nothing at all is heard of the other host. The time does not run while this host
    /// has no network itself, except for `send`.
    #[arg(long, value_name = "SECONDS", default_value_t = A_DAY, value_parser = clap::value_parser!(u64).range(1..=A_YEAR))]
    pub(crate) patience: u64,
    /// The most that may be on its way to a peer, and waits for it or comes from it: at least the rate times the round trip,
    /// 25M for 1 Gbit/s and 200 ms [default: 16 MiB]. Both hosts need it; memory is taken as it is used.
    #[arg(long, value_name = "SIZE", value_parser = window, help_heading = "Speed")]
    pub(crate) window: Option<usize>,
    /// What decides how fast this host sends.
    #[arg(long, value_enum, value_name = "CONTROLLER", default_value_t, help_heading = "Speed")]
    pub(crate) controller: ControllerName,
    /// Whether several networks carry data at once. It is up to each host what it does with its own data: one that sends on all of its networks may send to a
    /// metered one of the other host, too.
    #[arg(long, value_enum, value_name = "HOW", default_value_t, help_heading = "Speed")]
    pub(crate) multipath: Multipath,
    /// Measure what each path can carry, whether or not data takes it: heartbeats leave as trains of six packets, two of them
    /// large. `whimbrel paths` shows what comes of it.
    #[arg(long, help_heading = "Speed")]
    pub(crate) measure_capacity: bool,
    /// Nothing is encrypted, and nobody knows who the other host is: for networks that are trusted, and for hosts that have
    /// nothing but SCTP. Both hosts must say it.
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    /// Keys that both hosts know and nobody else, a line `ID KEY` each (KEY in hex or base64:…), the first to send with.
    /// Only who has one can connect, and change addresses; whoever listens still reads, so --insecure has to be said, too. The file must be
    /// readable by you alone.
    #[arg(long, value_name = "FILE", help_heading = "Security")]
    pub(crate) auth_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) watching: WatchingArgs,
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
    fn policy(self) -> Box<dyn Policy> {
        match self {
            Self::Failover => Box::new(Failover::policy(Pace::MOBILE)),
            Self::FastestNetwork => Box::new(FastestNetwork::policy(Pace::MOBILE)),
            Self::SignalStrength => {
                let thresholds = Thresholds {
                    reception: ReceivedPower::from_dbm(WIFI_RANGE_DBM.0),
                    primary: ReceivedPower::from_dbm(WIFI_RANGE_DBM.1),
                };
                Box::new(SignalStrength::policy(thresholds, LayerTwoHandover::Soft, Pace::MOBILE))
            }
            Self::Seamless => Box::new(Seamless::policy(Pace::MOBILE)),
        }
    }
}

const LINK_FACTS_HELP: &str = "\
What this host does not know of its links itself: a file of JSON lines that some program appends to, or, if the name ends \
in .sock, a Unix datagram socket that is made there for you alone and takes one line per datagram. For instance

  {\"interface\": \"wwan0\", \"kind\": \"cellular\", \"metered\": true, \"signal_dbm\": -97.5}
  {\"interface\": \"wlan0\", \"up\": false}
  {\"interface\": \"wlan0\", \"going_down\": true}

Of kind, up, addresses, signal_dbm, metered, bits_per_second, rank, going_down, handover_complete, selected and nat64, \
what a line does not mention stays as it was.";

fn interface(text: &str) -> Result<String, String> {
    let plausible =
        !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
    if plausible { Ok(text.into()) } else { Err("expected an interface's name, such as wlan0".into()) }
}

/// The least window that is more than a nuisance, and the largest that there is (a_rwnd has 32 bits, the library takes 1 GiB).
const WINDOWS: std::ops::RangeInclusive<u64> = 65_536..=1 << 30;

fn window(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    if !WINDOWS.contains(&bytes) {
        return Err(format!(
            "{bytes} bytes is no window; give between 64Ki and 1Gi: the rate in bytes per second times the round \
             trip in seconds, such as 25M for 1 Gbit/s and 200 ms"
        ));
    }
    Ok(bytes as usize)
}

impl MobilityArgs {
    /// Whether packets go in clear.
    ///
    /// # Errors
    /// The options say so, and do not say so.
    pub(crate) fn is_clear(&self) -> Result<bool, Failure> {
        if self.auth_key_file.is_some() && !self.insecure {
            let text = "--auth-key-file says who may speak, and encrypts nothing: say --insecure, too, on both hosts, or leave it out for a \
                        ticket or a paired host";
            return Err(Failure::Usage(text.into()));
        }
        Ok(self.insecure)
    }

    /// An endpoint on these addresses that moves as the options say. Doubts about the options go to `news`.
    pub(crate) async fn bind(
        &self,
        addresses: Vec<SocketAddr>,
        config: Config,
        news: &impl News,
    ) -> Result<Endpoint, Failure> {
        self.bind_shards(addresses, config, 1, news).await
    }

    /// As [`Self::bind`], with so many shards.
    pub(crate) async fn bind_shards(
        &self,
        addresses: Vec<SocketAddr>,
        config: Config,
        shards: u32,
        news: &impl News,
    ) -> Result<Endpoint, Failure> {
        let twice = |name: &&String| self.prefer.iter().filter(|other| other == name).count() > 1;
        if let Some(both) = self.prefer.iter().find(twice) {
            return Err(Failure::Usage(format!(
                "--prefer names {both} twice; give each interface one place"
            )));
        }
        let mut config = config;
        self.controller.apply(&mut config);
        config = self.multipath.apply(config);
        if self.measure_capacity {
            config.heartbeat.form = HeartbeatForm::Train;
        }
        config.failure.association = AssociationFailure::Silence(Duration::from_secs(self.patience));
        if let Some(path) = &self.auth_key_file {
            config.auth.keys = key_file::read(path).context("--auth-key-file")?;
            config.auth = config.auth.requiring_everything();
        }
        let mut builder = Endpoint::builder().addresses(addresses).config(config).shards(shards);
        let policy = self.policy;
        builder = if self.network.is_given() {
            let control = self.network.control.clone();
            builder.policy(move || Gated::new(control.clone(), move || policy.policy()))
        } else {
            builder.policy(move || policy.policy())
        };
        // Files and measurements are streams of bytes: nothing depends on where a message ends.
        builder = builder.large_messages(LargeMessages::InParts);
        if let Some(bytes) = self.window {
            builder = builder.window(bytes);
        }
        builder = self.watching.prepare(builder)?;
        let endpoint = self.sources(builder)?.bind().await?;
        self.doubt(&endpoint.interfaces(), news);
        self.watching.serve(&endpoint, news).await?;
        Ok(endpoint)
    }

    /// A name that nothing here bears may be a slip, or a modem that is not plugged in yet: no error, but worth a word.
    fn doubt(&self, interfaces: &Interfaces, news: &impl News) {
        let there: Vec<&str> =
            interfaces.0.iter().filter(|(_, one)| one.is_known()).map(|(name, _)| name.as_str()).collect();
        for (option, names) in [("--prefer", &self.prefer), ("--metered", &self.metered)] {
            for name in names.iter().filter(|name| !there.contains(&name.as_str())) {
                let list = if there.is_empty() { "none".into() } else { there.join(", ") };
                let text = format!(
                    "{option}: no interface is called {name} now (there are: {list}); it counts once there is one"
                );
                news.event("unknown-interface", json!({ "option": option, "interface": name, "text": text }));
                news.warn(&text);
            }
        }
    }

    /// What to check besides the network when nobody answers.
    pub(crate) fn key_hint(&self) -> &'static str {
        match self.auth_key_file {
            Some(_) => {
                " Both hosts need --auth-key-file with the same key: one without, or with another, does not get through, nor does one that has printed a ticket."
            }
            None if self.insecure => " If it runs with --auth-key-file, this host needs the same key.",
            None => " If it runs with --insecure, this host must say so, too.",
        }
    }

    fn sources(&self, builder: EndpointBuilder) -> anyhow::Result<EndpointBuilder> {
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

#[cfg(test)]
#[path = "mobility_tests.rs"]
mod tests;
