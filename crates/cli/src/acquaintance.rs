//! Hosts that are named by an address alone. Everything is encrypted, but for whom? The first time the user is asked whether the key that is
//! there is the right one; from then on it has to be there.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;

use anyhow::{Context, bail, ensure};
use whimbrel::Association;
use whimbrel::secure::{Keyring, PublicKey};

use crate::addresses::{self, Address};
use crate::exit::Failure;
use crate::output::complain;
use crate::pairing::{Book, Known};

/// A host at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acquaintance {
    places: Vec<Place>,
    /// The key that is expected there; empty as long as it is a stranger.
    keys: Keyring,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Place {
    address: Address,
    /// The key that was there before.
    known: Option<PublicKey>,
}

impl Acquaintance {
    /// Who was met at these addresses before, or a stranger.
    ///
    /// # Errors
    /// The file of those that were met cannot be read, or these are several hosts.
    pub(crate) fn at(addresses: &[Address]) -> Result<Self, Failure> {
        let known = Known::open()?;
        let mut places: Vec<Place> = Vec::new();
        for address in addresses {
            if !places.iter().any(|place| place.address == *address) {
                let known = known.key_at(&address.to_string());
                places.push(Place { address: address.clone(), known });
            }
        }
        let keys = Keyring::default();
        places.iter().filter_map(|place| place.known).for_each(|key| keys.add(key));
        let host = Self { places, keys };
        if host.keys.keys().len() > 1 {
            let text = format!(
                "these are several hosts: {} have not the same key in {}",
                host.met_at(),
                known.path().display()
            );
            return Err(Failure::Usage(text));
        }
        Ok(host)
    }

    /// What the key exchange accepts.
    pub(crate) fn keyring(&self) -> Keyring {
        self.keys.clone()
    }

    /// Whose key is expected; `None` of a stranger.
    pub(crate) fn key(&self) -> Option<PublicKey> {
        self.keys.keys().first().copied()
    }

    /// The addresses that the user has named.
    pub(crate) fn named(&self) -> String {
        list(self.places.iter())
    }

    /// Those of them where a key was before; all if that is none.
    fn met_at(&self) -> String {
        let met = || self.places.iter().filter(|place| place.known.is_some());
        if met().next().is_some() { list(met()) } else { self.named() }
    }

    /// What to do where another key than the one that is expected has been found.
    pub(crate) fn changed(&self, found: &str) -> String {
        let file = Known::open().map(|known| known.path().display().to_string()).unwrap_or_default();
        let expected = self.key().map(|key| key.to_string()).unwrap_or_default();
        format!(
            "another host is there than the one that was met at {}, perhaps one that poses as it: its key is {found}, not {expected}. If `whimbrel key` \
             shows the new one there, take the line out of {file}, and you are asked again",
            self.met_at()
        )
    }

    /// Asks the user whether a stranger's key is the right one, and expects it from now on. `deaf` is the option by which nobody sees what is printed,
    /// if there is one.
    ///
    /// # Errors
    /// There is nobody to ask, or the answer is no.
    pub(crate) async fn meet(&self, key: PublicKey, deaf: Option<&str>) -> anyhow::Result<()> {
        let place = self.named();
        let book = Book::open()?;
        if let Some(host) = book.by_key(key) {
            bail!("{place} is {}, a paired host: say --to {},{place}", host.name, host.name);
        }
        let is_here = |address: Address| self.places.iter().any(|place| place.address == address);
        if let Some(host) = book.hosts().iter().find(|host| host.addresses().any(is_here)) {
            bail!(
                "{place} is where {} was, a paired host, and another one is there now: its key is {key}",
                host.name
            );
        }
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let why = match deaf {
            Some(option) => format!("with {option} nobody is asked"),
            None => "there is no terminal to ask on".to_owned(),
        };
        ensure!(
            deaf.is_none() && terminal,
            "{place} has not been met before; the host there has the key {key}. Whether that is the right one has to be confirmed once, and {why}: run \
             it on a terminal, or give the ticket that the other host has printed to --to, or pair the two (`whimbrel pair`)"
        );
        complain(&format!("{place} has not been met before. Its key is"));
        complain(&format!("  {key}"));
        complain(
            "which is the right one if `whimbrel key` shows the same there, to the user who runs the other end.",
        );
        // What was typed before the key could be read is no answer.
        _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
        let answer = ask("Is it? [yes/no] ").await?;
        let yes = ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str());
        ensure!(yes, "nothing was sent: the key at {place} was not confirmed");
        self.keys.add(key);
        Ok(())
    }

    /// Expects the key that the host has proved to have, at the address by which it was reached, from now on.
    ///
    /// # Errors
    /// The file of those that were met cannot be written, or another key has been written there.
    pub(crate) async fn remember(&self, association: &Association) -> anyhow::Result<()> {
        let Some(key) = association.peer_key() else { return Ok(()) };
        if self.places.iter().any(|place| place.known == Some(key)) {
            return Ok(());
        }
        let place = self.place_of(association.initial_route().remote).await;
        Known::open()?.add(&place, key)
    }

    /// By which of the addresses that were named `remote` was reached.
    async fn place_of(&self, remote: SocketAddr) -> String {
        for place in &self.places {
            let resolved = addresses::resolve(std::slice::from_ref(&place.address)).await;
            if resolved.is_ok_and(|resolved| resolved.addresses.contains(&remote)) {
                return place.address.to_string();
            }
        }
        // This host by another of its addresses.
        self.places.first().map_or_else(|| remote.to_string(), |place| place.address.to_string())
    }
}

fn list<'a>(places: impl Iterator<Item = &'a Place>) -> String {
    places.map(|place| place.address.to_string()).collect::<Vec<_>>().join(", ")
}

/// What is typed on the terminal.
async fn ask(question: &str) -> anyhow::Result<String> {
    eprint!("{question}");
    std::io::stderr().flush()?;
    let (sender, answer) = tokio::sync::oneshot::channel();
    // In a thread that nobody waits for: the command must be able to end while the question is open.
    std::thread::spawn(move || {
        let mut text = String::new();
        _ = sender.send(std::io::stdin().read_line(&mut text).map(|_| text));
    });
    answer.await.context("nobody answered")?.context("the terminal cannot be read")
}
