//! How the command ends.

use std::process::ExitCode;

use crate::output::complain;

/// Ctrl-C, or whoever else asks the command to end: a service manager, a terminal that closes.
///
/// Signals count from the call on, not from the first poll: who makes it before saying that the command is ready
/// leaves no moment in which a signal ends the process with all that it made still there.
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let mut signals = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal)
    };
    async move {
        #[cfg(unix)]
        if let [Ok(interrupt), Ok(terminate), Ok(hang_up)] = &mut signals {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
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
