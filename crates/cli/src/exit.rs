//! How the command ends.

use std::process::ExitCode;

use crate::output::complain;

/// Waits for Ctrl-C, or for whoever else asks the command to end: a service manager, a terminal that closes.
pub(crate) async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut hang_up)) =
            (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Why the command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something went wrong; the text says what, and what to do.
    Error(anyhow::Error),
    /// Something went wrong that has been reported already.
    Reported,
    /// The command line makes no sense.
    Usage(String),
    /// Ctrl-C, SIGTERM or SIGHUP. The text says what that leaves behind.
    Interrupted(&'static str),
}

impl Failure {
    /// Tells the user, on stderr, and gives the exit code: 1 failure, 2 usage, 130 interrupted.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Error(error) => {
                complain(&format!("error: {}", describe(&error)));
                ExitCode::from(1)
            }
            Self::Reported => ExitCode::from(1),
            Self::Usage(text) => {
                complain(&format!("error: {text}"));
                ExitCode::from(2)
            }
            Self::Interrupted(text) => {
                let separator = if text.is_empty() { "" } else { "; " };
                complain(&format!("interrupted{separator}{text}"));
                ExitCode::from(130)
            }
        }
    }
}

/// An error and its causes, each once: many say in their own words what their cause says.
fn describe(error: &anyhow::Error) -> String {
    let mut said = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !said.ends_with(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

#[cfg(test)]
#[path = "exit_tests.rs"]
mod tests;
