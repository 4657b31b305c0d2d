//! One connection's share of the running totals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::report::{FileReport, OnFile, Tally};

/// Adds to a [`Tally`] what one sender announces and what of it arrives. When the connection is over, what did not
/// come is taken back: it was a lie, or it is announced again by the connection that brings it.
pub(crate) struct Account {
    tally: Arc<Tally>,
    on_file: OnFile,
    /// Announced and not over. Both wrap below zero if more comes than was announced, and sums come out right.
    files: AtomicU64,
    /// Announced and not through.
    bytes: AtomicU64,
}

impl Account {
    /// An account of nothing.
    pub(crate) fn new(tally: Arc<Tally>, on_file: OnFile) -> Self {
        Self { tally, on_file, files: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// Notes what the sender promises.
    pub(crate) fn announce(&self, files: u64, bytes: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.tally.announce(files, bytes);
    }

    /// Counts bytes as through that were there already.
    pub(crate) fn skip(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.tally.skip(bytes);
    }

    /// Counts bytes as moved.
    pub(crate) fn advance(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.tally.advance(bytes);
    }

    /// Takes back bytes that will be sent again, or never.
    pub(crate) fn retreat(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.tally.retreat(bytes);
    }

    /// Counts a file as over, and tells of it.
    pub(crate) fn file(&self, report: FileReport) {
        self.files.fetch_sub(1, Ordering::Relaxed);
        self.tally.file(&report);
        (self.on_file)(report);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.tally.withdraw(self.files.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
#[path = "account_tests.rs"]
mod tests;
