//! Whom to go to: a ticket, a paired host, or addresses.

use std::path::Path;

use anyhow::Context;
use whimbrel::secure::{self, PublicKey, Ticket, Trust};
use whimbrel::{Association, CloseReason, ConnectError, KeyExchangeError, Security};

use crate::acquaintance::Acquaintance;
use crate::addresses::{self, Address};
use crate::exit::Failure;
use crate::identity;
use crate::pairing::{Book, Known, Paired, check_name};

/// One value of `--to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    /// Where the receiver is.
    Address(Address),
    /// Where it is, who it is, and who we are to it.
    Ticket(Box<Ticket>),
    /// A host whose key is known here, as ours is there.
    Paired(Paired),
}

impl Destination {
    /// As typed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if Ticket::is_meant_by(text) {
            let ticket: Result<Ticket, _> = text.parse();
            return ticket.map(|ticket| Self::Ticket(Box::new(ticket))).map_err(|error| error.to_string());
        }
        // The name of a paired host is that host, whatever the name system says.
        if check_name(text.trim()).is_ok() && identity::path().is_ok() {
            let book = Book::open().map_err(|error| format!("{error:#}"))?;
            if let Some(host) = book.by_name(text.trim()) {
                return Ok(Self::Paired(host.clone()));
            }
        }
        addresses::of_peer(text).map(Self::Address)
    }
}

/// How a receiver is told from others, and what it knows us by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Pin {
    /// By nothing: everything goes in clear, as `--insecure` says.
    Clear,
    /// By the key that it had when it was first met at its address.
    Acquaintance(Acquaintance),
    Ticket(Ticket),
    Paired(Paired),
}

/// All that the options say of the receiver.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Where it may be, best first.
    pub(crate) addresses: Vec<Address>,
    /// The SCTP port that it listens on.
    pub(crate) sctp_port: u16,
    /// Who it is.
    pub(crate) pin: Pin,
}

/// Cause of an ABORT: the peer refuses what is not encrypted (draft-ietf-tsvwg-sctp-dtls-chunk-04 section 4.3.1).
const MISSING_ENCRYPTION: u16 = 100;

/// What a ticket for this SCTP port is given to, if that is known.
fn user_of(port: u16) -> Option<&'static str> {
    match port {
        crate::transfer::protocol::SCTP_PORT => Some("whimbrel send"),
        crate::perf::SCTP_PORT => Some("whimbrel perf client"),
        crate::pairing::SCTP_PORT => Some("whimbrel pair"),
        _ => None,
    }
}

impl Receiver {
    /// What `--to`, `--ticket-file` and `--sctp-port` say. Without a ticket the port is `usual_port`. `clear`: nothing is encrypted.
    ///
    /// # Errors
    /// They contradict each other, or the ticket is not good.
    pub(crate) fn of(
        to: &[Destination],
        ticket_file: Option<&Path>,
        sctp_port: Option<u16>,
        usual_port: u16,
        clear: bool,
    ) -> Result<Self, Failure> {
        let mut pins = Vec::new();
        let mut addresses = Vec::new();
        for one in to {
            match one {
                Destination::Address(address) => addresses.push(address.clone()),
                Destination::Ticket(ticket) => pins.push(Pin::Ticket((**ticket).clone())),
                Destination::Paired(host) => pins.push(Pin::Paired(host.clone())),
            }
        }
        if let Some(path) = ticket_file {
            pins.push(Pin::Ticket(identity::read_ticket(path)?));
        }
        pins.dedup();
        let pin = pins.pop();
        if !pins.is_empty() {
            return Err(Failure::Usage(
                "these are several hosts (a ticket and the name of a paired host are for one each)".into(),
            ));
        }
        if clear && pin.is_some() {
            let text = "with a ticket or a paired host everything is encrypted; leave out --insecure, and --auth-key-file with it";
            return Err(Failure::Usage(text.into()));
        }
        let port = match &pin {
            Some(Pin::Ticket(ticket)) => {
                add_those_of(ticket, &mut addresses)?;
                ticket.port()
            }
            Some(Pin::Paired(host)) => {
                addresses.extend(host.addresses());
                usual_port
            }
            _ => usual_port,
        };
        if sctp_port.is_none()
            && port != usual_port
            && let Some(user) = user_of(port)
        {
            return Err(Failure::Usage(format!("that is a ticket for `{user}`")));
        }
        if addresses.is_empty() {
            return Err(nowhere(pin.as_ref()));
        }
        let pin = match pin {
            Some(pin) => pin,
            None if clear => {
                refuse_clear(&addresses)?;
                Pin::Clear
            }
            None => Pin::Acquaintance(Acquaintance::at(&addresses)?),
        };
        Ok(Self { addresses, sctp_port: sctp_port.unwrap_or(port), pin })
    }

    /// As whom to go there, and whom to find.
    ///
    /// # Errors
    /// This host's own key, by which a paired host knows it, cannot be had.
    pub(crate) fn security(&self) -> Result<Security, Failure> {
        Ok(match &self.pin {
            Pin::Clear => Security::Off,
            Pin::Acquaintance(host) => secure::required(&identity::own()?, Trust::Keyring(host.keyring())),
            Pin::Ticket(ticket) => secure::required(&ticket.sender(), ticket.trust()),
            Pin::Paired(host) => secure::required(&identity::own()?, Trust::keys([host.key])),
        })
    }

    /// Whether packets are encrypted.
    pub(crate) fn is_protected(&self) -> bool {
        self.pin != Pin::Clear
    }

    /// What a paired host is called here.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.pin {
            Pin::Paired(host) => Some(&host.name),
            _ => None,
        }
    }

    /// The host that answered, if it is the first time that it is met, and its key.
    pub(crate) fn stranger(&self, error: &ConnectError) -> Option<(&Acquaintance, PublicKey)> {
        match (&self.pin, error) {
            (
                Pin::Acquaintance(host),
                ConnectError::Failed(CloseReason::KeyExchange(KeyExchangeError::UnknownPeer(key))),
            ) if host.key().is_none() => PublicKey::try_from(key).ok().map(|key| (host, key)),
            _ => None,
        }
    }

    /// The key that a host has proved to have which was named by its address is expected there from now on.
    ///
    /// # Errors
    /// Those of [`Acquaintance::remember`].
    pub(crate) async fn remember(&self, association: &Association) -> anyhow::Result<()> {
        match &self.pin {
            Pin::Acquaintance(host) => host.remember(association).await,
            _ => Ok(()),
        }
    }

    /// What to do where one of the hosts encrypts and the other does not, or where they do not know each other's keys; `None` if it is
    /// neither.
    pub(crate) fn advice(&self, reason: &CloseReason) -> Option<String> {
        let found = match reason {
            CloseReason::PeerUnprotected => {
                return Some(self.unprotected());
            }
            CloseReason::AbortedByPeer { causes, .. } if causes.first() == Some(&MISSING_ENCRYPTION) => {
                return Some(
                    "the other host takes nothing that is not encrypted; leave --insecure out".into(),
                );
            }
            CloseReason::KeyExchange(KeyExchangeError::UnknownPeer(key)) => Some(key),
            CloseReason::KeyExchange(KeyExchangeError::Refused) => None,
            _ => return None,
        };
        let Some(key) = found else { return Some(self.refused()) };
        let key = PublicKey::try_from(key).map(|key| key.to_string()).unwrap_or_default();
        Some(match &self.pin {
            Pin::Acquaintance(host) => host.changed(&key),
            Pin::Paired(host) => format!("another host is there, not {}: its key is {key}", host.name),
            Pin::Clear | Pin::Ticket(_) => {
                format!("another host is there, not the one that the ticket is of: its key is {key}")
            }
        })
    }

    /// What to do where the other host does not encrypt. One whose key is known would: a hint to go in clear would do what somebody on the way wants.
    fn unprotected(&self) -> String {
        let whom = match &self.pin {
            Pin::Acquaintance(host) if host.key().is_none() => {
                return "the other host does not encrypt; if everybody on the way may read and change what goes there, say --insecure".into();
            }
            Pin::Paired(host) => host.name.clone(),
            Pin::Acquaintance(host) => format!("the host that was met at {}", host.named()),
            Pin::Clear | Pin::Ticket(_) => "the host that the ticket is of".into(),
        };
        format!(
            "who answers there does not encrypt, and so is not {whom}, or somebody on the way interferes; nothing was sent"
        )
    }

    /// What to do where the other host does not know this one.
    fn refused(&self) -> String {
        match &self.pin {
            Pin::Acquaintance(_) => {
                "the other host does not know this one: give the ticket that is shown there to --to, or pair the two (`whimbrel pair`)".to_owned()
            }
            Pin::Paired(host) => format!(
                "{} does not know this host: pair the two again (`whimbrel pair`)",
                host.name
            ),
            Pin::Clear | Pin::Ticket(_) => {
                "the ticket is not good there any more: a receiver that is started anew has a new one, unless it keeps it with --ticket-file".to_owned()
            }
        }
    }

    /// What to check where a connection that is encrypted does not come about.
    pub(crate) fn pin_hint(&self) -> Option<String> {
        match &self.pin {
            Pin::Clear | Pin::Acquaintance(_) => None,
            Pin::Ticket(_) => Some(" A ticket is good until the receiver that printed it ends, or for as long as it is in that receiver's --ticket-file.".into()),
            Pin::Paired(host) => {
                let name = &host.name;
                Some(format!(
                    " If it is not where it was, say where: --to {name},ADDRESS. Both hosts must have the other in `whimbrel peers`."
                ))
            }
        }
    }
}

/// What is known not to be meant for everybody's eyes goes nowhere in clear: to a host that has been met encrypted, or by a name that may be a slip for that of a
/// paired host.
fn refuse_clear(addresses: &[Address]) -> Result<(), Failure> {
    if let Some(name) = addresses.iter().find_map(Address::bare_name) {
        let text = format!(
            "{name} is not paired with this host, and --insecure would send in clear to whoever has that name: give its address, or {name}:{}",
            addresses::UDP_PORT
        );
        return Err(Failure::Usage(text));
    }
    if identity::path().is_err() {
        // Without a home nobody has been met.
        return Ok(());
    }
    let known = Known::open()?;
    let met = addresses.iter().find(|address| known.key_at(&address.to_string()).is_some());
    met.map_or(Ok(()), |address| {
        let file = known.path().display();
        let text = format!("the host at {address} has been met, and encrypts: leave --insecure out, or take the line out of {file}");
        Err(Failure::Usage(text))
    })
}

/// There is no address to go to.
fn nowhere(pin: Option<&Pin>) -> Failure {
    Failure::Usage(match pin {
        None => "say to whom: --to TICKET, a paired host or an address, or --ticket-file FILE".into(),
        Some(Pin::Paired(host)) => {
            format!("no address of {} is known; add one: --to {},ADDRESS", host.name, host.name)
        }
        _ => "the ticket names no address, since its host had no network yet; add one: --to ADDRESS".into(),
    })
}

/// What is typed beside a ticket is another way to the same host, and comes first.
fn add_those_of(ticket: &Ticket, addresses: &mut Vec<Address>) -> Result<(), Failure> {
    if let Some(first) = ticket.addresses().first() {
        for one in addresses.iter_mut() {
            *one = one.clone().with_usual_port(first.port());
        }
    }
    for address in ticket.addresses() {
        let typed = addresses::of_peer(&address.to_string()).map_err(anyhow::Error::msg);
        addresses.push(typed.context("the ticket names an address that cannot be sent to")?);
    }
    Ok(())
}

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
