//! The demo's cast: two endpoints, two networks, a file, and the one who cuts the cable.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, ensure};
use tempfile::TempDir;
use whimbrel::proto::PathPairing;
use whimbrel::secure::{self, Identity, Trust};
use whimbrel::{Association, AssociationEvent, Endpoint, Listener, PathState, Seed};

use super::arrivals::{Arrivals, ObservedLink};
use super::capture::Overheard;
use super::live::Live;
use super::networks::{self, Network};
use super::{CUT_AT, DEAD_FOR, FILE_BYTES, Timeline};
use crate::commands;
use crate::transfer::protocol::{Outcome as FileOutcome, SCTP_PORT};
use crate::transfer::receive::receive;
use crate::transfer::report::{FileReport, OnFile, Tally};
use crate::transfer::rules::Rules;
use crate::transfer::send::Outbox;
use crate::transfer::source::Sources;
use crate::transfer::store::Store;

/// How often the director looks.
const STEP: Duration = Duration::from_millis(50);
/// How long the second path may take to be confirmed.
const CONFIRM: Duration = Duration::from_secs(20);
/// What the file is called.
const NAME: &str = "random-bytes";
/// The file's first bytes, so many of which are looked for in what the networks carry.
const CANARY: usize = 32;
/// Content per message: small, so that a pause is seen exactly.
const BLOCK: usize = 4096;

pub(super) struct Stage {
    pub(super) networks: [Network; 2],
    pub(super) arrivals: Arrivals,
    client: Endpoint,
    association: Association,
    server: Endpoint,
    listener: Listener,
    accepted: Association,
    directory: TempDir,
}

/// How it went.
pub(super) struct Outcome {
    pub(super) timeline: Timeline,
    pub(super) verified: bool,
    pub(super) hash: blake3::Hash,
    pub(super) text: String,
    pub(super) moves: Vec<(f64, usize)>,
    /// DATA chunks that were sent again.
    pub(super) retransmitted: u64,
}

impl Stage {
    /// Networks, endpoints, association, and the file to be sent.
    pub(super) async fn build(seed: &Seed, capture: Option<&Path>) -> anyhow::Result<Self> {
        let addresses = networks::addresses()?;
        let content = content(seed);
        let secrets = [NAME.as_bytes().to_vec(), content[..CANARY].to_vec()];
        // Keys for this once, each of which the other end knows.
        let identities = [Identity::generate()?, Identity::generate()?];
        let bind = |index: usize| {
            let mut config = commands::config();
            let other = identities[1 - index].public_key();
            config.security = secure::required(&identities[index], Trust::keys([other]));
            // Each address belongs to one network, and so leads to one address of the peer.
            config.pairing = PathPairing::PerDestination;
            let local = addresses.map(|ip: IpAddr| SocketAddr::new(ip, 0));
            Endpoint::builder()
                .addresses(local)
                .config(config)
                .seed(seed.child("endpoint", index as u64))
                .bind()
        };
        let (server, client) = (bind(0).await?, bind(1).await?);
        let port = server.local_addresses().first().context("the server has no address")?.port();
        let (networks, port) = networks::build(addresses, port, seed, &secrets, capture)?;
        let listener = server.listen(SCTP_PORT)?;
        let remote = addresses.map(|ip| SocketAddr::new(ip, port));
        let association = client.connect(&remote, SCTP_PORT).await?;
        let accepted = listener.accept().await?;
        let stage = Self {
            networks,
            arrivals: Arrivals::default(),
            client,
            association,
            server,
            listener,
            accepted,
            directory: tempfile::tempdir().context("cannot make a directory for temporary files")?,
        };
        stage.prepare_file(&content)?;
        stage.await_both_paths().await?;
        Ok(stage)
    }

    fn prepare_file(&self, content: &[u8]) -> anyhow::Result<()> {
        for name in ["from", "to"] {
            std::fs::create_dir(self.directory.path().join(name))?;
        }
        let path = self.directory.path().join("from").join(NAME);
        std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    }

    async fn await_both_paths(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + CONFIRM;
        loop {
            let active =
                self.association.paths().await.iter().filter(|path| path.state == PathState::Active).count();
            if active == 2 {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "only {active} of two paths came up; does a firewall filter loopback?"
            );
            tokio::time::sleep(STEP).await;
        }
    }

    /// Moves the file, and kills and revives the Wi-Fi meanwhile.
    pub(super) async fn play(&self, live: &Live) -> anyhow::Result<Outcome> {
        let [from, to] = ["from", "to"].map(|directory| self.directory.path().join(directory).join(NAME));
        let sources = Sources::collect(std::slice::from_ref(&from), false)?;
        let store = Store::open(&self.directory.path().join("to"), Rules::default())?;
        let tally = Arc::new(Tally::default());
        let (sent, arrived) = (Arc::new(Tally::default()), Arc::clone(&tally));
        let reports: Arc<Mutex<Vec<FileReport>>> = Arc::default();
        let on_file: OnFile = {
            let reports = Arc::clone(&reports);
            Arc::new(move |report| reports.lock().unwrap_or_else(PoisonError::into_inner).push(report))
        };
        let mut outbox = Outbox::new(sources, sent, on_file, Duration::ZERO).with_block(BLOCK);
        let (begin, begin_unix) = (Instant::now(), SystemTime::now());
        let transfer = async {
            let receiving = async {
                let link =
                    ObservedLink { association: self.accepted.clone(), arrivals: self.arrivals.clone() };
                receive(&link, store, arrived, Arc::new(|_| ())).await
            };
            let sending = async {
                outbox.session(&self.association).await?;
                let end = Instant::now();
                let paths = self.association.paths().await;
                let again = paths.iter().map(|path| path.counters.data_retransmitted).sum();
                let _ = self.association.shutdown().await;
                Ok::<_, anyhow::Error>((end, again))
            };
            let (sent, received) = tokio::join!(sending, receiving);
            received?;
            sent
        };
        let mut director = Director { stage: self, live, begin, cut: None, back: None, moves: Vec::new() };
        let (end, retransmitted) = tokio::select! {
            outcome = transfer => outcome?,
            never = director.direct(&tally) => match never {},
        };
        let report = reports.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let report = report.context("the transfer ended without a result")?;
        let cut = director.cut.context("the file was through before the Wi-Fi could die")?;
        let here = blake3::hash(&std::fs::read(from)?);
        let there = blake3::hash(&std::fs::read(to).unwrap_or_default());
        Ok(Outcome {
            timeline: Timeline { begin, begin_unix, cut, back: director.back, end },
            verified: report.outcome == FileOutcome::Verified && here == there,
            hash: there,
            text: report.text,
            moves: director.moves,
            retransmitted,
        })
    }

    /// What was heard in the networks.
    pub(super) fn overheard(&self) -> anyhow::Result<[Overheard; 2]> {
        for network in &self.networks {
            network.handle().flush_capture().context("cannot write the capture (--capture)")?;
        }
        Ok([0, 1].map(|index| {
            let mut heard = self.networks[index].overheard.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *heard)
        }))
    }

    /// Which network a local address belongs to.
    pub(super) fn network_of(&self, address: SocketAddr) -> usize {
        usize::from(self.networks[0].address != address.ip())
    }
}

/// The file that is sent.
fn content(seed: &Seed) -> Vec<u8> {
    let mut content = vec![0; FILE_BYTES];
    seed.stream("file", 0).fill(&mut content);
    content
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.client.abort("the demo is over");
        self.server.abort("the demo is over");
        let _ = &self.listener;
    }
}

/// Watches, shows, cuts and mends.
struct Director<'a> {
    stage: &'a Stage,
    live: &'a Live,
    begin: Instant,
    cut: Option<Instant>,
    back: Option<Instant>,
    moves: Vec<(f64, usize)>,
}

enum Never {}

impl Director<'_> {
    async fn direct(&mut self, tally: &Tally) -> Never {
        let mut events = self.stage.association.events();
        let mut tick = tokio::time::interval(STEP);
        self.moves.push((0.0, self.stage.network_of(self.stage.association.initial_route().local)));
        loop {
            tokio::select! {
                _ = tick.tick() => {
                    let share = tally.totals().done_bytes as f64 / FILE_BYTES as f64;
                    self.act(share);
                    let paths = self.stage.association.paths().await;
                    self.live.show(self.begin.elapsed(), self.stage, &paths, share);
                }
                Some(event) = events.recv() => self.note(&event),
            }
        }
    }

    fn act(&mut self, share: f64) {
        let wifi = self.stage.networks[0].handle();
        match (self.cut, self.back) {
            (None, _) if share >= CUT_AT => {
                wifi.down();
                self.cut = Some(Instant::now());
                self.live.moment(
                    self.begin.elapsed(),
                    "cut",
                    "the Wi-Fi is dead: packets vanish, and nobody is told",
                );
            }
            (Some(cut), None) if cut.elapsed() >= DEAD_FOR => {
                wifi.up();
                self.back = Some(Instant::now());
                self.live.moment(self.begin.elapsed(), "back", "the Wi-Fi is back");
            }
            _ => {}
        }
    }

    fn note(&mut self, event: &AssociationEvent) {
        let at = self.begin.elapsed();
        match event {
            AssociationEvent::PathInUse { route, .. } => {
                let network = self.stage.network_of(route.local);
                self.moves.push((at.as_secs_f64(), network));
                let name = self.stage.networks[network].profile.name;
                self.live.moment(at, "path-in-use", &format!("data now goes over {name}"));
            }
            AssociationEvent::Path { route, state, .. } => {
                let name = self.stage.networks[self.stage.network_of(route.local)].profile.name;
                let state = crate::path_words::plain_state_name(*state);
                self.live.moment(at, "path", &format!("the {name} path is {state}"));
            }
            _ => {}
        }
    }
}
