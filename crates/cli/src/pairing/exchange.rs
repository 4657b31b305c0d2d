//! What two hosts tell each other while they are being paired: a message each way, over an association that the ticket protects.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use whimbrel::secure::{Identity, PublicKey};
use whimbrel::{Acknowledge, Association, Endpoint, Message, PayloadProtocolId, StreamId};

use super::book::{Paired, check_name};
use crate::addresses::of_peer;
use crate::transfer::names::printable;

/// SCTP port of pairing.
pub(crate) const SCTP_PORT: u16 = 7877;
/// PPID of its messages.
const PPID: u32 = 0x5748_5201;
/// The version this code speaks.
const VERSION: u32 = 1;
/// Bytes of a message at most.
const LONGEST: usize = 8192;
/// Addresses of a host at most.
const MAX_ADDRESSES: usize = 16;
/// How long the other host may take to answer.
const ANSWER: Duration = Duration::from_secs(30);

/// Who a host is.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Card {
    version: u32,
    /// What it calls itself.
    pub(super) name: String,
    key: String,
    /// Where its servers are found, with their usual port unless one is named.
    addresses: Vec<String>,
}

/// A message of either side.
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
enum Words {
    /// This is who I am. Whoever has shown the ticket says it first; the answer says that the other one has written it down.
    Card(Card),
    /// That cannot be.
    No(String),
}

impl Card {
    /// This host's, whose sockets are those of `endpoint`.
    pub(super) fn own(identity: &Identity, endpoint: &Endpoint) -> Self {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let short = name.split('.').next().unwrap_or_default();
        let name = if check_name(short).is_ok() { short.to_owned() } else { "host".to_owned() };
        let addresses = endpoint.local_addresses();
        let addresses = addresses.iter().filter(|address| !address.ip().is_loopback()).take(MAX_ADDRESSES);
        let addresses = addresses.map(|address| address.ip().to_string()).collect();
        Self { version: VERSION, name, key: identity.public_key().to_string(), addresses }
    }

    /// The same, found elsewhere.
    pub(super) fn at(self, addresses: Vec<String>) -> Self {
        Self { addresses, ..self }
    }

    /// The host that the card is of, by the name that it has here.
    pub(super) fn paired(&self, name: Option<&str>, addresses: Vec<String>) -> anyhow::Result<Paired> {
        let name = match name {
            Some(name) => name,
            // A name with a dot could be that of somebody else in the name system.
            None if self.name.contains('.') || check_name(&self.name).is_err() => {
                bail!("the other host has no name of its own that could be taken: choose one by --name")
            }
            None => &self.name,
        };
        Paired::new(name, self.key()?, addresses)
    }

    pub(super) fn key(&self) -> anyhow::Result<PublicKey> {
        Ok(self.key.parse()?)
    }

    pub(super) fn addresses(&self) -> Vec<String> {
        self.addresses.clone()
    }
}

/// Says who we are.
pub(super) async fn introduce(association: &Association, card: Card) -> anyhow::Result<()> {
    say(association, &Words::Card(card)).await
}

/// Says why there is no pairing.
pub(super) async fn refuse(association: &Association, error: &anyhow::Error) -> anyhow::Result<()> {
    say(association, &Words::No(format!("{error:#}"))).await
}

async fn say(association: &Association, words: &Words) -> anyhow::Result<()> {
    let message = Message {
        ppid: PayloadProtocolId(PPID),
        acknowledge: Acknowledge::Immediately,
        ..Message::new(StreamId(0), Bytes::from(serde_json::to_vec(words)?))
    };
    association.send(message).await.context("the connection is lost")
}

/// Waits for the other host's card.
pub(super) async fn meet(association: &Association) -> anyhow::Result<Card> {
    let received = tokio::time::timeout(ANSWER, association.recv()).await;
    let received = received.context("the other host says nothing")??;
    let received = received.context("the other host has closed the connection")?;
    let expected = received.ppid.0 == PPID && received.payload.len() <= LONGEST;
    ensure!(expected, "the other host does not speak of pairing");
    match serde_json::from_slice(&received.payload) {
        Ok(Words::Card(card)) => {
            let theirs = card.version;
            ensure!(
                theirs == VERSION,
                "the other host speaks version {theirs} of pairing, we speak {VERSION}"
            );
            ensure!(card.addresses.len() <= MAX_ADDRESSES, "the other host names too many addresses");
            // Its links are not ours.
            let bad = |one: &&String| one.contains('%') || of_peer(one).is_err();
            ensure!(
                !card.addresses.iter().any(|one| bad(&one)),
                "the other host names addresses that are none"
            );
            Ok(card)
        }
        Ok(Words::No(text)) => bail!("the other host says: {}", printable(&text)),
        Err(_) => bail!("the other host does not speak of pairing"),
    }
}
