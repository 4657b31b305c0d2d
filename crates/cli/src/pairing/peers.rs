//! `whimbrel peers`

use clap::Args;
use serde_json::json;

use super::Book;
use super::book::{forget, path};
use crate::exit::Failure;
use crate::output;

/// Show the hosts that this one is paired with
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel peers
  whimbrel peers --forget robot

They are in $XDG_CONFIG_HOME/whimbrel/peers or ~/.config/whimbrel/peers, a line each: name, public key, addresses. \
The file may be edited, addresses above all.")]
pub(crate) struct PeersArgs {
    /// Take this host out: it may send nothing here any more, and its name means nothing. A receiver that is running learns of it when it is
    /// started anew.
    #[arg(long, value_name = "NAME")]
    forget: Option<String>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// Lists them, or takes one out.
pub(crate) fn run(args: &PeersArgs) -> Result<(), Failure> {
    if let Some(name) = &args.forget {
        if !forget(name)? {
            let file = path()?;
            let file = file.display();
            return Err(Failure::Error(anyhow::anyhow!(
                "no host is called {name} in {file}; `whimbrel peers` lists them"
            )));
        }
        if args.json {
            output::json_line("forgotten", json!({ "name": name }));
        } else {
            output::line(&format!("{name} is forgotten"));
        }
        return Ok(());
    }
    let book = Book::open()?;
    for host in book.hosts() {
        if args.json {
            let (name, key) = (&host.name, host.key.to_string());
            output::json_line("peer", json!({ "name": name, "key": key, "addresses": host.addresses }));
        } else {
            output::line(&host.to_string());
        }
    }
    if book.hosts().is_empty() && !args.json {
        output::line("none yet; `whimbrel pair` begins a pairing");
    }
    Ok(())
}
