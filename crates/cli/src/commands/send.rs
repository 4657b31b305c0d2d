//! `whimbrel send`

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use whimbrel::{Association, Config, Endpoint};

use super::no_connection::NoConnection;
use super::silence::successor;
use super::{config, watched};
use crate::addresses::{self, Address};
use crate::args::SendArgs;
use crate::control::ControlSocket;
use crate::destination::Receiver;
use crate::display::Display;
use crate::exit::{Failure, unless_interrupted};
use crate::network_control::Beside;
use crate::news;
use crate::peer::Peer;
use crate::transfer::names::printable;
use crate::transfer::protocol::{Outcome, SCTP_PORT};
use crate::transfer::report::{FileReport, OnFile, Tally};
use crate::transfer::send::{Outbox, SendError};
use crate::transfer::source::{SourceError, Sources, Unsendable};

mod connecting;

/// After so long without an answer something is probably wrong.
const LONG: Duration = Duration::from_secs(3);
/// How often to look for a network.
const LOOK: Duration = Duration::from_millis(100);
/// Pause before a new connection.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the last acknowledgements may take, when every file is confirmed already.
const SHUTDOWN: Duration = Duration::from_secs(30);
/// What the receiver is told of an association that is given up for another.
const GOES_ON: &str = "the transfer goes on over a new connection";

struct Transfer {
    endpoint: Endpoint,
    peer: Peer,
    /// For a first connection, and for a new one.
    patience: Duration,
    /// For a peer that is silent, or a network that is gone.
    silence: Duration,
    /// Whether the receiver has to show that it has our key.
    keyed: bool,
    /// The option by which nobody sees what is printed, so that nobody can be asked.
    deaf: Option<&'static str>,
    key_hint: String,
    receiver: Receiver,
    beside: Beside,
    display: Arc<Display>,
    tally: Arc<Tally>,
}

/// Sends what the arguments name.
pub(crate) async fn run(args: SendArgs) -> Result<(), Failure> {
    // Before all that may take long: a tree may be large, and a name may have no address yet.
    let mut interrupt = std::pin::pin!(crate::exit::interrupted());
    let display = Arc::new(Display::new(args.output));
    display.begin();
    let patience = Duration::from_secs(args.retry);
    let (clear, keyed) = (args.mobility.is_clear()?, args.mobility.auth_key_file.is_some());
    // What is wrong with the files is known before anything is begun elsewhere.
    let sources = unless_interrupted(&mut interrupt, collect(&args, &display)).await?;
    let to = match &args.ssh {
        Some(target) => {
            display.note("beginning a receiver by ssh");
            let begun = unless_interrupted(
                &mut interrupt,
                target.receiver(&args.remote_command, &args.remote_options()),
            )
            .await?;
            [args.to.clone(), begun].concat()
        }
        None => args.to.clone(),
    };
    let receiver = Receiver::of(&to, args.ticket_file.as_deref(), args.sctp_port, SCTP_PORT, clear)?;
    let (peer, local) =
        unless_interrupted(&mut interrupt, prepare(&args, &receiver.addresses, patience, &display)).await?;
    let config = Config { security: receiver.security()?, ..config() };
    let endpoint = args.mobility.bind(local, config, display.as_ref()).await?;
    let _control = ControlSocket::start("send", &endpoint, &args.mobility.network.ordered, display.as_ref());
    news::tell(&endpoint, Arc::clone(&display));
    let beside = args.mobility.network.terminal(&endpoint, Arc::clone(&display))?;
    let tally = Arc::new(Tally::default());
    let on_file: OnFile = {
        let display = Arc::clone(&display);
        Arc::new(move |report| display.file(&report, None))
    };
    for report in sources.unsendable.iter().map(unsendable) {
        tally.announce(1, 0);
        tally.file(&report);
        on_file(report);
    }
    let mut outbox = Outbox::new(sources, Arc::clone(&tally), on_file, patience);
    let key_hint = receiver.pin_hint().unwrap_or_else(|| args.mobility.key_hint().to_owned());
    let keyed = keyed || receiver.is_protected();
    let silence = Duration::from_secs(args.mobility.patience);
    let deaf = args.output.json.then_some("--json").or(args.output.quiet.then_some("--quiet"));
    let transfer = Transfer {
        endpoint,
        peer,
        receiver,
        patience,
        silence,
        keyed,
        deaf,
        key_hint,
        beside,
        display,
        tally,
    };
    let outcome = tokio::select! {
        outcome = transfer.complete(&mut outbox) => outcome,
        _ = &mut interrupt => {
            Err(Failure::Interrupted("run the same command again to resume"))
        }
    };
    transfer.beside.leave(&transfer.endpoint, "the sender was stopped").await;
    let totals = transfer.tally.totals();
    let ok = outcome.is_ok() && totals.failed_files == 0;
    transfer.display.summary("sent", &totals, ok);
    outcome.map_err(|failure| failure.of_peer(transfer.display.peer()))?;
    if ok { Ok(()) } else { Err(Failure::Reported) }
}

/// What is sent.
async fn collect(args: &SendArgs, display: &Display) -> Result<Sources, Failure> {
    let (files, recursive) = (args.files.clone(), args.recursive);
    let sources = tokio::task::spawn_blocking(move || Sources::collect(&files, recursive));
    let sources = sources.await?.map_err(|error| match error {
        SourceError::Directory(_) | SourceError::Nameless(_) | SourceError::Twice(_) => {
            Failure::Usage(error.to_string())
        }
        other => other.into(),
    })?;
    for skipped in &sources.skipped {
        display.event("skipped", json!({ "text": skipped }));
        display.note(&format!("left out: {skipped}"));
    }
    Ok(sources)
}

/// To whom, and from where.
async fn prepare(
    args: &SendArgs,
    to: &[Address],
    patience: Duration,
    display: &Display,
) -> Result<(Peer, Vec<SocketAddr>), Failure> {
    let peer = resolve(to, Instant::now() + patience, display).await?;
    if let Some(first) = peer.named.first() {
        display.set_peer(*first);
    }
    let local = match args.bind.as_slice() {
        [] => addresses::towards(&peer.all())?,
        typed => addresses::local(typed, 0).await?,
    };
    Ok((peer, local))
}

/// Files whose names the protocol does not carry stay behind, and the others go.
fn unsendable(one: &Unsendable) -> FileReport {
    FileReport {
        name: one.path.to_string(),
        name_bytes: one.path.encoded(),
        location: Some(printable(&one.location.to_string_lossy())),
        size: 0,
        resumed: 0,
        outcome: Outcome::BadName,
        text: one.error.to_string(),
        hash: None,
    }
}

/// The receiver's addresses. A host that has no network yet cannot ask for names, and one whose network has just come up
/// may not know whom to ask.
async fn resolve(to: &[Address], deadline: Instant, display: &Display) -> anyhow::Result<Peer> {
    let mut told = false;
    loop {
        match Peer::resolve(to).await {
            Err(error) if Instant::now() < deadline => {
                if !std::mem::replace(&mut told, true) {
                    let text = match addresses::has_network() {
                        true => format!("{error:#}; trying again"),
                        false => NO_NETWORK.into(),
                    };
                    waiting(&text, display);
                }
                tokio::time::sleep(PAUSE).await;
            }
            Ok(peer) => {
                peer.doubt(display);
                return Ok(peer);
            }
            Err(error) => return Err(error),
        }
    }
}

const NO_NETWORK: &str = "no network; waiting";

fn waiting(text: &str, display: &Display) {
    display.event("waiting", json!({ "text": text }));
    display.note(text);
}

impl Transfer {
    /// Connects, sends, and connects again after a loss while there is patience.
    async fn complete(&self, outbox: &mut Outbox) -> Result<(), Failure> {
        let mut association = self.connect_first().await?;
        loop {
            let (outcome, successor) = self.session(&association, outbox).await;
            let lost = match outcome {
                Ok(()) => {
                    let _ = tokio::time::timeout(SHUTDOWN, association.shutdown()).await;
                    return Ok(());
                }
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error.into()),
            };
            if let Some(successor) = successor {
                let text = "the receiver was started anew: it answers a new connection, and not the old one";
                self.display.event("lost", json!({ "text": text }));
                self.display.note(text);
                self.connected(&successor);
                association = successor;
                continue;
            }
            association.abort(GOES_ON);
            self.display.event("lost", json!({ "text": lost.to_string() }));
            self.display.note(&format!("{lost}; connecting again"));
            let deadline = Instant::now() + self.patience;
            let mut refusal = None;
            association = loop {
                if Instant::now() >= deadline {
                    let resume = "what has arrived is kept; run the same command again to resume";
                    let last = refusal.unwrap_or_else(|| anyhow::Error::new(lost));
                    return Err(Failure::Error(last.context(resume)));
                }
                tokio::time::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now()))).await;
                match self.connect(deadline).await {
                    Ok(association) => break association,
                    // Whatever it is, a receiver that is being started anew may be the reason.
                    Err(error) => {
                        let is_final = !matches!(error, NoConnection::Passing(_));
                        let error = error.into_error();
                        self.display.note(&format!("{error:#}"));
                        refusal = is_final.then_some(error);
                    }
                }
            };
        }
    }

    /// Sends over one association, and looks for another where this one may be all that is left of a receiver that was
    /// started anew.
    async fn session(
        &self,
        association: &Association,
        outbox: &mut Outbox,
    ) -> (Result<(), SendError>, Option<Association>) {
        let session = outbox.session(association);
        let mut watched = std::pin::pin!(watched(
            &self.display,
            &self.tally,
            &self.endpoint,
            association,
            self.silence,
            session
        ));
        let connect = async || self.peer.connect(&self.endpoint, self.receiver.sctp_port).await.ok();
        let next = tokio::select! {
            outcome = &mut watched => return (outcome, None),
            next = successor(association, connect), if self.keyed => next,
        };
        association.abort(GOES_ON);
        // The session ends with its connection, and leaves its account as it must be.
        (watched.await, Some(next))
    }
}
