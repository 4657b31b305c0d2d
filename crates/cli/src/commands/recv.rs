//! `whimbrel recv`

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use whimbrel::secure::{self, Trust};
use whimbrel::{Association, Config, Endpoint, EndpointClosed, Listener, PathView, Security};

use super::detach;
use super::silence::{OLD_WORKS, is_silent, unanswering};
use super::who::Who;
use super::{GOODBYE, config};
use crate::addresses::{self, UDP_PORT};
use crate::args::{OutputArgs, RecvArgs};
use crate::control::ControlSocket;
use crate::display::{About, Display};
use crate::exit::{Asked, Failure};
use crate::identity;
use crate::network_control::Beside;
use crate::news::{self, News};
use crate::output;
use crate::pairing::{Admitted, Book, Paired};
use crate::tickets::Offer;
use crate::transfer::link::LinkError;
use crate::transfer::receive::{ReceiveError, receive};
use crate::transfer::report::{OnFile, Tally, Totals};
use crate::transfer::rules::{Existing, Hidden, Rules};
use crate::transfer::store::Store;

/// How long an address that the host has may take to be known.
const FIRST_ADDRESS: Duration = Duration::from_secs(3);
/// How often to look for it.
const LOOK: Duration = Duration::from_millis(20);

struct Server {
    endpoint: Endpoint,
    store: Arc<Store>,
    display: Arc<Display>,
    tally: Arc<Tally>,
    /// Associations being served, for the display of their paths.
    current: Mutex<Vec<Association>>,
    room: Arc<Semaphore>,
    /// Whose keys are taken; `None` if all are, or none are looked at.
    admitted: Option<Arc<Admitted>>,
    beside: Beside,
    /// It ends when it has had nothing to do for this long.
    idle_limit: Option<Duration>,
}

/// Receives files until Ctrl-C, or one complete transfer.
pub(crate) async fn run(mut args: RecvArgs) -> Result<(), Failure> {
    args.mobility.is_clear()?;
    if args.detach {
        return detach::begin();
    }
    if args.detached {
        detach::leave_terminal();
        args.mobility.patience = args.mobility.patience.min(detach::PATIENCE);
    }
    let who = Who::of(&args)?;
    let Admission { offer, admitted, security } = Admission::of(who, &args)?;
    let paired = admitted.as_ref().map_or_else(Vec::new, |admitted| admitted.hosts());
    // Before a directory is looked through, and names are asked for.
    let mut interrupt = std::pin::pin!(crate::exit::interrupted());
    let rules = rules(&args);
    let store = Store::open(&args.dir, rules).with_context(|| {
        format!(
            "cannot receive into {}, which must be a directory that can be written to",
            args.dir.display()
        )
    })?;
    let quiet = args.output.quiet || args.detached;
    let display = Arc::new(Display::new(OutputArgs { quiet, ..args.output }));
    let local = tokio::select! {
        local = addresses::local(&args.listen, UDP_PORT) => local?,
        asked = &mut interrupt => return asked.of_server(),
    };
    let config = Config { security, ..config() };
    let endpoint = bind(&args, local, config, display.as_ref()).await?;
    let beside = args.mobility.network.correspondent(Arc::clone(&display)).await?;
    let _control = ControlSocket::start("recv", &endpoint, &args.mobility.network.ordered, display.as_ref());
    let listener = endpoint.listen(args.sctp_port)?;
    has_addresses(&endpoint).await;
    announce(&args, who, rules, &endpoint, offer.as_ref(), &paired, display.as_ref())?;
    news::tell(&endpoint, Arc::clone(&display));
    if let Some(admitted) = admitted.clone() {
        let display = Arc::clone(&display);
        tokio::spawn(async move { admitted.follow(display.as_ref()).await });
    }
    let server = Arc::new(Server {
        endpoint: endpoint.clone(),
        store,
        display: Arc::clone(&display),
        tally: Arc::new(Tally::default()),
        current: Mutex::default(),
        room: Arc::new(Semaphore::new(usize::from(args.senders))),
        admitted,
        beside,
        idle_limit: args.detached.then_some(detach::IDLE),
    });
    let mut transfers = JoinSet::new();
    let interrupted = server.serve_all(&listener, &mut transfers, args.once, interrupt).await?;
    server.beside.leave(&endpoint, "the receiver was stopped").await;
    let busy = !transfers.is_empty();
    // The transfers see their associations end, and let go of their files.
    while transfers.join_next().await.is_some() {}
    let totals = server.tally.totals();
    display.event("compared", json!({ "bytes": server.store.bytes_compared() }));
    display.summary("received", &totals, totals.failed_files == 0 && !(interrupted.is_some() && busy));
    match (interrupted, totals.failed_files) {
        // That is how a server ends, whatever it was doing: unfinished files are kept.
        (Some(Asked::Manager), _) => Ok(()),
        (Some(Asked::User), _) if busy => {
            Err(Failure::Interrupted("unfinished files are kept, and resume when they are sent again"))
        }
        (Some(Asked::User), _) => Err(Failure::Interrupted("")),
        (None, 0) => Ok(()),
        (None, _) => Err(Failure::Reported),
    }
}

/// Says where files are taken, from whom, and how to send them.
fn announce(
    args: &RecvArgs,
    who: Who,
    rules: Rules,
    endpoint: &Endpoint,
    offer: Option<&Offer>,
    paired: &[Paired],
    display: &Display,
) -> anyhow::Result<()> {
    let list: Vec<String> = endpoint.local_addresses().iter().map(ToString::to_string).collect();
    let directory = args.dir.canonicalize().unwrap_or_else(|_| args.dir.clone());
    let may = who.to_json(&directory, rules, paired);
    display.event("listening", json!({ "addresses": list, "sctp_port": args.sctp_port, "may_write": may }));
    let on = news::describe(&list);
    display.note(&format!("listening on {on} (SCTP port {}); Ctrl-C ends", args.sctp_port));
    display.note(&who.sentence(&directory, rules, paired));
    if who == Who::Anyone {
        identity::show(display)?;
    }
    match offer {
        Some(offer) if args.detached => {
            output::line(&offer.at(endpoint).to_string());
        }
        Some(offer) => offer.hand_out(endpoint, "whimbrel send FILE", display)?,
        None => {}
    }
    Ok(())
}

/// How senders are told from others: by the ticket that is offered to them, and by the keys of paired hosts.
struct Admission {
    offer: Option<Offer>,
    admitted: Option<Arc<Admitted>>,
    security: Security,
}

impl Admission {
    fn of(who: Who, args: &RecvArgs) -> Result<Self, Failure> {
        let everybody = |security| Ok(Self { offer: None, admitted: None, security });
        match who {
            Who::AnyoneInClear | Who::KeyHolders => everybody(Security::Off),
            Who::Anyone => everybody(secure::required(&identity::own()?, Trust::Anyone)),
            Who::Paired => {
                let book = Book::open()?;
                if book.hosts().is_empty() {
                    let text =
                        "no host is paired with this one yet, so that nobody could send: run `whimbrel pair`";
                    return Err(Failure::Usage(text.into()));
                }
                let admitted = Admitted::new(book, []);
                let security = secure::required(&identity::own()?, Trust::Keyring(admitted.keyring()));
                Ok(Self { offer: None, admitted: Some(Arc::new(admitted)), security })
            }
            Who::TicketHolders => {
                if args.output.quiet && args.ticket_file.is_none() {
                    let what = "with --quiet nobody sees the ticket that senders need: add --ticket-file FILE, or --paired";
                    return Err(Failure::Usage(what.to_owned()));
                }
                let offer = Offer::new(args.sctp_port, args.ticket_file.as_deref())?;
                // What was begun for one sender is for no one else.
                if args.detached {
                    let security = offer.security();
                    return Ok(Self { offer: Some(offer), admitted: None, security });
                }
                let admitted = Admitted::new(Book::open()?, [offer.holder()]);
                let security = offer.security_of(&admitted);
                Ok(Self { offer: Some(offer), admitted: Some(Arc::new(admitted)), security })
            }
        }
    }
}

/// An endpoint on these addresses; in the background on any port if the usual one is taken, perhaps by another receiver.
async fn bind(
    args: &RecvArgs,
    local: Vec<SocketAddr>,
    config: Config,
    display: &Display,
) -> Result<Endpoint, Failure> {
    let bind = |local| args.mobility.bind_shards(local, config.clone(), args.shards.shards, display);
    let free = addresses::on_any_port(&local);
    match bind(local).await {
        Err(_) if args.detached && args.listen.is_empty() => bind(free).await,
        outcome => outcome,
    }
}

/// What may be written.
fn rules(args: &RecvArgs) -> Rules {
    let existing = match (args.overwrite, args.rename) {
        (true, _) => Existing::Overwrite,
        (_, true) => Existing::Rename,
        _ => Existing::Refuse,
    };
    let hidden = if args.hidden { Hidden::Take } else { Hidden::Refuse };
    Rules { existing, hidden, sync: !args.no_sync, partial_space: args.partial_space }
}

/// Waits a moment for the endpoint's first address where the host has any: on a busy machine the kernel's answer may take
/// longer than an endpoint waits for it.
async fn has_addresses(endpoint: &Endpoint) {
    let deadline = Instant::now() + FIRST_ADDRESS;
    while endpoint.local_addresses().is_empty() && addresses::has_network() && Instant::now() < deadline {
        tokio::time::sleep(LOOK).await;
    }
}

impl Server {
    /// Serves whoever comes; who asked it to end, if somebody did.
    async fn serve_all(
        self: &Arc<Self>,
        listener: &Listener,
        transfers: &mut JoinSet<bool>,
        once: bool,
        interrupt: impl Future<Output = Asked>,
    ) -> Result<Option<Asked>, EndpointClosed> {
        let mut tick = tokio::time::interval(self.display.interval());
        // Progress is about what is under way, not about what came yesterday.
        let mut before = Totals::default();
        // One future for all rounds: a Ctrl-C that comes while another branch is busy must not be lost.
        let mut interrupt = std::pin::pin!(interrupt);
        let mut idle_since = Instant::now();
        loop {
            if !transfers.is_empty() {
                idle_since = Instant::now();
            } else if self.idle_limit.is_some_and(|limit| idle_since.elapsed() > limit) {
                return Ok(None);
            }
            tokio::select! {
                association = listener.accept() => self.admit(association?, transfers),
                Some(complete) = transfers.join_next() => {
                    if transfers.is_empty() {
                        self.display.idle();
                    }
                    if once && complete.unwrap_or(false) {
                        return Ok(None);
                    }
                }
                _ = tick.tick() => {
                    let totals = self.tally.totals();
                    if transfers.is_empty() {
                        before = totals;
                    } else {
                        self.display.tick(&totals.since(&before), &self.paths().await);
                    }
                }
                asked = &mut interrupt => return Ok(Some(asked)),
            }
        }
    }

    fn admit(self: &Arc<Self>, association: Association, transfers: &mut JoinSet<bool>) {
        let server = Arc::clone(self);
        self.display.begin();
        transfers.spawn(async move {
            let Some(_permit) = server.room_for(&association).await else {
                association.abort("the receiver is busy with other senders; try again later");
                return false;
            };
            server.serve(association).await
        });
    }

    /// A place for one sender more. Those that have fallen silent are waited for as long as their places are not needed, and they
    /// do not come from where this one comes from: that is a host whose power failed, and which sends the same files again.
    async fn room_for(&self, newcomer: &Association) -> Option<OwnedSemaphorePermit> {
        let full = self.room.available_permits() == 0;
        let from = newcomer.initial_route().remote.ip();
        let current = self.current().clone();
        let mut suspects = Vec::new();
        for other in current {
            let from_there = || async {
                let paths = other.paths().await;
                paths.iter().any(|path| path.route.remote.ip() == from)
            };
            if is_silent(&other).await && (full || from_there().await) {
                suspects.push(other);
            }
        }
        // A sender that is back after an outage may be heard over a new association first (`silence::successor`).
        for other in unanswering(suspects).await {
            other.abort("nothing has been heard of this sender, and its place is needed");
        }
        let permit = Arc::clone(&self.room).acquire_owned();
        tokio::time::timeout(GOODBYE, permit).await.ok()?.ok()
    }

    /// Serves one sender; whether it said that it was done.
    async fn serve(&self, association: Association) -> bool {
        let route = association.initial_route();
        let about = Arc::new(About { display: Arc::clone(&self.display), peer: route.remote });
        let key = association.peer_key();
        let name = key.and_then(|key| self.admitted.as_ref()?.name_of(key));
        let connected = json!({
            "local": route.local, "remote": route.remote, "protected": key.is_some(),
            "key": key.map(|key| key.to_string()), "name": name,
        });
        about.event("connected", connected);
        let how = if key.is_some() { ", encrypted" } else { ", not encrypted" };
        let who = name.map_or_else(String::new, |name| format!(" ({name})"));
        about.note(&format!("connection from {}{who}{how}", route.remote));
        news::follow(&self.endpoint, &association, Arc::clone(&about));
        self.beside.watch(&association).await;
        let on_file: OnFile = {
            let display = Arc::clone(&self.display);
            Arc::new(move |report| display.file(&report, Some(route.remote)))
        };
        self.current().push(association.clone());
        let outcome = receive(&association, Arc::clone(&self.store), Arc::clone(&self.tally), on_file).await;
        self.current().retain(|other| other.id() != association.id());
        match &outcome {
            Ok(()) => {}
            // A restarted peer may be someone else (RFC 5062 §4).
            Err(ReceiveError::Link(LinkError::Restarted)) => association.abort("restart in mid-transfer"),
            Err(ReceiveError::Stop(stop)) => {
                // Our reason is on its way; the abort, which overtakes everything, comes after it.
                let _ = tokio::time::timeout(GOODBYE, association.shutdown()).await;
                association.abort(stop.to_string());
            }
            Err(_) => association.abort("the transfer failed"),
        }
        let text = outcome.as_ref().err().map(ToString::to_string);
        // The sender goes on over its old connection, and nothing of this one is unfinished.
        let unused = matches!(outcome, Err(ReceiveError::Unused(_)));
        let needless = unused && text.as_ref().is_some_and(|text| text.ends_with(OLD_WORKS));
        let ok = outcome.is_ok() || needless;
        about.event("disconnected", json!({ "remote": route.remote, "ok": ok, "text": text }));
        if let Some(text) = text.filter(|_| !needless) {
            let text = format!("{}: {text}; unfinished files can be resumed", route.remote);
            self.display.note(&text);
        }
        outcome.is_ok()
    }

    async fn paths(&self) -> Vec<PathView> {
        let current = self.current().clone();
        match current.as_slice() {
            [only] => only.paths().await,
            _ => Vec::new(),
        }
    }

    fn current(&self) -> MutexGuard<'_, Vec<Association>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
