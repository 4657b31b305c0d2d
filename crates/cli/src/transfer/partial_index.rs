//! What is known of the unfinished files: how much space they take, who writes them, and which go first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::hashing::Stamp;
use super::partials::Slot;

/// Bytes that must arrive for their writer to count as alive.
const PROGRESS: u64 = 64 * 1024;

/// One unfinished file.
pub(super) struct Known {
    /// Bytes on the disk, holes left out.
    pub(super) bytes: u64,
    /// Who writes it now.
    pub(super) writer: Option<Arc<Slot>>,
    /// The hash state of its content as this process left it, and what the file was like then.
    pub(super) parked: Option<(Stamp, Box<blake3::Hasher>)>,
    /// When the last [`PROGRESS`] bytes were complete.
    pub(super) progressed: Instant,
    /// Bytes since then.
    unit: u64,
    /// Whether it was begun since then: to begin it again and again is no progress.
    begun: bool,
    /// Higher is later.
    order: u64,
}

/// What becomes of a copy that is begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beginning {
    /// It gets other content.
    Anew,
    /// It is gone on with.
    GoesOn,
}

/// All unfinished files.
#[derive(Default)]
pub(super) struct Index {
    files: BTreeMap<String, Known>,
    bytes: u64,
    clock: u64,
}

impl Index {
    /// Notes a file that an earlier process has left; the oldest must come first.
    pub(super) fn found(&mut self, name: String, bytes: u64) {
        let known = self.known(bytes, None);
        self.put(name, known);
    }

    /// Notes that somebody writes a file from now on. Who goes on with it has the time that there is for progress once.
    pub(super) fn begin(&mut self, name: String, bytes: u64, writer: Arc<Slot>, beginning: Beginning) {
        let writer = Some(writer);
        let known = match self.forget(&name) {
            Some(before) if beginning == Beginning::GoesOn && before.begun => {
                Known { bytes, writer, parked: None, ..before }
            }
            _ => Known { begun: true, ..self.known(bytes, writer) },
        };
        self.put(name, known);
    }

    /// A file that somebody has got on with now.
    fn known(&mut self, bytes: u64, writer: Option<Arc<Slot>>) -> Known {
        self.clock += 1;
        let (progressed, order) = (Instant::now(), self.clock);
        Known { bytes, writer, parked: None, progressed, unit: 0, begun: false, order }
    }

    fn put(&mut self, name: String, known: Known) {
        self.bytes += known.bytes;
        self.files.insert(name, known);
    }

    /// Takes a file out of the account.
    pub(super) fn forget(&mut self, name: &str) -> Option<Known> {
        let known = self.files.remove(name)?;
        self.bytes -= known.bytes;
        Some(known)
    }

    /// Counts what arrived for a file, and how much of it takes space.
    pub(super) fn arrived(&mut self, name: &str, bytes: u64, taking_space: u64) {
        let Some(known) = self.files.get_mut(name) else { return };
        known.bytes += taking_space;
        self.bytes += taking_space;
        known.unit += bytes;
        if known.unit >= PROGRESS {
            self.clock += 1;
            (known.unit, known.begun) = (0, false);
            (known.progressed, known.order) = (Instant::now(), self.clock);
        }
    }

    /// What is known of a file.
    pub(super) fn get(&self, name: &str) -> Option<&Known> {
        self.files.get(name)
    }

    /// The same, to be changed; not its bytes.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Known> {
        self.files.get_mut(name)
    }

    /// Unfinished files.
    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// Bytes of all.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether somebody writes a file, and has got on with it within `time`.
    pub(super) fn is_held(&self, name: &str, time: Duration) -> bool {
        self.files.get(name).is_some_and(|known| known.is_held(time))
    }

    /// Files that nobody has got on with for `time`, but for `except`; the longest rest first.
    pub(super) fn idle(&self, time: Duration, except: &str) -> Vec<(String, u64)> {
        let idle = self.files.iter().filter(|(name, known)| *name != except && !known.is_held(time));
        let mut idle: Vec<_> = idle.map(|(name, known)| (known.order, name.clone(), known.bytes)).collect();
        idle.sort_unstable();
        idle.into_iter().map(|(_, name, bytes)| (name, bytes)).collect()
    }
}

impl Known {
    fn is_held(&self, time: Duration) -> bool {
        self.writer.is_some() && self.progressed.elapsed() < time
    }
}
