//! How the command ends.

use std::process::ExitCode;

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
