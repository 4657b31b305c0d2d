//! What both ends of a transfer tell whoever watches.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::protocol::{Offer, Outcome};

impl Outcome {
    /// What a file-system error means for a file, with the rest in words.
    pub(crate) fn of_error(error: &io::Error) -> (Self, String) {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (Self::NoSpace, error.to_string()),
            io::ErrorKind::AlreadyExists => (Self::Exists, String::new()),
            _ => (Self::Failed, error.to_string()),
        }
    }
}

/// How one file ended.
#[derive(Clone, Debug)]
pub(crate) struct FileReport {
    /// Its path as offered, printable.
    pub(crate) name: String,
    /// The bytes of its path, percent-encoded, where they are not those of `name`.
    pub(crate) name_bytes: Option<String>,
    /// Where it is on this host, of a file that stays behind because of its name.
    pub(crate) location: Option<String>,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// The bytes that did not have to be sent again.
    pub(crate) resumed: u64,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// In words; empty if there is nothing to add.
    pub(crate) text: String,
    /// BLAKE3 of the content, where the transfer got that far.
    pub(crate) hash: Option<blake3::Hash>,
}

impl FileReport {
    /// How an offered file ended.
    pub(crate) fn of(
        offer: &Offer,
        resumed: u64,
        outcome: Outcome,
        text: &str,
        hash: Option<blake3::Hash>,
    ) -> Self {
        let (name, name_bytes) = (offer.path.to_string(), offer.path.encoded());
        Self {
            name,
            name_bytes,
            location: None,
            size: offer.size,
            resumed,
            outcome,
            text: text.to_owned(),
            hash,
        }
    }
}

/// Called once per finished file, from any thread.
pub(crate) type OnFile = Arc<dyn Fn(FileReport) + Send + Sync>;

/// Running totals, read by the progress display while the transfer writes them.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    files: AtomicU64,
    bytes: AtomicU64,
    done_bytes: AtomicU64,
    moved_bytes: AtomicU64,
    /// Of these, bytes that have not been handed to the network.
    ahead_bytes: AtomicU64,
    /// Of these, bytes that had arrived when somebody last asked.
    arrived_bytes: AtomicU64,
    confirmed_bytes: AtomicU64,
    before_bytes: AtomicU64,
    done_files: AtomicU64,
    failed_files: AtomicU64,
}

/// A reading of a [`Tally`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Totals {
    /// Files announced.
    pub(crate) files: u64,
    /// Bytes announced.
    pub(crate) bytes: u64,
    /// Bytes through, those that were there already included.
    pub(crate) done_bytes: u64,
    /// Bytes that have been moved, also those that were moved in vain.
    pub(crate) moved_bytes: u64,
    /// Bytes of the files at their place.
    pub(crate) confirmed_bytes: u64,
    /// Of these, bytes that were there already.
    pub(crate) before_bytes: u64,
    /// Files at their place.
    pub(crate) done_files: u64,
    /// Files that failed.
    pub(crate) failed_files: u64,
}

impl Totals {
    /// What has come since an earlier reading.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            files: self.files.wrapping_sub(earlier.files),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
            done_bytes: self.done_bytes.wrapping_sub(earlier.done_bytes),
            moved_bytes: self.moved_bytes.wrapping_sub(earlier.moved_bytes),
            confirmed_bytes: self.confirmed_bytes.wrapping_sub(earlier.confirmed_bytes),
            before_bytes: self.before_bytes.wrapping_sub(earlier.before_bytes),
            done_files: self.done_files.wrapping_sub(earlier.done_files),
            failed_files: self.failed_files.wrapping_sub(earlier.failed_files),
        }
    }
}

impl Tally {
    /// Adds to what is announced.
    pub(crate) fn announce(&self, files: u64, bytes: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes back what was announced and will not come. Wraps, as announcing does: the numbers come from peers.
    pub(crate) fn withdraw(&self, files: u64, bytes: u64) {
        self.files.fetch_sub(files, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts bytes as through that were there already.
    pub(crate) fn skip(&self, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes as moved.
    pub(crate) fn advance(&self, bytes: u64) {
        self.moved_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes as moved that have been read, and are to be sent.
    pub(crate) fn read(&self, bytes: u64) {
        self.ahead_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.advance(bytes);
    }

    /// Notes that bytes that were read have been handed to the network.
    pub(crate) fn handed_over(&self, bytes: u64) {
        self.ahead_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes back bytes that will be sent again.
    pub(crate) fn retreat(&self, bytes: u64) {
        self.done_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Begins anew after a lost connection: these bytes are through, and of what was under way nothing is.
    pub(crate) fn rewind(&self, done: u64) {
        self.done_bytes.store(done, Ordering::Relaxed);
        self.moved_bytes.store(self.arrived_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        self.ahead_bytes.store(0, Ordering::Relaxed);
    }

    /// Counts a file as over.
    pub(crate) fn file(&self, report: &FileReport) {
        if !report.outcome.is_success() {
            self.failed_files.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.done_files.fetch_add(1, Ordering::Relaxed);
        self.confirmed_bytes.fetch_add(report.size, Ordering::Relaxed);
        self.before_bytes.fetch_add(report.resumed, Ordering::Relaxed);
    }

    /// The totals now at a sender: what the peer has not acknowledged does not count, and that is what was read ahead of the
    /// network and the bytes `queued` there.
    pub(crate) fn arrived(&self, queued: u64) -> Totals {
        let under_way = self.ahead_bytes.load(Ordering::Relaxed).saturating_add(queued);
        let totals = self.totals();
        let moved_bytes = totals.moved_bytes.saturating_sub(under_way);
        let moved_bytes = moved_bytes.max(self.arrived_bytes.fetch_max(moved_bytes, Ordering::Relaxed));
        Totals { moved_bytes, done_bytes: totals.done_bytes.saturating_sub(under_way), ..totals }
    }

    /// The totals now.
    pub(crate) fn totals(&self) -> Totals {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Totals {
            files: read(&self.files),
            bytes: read(&self.bytes),
            done_bytes: read(&self.done_bytes),
            moved_bytes: read(&self.moved_bytes),
            confirmed_bytes: read(&self.confirmed_bytes),
            before_bytes: read(&self.before_bytes),
            done_files: read(&self.done_files),
            failed_files: read(&self.failed_files),
        }
    }
}
