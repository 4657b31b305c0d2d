//! Hosts that are named by an address alone. Everything is encrypted, but for whom? The first time the user is asked whether the key that is
//! there is the right one; from then on it has to be there.

use std::io::{IsTerminal, Write};

use anyhow::{Context, bail, ensure};
use whimbrel::secure::{Keyring, PublicKey};

use crate::addresses::Address;
use crate::exit::Failure;
use crate::output::complain;
use crate::pairing::{Book, Known};

/// A host at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acquaintance {
    places: Vec<String>,
    /// The key that is expected there; empty as long as it is a stranger.
    keys: Keyring,
}

impl Acquaintance {
    /// Who was met at these addresses before, or a stranger.
    ///
    /// # Errors
    /// The file of those that were met cannot be read, or these are several hosts.
    pub(crate) fn at(addresses: &[Address]) -> Result<Self, Failure> {
        let known = Known::open()?;
        let places: Vec<String> = addresses.iter().map(Address::to_string).collect();
        let keys = Keyring::default();
        places.iter().filter_map(|place| known.key_at(place)).for_each(|key| keys.add(key));
        if keys.keys().len() > 1 {
            let text = format!("these are several hosts: their keys differ in {}", known.path().display());
            return Err(Failure::Usage(text));
        }
        Ok(Self { places, keys })
    }

    /// What the key exchange accepts.
    pub(crate) fn keyring(&self) -> Keyring {
        self.keys.clone()
    }

    /// Whose key is expected; `None` of a stranger.
    pub(crate) fn key(&self) -> Option<PublicKey> {
        self.keys.keys().first().copied()
    }

    /// What to do where another key than the one that is expected has been found.
    pub(crate) fn changed(&self, found: &str) -> String {
        let file = Known::open().map(|known| known.path().display().to_string()).unwrap_or_default();
        let expected = self.key().map(|key| key.to_string()).unwrap_or_default();
        format!(
            "another host is there than the one that was met at {}: its key is {found}, not {expected}. If that is as it should be, take the line out of {file}",
            self.places.join(", ")
        )
    }

    /// Asks the user whether a stranger's key is the right one, and expects it there from now on. `may_ask`: whether the user sees
    /// what is printed.
    ///
    /// # Errors
    /// There is nobody to ask, or the answer is no.
    pub(crate) async fn meet(&self, key: PublicKey, may_ask: bool) -> anyhow::Result<()> {
        let place = self.places.join(", ");
        if let Some(host) = Book::open()?.by_key(key) {
            bail!("{place} is {}, a paired host: say --to {},{place}", host.name, host.name);
        }
        ensure!(
            may_ask && std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
            "whose key to expect at {place} is not known here (there it is {key}), and nobody can be asked without a terminal. Give the ticket \
             that is shown there to --to, pair the two hosts (`whimbrel pair`), or let `whimbrel send --ssh` begin the receiver; --insecure, on \
             both hosts, is for what may be read and changed on the way"
        );
        complain(&format!("{place} has not been met before. Its key is"));
        complain(&format!("  {key}"));
        complain("which is the right one if `whimbrel key` shows the same there.");
        let answer = ask("Is it? [yes/no] ").await?;
        let yes = ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str());
        ensure!(yes, "nothing was sent: the key at {place} was not confirmed");
        Known::open()?.add(&self.places, key)?;
        self.keys.add(key);
        Ok(())
    }
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
