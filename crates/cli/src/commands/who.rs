//! Who may write files here, and which. Nothing is taken from the network before the user has said who may send it.

use std::path::Path;

use serde_json::{Value, json};

use crate::args::RecvArgs;
use crate::transfer::rules::{Existing, Hidden, Rules};

/// Who may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Everybody who can reach the port.
    Anyone,
    /// Hosts that have a key of `--auth-key-file`.
    KeyHolders,
    /// Who has the ticket that is printed, encrypted.
    TicketHolders,
}

impl Who {
    /// What the options say.
    pub(crate) fn of(args: &RecvArgs) -> Self {
        match (args.anyone, &args.mobility.auth_key_file) {
            (_, Some(_)) => Self::KeyHolders,
            (true, None) => Self::Anyone,
            (false, None) => Self::TicketHolders,
        }
    }

    /// For programs: who may write what, and where.
    pub(crate) fn to_json(self, directory: &Path, rules: Rules) -> Value {
        let who = match self {
            Self::Anyone => "anyone",
            Self::KeyHolders => "key-holders",
            Self::TicketHolders => "ticket-holders",
        };
        let taken = match rules.existing {
            Existing::Refuse => "refuse",
            Existing::Overwrite => "overwrite",
            Existing::Rename => "rename",
        };
        json!({
            "who": who, "directory": directory.to_string_lossy(), "taken_names": taken,
            "hidden_names": rules.hidden == Hidden::Take,
        })
    }

    /// The same for people.
    pub(crate) fn sentence(self, directory: &Path, rules: Rules) -> String {
        let who = match self {
            Self::Anyone => "anybody who can reach that",
            Self::KeyHolders => "who has the key (--auth-key-file), and nobody else,",
            Self::TicketHolders => "who has the ticket, and nobody else,",
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

#[cfg(test)]
#[path = "who_tests.rs"]
mod tests;
