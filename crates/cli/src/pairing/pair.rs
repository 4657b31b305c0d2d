//! `whimbrel pair`

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use serde_json::json;
use whimbrel::secure::{Identity, PublicKey};
use whimbrel::{Association, ConnectError, Endpoint, Security};

use super::exchange::{Card, SCTP_PORT, introduce, meet, refuse};
use super::{Book, Paired, book::check_name};
use crate::addresses::{self, Address, UDP_PORT};
use crate::args::OutputArgs;
use crate::commands::{config, leave};
use crate::destination::{Destination, Pin, Receiver};
use crate::display::Display;
use crate::exit::{Failure, unless_interrupted};
use crate::identity;
use crate::peer::Peer;
use crate::tickets::Offer;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(30);
/// How long the last words may take to arrive.
const GOODBYE: Duration = Duration::from_secs(3);

/// Let two hosts know each other, so that they need no tickets any more
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel pair                          on one host, which prints a ticket
  whimbrel pair whm1… --name robot       on the other one, once
  whimbrel send film.mkv --to robot      from then on, to `whimbrel recv` there

Each writes the other's public key into its file of peers ($XDG_CONFIG_HOME/whimbrel/peers or \
~/.config/whimbrel/peers), and each may send files to the other's `whimbrel recv` after that; `whimbrel peers` lists \
them and forgets them. The ticket is good for one pairing and must reach nobody else.")]
pub(crate) struct PairArgs {
    /// The ticket that `whimbrel pair` has printed on the other host, with further addresses of that host if need be.
    #[arg(value_name = "TICKET", value_delimiter = ',', value_parser = Destination::parse)]
    ticket: Vec<Destination>,
    /// What the other host is called here [default: what it calls itself].
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Where the other host will find servers of this one, each IP, IP:UDPPORT or a host name [default: this host's addresses].
    #[arg(long, value_name = "ADDR", value_delimiter = ',', value_parser = at)]
    at: Vec<String>,
    /// Local addresses to listen on, or `any` [default: any, port 9899].
    #[arg(long, value_name = "ADDR", value_delimiter = ',', conflicts_with = "ticket", value_parser = addresses::of_ours)]
    listen: Vec<Address>,
    #[command(flatten)]
    output: OutputArgs,
}

fn name(text: &str) -> Result<String, String> {
    check_name(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

fn at(text: &str) -> Result<String, String> {
    addresses::of_peer(text).map(|_| text.trim().to_owned())
}

/// Pairs this host with another one.
pub(crate) async fn run(args: PairArgs) -> Result<(), Failure> {
    let mut interrupt = std::pin::pin!(crate::exit::interrupted());
    let display = Display::new(args.output);
    if args.output.quiet && args.ticket.is_empty() {
        return Err(Failure::Usage("with --quiet nobody sees the ticket that the other host needs".into()));
    }
    // What is wrong with it is to be known before the other host writes us down.
    let book = Book::open()?;
    let host = async {
        if args.ticket.is_empty() {
            offer(&args, book, &display).await
        } else {
            join(&args, book, &display).await
        }
    };
    let host = unless_interrupted(&mut interrupt, host).await?;
    let (name, key) = (&host.name, host.key.to_string());
    display.event("paired", json!({ "name": name, "key": key, "addresses": host.addresses }));
    display.note(&format!("paired with {name} ({key})"));
    display.note(&format!("  whimbrel send FILE --to {name}   when `whimbrel recv` runs there"));
    Ok(())
}

/// Waits for who has the ticket.
async fn offer(args: &PairArgs, mut book: Book, display: &Display) -> Result<Paired, Failure> {
    let offer = Offer::new(SCTP_PORT, None)?;
    let identity = identity::own()?;
    let local = addresses::local(&args.listen, UDP_PORT).await?;
    let free = addresses::on_any_port(&local);
    let endpoint = match bind(local, offer.security()).await {
        // `whimbrel recv` has the usual port, as a rule.
        Err(_) if args.listen.is_empty() => bind(free, offer.security()).await?,
        endpoint => endpoint?,
    };
    let listener = endpoint.listen(SCTP_PORT)?;
    display.note("on the other host, within reach of this one (and whoever else reads it can do the same):");
    let ticket = offer.at(&endpoint).to_string();
    display.event("ticket", json!({ "ticket": ticket }));
    display.note(&format!("  whimbrel pair {ticket}"));
    loop {
        let association = listener.accept().await?;
        let remote = association.initial_route().remote;
        match admit(args, &identity, &endpoint, &mut book, &association).await {
            Ok(host) => {
                let _ = tokio::time::timeout(GOODBYE, association.shutdown()).await;
                leave(&endpoint, "the pairing is over").await;
                return Ok(host);
            }
            Err(error) => {
                let text = format!("{remote}: {error:#}");
                display.event("failed", json!({ "remote": remote, "text": text }));
                display.warn(&text);
                let _ = tokio::time::timeout(GOODBYE, refuse(&association, &error)).await;
                let _ = tokio::time::timeout(GOODBYE, association.shutdown()).await;
                association.abort("no pairing");
            }
        }
    }
}

async fn admit(
    args: &PairArgs,
    identity: &Identity,
    endpoint: &Endpoint,
    book: &mut Book,
    association: &Association,
) -> anyhow::Result<Paired> {
    let card = meet(association).await?;
    let host = write_down(args, book, &card, identity.public_key(), association)?;
    introduce(association, own_card(args, identity, endpoint)).await?;
    Ok(host)
}

/// Goes to where the ticket says.
async fn join(args: &PairArgs, mut book: Book, display: &Display) -> Result<Paired, Failure> {
    let receiver = Receiver::of(&args.ticket, None, None, SCTP_PORT, false)?;
    let Pin::Ticket(ticket) = &receiver.pin else {
        let text = "expected the ticket that `whimbrel pair` prints on the other host";
        return Err(Failure::Usage(text.into()));
    };
    let key = ticket.key();
    if let Some(name) = &args.name
        && let Some(other) = book.by_name(name).filter(|other| other.key != key)
    {
        let text = format!(
            "{name} is the name of another host here ({}); `whimbrel peers --forget {name}`",
            other.key
        );
        return Err(Failure::Usage(text));
    }
    let identity = identity::own()?;
    let peer = Peer::resolve(&receiver.addresses).await?;
    peer.doubt(display);
    let endpoint = bind(addresses::towards(&peer.all())?, receiver.security()?).await?;
    display.note("connecting");
    let connected = tokio::time::timeout(CONNECT, peer.connect(&endpoint, SCTP_PORT)).await;
    let hint = "is `whimbrel pair` still running there, and is this the ticket that it shows?";
    let association = connected
        .map_err(|_| anyhow!("no connection within {} s; {hint}", CONNECT.as_secs()))?
        .map_err(|error| {
            let advice = match &error {
                ConnectError::Failed(reason) => receiver.advice(reason),
                _ => None,
            };
            anyhow!("no connection: {}", advice.unwrap_or_else(|| format!("{error}; {hint}")))
        })?;
    introduce(&association, own_card(args, &identity, &endpoint)).await?;
    let card = meet(&association).await?;
    let host = (|| {
        ensure!(card.key()? == key, "the other host has not the key that the ticket speaks of");
        write_down(args, &mut book, &card, identity.public_key(), &association)
    })();
    let again = "the other host has written this one down already: run `whimbrel pair` there once more";
    let host = host.context(again)?;
    let _ = tokio::time::timeout(GOODBYE, association.shutdown()).await;
    leave(&endpoint, "the pairing is over").await;
    Ok(host)
}

async fn bind(local: Vec<SocketAddr>, security: Security) -> anyhow::Result<Endpoint> {
    let mut config = config();
    config.security = security;
    Ok(Endpoint::builder().addresses(local).config(config).bind().await?)
}

fn own_card(args: &PairArgs, identity: &Identity, endpoint: &Endpoint) -> Card {
    let card = Card::own(identity, endpoint);
    if args.at.is_empty() { card } else { card.at(args.at.clone()) }
}

/// The other host is where it says, and where it is seen.
fn write_down(
    args: &PairArgs,
    book: &mut Book,
    card: &Card,
    own: PublicKey,
    association: &Association,
) -> anyhow::Result<Paired> {
    let mut addresses = card.addresses();
    let seen = association.initial_route().remote.ip();
    // Loopback is for hosts that are one and the same, and said so.
    if addresses.is_empty() || !(seen.is_loopback() || addresses.contains(&seen.to_string())) {
        addresses.push(seen.to_string());
    }
    let key = card.key()?;
    ensure!(key != own, "that is this host itself");
    // Who is known keeps the name that it has here.
    let name = args.name.clone().or_else(|| book.by_key(key).map(|host| host.name.clone()));
    let host = card.paired(name.as_deref(), addresses)?;
    book.add(host.clone())?;
    Ok(host)
}
