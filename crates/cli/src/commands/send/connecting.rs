//! How a sender gets a connection, and what it says when it gets none.

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::json;
use whimbrel::{Association, ConnectError};

use super::{LONG, LOOK, NO_NETWORK, PAUSE, Transfer, waiting};
use crate::commands::diagnosis::complaints;
use crate::commands::no_connection::{NoConnection, may_pass};

impl Transfer {
    /// The first connection. Silence is waited out; an answer that says no is believed at once.
    pub(super) async fn connect_first(&self) -> anyhow::Result<Association> {
        let patience = self.patience.max(LONG);
        let mut deadline = Instant::now() + patience;
        loop {
            match self.connect(deadline).await {
                Ok(association) => {
                    self.receiver.remember(&association).await?;
                    return Ok(association);
                }
                Err(NoConnection::Passing(error)) if Instant::now() < deadline => {
                    self.display.note(&format!("{error:#}"));
                    tokio::time::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now()))).await;
                }
                Err(NoConnection::Stranger(host, key, _)) => {
                    host.meet(key, self.deaf).await?;
                    deadline = Instant::now() + patience;
                }
                Err(error) => return Err(error.into_error()),
            }
        }
    }

    /// Waits for a network and tries to connect, until the deadline.
    pub(super) async fn connect(&self, deadline: Instant) -> Result<Association, NoConnection> {
        self.network(deadline).await?;
        self.display.note(&format!("connecting to {}", self.peers()));
        let mut attempt = std::pin::pin!(self.peer.connect(&self.endpoint, self.receiver.sctp_port));
        let first = deadline.min(Instant::now() + LONG);
        let mut outcome = tokio::time::timeout_at(first.into(), &mut attempt).await;
        if outcome.is_err() && first < deadline {
            let text = format!("no answer yet; {}", self.hint().await);
            waiting(&text, &self.display);
            outcome = tokio::time::timeout_at(deadline.into(), &mut attempt).await;
        }
        let association = match outcome {
            Ok(Ok(association)) => association,
            Ok(Err(error)) => return Err(self.advise(error).await),
            Err(_) => return Err(NoConnection::Passing(self.silence().await)),
        };
        self.connected(&association);
        self.beside.watch(&association).await;
        Ok(association)
    }

    pub(super) fn connected(&self, association: &Association) {
        let route = association.initial_route();
        self.display.set_peer(route.remote);
        let key = association.peer_key();
        let protected = key.is_some();
        let connected = json!({
            "local": route.local, "remote": route.remote, "protected": protected,
            "key": key.map(|key| key.to_string()), "name": self.receiver.name(),
        });
        self.display.event("connected", connected);
        let how = if protected { ", encrypted" } else { ", not encrypted" };
        self.display.note(&format!("connected to {}{how}", route.remote));
    }

    /// Waits until this host has an address.
    async fn network(&self, deadline: Instant) -> Result<(), NoConnection> {
        if !self.endpoint.local_addresses().is_empty() {
            return Ok(());
        }
        waiting(NO_NETWORK, &self.display);
        while self.endpoint.local_addresses().is_empty() {
            if Instant::now() >= deadline {
                return Err(NoConnection::Passing(ConnectError::NoLocalAddress.into()));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    async fn silence(&self) -> anyhow::Error {
        let seconds = self.patience.max(LONG).as_secs();
        let (peers, hint) = (self.peers(), self.hint().await);
        anyhow::anyhow!("no connection to {peers} within {seconds} s (--retry); {hint}")
    }

    /// The receiver's addresses, for people.
    fn peers(&self) -> String {
        let list: Vec<String> = self.peer.named.iter().map(SocketAddr::to_string).collect();
        list.join(", ")
    }

    /// What to do about an error. One of our own making needs no advice about the receiver.
    async fn advise(&self, error: ConnectError) -> NoConnection {
        if let Some((host, key)) = self.receiver.stranger(&error) {
            return NoConnection::Stranger(host.clone(), key, error.into());
        }
        match error {
            ConnectError::Failed(reason) => {
                if let Some(advice) = self.receiver.advice(&reason) {
                    return NoConnection::Final(anyhow::anyhow!(
                        "no connection to {}: {advice}",
                        self.peers()
                    ));
                }
                let hint = self.hint().await;
                let error = anyhow::anyhow!("no connection to {}: {reason}; {hint}", self.peers());
                if may_pass(&reason) { NoConnection::Passing(error) } else { NoConnection::Final(error) }
            }
            // The network went between the look and the attempt.
            ConnectError::NoLocalAddress => NoConnection::Passing(error.into()),
            error => NoConnection::Final(error.into()),
        }
    }

    /// What the network complains of, or what else is usually the matter.
    async fn hint(&self) -> String {
        if let Some(text) = complaints(&self.peer.named).await {
            return text;
        }
        let port = self.peer.named.first().map_or(0, SocketAddr::port);
        format!(
            "is `whimbrel recv` running there (SCTP port {}), and do firewalls let UDP {port} through?{}",
            self.receiver.sctp_port, self.key_hint
        )
    }
}
