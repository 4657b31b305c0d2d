//! The sending end: offers files, proves prefixes, sends what is accepted, and keeps account over reconnections.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::link::{Frame, Link, LinkError};
use super::names::printable;
use super::protocol::{
    BLOCK, Control, Kind, Malformed, Outcome, PPID_CONTROL, PPID_DATA, PROOFS, VERSION, WINDOW,
};
use super::reader::{Job, Reader, Shared};
use super::receive::control;
use super::report::{FileReport, OnFile, Tally};
use super::source::{Source, Sources};

/// Frames read ahead of the network: 1 MiB of content.
const READ_AHEAD: usize = 16;
/// How long a file that is busy at the receiver rests before it is offered again.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// How long to look for the peer's reason after the link is lost.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long a receiver may take to greet.
const GREETING: Duration = Duration::from_secs(30);

/// Why a session ended before everything was settled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// The association failed; a new session can go on.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The receiver closed the association early; a new session can go on.
    #[error("the receiver closed the connection before everything was sent")]
    Early,
    /// The receiver is there, but does not answer; a new session may find it better.
    #[error("the receiver said nothing for {} s", GREETING.as_secs())]
    Silent,
    /// The receiver gave up; a new session would end the same way.
    #[error("the receiver gave up: {0}")]
    Fatal(String),
    /// The receiver breaks the protocol.
    #[error("the peer does not speak the file-transfer protocol: {0}")]
    Malformed(Malformed),
    /// The receiver speaks another version.
    #[error("the receiver speaks version {0} of the file-transfer protocol, we speak {VERSION}")]
    Version(u16),
    /// No stream to send content on.
    #[error("the receiver allows a single stream; at least two are needed")]
    Streams,
}

// Not `#[from]`: the text has its reason in it already, and as a source it would be told twice.
impl From<Malformed> for SendError {
    fn from(reason: Malformed) -> Self {
        Self::Malformed(reason)
    }
}

impl SendError {
    /// Whether a new connection may succeed.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Link(_) | Self::Early | Self::Silent)
    }
}

/// Everything to be sent, and how far it is. Outlives connections.
pub(crate) struct Outbox {
    sources: Arc<[Source]>,
    /// Not offered yet on this connection.
    pending: VecDeque<u32>,
    /// Offered on this connection and not settled.
    open: BTreeMap<u32, Open>,
    /// Busy at the receiver: to be offered again.
    busy: Vec<u32>,
    /// Bytes of the files that are in place.
    settled: u64,
    tally: Arc<Tally>,
    on_file: OnFile,
    give_up: Instant,
    block: usize,
}

/// A file the receiver knows of.
#[derive(Clone, Copy, Default)]
struct Open {
    /// What the receiver had already.
    resumed: u64,
    /// Whether content may be on its way.
    sending: bool,
    /// How often a proof was asked for.
    proofs: u8,
}

impl Outbox {
    /// Files that are busy at the receiver are offered again until `patience` is over.
    pub(crate) fn new(sources: Sources, tally: Arc<Tally>, on_file: OnFile, patience: Duration) -> Self {
        tally.announce(sources.files(), sources.bytes());
        Self {
            pending: (0..sources.list.len() as u32).collect(),
            sources: sources.list.into(),
            open: BTreeMap::new(),
            busy: Vec::new(),
            settled: 0,
            tally,
            on_file,
            give_up: Instant::now() + patience,
            block: BLOCK,
        }
    }

    /// Sends content in pieces of `bytes`, at least 1 and at most [`BLOCK`].
    pub(crate) fn with_block(mut self, bytes: usize) -> Self {
        self.block = bytes.clamp(1, BLOCK);
        self
    }

    /// Whether every file is settled, one way or the other.
    #[cfg(test)]
    pub(crate) fn is_done(&self) -> bool {
        self.pending.is_empty() && self.open.is_empty() && self.busy.is_empty()
    }

    /// Sends over one association until everything is settled. After an error that is passing, call again with a
    /// new association: what the receiver has is not sent twice.
    pub(crate) async fn session<L: Link>(&mut self, link: &L) -> Result<(), SendError> {
        if link.streams() < 2 {
            return Err(SendError::Streams);
        }
        let shared = Arc::new(Shared::default());
        let (frames, content) = mpsc::channel(READ_AHEAD);
        // Both hold whatever the window allows, so the talk never waits for room instead of listening.
        let (jobs, job_queue) = mpsc::channel(2 * WINDOW);
        let (controls, messages) = mpsc::channel(2 * WINDOW);
        let reader = Reader::new(
            Arc::clone(&self.sources),
            frames,
            Arc::clone(&shared),
            Arc::clone(&self.tally),
            link.streams(),
            self.block,
        );
        let reader = tokio::task::spawn_blocking(move || reader.run(job_queue));
        let tally = Arc::clone(&self.tally);
        let outcome = {
            let talk = Session { outbox: self, link, shared, jobs, controls }.talk();
            converse(talk, pump(link, messages, content, &tally)).await
        };
        // Everything it could wait for is dropped, so it ends.
        let _ = reader.await;
        if outcome.is_err() {
            self.rewind();
        }
        outcome
    }

    /// Whatever was open begins anew on the next connection; its bytes count when they are through again.
    fn rewind(&mut self) {
        self.busy.extend(std::mem::take(&mut self.open).into_keys());
        self.busy.sort_unstable();
        for id in self.busy.drain(..).rev() {
            self.pending.push_front(id);
        }
        self.tally.rewind(self.settled);
    }

    /// Files and bytes that are not settled, at the beginning of a connection.
    fn left(&self) -> (u64, u64) {
        let offers = self.pending.iter().map(|id| &self.sources[*id as usize].offer);
        let files = offers.filter(|offer| offer.kind == Kind::File);
        files.fold((0, 0), |(files, bytes), offer| (files + 1, offer.size.saturating_add(bytes)))
    }

    fn settle(&mut self, id: u32, resumed: u64, outcome: Outcome, text: &str, hash: Option<blake3::Hash>) {
        let offer = &self.sources[id as usize].offer;
        if outcome.is_success() {
            self.settled += offer.size;
        }
        if offer.kind == Kind::Directory {
            if outcome.is_success() {
                return;
            }
            // Only files are announced.
            self.tally.announce(1, 0);
        }
        let report = FileReport::of(offer, resumed, outcome, &printable(text), hash);
        self.tally.file(&report);
        (self.on_file)(report);
    }
}

/// Runs both directions. The pump ends by itself only when the talk is over or the link is lost; in the latter case
/// the peer's last words may still be waiting to be read.
async fn converse(
    talk: impl Future<Output = Result<(), SendError>>,
    pump: impl Future<Output = Result<(), LinkError>>,
) -> Result<(), SendError> {
    let mut talk = std::pin::pin!(talk);
    let mut pump = std::pin::pin!(pump);
    tokio::select! {
        outcome = &mut talk => {
            outcome?;
            // The goodbye is still in the queue.
            Ok(pump.await?)
        }
        ended = &mut pump => match tokio::time::timeout(LAST_WORDS, &mut talk).await {
            Ok(Err(reason)) => Err(reason),
            _ => Err(ended.err().unwrap_or_else(|| LinkError::Lost("the reader stopped".into())).into()),
        }
    }
}

/// Puts frames on the link, control messages first.
async fn pump<L: Link>(
    link: &L,
    mut messages: mpsc::Receiver<Control>,
    mut content: mpsc::Receiver<Frame>,
    tally: &Tally,
) -> Result<(), LinkError> {
    loop {
        let frame = tokio::select! {
            biased;
            Some(message) = messages.recv() => control(&message),
            Some(frame) = content.recv() => frame,
            else => return Ok(()),
        };
        let content = if frame.ppid == PPID_DATA { frame.bytes.len() as u64 } else { 0 };
        link.send(frame).await?;
        tally.handed_over(content);
    }
}

/// The control side of one connection.
struct Session<'a, L> {
    outbox: &'a mut Outbox,
    link: &'a L,
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
    controls: mpsc::Sender<Control>,
}

impl<L: Link> Session<'_, L> {
    async fn talk(mut self) -> Result<(), SendError> {
        let (files, bytes) = self.outbox.left();
        self.say(Control::Hello { version: VERSION, files, bytes }).await;
        let mut greeted = false;
        loop {
            while self.outbox.open.len() < WINDOW
                && let Some(id) = self.outbox.pending.pop_front()
            {
                self.outbox.open.insert(id, Open::default());
                let offer = self.outbox.sources[id as usize].offer.clone();
                self.say(Control::Offer(offer)).await;
            }
            if self.outbox.open.is_empty() {
                if self.outbox.busy.is_empty() {
                    break;
                }
                tokio::time::sleep(BUSY_PAUSE).await;
                self.outbox.pending.extend(self.outbox.busy.drain(..));
                continue;
            }
            // Later a receiver may be busy with its disk for as long as it takes; a greeting takes no time.
            let frame = match greeted {
                true => self.link.recv().await?,
                false => tokio::time::timeout(GREETING, self.link.recv())
                    .await
                    .map_err(|_| SendError::Silent)??,
            };
            greeted = true;
            let frame = frame.ok_or(SendError::Early)?;
            if frame.stream != 0 || frame.ppid != PPID_CONTROL {
                return Err(Malformed("content from a receiver").into());
            }
            self.hear(Control::decode(&frame.bytes)?).await?;
        }
        self.say(Control::Bye).await;
        Ok(())
    }

    async fn hear(&mut self, message: Control) -> Result<(), SendError> {
        match message {
            Control::Welcome { version: VERSION } => Ok(()),
            Control::Welcome { version } => Err(SendError::Version(version)),
            Control::Fatal { text } => Err(SendError::Fatal(printable(&text))),
            Control::Prove { id, length } => {
                let size = self.outbox.sources.get(id as usize).map_or(0, |source| source.offer.size);
                let open = self.waiting(id)?;
                if length == 0 || length > size {
                    return Err(Malformed("a proof of more than was offered").into());
                }
                // Each costs us reading the file.
                open.proofs += 1;
                if open.proofs > PROOFS {
                    return Err(Malformed("one proof after the other").into());
                }
                open.resumed = length;
                self.start(Job::Prove { id, length }).await
            }
            Control::Accept { id, offset } => {
                let open = self.waiting(id)?;
                if offset != 0 && offset != open.resumed {
                    return Err(Malformed("accepted from an offset that was not proved").into());
                }
                *open = Open { resumed: offset, sending: true, ..*open };
                self.start(Job::Send { id, offset }).await
            }
            Control::Result { id, outcome, text } => self.result(id, outcome, &text),
            _ => Err(Malformed("a message only senders send").into()),
        }
    }

    fn result(&mut self, id: u32, outcome: Outcome, text: &str) -> Result<(), SendError> {
        let open = self.outbox.open.remove(&id).ok_or(Malformed("a result for no open file"))?;
        let hash = self.shared.take_hash(id);
        if open.sending && hash.is_none() && !outcome.is_success() {
            self.shared.end(id);
        }
        if outcome.is_success() && open.sending != (outcome == Outcome::Verified) {
            let directory = self.outbox.sources[id as usize].offer.kind == Kind::Directory;
            if !directory {
                return Err(Malformed("a success that cannot be").into());
            }
        }
        if outcome == Outcome::Already {
            self.outbox.tally.skip(self.outbox.sources[id as usize].offer.size);
        }
        if outcome.is_passing() && Instant::now() < self.outbox.give_up {
            self.outbox.busy.push(id);
            return Ok(());
        }
        let resumed = match outcome {
            Outcome::Already => self.outbox.sources[id as usize].offer.size,
            _ => open.resumed,
        };
        self.outbox.settle(id, resumed, outcome, text, hash);
        Ok(())
    }

    /// An open file that has not been accepted.
    fn waiting(&mut self, id: u32) -> Result<&mut Open, SendError> {
        match self.outbox.open.get_mut(&id) {
            Some(open) if !open.sending => Ok(open),
            _ => Err(Malformed("an answer to no open offer").into()),
        }
    }

    async fn start(&self, job: Job) -> Result<(), SendError> {
        // The reader stops only when the pump has: then the link is lost, and that is the error to report.
        let _ = self.jobs.send(job).await;
        Ok(())
    }

    async fn say(&self, message: Control) {
        // As above: a closed queue means a lost link.
        let _ = self.controls.send(message).await;
    }
}

#[cfg(test)]
#[path = "transfer_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "counts_tests.rs"]
mod counts;
