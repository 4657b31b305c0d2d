//! The file of hosts that were met at an address: which key is expected there since.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use whimbrel::secure::PublicKey;

use super::lines::{is_entry, lock, read_text};
use crate::addresses::Address;
use crate::identity;
use crate::replace::replace;

/// What begins a file that has just been made.
const HEAD: &str = "# Hosts that were met by their address alone, a line each: the address or name that was given to --to, and the key that is expected there since.\n# Delete a line, and you are asked again.\n";

/// All of them.
#[derive(Debug)]
pub(crate) struct Known {
    path: PathBuf,
    hosts: Vec<(String, PublicKey)>,
}

impl Known {
    /// What is in this user's file; nothing if there is none.
    ///
    /// # Errors
    /// The file cannot be read, others may change it, or a line of it is not understood.
    pub(crate) fn open() -> anyhow::Result<Self> {
        Self::read(identity::path()?.with_file_name("known"))
    }

    fn read(path: PathBuf) -> anyhow::Result<Self> {
        let text = read_text(&path)?;
        let mut hosts = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_entry(line)) {
            let place = || format!("{}, line {}", path.display(), number + 1);
            let (host, key) = parse(line).with_context(place)?;
            let twice = hosts.iter().any(|(other, its)| *other == host && *its != key);
            ensure!(!twice, "{}: {host} has another key in a line before", place());
            hosts.push((host, key));
        }
        Ok(Self { path, hosts })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The key that is expected at `place`.
    pub(crate) fn key_at(&self, place: &str) -> Option<PublicKey> {
        self.hosts.iter().find(|(known, _)| known == place).map(|(_, key)| *key)
    }

    /// Expects `key` at this place from now on. What others have written meanwhile is heeded.
    ///
    /// # Errors
    /// The file cannot be written, or another key is expected there by now.
    pub(crate) fn add(&mut self, place: &str, key: PublicKey) -> anyhow::Result<()> {
        let _lock = lock(&self.path)?;
        *self = Self::read(self.path.clone())?;
        match self.key_at(place) {
            Some(known) if known == key => return Ok(()),
            Some(known) => bail!("{} expects another key at {place} by now: {known}", self.path.display()),
            None => {}
        }
        let mut text = read_text(&self.path)?;
        if text.is_empty() {
            text.push_str(HEAD);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("{place} {key}\n"));
        replace(&self.path, &text)?;
        self.hosts.push((place.to_owned(), key));
        Ok(())
    }
}

fn parse(line: &str) -> anyhow::Result<(String, PublicKey)> {
    let mut words = line.split_whitespace();
    let (Some(place), Some(key), None) = (words.next(), words.next(), words.next()) else {
        bail!("expected an address and a public key");
    };
    // However it was written. A link that is not there now may be there again.
    let place = place.parse::<Address>().map_or_else(|_| place.to_owned(), |address| address.to_string());
    Ok((place, key.parse()?))
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
