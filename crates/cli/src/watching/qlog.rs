//! `--qlog`: what becomes of windows, round-trip times, losses, paths and handovers, as qlog (draft-ietf-quic-qlog-main-schema-07) in JSON text
//! sequences (RFC 7464). Paths are told apart by `path`. Events that qlog does not know begin with `sctp:`; `recovery:metrics_updated` has four
//! fields more, `rto`, `error_count`, `bytes_sent` and `bytes_received`.

mod events;
mod place;

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use whimbrel::{AssociationEvent, AssociationId, Record, RecordValue, Recorder};

use crate::output::complain;
use place::Place;

/// Entries on their way to the file; further ones are dropped and counted, so that a slow disk holds nobody up.
const WAITING: usize = 65_536;

/// Writes records into files, by a thread of its own.
pub(crate) struct Qlog {
    /// `None` when it ends.
    entries: Option<SyncSender<Entry>>,
    dropped: u64,
    /// Returns how many entries there was no file for.
    writer: Option<JoinHandle<u64>>,
}

#[derive(Debug)]
enum Entry {
    /// Made an event by the writer: there are many.
    Record(Duration, Record),
    /// Of an association; there are few.
    Event(u64, Value),
}

impl Qlog {
    /// Makes the file or directory.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut place = place::at(path)?;
        let (sender, entries) = sync_channel(WAITING);
        let name = path.display().to_string();
        let writer = std::thread::Builder::new().name("qlog".to_owned()).spawn(move || {
            let mut left_out = 0;
            if let Err(error) = write(place.as_mut(), &entries, &mut left_out) {
                complain(&format!("warning: {name} is incomplete: {error}"));
            }
            left_out
        })?;
        Ok(Self { entries: Some(sender), dropped: 0, writer: Some(writer) })
    }

    fn send(&mut self, entry: Entry) {
        let sent = self.entries.as_ref().is_some_and(|entries| entries.try_send(entry).is_ok());
        self.dropped += u64::from(!sent);
    }
}

impl Recorder for Qlog {
    fn record(&mut self, at: Duration, record: Record) {
        self.send(Entry::Record(at, record));
    }

    fn event(&mut self, at: Duration, association: AssociationId, event: &AssociationEvent) {
        if let Some(event) = events::of_event(at, association.number(), event) {
            self.send(Entry::Event(association.number(), event));
        }
    }
}

impl Drop for Qlog {
    fn drop(&mut self) {
        self.entries = None;
        let left_out = self.writer.take().and_then(|writer| writer.join().ok()).unwrap_or_default();
        let missing = self.dropped + left_out;
        if missing > 0 {
            complain(&format!("warning: {missing} entries are missing in what --qlog has written"));
        }
    }
}

/// Writes what comes until there will be no more. What is written can be read as soon as nothing waits.
fn write(place: &mut dyn Place, entries: &Receiver<Entry>, left_out: &mut u64) -> io::Result<()> {
    loop {
        let next = match entries.try_recv() {
            Ok(entry) => Some(entry),
            Err(TryRecvError::Empty) => {
                place.flush()?;
                entries.recv().ok()
            }
            Err(TryRecvError::Disconnected) => None,
        };
        let put = match next {
            None => return place.flush(),
            Some(Entry::Event(subject, event)) => place.put(subject, &event)?,
            Some(Entry::Record(at, record)) => {
                let put = place.put(record.subject, &events::of_record(at, record))?;
                if put && is_end(&record) {
                    place.ended(record.subject);
                }
                put
            }
        };
        *left_out += u64::from(!put);
    }
}

/// Whether it is the last record of an association.
fn is_end(record: &Record) -> bool {
    matches!(record, Record { name: "state", path: None, value: RecordValue::State("closed"), .. })
}

#[cfg(test)]
#[path = "qlog_tests.rs"]
mod tests;
