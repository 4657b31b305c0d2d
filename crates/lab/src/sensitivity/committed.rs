//! What was tried last, as a file: a line that says with what it was made, and one line of JSON per claim.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::trials::Tried;
use crate::claims::Claim;
use crate::unseen::is_unseen;
use crate::{golden, store};

/// What the file is called beside results.
pub const FILE: &str = "sensitivity.jsonl";

/// What came of every claim when assumed values were changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Committed {
    head: Head,
    tried: BTreeMap<String, Tried>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    /// Of the code and the data that it was made with ([`golden::fingerprint`]).
    fingerprint: String,
}

/// A file that is none of these.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "line {line} of what was tried with other assumptions cannot be read: {what}; remove the file, and `whimbrel lab sensitivity` makes it again"
)]
pub struct CommittedError {
    line: usize,
    what: String,
}

impl Committed {
    /// What has been tried with this version of the program.
    pub fn new(tried: Vec<Tried>) -> Self {
        let head = Head { fingerprint: golden::fingerprint() };
        Self { head, tried: tried.into_iter().map(|one| (one.claim.clone(), one)).collect() }
    }

    /// The same, with what is known of claims that were not tried now, unless that is stale.
    #[must_use]
    pub fn and_before(mut self, before: Self) -> Self {
        if before.is_stale() {
            return self;
        }
        for (claim, tried) in before.tried {
            self.tried.entry(claim).or_insert(tried);
        }
        self
    }

    /// What comes with the program; a test excludes that it cannot be read.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load() -> Result<Self, CommittedError> {
        Self::parse(include_str!("../../data/sensitivity.jsonl"))
    }

    /// What was tried in a directory of results; what comes with the program if nothing was.
    ///
    /// # Errors
    /// What the file system says, or that the file cannot be read.
    pub fn find(dir: &Path) -> io::Result<Self> {
        let path = dir.join(FILE);
        let wrong = |error: CommittedError| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        };
        match store::text(&path)? {
            Some(text) => Self::parse(&text).map_err(wrong),
            None => Self::load().map_err(wrong),
        }
    }

    /// Reads what [`Committed::written`] wrote.
    ///
    /// # Errors
    /// The line that cannot be read.
    pub fn parse(text: &str) -> Result<Self, CommittedError> {
        let mut lines = (1..).zip(text.lines());
        let wrong = |line, error: serde_json::Error| CommittedError { line, what: error.to_string() };
        let (line, head) = lines.next().unwrap_or((1, ""));
        let head = serde_json::from_str(head).map_err(|error| wrong(line, error))?;
        let mut tried = BTreeMap::new();
        for (line, text) in lines {
            let one: Tried = serde_json::from_str(text).map_err(|error| wrong(line, error))?;
            if one.shown().any(|text| text.chars().any(is_unseen)) {
                return Err(CommittedError { line, what: "it has control characters".to_owned() });
            }
            let claim = one.claim.clone();
            if tried.insert(claim.clone(), one).is_some() {
                return Err(CommittedError { line, what: format!("{claim} is there twice") });
            }
        }
        Ok(Self { head, tried })
    }

    /// As text, one line of JSON after the other.
    pub fn written(&self) -> String {
        let lines = core::iter::once(serde_json::to_string(&self.head))
            .chain(self.tried.values().map(serde_json::to_string));
        lines.flatten().map(|line| line + "\n").collect()
    }

    /// What was tried with a claim, if it is the same claim still.
    pub fn of(&self, claim: &Claim) -> Option<&Tried> {
        self.tried.get(&claim.id).filter(|tried| tried.check == claim.check)
    }

    /// All that was tried.
    pub fn all(&self) -> impl Iterator<Item = &Tried> {
        self.tried.values()
    }

    /// Whether runs or set-ups are others now than when it was made: then it may say something else if it is made again.
    pub fn is_stale(&self) -> bool {
        self.head.fingerprint != golden::fingerprint()
    }

    /// Whether nothing has been tried.
    pub fn is_empty(&self) -> bool {
        self.tried.is_empty()
    }
}
