//! `whimbrel send`

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use whimbrel::{Association, ConnectError, Endpoint};

use super::{config, leave, watched};
use crate::addresses;
use crate::args::SendArgs;
use crate::control::ControlSocket;
use crate::display::Display;
use crate::exit::Failure;
use crate::mobility;
use crate::transfer::report::{OnFile, Tally};
use crate::transfer::send::Outbox;
use crate::transfer::source::{SourceError, Sources};

/// After so long without an answer something is probably wrong.
const LONG: Duration = Duration::from_secs(3);
/// Pause before a new connection.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the last acknowledgements may take, when every file is confirmed already.
const SHUTDOWN: Duration = Duration::from_secs(5);

struct Transfer {
    endpoint: Endpoint,
    remote: Vec<SocketAddr>,
    sctp_port: u16,
    patience: Duration,
    key_hint: &'static str,
    display: Arc<Display>,
    tally: Arc<Tally>,
}

/// Sends what the arguments name.
pub(crate) async fn run(args: SendArgs) -> Result<(), Failure> {
    let display = Arc::new(Display::new(args.output));
    let sources = Sources::collect(&args.files, args.recursive).map_err(|error| match error {
        SourceError::Directory(_) | SourceError::Nameless(_) | SourceError::Twice(_) => {
            Failure::Usage(error.to_string())
        }
        other => other.into(),
    })?;
    for skipped in &sources.skipped {
        display.event("skipped", json!({ "text": skipped }));
        display.note(&format!("left out: {skipped}"));
    }
    let remote = addresses::resolve(&args.to).await?;
    let local = match args.bind.as_slice() {
        [] => addresses::towards(&remote)?,
        typed => addresses::local(typed, 0).await?,
    };
    let endpoint = args.mobility.bind(local, config()).await?;
    let _control = ControlSocket::start("send", &endpoint);
    mobility::tell(&endpoint, Arc::clone(&display));
    let tally = Arc::new(Tally::default());
    let on_file: OnFile = {
        let display = Arc::clone(&display);
        Arc::new(move |report| display.file(&report))
    };
    let patience = Duration::from_secs(args.retry);
    let mut outbox = Outbox::new(sources, Arc::clone(&tally), on_file, patience);
    let key_hint = args.mobility.key_hint();
    let transfer =
        Transfer { endpoint, remote, sctp_port: args.sctp_port, patience, key_hint, display, tally };
    let outcome = tokio::select! {
        outcome = transfer.complete(&mut outbox) => outcome,
        _ = crate::exit::interrupted() => {
            Err(Failure::Interrupted("run the same command again to resume"))
        }
    };
    leave(&transfer.endpoint, "the sender was stopped").await;
    let totals = transfer.tally.totals();
    let ok = outcome.is_ok() && totals.failed_files == 0;
    transfer.display.summary("sent", &totals, ok);
    outcome?;
    if ok { Ok(()) } else { Err(Failure::Reported) }
}

impl Transfer {
    /// Connects, sends, and connects again after a loss while there is patience.
    async fn complete(&self, outbox: &mut Outbox) -> Result<(), Failure> {
        let mut association = self.connect().await?;
        loop {
            let session = outbox.session(&association);
            let lost = match watched(&self.display, &self.tally, &association, session).await {
                Ok(()) => {
                    let _ = tokio::time::timeout(SHUTDOWN, association.shutdown()).await;
                    return Ok(());
                }
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error.into()),
            };
            association.abort("the transfer goes on over a new connection");
            let deadline = Instant::now() + self.patience;
            self.display.event("lost", json!({ "text": lost.to_string() }));
            let resume = "what has arrived is kept; run the same command again to resume";
            association = loop {
                if Instant::now() >= deadline {
                    return Err(Failure::Error(anyhow::Error::new(lost).context(resume)));
                }
                self.display.note(&format!("{lost}; connecting again"));
                tokio::time::sleep(PAUSE).await;
                let left = deadline.saturating_duration_since(Instant::now());
                match tokio::time::timeout(left, self.connect()).await {
                    Ok(Ok(association)) => break association,
                    Ok(Err(error)) => self.display.note(&format!("{error:#}")),
                    Err(_) => {}
                }
            };
        }
    }

    async fn connect(&self) -> anyhow::Result<Association> {
        self.display.note(&format!("connecting to {}", self.peers()));
        let mut attempt = std::pin::pin!(self.endpoint.connect(&self.remote, self.sctp_port));
        let association = match tokio::time::timeout(LONG, &mut attempt).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let text = format!("no answer yet; {}", self.hint());
                self.display.event("waiting", json!({ "text": text }));
                self.display.note(&text);
                attempt.await
            }
        };
        let association = association.map_err(|error| self.advise(error))?;
        let route = association.initial_route();
        self.display.event("connected", json!({ "local": route.local, "remote": route.remote }));
        self.display.note(&format!("connected to {}", route.remote));
        Ok(association)
    }

    /// The receiver's addresses, for people.
    fn peers(&self) -> String {
        let list: Vec<String> = self.remote.iter().map(SocketAddr::to_string).collect();
        list.join(", ")
    }

    /// What to do about an error. One of our own making needs no advice about the receiver.
    fn advise(&self, error: ConnectError) -> anyhow::Error {
        if !matches!(error, ConnectError::Failed(_)) {
            return error.into();
        }
        anyhow::Error::new(error).context(format!("no connection to {}; {}", self.peers(), self.hint()))
    }

    fn hint(&self) -> String {
        let port = self.remote.first().map_or(0, SocketAddr::port);
        format!(
            "is `whimbrel recv` running there (SCTP port {}), and do firewalls let UDP {port} through?{}",
            self.sctp_port, self.key_hint
        )
    }
}
