//! How the command ends.

use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::json;

use crate::output::{complain, json_line};

/// What asks the command to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Ctrl-C, or a terminal that closes.
    User,
    /// SIGTERM: a service manager. For a server that is how its work ends.
    Manager,
}

impl Asked {
    /// How a server ends that has begun nothing.
    pub(crate) fn of_server(self) -> Result<(), Failure> {
        match self {
            Self::User => Err(Failure::Interrupted("")),
            Self::Manager => Ok(()),
        }
    }
}

/// Waits until somebody asks the command to end.
///
/// Signals count from the call on, not from the first poll: who makes it before saying that the command is ready
/// leaves no moment in which a signal ends the process with all that it made still there.
pub(crate) fn interrupted() -> impl Future<Output = Asked> {
    let terminated = terminated();
    #[cfg(unix)]
    let hang_up = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
    async move {
        #[cfg(unix)]
        if let Ok(mut hang_up) = hang_up {
            return tokio::select! {
                asked = terminated => asked,
                _ = hang_up.recv() => Asked::User,
            };
        }
        terminated.await
    }
}

/// As [`interrupted`], but for SIGHUP, which means something else to a service: that its file is to be read anew.
pub(crate) fn terminated() -> impl Future<Output = Asked> {
    #[cfg(unix)]
    let mut signals = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate()].map(signal)
    };
    async move {
        #[cfg(unix)]
        if let [Ok(interrupt), Ok(terminate)] = &mut signals {
            return tokio::select! {
                _ = interrupt.recv() => Asked::User,
                _ = terminate.recv() => Asked::Manager,
            };
        }
        let _ = tokio::signal::ctrl_c().await;
        Asked::User
    }
}

/// Does `work`, unless somebody asks the command to end before it is done.
pub(crate) async fn unless_interrupted<T>(
    interrupt: impl Future<Output = Asked>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        _ = interrupt => Err(Failure::Interrupted("")),
    }
}

/// Why the command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something went wrong; the text says what, and what to do.
    Error(anyhow::Error),
    /// The same, about a peer.
    OfPeer(SocketAddr, anyhow::Error),
    /// Something went wrong that has been reported already.
    Reported,
    /// The command line makes no sense.
    Usage(String),
    /// Ctrl-C, SIGTERM or SIGHUP. The text says what that leaves behind.
    Interrupted(&'static str),
}

impl Failure {
    /// Names the peer in an error that is about it.
    pub(crate) fn of_peer(self, peer: Option<SocketAddr>) -> Self {
        match (self, peer) {
            (Self::Error(error), Some(peer)) => Self::OfPeer(peer, error),
            (other, _) => other,
        }
    }

    /// Tells the user, on stderr, and programs that asked for JSON, on stdout; gives the exit code: 1 failure, 2 usage,
    /// 130 interrupted.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        let peer = if let Self::OfPeer(peer, _) = self { Some(peer) } else { None };
        let (code, text) = match self {
            Self::Error(error) | Self::OfPeer(_, error) => (1, format!("error: {}", describe(&error))),
            Self::Reported => return ExitCode::from(1),
            Self::Usage(text) => (2, format!("error: {text}")),
            Self::Interrupted("") => (130, "interrupted".into()),
            Self::Interrupted(text) => (130, format!("interrupted; {text}")),
        };
        if json {
            tell_programs(code, &text, peer);
        }
        complain(&text);
        ExitCode::from(code)
    }
}

/// An error as an event, which names the peer that it is about.
pub(crate) fn tell_programs(code: u8, text: &str, peer: Option<SocketAddr>) {
    let text = text.strip_prefix("error: ").unwrap_or(text).trim_end();
    let mut fields = json!({ "text": text, "exit_code": code });
    if let Some(peer) = peer {
        fields["peer"] = peer.to_string().into();
    }
    json_line("error", fields);
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
