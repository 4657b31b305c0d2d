//! A link in memory, and a transfer over it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use super::link::{Frame, Link, LinkError};
use super::receive::{ReceiveError, receive};
use super::report::{FileReport, OnFile, Tally};
use super::rules::Rules;
use super::send::{Outbox, SendError};
use super::source::Sources;
use super::store::Store;

/// Where files are and where they go.
pub(crate) struct Dirs {
    pub(crate) from: TempDir,
    pub(crate) to: TempDir,
}

pub(crate) fn dirs() -> Dirs {
    Dirs { from: TempDir::new().unwrap(), to: TempDir::new().unwrap() }
}

impl Dirs {
    pub(crate) fn store(&self) -> Arc<Store> {
        Store::open(self.to.path(), Rules::default()).unwrap()
    }
}

/// One end of a link in memory. Cut after `budget` frames in its sending direction.
pub(crate) struct MemoryLink {
    out: Mutex<Option<mpsc::Sender<Frame>>>,
    incoming: AsyncMutex<mpsc::Receiver<Frame>>,
    budget: Mutex<Option<usize>>,
    cut: Arc<tokio::sync::watch::Sender<bool>>,
}

/// Two connected ends.
pub(crate) fn pair() -> (MemoryLink, MemoryLink) {
    let (left, from_left) = mpsc::channel(8);
    let (right, from_right) = mpsc::channel(8);
    let cut = Arc::new(tokio::sync::watch::Sender::new(false));
    let end = |out, incoming| MemoryLink {
        out: Mutex::new(Some(out)),
        incoming: AsyncMutex::new(incoming),
        budget: Mutex::new(None),
        cut: Arc::clone(&cut),
    };
    (end(left, from_right), end(right, from_left))
}

impl MemoryLink {
    /// Lets `frames` more frames out, then cuts the link both ways.
    pub(crate) fn cut_after(self, frames: usize) -> Self {
        *self.budget.lock().unwrap() = Some(frames);
        self
    }

    /// A graceful close of this end.
    pub(crate) fn close(&self) {
        self.out.lock().unwrap().take();
    }

    fn lost() -> LinkError {
        LinkError::Lost("cut".into())
    }
}

impl Link for MemoryLink {
    fn streams(&self) -> u16 {
        4
    }

    async fn send(&self, frame: Frame) -> Result<(), LinkError> {
        if let Some(budget) = self.budget.lock().unwrap().as_mut() {
            if *budget == 0 {
                self.cut.send_replace(true);
            } else {
                *budget -= 1;
            }
        }
        if *self.cut.borrow() {
            return Err(Self::lost());
        }
        let out = self.out.lock().unwrap().clone().ok_or_else(Self::lost)?;
        out.send(frame).await.map_err(|_| Self::lost())
    }

    async fn recv(&self) -> Result<Option<Frame>, LinkError> {
        let mut incoming = self.incoming.lock().await;
        let mut cut = self.cut.subscribe();
        tokio::select! {
            biased;
            _ = cut.wait_for(|cut| *cut) => Err(Self::lost()),
            frame = incoming.recv() => Ok(frame),
        }
    }
}

/// How one connection's worth of transfer went.
pub(crate) struct Run {
    pub(crate) sent: Result<(), SendError>,
    pub(crate) received: Result<(), ReceiveError>,
    pub(crate) reports: Vec<FileReport>,
    pub(crate) received_reports: Vec<FileReport>,
    pub(crate) bytes: u64,
}

/// A recorder of file reports.
pub(crate) fn recorder() -> (Arc<Mutex<Vec<FileReport>>>, OnFile) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let on_file = Arc::clone(&list);
    (list, Arc::new(move |report| on_file.lock().unwrap().push(report)))
}

/// Sends `sources` into `store` over a fresh pair; the sender's end is cut after `budget` frames.
pub(crate) async fn transfer(sources: Sources, store: &Arc<Store>, budget: Option<usize>) -> Run {
    let (reports, on_file) = recorder();
    let tally = Arc::new(Tally::default());
    let mut outbox = Outbox::new(sources, Arc::clone(&tally), on_file, Duration::from_secs(60));
    let (mut left, right) = pair();
    if let Some(frames) = budget {
        left = left.cut_after(frames);
    }
    let (received_reports, on_received) = recorder();
    let send = async {
        let outcome = outbox.session(&left).await;
        left.close();
        outcome
    };
    let receive = receive(&right, Arc::clone(store), Arc::default(), on_received);
    let (sent, received) = tokio::join!(send, receive);
    let reports = reports.lock().unwrap().clone();
    let received_reports = received_reports.lock().unwrap().clone();
    Run { sent, received, reports, received_reports, bytes: tally.totals().done_bytes }
}

/// `size` bytes that differ from block to block.
pub(crate) fn content(size: usize, seed: u64) -> Vec<u8> {
    let mut out = vec![0; size];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut out);
    out
}

/// Writes a file and returns its path.
pub(crate) fn file(directory: &Path, name: &str, content: &[u8]) -> std::path::PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}
