//! Who may write files here, and which. Nothing is taken from the network before the user has said who may send it.

use std::path::Path;

use serde_json::{Value, json};

use crate::args::RecvArgs;
use crate::pairing::Paired;
use crate::transfer::rules::{Existing, Hidden, Rules};

/// Who may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Everybody who can reach the port.
    Anyone,
    /// Hosts that have a key of `--auth-key-file`.
    KeyHolders,
    /// Who has the ticket that is printed, and paired hosts, encrypted.
    TicketHolders,
    /// Paired hosts, encrypted.
    Paired,
}

impl Who {
    /// What the options say.
    pub(crate) fn of(args: &RecvArgs) -> Self {
        match (args.anyone, &args.mobility.auth_key_file) {
            (_, Some(_)) => Self::KeyHolders,
            (true, None) => Self::Anyone,
            (false, None) if args.paired => Self::Paired,
            (false, None) => Self::TicketHolders,
        }
    }

    /// For programs: who may write what, and where.
    pub(crate) fn to_json(self, directory: &Path, rules: Rules, paired: &[Paired]) -> Value {
        let who = match self {
            Self::Anyone => "anyone",
            Self::KeyHolders => "key-holders",
            Self::TicketHolders => "ticket-holders",
            Self::Paired => "paired",
        };
        let taken = match rules.existing {
            Existing::Refuse => "refuse",
            Existing::Overwrite => "overwrite",
            Existing::Rename => "rename",
        };
        json!({
            "who": who, "directory": directory.to_string_lossy(), "taken_names": taken,
            "hidden_names": rules.hidden == Hidden::Take,
            "paired": paired.iter().map(|host| &host.name).collect::<Vec<_>>(),
        })
    }

    /// The same for people.
    pub(crate) fn sentence(self, directory: &Path, rules: Rules, paired: &[Paired]) -> String {
        let who = match self {
            Self::Anyone => "anybody who can reach that".to_owned(),
            Self::KeyHolders => "who has the key (--auth-key-file), and nobody else,".to_owned(),
            Self::TicketHolders if paired.is_empty() => "who has the ticket, and nobody else,".to_owned(),
            Self::TicketHolders => {
                format!("who has the ticket, the paired hosts {}, and nobody else,", names(paired))
            }
            Self::Paired => format!("the paired hosts {}, and nobody else,", names(paired)),
        };
        let taken = match rules.existing {
            Existing::Refuse => "names that are taken are refused",
            Existing::Overwrite => "a file replaces what has its name",
            Existing::Rename => "a file whose name is taken gets a number",
        };
        let hidden = match rules.hidden {
            Hidden::Refuse => "hidden names are refused",
            Hidden::Take => "hidden names are taken, too",
        };
        format!("{who} may write files into {}; {taken}, {hidden}", directory.display())
    }
}

fn names(paired: &[Paired]) -> String {
    paired.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "who_tests.rs"]
mod tests;
