//! Whom to go to: a ticket, or addresses.

use std::path::Path;

use anyhow::Context;
use whimbrel::Security;
use whimbrel::secure::{self, Ticket};

use crate::addresses::{self, Address};
use crate::exit::Failure;
use crate::identity;

/// One value of `--to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    /// Where the receiver is.
    Address(Address),
    /// Where it is, who it is, and who we are to it.
    Ticket(Box<Ticket>),
}

impl Destination {
    /// As typed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().starts_with("whm1") {
            let ticket: Result<Ticket, _> = text.parse();
            return ticket.map(|ticket| Self::Ticket(Box::new(ticket))).map_err(|error| error.to_string());
        }
        addresses::of_peer(text).map(Self::Address)
    }
}

/// All that the options say of the receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Where it may be, best first.
    pub(crate) addresses: Vec<Address>,
    /// The SCTP port that it listens on.
    pub(crate) sctp_port: u16,
    /// `None` if everything goes in clear.
    pub(crate) ticket: Option<Ticket>,
}

impl Receiver {
    /// What `--to`, `--ticket-file` and `--sctp-port` say. Without a ticket the port is `usual_port`. `keyed`: whether there is a key of RFC 4895, too.
    ///
    /// # Errors
    /// They contradict each other, or the ticket is not good.
    pub(crate) fn of(
        to: &[Destination],
        ticket_file: Option<&Path>,
        sctp_port: Option<u16>,
        usual_port: u16,
        keyed: bool,
    ) -> Result<Self, Failure> {
        let mut tickets = Vec::new();
        let mut addresses = Vec::new();
        for one in to {
            match one {
                Destination::Address(address) => addresses.push(address.clone()),
                Destination::Ticket(ticket) => tickets.push((**ticket).clone()),
            }
        }
        if let Some(path) = ticket_file {
            tickets.push(identity::read_ticket(path)?);
        }
        let ticket = tickets.pop();
        if !tickets.is_empty() {
            return Err(Failure::Usage("there are several tickets, and each is for one host".into()));
        }
        if let Some(ticket) = &ticket {
            if keyed {
                let text = "with a ticket everything is encrypted, and --auth-key-file means nothing; leave one of them out";
                return Err(Failure::Usage(text.into()));
            }
            // What is typed is another way to the same host.
            if let Some(first) = ticket.addresses().first() {
                addresses = addresses.into_iter().map(|one| one.with_usual_port(first.port())).collect();
            }
            for address in ticket.addresses() {
                let typed = addresses::of_peer(&address.to_string()).map_err(anyhow::Error::msg);
                addresses.push(typed.context("the ticket names an address that cannot be sent to")?);
            }
        }
        if addresses.is_empty() {
            let text =
                "the ticket names no address, since its host had no network yet; add one: --to ADDRESS";
            return Err(Failure::Usage(text.into()));
        }
        let port = ticket.as_ref().map_or(usual_port, Ticket::port);
        Ok(Self { addresses, sctp_port: sctp_port.unwrap_or(port), ticket })
    }

    /// As whom to go there, and whom to find.
    pub(crate) fn security(&self) -> Security {
        let required = |ticket: &Ticket| secure::required(&ticket.sender(), ticket.trust());
        self.ticket.as_ref().map_or(Security::Off, required)
    }
}

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
