//! Options of commands whose host may move, and what happens to its addresses meanwhile.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use serde_json::json;
use whimbrel::interfaces::{FactFile, Preferences};
use whimbrel::{Config, Endpoint, EndpointBuilder, EndpointEvent};

/// What a command that moves data understands about moving.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Moving")]
pub(crate) struct MobilityArgs {
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
        let builder = Endpoint::builder().addresses(addresses).config(config);
        Ok(self.sources(builder)?.bind().await?)
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

/// The addresses in words; an endpoint may have none yet.
pub(crate) fn describe(addresses: &[String]) -> String {
    if addresses.is_empty() {
        "no address yet (it will be used when there is one)".into()
    } else {
        addresses.join(", ")
    }
}
