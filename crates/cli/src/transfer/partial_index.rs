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
    /// Higher is later.
    order: u64,
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
        self.put(name, bytes, None);
    }

    /// Notes that somebody writes a file from now on.
    pub(super) fn begin(&mut self, name: String, bytes: u64, writer: Arc<Slot>) {
        self.put(name, bytes, Some(writer));
    }

    fn put(&mut self, name: String, bytes: u64, writer: Option<Arc<Slot>>) {
        self.forget(&name);
        self.clock += 1;
        self.bytes += bytes;
        let known =
            Known { bytes, writer, parked: None, progressed: Instant::now(), unit: 0, order: self.clock };
        self.files.insert(name, known);
    }

    /// Takes a file out of the account.
    pub(super) fn forget(&mut self, name: &str) {
        if let Some(known) = self.files.remove(name) {
            self.bytes -= known.bytes;
        }
    }

    /// Counts what arrived for a file, and how much of it takes space.
    pub(super) fn arrived(&mut self, name: &str, bytes: u64, taking_space: u64) {
        let Some(known) = self.files.get_mut(name) else { return };
        known.bytes += taking_space;
        self.bytes += taking_space;
        known.unit += bytes;
        if known.unit >= PROGRESS {
            self.clock += 1;
            (known.unit, known.progressed, known.order) = (0, Instant::now(), self.clock);
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
