//! How the command ends.

use std::process::ExitCode;

/// Why the command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something went wrong; the text says what, and what to do.
    Error(anyhow::Error),
    /// Something went wrong that has been reported already.
    Reported,
    /// The command line makes no sense.
    Usage(String),
    /// Ctrl-C. The text says what that leaves behind.
    Interrupted(&'static str),
}

impl Failure {
    /// Tells the user, on stderr, and gives the exit code: 1 failure, 2 usage, 130 Ctrl-C.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Error(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(1)
            }
            Self::Reported => ExitCode::from(1),
            Self::Usage(text) => {
                eprintln!("error: {text}");
                ExitCode::from(2)
            }
            Self::Interrupted(text) => {
                eprintln!("interrupted{}{text}", if text.is_empty() { "" } else { "; " });
                ExitCode::from(130)
            }
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}
