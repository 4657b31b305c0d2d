//! This host's own key, and tickets on the command line.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::json;
use whimbrel::secure::{Identity, Ticket};

use crate::news::News;
use crate::replace::replace;

/// Bytes of a file with a ticket, at most.
const TICKET_BYTES_MAX: u64 = 4096;

/// Where the key is if nothing else is said.
fn usual_path() -> anyhow::Result<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|path| Path::new(path).is_absolute());
    let config = config.map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME").filter(|path| Path::new(path).is_absolute());
        home.map(|home| PathBuf::from(home).join(".config"))
    });
    let config = config
        .context("there is no home directory to keep this host's key in; set HOME or XDG_CONFIG_HOME")?;
    Ok(config.join("whimbrel").join("key"))
}

/// This host's identity, made at first use.
pub(crate) fn own() -> anyhow::Result<Identity> {
    Ok(Identity::load_or_create(&usual_path()?)?)
}

/// Shows the public half to the user, who may have to tell it to somebody.
pub(crate) fn show(news: &impl News) -> anyhow::Result<()> {
    let key = own()?.public_key().to_string();
    news.event("key", json!({ "key": key }));
    news.note(&format!("this host's key, by which others know it: {key}"));
    Ok(())
}

/// Where [`own`] is.
pub(crate) fn path() -> anyhow::Result<PathBuf> {
    usual_path()
}

/// The ticket in a file, or in what comes from standard input (`-`).
pub(crate) fn read_ticket(path: &Path) -> anyhow::Result<Ticket> {
    use std::io::Read;
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(TICKET_BYTES_MAX).read_to_string(&mut text)
    } else {
        let file = std::fs::File::open(path);
        file.and_then(|file| file.take(TICKET_BYTES_MAX).read_to_string(&mut text))
    };
    let name = || format!("--ticket-file {}", path.display());
    read.with_context(name)?;
    text.parse().with_context(name)
}

/// The ticket that this host has written to `path` before; `None` if nothing is there.
///
/// # Errors
/// If there is something else, which would be lost.
pub(crate) fn kept_ticket(path: &Path) -> anyhow::Result<Option<Ticket>> {
    ensure!(
        path != Path::new("-"),
        "--ticket-file - is for senders; without the option the ticket is printed"
    );
    let is_empty = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        metadata => {
            let metadata = metadata.with_context(|| format!("--ticket-file {}", path.display()))?;
            metadata.is_file() && metadata.len() == 0
        }
    };
    if is_empty {
        return Ok(None);
    }
    read_ticket(path).map(Some).context("the file is no ticket and would be overwritten; name another one")
}

/// Writes a ticket where its owner alone can read it.
pub(crate) fn write_ticket(path: &Path, ticket: &Ticket) -> anyhow::Result<()> {
    replace(path, &format!("{ticket}\n")).with_context(|| format!("--ticket-file {}", path.display()))
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
