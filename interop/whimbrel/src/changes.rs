//! `--change`: our own addresses change at given moments of a transfer (RFC 5061).

use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use whimbrel::{Association, Endpoint};

use crate::Reporter;

/// How often we look whether the host has an address by now.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// One change of our own addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// Add this address, as soon as the host has it.
    Add(IpAddr),
    /// Take it out.
    Remove(IpAddr),
    /// Ask the peer to send there.
    AskPrimary(IpAddr),
    /// Nothing, until the host has this address.
    Await(IpAddr),
}

impl std::str::FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (verb, address) = text.split_once(' ').ok_or("a verb and an address are needed")?;
        let address = address.parse().map_err(|error| format!("{address}: {error}"))?;
        match verb {
            "add" => Ok(Self::Add(address)),
            "remove" => Ok(Self::Remove(address)),
            "ask-primary" => Ok(Self::AskPrimary(address)),
            "await" => Ok(Self::Await(address)),
            _ => Err(format!("{verb}: not add, remove, ask-primary or await")),
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Add(address) => write!(f, "add {address}"),
            Self::Remove(address) => write!(f, "remove {address}"),
            Self::AskPrimary(address) => write!(f, "ask-primary {address}"),
            Self::Await(address) => write!(f, "await {address}"),
        }
    }
}

/// What has become of the changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    UnderWay,
    Done,
    /// One was refused, or the association ended before.
    Failed,
}

/// Carries the changes out, each once `progress` has been made and the peer has answered the one before.
pub(crate) async fn carry_out(
    changes: Vec<Change>,
    endpoint: Endpoint,
    association: Association,
    mut progress: watch::Receiver<u64>,
    standing: watch::Sender<Standing>,
    reporter: &'static Reporter,
) {
    let mut outcome = Standing::Done;
    for (index, &change) in changes.iter().enumerate() {
        if progress.wait_for(|made| *made > index as u64).await.is_err() {
            outcome = Standing::Failed;
            break;
        }
        let answer = match change {
            Change::Add(address) => {
                wait_for_address(&endpoint, address).await;
                association.add_address(address).await
            }
            Change::Await(address) => {
                wait_for_address(&endpoint, address).await;
                Ok(())
            }
            Change::Remove(address) => association.delete_address(address).await,
            Change::AskPrimary(address) => association.ask_primary(address).await,
        };
        let error = answer.err().map(|error| error.to_string());
        if error.is_some() {
            outcome = Standing::Failed;
        }
        reporter.say("change", json!({"command": change.to_string(), "error": error}));
    }
    standing.send_replace(outcome);
}

async fn wait_for_address(endpoint: &Endpoint, address: IpAddr) {
    while !endpoint.local_addresses().iter().any(|local| local.ip() == address) {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
