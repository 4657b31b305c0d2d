//! The file of the hosts that this one is paired with.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use whimbrel::secure::PublicKey;

use crate::addresses::{self, Address};
use crate::identity;

/// Bytes of the file at most.
const LONGEST: u64 = 1 << 20;
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
    /// The name is none, or one of the addresses.
    pub(crate) fn new(name: &str, key: PublicKey, addresses: Vec<String>) -> anyhow::Result<Self> {
        check_name(name)?;
        for address in &addresses {
            addresses::of_peer(address).map_err(|error| anyhow::anyhow!("{address}: {error}"))?;
        }
        Ok(Self { name: name.to_owned(), key, addresses })
    }

    /// Where it may be.
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

/// A name that can stand after `--to`, and is not taken for an address or a ticket there.
pub(crate) fn check_name(name: &str) -> anyhow::Result<()> {
    let plausible = !name.is_empty()
        && name.len() <= NAME_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let taken = name.parse::<std::net::IpAddr>().is_ok()
        || ["whm1", "whk1"].iter().any(|prefix| name.starts_with(prefix))
        || ["any", "localhost"].contains(&name)
        || !name.bytes().any(|byte| byte.is_ascii_alphabetic());
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
    /// The file as it is, comments and all.
    text: String,
    hosts: Vec<Paired>,
}

impl Book {
    /// What is in this user's file; nothing if there is none.
    ///
    /// # Errors
    /// The file cannot be read, others may change it, or a line of it is not understood.
    pub(crate) fn open() -> anyhow::Result<Self> {
        Self::read(identity::path()?.with_file_name("peers"))
    }

    fn read(path: PathBuf) -> anyhow::Result<Self> {
        let mut text = String::new();
        match std::fs::File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            file => {
                let file = file.with_context(|| path.display().to_string())?;
                let mode = file.metadata().map_or(0, |metadata| metadata.mode());
                let shown = path.display();
                ensure!(
                    mode & 0o022 == 0,
                    "{shown} can be changed by others, who could let themselves in: chmod go-w {shown}"
                );
                file.take(LONGEST).read_to_string(&mut text).with_context(|| shown.to_string())?;
            }
        }
        let mut hosts = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_host(line)) {
            let host = line.parse().with_context(|| format!("{}, line {}", path.display(), number + 1))?;
            hosts.push(host);
        }
        Ok(Self { path, text, hosts })
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

    /// Adds a host, or says anew where one is that is there.
    ///
    /// # Errors
    /// Another host has the name, or the file cannot be written.
    pub(crate) fn add(&mut self, host: Paired) -> anyhow::Result<()> {
        if let Some(other) = self.by_name(&host.name).filter(|other| other.key != host.key) {
            bail!(
                "{} is the name of another host here ({}); give this one another by --name, or see `whimbrel peers --forget {}`",
                host.name,
                other.key,
                host.name
            );
        }
        let mut text = self.without(|other| other.key == host.key);
        if text.is_empty() {
            text.push_str(HEAD);
        }
        text.push_str(&format!("{host}\n"));
        self.write(text)?;
        self.hosts.retain(|other| other.key != host.key);
        self.hosts.push(host);
        Ok(())
    }

    /// Takes out a host; whether it was there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn forget(&mut self, name: &str) -> anyhow::Result<bool> {
        if self.by_name(name).is_none() {
            return Ok(false);
        }
        self.write(self.without(|host| host.name == name))?;
        self.hosts.retain(|host| host.name != name);
        Ok(true)
    }

    /// The text of the file without those that are `gone`; comments stay.
    fn without(&self, gone: impl Fn(&Paired) -> bool) -> String {
        let stays = |line: &&str| !(is_host(line) && line.parse().is_ok_and(|host| gone(&host)));
        self.text.lines().filter(stays).map(|line| format!("{line}\n")).collect()
    }

    /// All of it or nothing: a power failure takes nobody out.
    fn write(&mut self, text: String) -> anyhow::Result<()> {
        let name = || self.path.display().to_string();
        let directory = self.path.parent().context("the file of peers has no directory")?;
        std::fs::create_dir_all(directory).with_context(name)?;
        let mut file = tempfile::NamedTempFile::new_in(directory).with_context(name)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).with_context(name)?;
        file.persist(&self.path).with_context(name)?;
        self.text = text;
        Ok(())
    }
}

fn is_host(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
