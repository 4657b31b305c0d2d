//! The sending end's disk thread: reads and hashes the files in the order in which they were accepted, and makes
//! the frames. Its output queue is short, so it never runs far ahead of the network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use rustix::fs::OFlags;
use tokio::sync::mpsc;

use super::hashing::hash_prefix;
use super::link::Frame;
use super::protocol::{Abandon, Control, DataMessage};
use super::receive::control;
use super::report::Tally;
use super::source::Source;

/// What the reader is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// Prove that we have the first `length` bytes.
    Prove { id: u32, length: u64 },
    /// Send the file from `offset`, which is 0 or what was proved.
    Send { id: u32, offset: u64 },
}

/// What the session and its reader tell each other outside the queues.
#[derive(Default)]
pub(crate) struct Shared {
    /// Files the receiver has ended although we are not through with them.
    ended: Mutex<BTreeSet<u32>>,
    /// Hashes of the files that were sent to their end.
    hashes: Mutex<BTreeMap<u32, blake3::Hash>>,
}

impl Shared {
    /// The receiver wants no more of this file.
    pub(crate) fn end(&self, id: u32) {
        lock(&self.ended).insert(id);
    }

    /// The hash of a file that was sent to its end; once.
    pub(crate) fn take_hash(&self, id: u32) -> Option<blake3::Hash> {
        lock(&self.hashes).remove(&id)
    }
}

/// The thread's state.
pub(crate) struct Reader {
    sources: Arc<[Source]>,
    frames: mpsc::Sender<Frame>,
    shared: Arc<Shared>,
    tally: Arc<Tally>,
    streams: u16,
    block: usize,
    next_stream: u16,
    /// Hash states of proofs, to go on from when the proof is believed.
    proved: BTreeMap<u32, Box<blake3::Hasher>>,
}

/// Nobody takes our frames any more.
struct Gone;

/// Why a file cannot be sent to its end.
struct Trouble {
    reason: Abandon,
    text: String,
}

impl Reader {
    /// `streams` counts all outbound streams; content uses all but stream 0, in pieces of `block` bytes.
    pub(crate) fn new(
        sources: Arc<[Source]>,
        frames: mpsc::Sender<Frame>,
        shared: Arc<Shared>,
        tally: Arc<Tally>,
        streams: u16,
        block: usize,
    ) -> Self {
        Self { sources, frames, shared, tally, streams, block, next_stream: 0, proved: BTreeMap::new() }
    }

    /// Works until there are no more jobs, or nobody takes the frames.
    pub(crate) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(job) = jobs.blocking_recv() {
            let sources = Arc::clone(&self.sources);
            let done = match job {
                Job::Prove { id, length } => self.prove(&sources[id as usize], length),
                Job::Send { id, offset } => self.send(&sources[id as usize], offset),
            };
            if done.is_err() {
                return;
            }
        }
    }

    fn prove(&mut self, source: &Source, length: u64) -> Result<(), Gone> {
        let id = source.offer.id;
        match open(source).and_then(|file| {
            hash_prefix(file, length, || !self.frames.is_closed()).map_err(|error| unreadable(&error))
        }) {
            Ok(hasher) => {
                let hash = *hasher.finalize().as_bytes();
                self.proved.insert(id, hasher);
                self.put(control(&Control::Claim { id, hash }))
            }
            Err(trouble) => self.put(control(&Control::Cancel { id, text: trouble.text })),
        }
    }

    fn send(&mut self, source: &Source, offset: u64) -> Result<(), Gone> {
        let id = source.offer.id;
        let proved = self.proved.remove(&id).filter(|hasher| hasher.count() == offset);
        let mut hasher = match proved {
            Some(hasher) if offset > 0 => hasher,
            _ => Box::default(),
        };
        let mut file = match open(source).and_then(|mut file| {
            file.seek(SeekFrom::Start(offset)).map_err(|error| unreadable(&error))?;
            Ok(file)
        }) {
            Ok(file) => file,
            Err(trouble) => return self.put(control(&Control::Cancel { id, text: trouble.text })),
        };
        let stream = 1 + self.next_stream % (self.streams - 1);
        self.next_stream = stream;
        self.put_data(stream, &DataMessage::Begin { id, offset })?;
        self.tally.skip(offset);
        let mut position = offset;
        let last = loop {
            if lock(&self.shared.ended).remove(&id) {
                break DataMessage::Abandon { reason: Abandon::Ended, text: String::new() };
            }
            match next_block(&mut file, source, position, self.block) {
                Ok(Some(block)) => {
                    hasher.update(&block);
                    position += block.len() as u64;
                    let length = block.len() as u64;
                    self.tally.read(length);
                    self.put_data(stream, &DataMessage::Data(block))?;
                }
                Ok(None) => {
                    let hash = hasher.finalize();
                    lock(&self.shared.hashes).insert(id, hash);
                    break DataMessage::End { hash: *hash.as_bytes() };
                }
                Err(Trouble { reason, text }) => break DataMessage::Abandon { reason, text },
            }
        };
        if matches!(last, DataMessage::Abandon { .. }) {
            self.tally.retreat(position);
        }
        self.put_data(stream, &last)
    }

    fn put_data(&self, stream: u16, message: &DataMessage) -> Result<(), Gone> {
        let (ppid, bytes) = message.encode();
        self.put(Frame { stream, ppid, bytes })
    }

    fn put(&self, frame: Frame) -> Result<(), Gone> {
        self.frames.blocking_send(frame).map_err(|_| Gone)
    }
}

/// Opens a source, which must still be what was offered.
fn open(source: &Source) -> Result<File, Trouble> {
    // What was a file may be a pipe by now: opening that would wait for a writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(&source.location);
    let file = file.map_err(|error| unreadable(&error))?;
    check_unchanged(&file, source)?;
    Ok(file)
}

/// The next bytes, `None` at the end. A source that is shorter than offered, or was modified, is an error.
fn next_block(
    file: &mut File,
    source: &Source,
    position: u64,
    block: usize,
) -> Result<Option<Bytes>, Trouble> {
    let wanted = (source.offer.size - position).min(block as u64) as usize;
    if wanted == 0 {
        check_unchanged(file, source)?;
        return at_end(file).map(|()| None);
    }
    let mut block = BytesMut::zeroed(wanted);
    match file.read_exact(&mut block) {
        Ok(()) => Ok(Some(block.freeze())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(changed()),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Files of /proc and the like say that they are empty, and are not.
fn at_end(file: &mut File) -> Result<(), Trouble> {
    match file.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(Trouble {
            reason: Abandon::Changed,
            text: "there is more in it than its size says; send a copy of it".into(),
        }),
        Err(error) => Err(unreadable(&error)),
    }
}

fn check_unchanged(file: &File, source: &Source) -> Result<(), Trouble> {
    let now = file.metadata().map_err(|error| unreadable(&error))?;
    let same = now.is_file()
        && now.len() == source.offer.size
        && now.mtime() == source.offer.mtime
        && now.mtime_nsec() == source.mtime_nanos;
    if same { Ok(()) } else { Err(changed()) }
}

fn unreadable(error: &io::Error) -> Trouble {
    Trouble { reason: Abandon::Unreadable, text: format!("the sender cannot read it: {error}") }
}

fn changed() -> Trouble {
    Trouble { reason: Abandon::Changed, text: "it changed at the sender while it was being sent".into() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
