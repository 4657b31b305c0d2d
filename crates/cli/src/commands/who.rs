//! Who may write files here, and which. Nothing is taken from the network before the user has said who may send it.

use std::path::Path;

use serde_json::{Value, json};

use crate::args::RecvArgs;
use crate::exit::Failure;
use crate::pairing::Paired;
use crate::transfer::rules::{Existing, Hidden, Rules};

/// Who may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Everybody who can reach the port.
    Anyone,
    /// Everybody who can reach the port, in clear.
    AnyoneInClear,
    /// Hosts that have a key of `--auth-key-file`, in clear.
    KeyHolders,
    /// Who has the ticket that is printed, and paired hosts.
    TicketHolders,
    /// Paired hosts.
    Paired,
}

impl Who {
    /// What the options say.
    ///
    /// # Errors
    /// They say that nothing is encrypted, and not that this is for everybody, or contradict each other.
    pub(crate) fn of(args: &RecvArgs) -> Result<Self, Failure> {
        let insecure = args.mobility.is_clear()?;
        Ok(match (args.anyone, &args.mobility.auth_key_file) {
            (_, Some(_)) if insecure => Self::KeyHolders,
            (true, _) if insecure => Self::AnyoneInClear,
            (true, _) => Self::Anyone,
            (false, _) if insecure => return Err(nobody_can_be_told()),
            (false, _) if args.paired => Self::Paired,
            (false, _) => Self::TicketHolders,
        })
    }

    /// Whether packets are encrypted.
    const fn is_protected(self) -> bool {
        !matches!(self, Self::AnyoneInClear | Self::KeyHolders)
    }

    /// For programs: who may write what, and where.
    pub(crate) fn to_json(self, directory: &Path, rules: Rules, paired: &[Paired]) -> Value {
        let who = match self {
            Self::Anyone | Self::AnyoneInClear => "anyone",
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
            "who": who, "protected": self.is_protected(), "directory": directory.to_string_lossy(), "taken_names": taken,
            "hidden_names": rules.hidden == Hidden::Take,
            "paired": paired.iter().map(|host| &host.name).collect::<Vec<_>>(),
        })
    }

    /// The same for people.
    pub(crate) fn sentence(self, directory: &Path, rules: Rules, paired: &[Paired]) -> String {
        let who = match self {
            Self::Anyone => "anybody who can reach that".to_owned(),
            Self::AnyoneInClear => "anybody who can reach that, in clear,".to_owned(),
            Self::KeyHolders => "who has the key (--auth-key-file), in clear, and nobody else,".to_owned(),
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

/// Without encryption all hosts look alike.
pub(crate) fn nobody_can_be_told() -> Failure {
    let text =
        "with --insecure nobody can be told from anybody else: say --anyone, too, or give --auth-key-file";
    Failure::Usage(text.into())
}

fn names(paired: &[Paired]) -> String {
    paired.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "who_tests.rs"]
mod tests;
