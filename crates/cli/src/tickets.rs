//! Tickets that this host gives to those who may reach it.

use std::path::{Path, PathBuf};

use serde_json::json;
use whimbrel::secure::{self, Identity, PublicKey, Ticket, Trust};
use whimbrel::{Endpoint, Security};

use crate::exit::Failure;
use crate::identity;
use crate::news::News;
use crate::pairing::Admitted;

/// What a ticket is beside the one in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Age {
    /// There was none.
    New,
    /// There was one of another host, or for another port.
    Replaces,
    /// It is that one.
    Kept,
}

/// A ticket that is about to be given out.
pub(crate) struct Offer {
    identity: Identity,
    ticket: Ticket,
    file: Option<PathBuf>,
    /// How it is beside the one that was in the file.
    age: Age,
}

impl Offer {
    /// The ticket in `file`, if it is of this host, so that who has it goes on where a server has begun anew, or else a new one.
    pub(crate) fn new(sctp_port: u16, file: Option<&Path>) -> Result<Self, Failure> {
        let identity = identity::own()?;
        let ours = |ticket: &Ticket| ticket.key() == identity.public_key() && ticket.port() == sctp_port;
        let before = file.map(identity::kept_ticket).transpose()?.flatten();
        let file = file.map(Path::to_path_buf);
        let age = match &before {
            Some(ticket) if ours(ticket) => Age::Kept,
            Some(_) => Age::Replaces,
            None => Age::New,
        };
        let ticket = match before.filter(ours) {
            Some(ticket) => ticket,
            None => Ticket::new(identity.public_key(), sctp_port, Vec::new()).map_err(anyhow::Error::from)?,
        };
        Ok(Self { identity, ticket, file, age })
    }

    /// The key of who has the ticket.
    pub(crate) fn holder(&self) -> PublicKey {
        self.ticket.sender().public_key()
    }

    /// Nobody but the holder of the ticket.
    pub(crate) fn security(&self) -> Security {
        secure::required(&self.identity, Trust::keys([self.holder()]))
    }

    /// As [`Self::security`], and everybody else who is admitted.
    pub(crate) fn security_of(&self, admitted: &Admitted) -> Security {
        secure::required(&self.identity, Trust::Keyring(admitted.keyring()))
    }

    /// The ticket for a host whose addresses are those of `endpoint`.
    pub(crate) fn at(&self, endpoint: &Endpoint) -> Ticket {
        self.ticket.clone().at(endpoint.local_addresses())
    }

    /// Shows the ticket to the user, or puts it into its file. `command` is what its holder types before it.
    pub(crate) fn hand_out(
        &self,
        endpoint: &Endpoint,
        command: &str,
        news: &impl News,
    ) -> anyhow::Result<()> {
        let ticket = self.at(endpoint);
        if let Some(file) = &self.file {
            identity::write_ticket(file, &ticket)?;
            let file = file.display();
            news.event("ticket", json!({ "file": file.to_string(), "kept": self.age == Age::Kept }));
            let same = self.ticket.addresses() == ticket.addresses();
            news.note(&match self.age {
                Age::New => format!("the ticket is in {file}: {command} --ticket-file {file}"),
                Age::Kept if same => format!("the ticket in {file} is that of before: {command} --ticket-file {file}"),
                Age::Kept => format!("the ticket in {file} is that of before with this host's addresses of now; for a copy of it say them with --to"),
                Age::Replaces => format!("the ticket that was in {file} was for another host or port, and is replaced: {command} --ticket-file {file}"),
            });
            return Ok(());
        }
        news.event("ticket", json!({ "ticket": ticket.to_string() }));
        news.note(
            "for the other host, which needs nothing else (and whoever else reads it can do the same):",
        );
        news.note(&format!("  {command} --to {ticket}"));
        Ok(())
    }
}
