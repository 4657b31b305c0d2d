//! Tickets that this host gives to those who may reach it.

use std::path::{Path, PathBuf};

use serde_json::json;
use whimbrel::secure::{self, Identity, Ticket, Trust};
use whimbrel::{Endpoint, Security};

use crate::exit::Failure;
use crate::identity;
use crate::news::News;

/// A ticket that is about to be given out.
pub(crate) struct Offer {
    identity: Identity,
    ticket: Ticket,
    file: Option<PathBuf>,
    /// It was in the file already.
    kept: bool,
}

impl Offer {
    /// The ticket in `file`, if it is of this host, so that who has it goes on where a server has begun anew, or else a new one.
    pub(crate) fn new(sctp_port: u16, file: Option<&Path>) -> Result<Self, Failure> {
        let identity = identity::own()?;
        let ours = |ticket: &Ticket| ticket.key() == identity.public_key() && ticket.port() == sctp_port;
        let kept = file.map(identity::kept_ticket).transpose()?.flatten().filter(ours);
        let file = file.map(Path::to_path_buf);
        let (ticket, kept) = match kept {
            Some(ticket) => (ticket, true),
            None => {
                let new = Ticket::new(identity.public_key(), sctp_port, Vec::new());
                (new.map_err(anyhow::Error::from)?, false)
            }
        };
        Ok(Self { identity, ticket, file, kept })
    }

    /// Nobody but the holder of the ticket.
    pub(crate) fn security(&self) -> Security {
        secure::required(&self.identity, Trust::keys([self.ticket.sender().public_key()]))
    }

    /// Shows the ticket to the user, or puts it into its file. `command` is what its holder types before it.
    pub(crate) fn hand_out(
        &self,
        endpoint: &Endpoint,
        command: &str,
        news: &impl News,
    ) -> anyhow::Result<()> {
        let ticket = self.ticket.clone().at(endpoint.local_addresses());
        if let Some(file) = &self.file {
            identity::write_ticket(file, &ticket)?;
            let file = file.display();
            news.event("ticket", json!({ "file": file.to_string(), "kept": self.kept }));
            let age = if self.kept { "is that of before" } else { "is a new one" };
            news.note(&format!("the ticket in {file} {age}: {command} --ticket-file {file}"));
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
