//! The file of hosts that were met at an address: which key is expected there since.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use whimbrel::secure::PublicKey;

use super::lines::{is_entry, lock, read_text, without};
use crate::identity;
use crate::replace::replace;

/// What begins a file that has just been made.
const HEAD: &str = "# Hosts that were met by their address alone, a line each: the address as it was typed, and the key that is expected there since.\n# Delete a line, and you are asked again.\n";

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
            let host = parse(line).with_context(|| format!("{}, line {}", path.display(), number + 1))?;
            hosts.push(host);
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

    /// Expects `key` at these places from now on. What others have written meanwhile is heeded.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(&mut self, places: &[String], key: PublicKey) -> anyhow::Result<()> {
        let _lock = lock(&self.path)?;
        let is_there = |line: &str| parse(line).is_ok_and(|(place, _)| places.contains(&place));
        let mut text = without(&read_text(&self.path)?, is_there);
        if text.is_empty() {
            text.push_str(HEAD);
        }
        for place in places {
            text.push_str(&format!("{place} {key}\n"));
        }
        replace(&self.path, &text)?;
        *self = Self::read(self.path.clone())?;
        Ok(())
    }
}

fn parse(line: &str) -> anyhow::Result<(String, PublicKey)> {
    let mut words = line.split_whitespace();
    let (Some(place), Some(key), None) = (words.next(), words.next(), words.next()) else {
        bail!("expected an address and a public key");
    };
    Ok((place.to_owned(), key.parse()?))
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
