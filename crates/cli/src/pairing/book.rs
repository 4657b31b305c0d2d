//! The file of the hosts that this one is paired with.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use whimbrel::secure::PublicKey;

use super::lines::{is_entry, lock, read_text, without};
use crate::addresses::{self, Address};
use crate::identity;
use crate::replace::replace;

/// Bytes of a name at most.
const NAME_MAX: usize = 64;

/// What begins a file that has just been made.
const HEAD: &str = "# Hosts that this one is paired with (whimbrel pair), a line each: name, public key, addresses.\n# Who is here may send files to `whimbrel recv`, and is found by `--to NAME`. Delete a line, and it is so no more.\n";

/// A host whose key is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Paired {
    /// What it is called here.
    pub(crate) name: String,
    pub(crate) key: PublicKey,
    /// Where it was, or is known to be, as typed after `--to`.
    pub(crate) addresses: Vec<String>,
}

impl Paired {
    /// A host by this name.
    ///
    /// # Errors
    /// The name is none, or one of the addresses cannot stand in the file.
    pub(crate) fn new(name: &str, key: PublicKey, addresses: Vec<String>) -> anyhow::Result<Self> {
        check_name(name)?;
        let odd = |address: &&String| {
            address.is_empty()
                || address
                    .chars()
                    .any(|letter| letter.is_whitespace() || letter.is_control() || letter == ',')
        };
        if let Some(address) = addresses.iter().find(odd) {
            bail!("{address:?} is no address");
        }
        Ok(Self { name: name.to_owned(), key, addresses })
    }

    /// Where it may be. What is no address now may be one later: a link may be away.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.addresses.iter().filter_map(|text| addresses::of_peer(text).ok())
    }
}

impl fmt::Display for Paired {
    /// The line of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.key, self.addresses.join(","))
    }
}

impl FromStr for Paired {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> anyhow::Result<Self> {
        let mut words = line.split_whitespace();
        let (Some(name), Some(key)) = (words.next(), words.next()) else {
            bail!("expected a name, a public key and addresses");
        };
        let addresses = words.next().map(|list| list.split(',').map(str::to_owned).collect());
        ensure!(words.next().is_none(), "there is more than a name, a key and addresses");
        Self::new(name, key.parse()?, addresses.unwrap_or_default())
    }
}

/// A name that can stand after `--to`, and is not taken for an address, a ticket or an option there.
pub(crate) fn check_name(name: &str) -> anyhow::Result<()> {
    let plausible = name.len() <= NAME_MAX
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let small = name.to_ascii_lowercase();
    let taken = small.parse::<std::net::IpAddr>().is_ok()
        || ["whm1", "whk1"].iter().any(|prefix| small.starts_with(prefix))
        || ["any", "localhost"].contains(&small.as_str())
        || !small.bytes().any(|byte| byte.is_ascii_alphabetic());
    ensure!(
        plausible && !taken,
        "{name:?} is no name for a host: up to {NAME_MAX} letters, digits, '-', '.' and '_', with a letter among them"
    );
    Ok(())
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Book {
    path: PathBuf,
    hosts: Vec<Paired>,
}

impl Book {
    /// What is in this user's file; nothing if there is none.
    ///
    /// # Errors
    /// The file cannot be read, others may change it, or a line of it is not understood.
    pub(crate) fn open() -> anyhow::Result<Self> {
        Self::read(path()?)
    }

    fn read(path: PathBuf) -> anyhow::Result<Self> {
        let text = read_text(&path)?;
        let mut hosts = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_entry(line)) {
            let host = line.parse().with_context(|| format!("{}, line {}", path.display(), number + 1))?;
            hosts.push(host);
        }
        Ok(Self { path, hosts })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn hosts(&self) -> &[Paired] {
        &self.hosts
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&Paired> {
        self.hosts.iter().find(|host| host.name == name)
    }

    pub(crate) fn by_key(&self, key: PublicKey) -> Option<&Paired> {
        self.hosts.iter().find(|host| host.key == key)
    }

    /// Adds a host, or says anew where one is that is there. What others have written meanwhile is heeded.
    ///
    /// # Errors
    /// Another host has the name, or the file cannot be written.
    pub(crate) fn add(&mut self, host: Paired) -> anyhow::Result<()> {
        let _lock = lock(&self.path)?;
        *self = Self::read(self.path.clone())?;
        if let Some(other) = self.by_name(&host.name).filter(|other| other.key != host.key) {
            bail!(
                "{} is the name of another host here ({}); give this one another by --name, or see `whimbrel peers --forget {}`",
                host.name,
                other.key,
                host.name
            );
        }
        let is_it = |line: &str| line.parse::<Paired>().is_ok_and(|other| other.key == host.key);
        let mut text = without(&read_text(&self.path)?, is_it);
        if text.is_empty() {
            text.push_str(HEAD);
        }
        text.push_str(&format!("{host}\n"));
        replace(&self.path, &text)?;
        self.hosts.retain(|other| other.key != host.key);
        self.hosts.push(host);
        Ok(())
    }
}

/// Takes a host out of this user's file, whatever else is in there; whether it was there.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn forget(name: &str) -> anyhow::Result<bool> {
    forget_in(&path()?, name)
}

fn forget_in(path: &Path, name: &str) -> anyhow::Result<bool> {
    let _lock = lock(path)?;
    let before = read_text(path)?;
    let after = without(&before, |line| line.split_whitespace().next() == Some(name));
    let found = after.lines().count() < before.lines().count();
    if found {
        replace(path, &after)?;
    }
    Ok(found)
}

/// This user's file.
pub(super) fn path() -> anyhow::Result<PathBuf> {
    Ok(identity::path()?.with_file_name("peers"))
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
