use core::fmt;

use serde::{Deserialize, Serialize};

/// What there is to say about a claim, without why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// It holds.
    #[serde(rename = "holds")]
    Holds,
    /// It does not hold.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// Something has not been measured.
    #[serde(rename = "cannot say")]
    CannotSay,
}

impl Answer {
    /// As people say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::CannotSay => "cannot say",
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
