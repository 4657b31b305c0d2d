//! `--qlog FILE`: what becomes of windows, round-trip times and paths, as qlog (draft-ietf-quic-qlog-main-schema-07) in JSON text sequences
//! (RFC 7464). Paths are told apart by `path`. Events that qlog does not know begin with `sctp:`; `recovery:metrics_updated` has two fields
//! more, `rto` and `error_count`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use whimbrel::{Record, RecordValue, Recorder};

use crate::output::complain;

/// Records on their way to the file; further ones are dropped and counted, so that a slow disk holds nobody up.
const WAITING: usize = 65_536;
/// Begins each text of a sequence (RFC 7464 section 2.1).
const RECORD_SEPARATOR: &[u8] = b"\x1e";

/// Writes records into a file, by a thread of its own.
pub(crate) struct Qlog {
    /// `None` when it ends.
    records: Option<SyncSender<Entry>>,
    dropped: u64,
    writer: Option<JoinHandle<()>>,
}

type Entry = (Duration, Record);

impl Qlog {
    /// Makes the file.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        put(&mut file, &head(SystemTime::now()))?;
        let (records, entries) = sync_channel(WAITING);
        let name = path.display().to_string();
        let writer = std::thread::Builder::new().name("qlog".to_owned()).spawn(move || {
            if let Err(error) = write(&mut file, &entries) {
                complain(&format!("warning: {name} is incomplete: {error}"));
            }
        })?;
        Ok(Self { records: Some(records), dropped: 0, writer: Some(writer) })
    }
}

impl Recorder for Qlog {
    fn record(&mut self, at: Duration, record: Record) {
        let sent = self.records.as_ref().is_some_and(|records| records.try_send((at, record)).is_ok());
        self.dropped += u64::from(!sent);
    }
}

impl Drop for Qlog {
    fn drop(&mut self) {
        self.records = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        if self.dropped > 0 {
            complain(&format!("warning: {} entries are missing in the qlog file", self.dropped));
        }
    }
}

/// Writes what comes until there will be no more. What is written can be read as soon as nothing waits.
fn write(file: &mut impl Write, entries: &Receiver<Entry>) -> io::Result<()> {
    loop {
        let next = match entries.try_recv() {
            Ok(entry) => Some(entry),
            Err(TryRecvError::Empty) => {
                file.flush()?;
                entries.recv().ok()
            }
            Err(TryRecvError::Disconnected) => None,
        };
        let Some((at, record)) = next else { return file.flush() };
        put(file, &event(at, record))?;
    }
}

fn put(file: &mut impl Write, text: &Value) -> io::Result<()> {
    file.write_all(RECORD_SEPARATOR)?;
    serde_json::to_writer(&mut *file, text)?;
    file.write_all(b"\n")
}

/// What the file begins with.
fn head(began: SystemTime) -> Value {
    let began = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "whimbrel",
        "trace": {
            "vantage_point": { "type": "unknown" },
            "common_fields": {
                "protocol_type": ["SCTP"], "time_format": "relative", "reference_time": began.as_millis() as u64,
            },
        },
    })
}

/// A record as an event; times are milliseconds.
fn event(at: Duration, record: Record) -> Value {
    let Record { name, subject, path, value } = record;
    let value = match value {
        RecordValue::Amount(nanos) if matches!(name, "rto" | "srtt") => json!(nanos as f64 / 1e6),
        RecordValue::Amount(amount) => json!(amount),
        RecordValue::State(state) => json!(state.replace('-', "_")),
        RecordValue::Route(route) => json!({ "local": route.local, "remote": route.remote }),
    };
    let (kind, field) = match (name, path) {
        ("state", None) => ("connectivity:connection_state_updated", "new"),
        ("state", Some(_)) => ("sctp:path_state_updated", "new"),
        ("in_use", _) => ("sctp:path_use_updated", "in_use"),
        ("route", _) => ("sctp:path_assigned", "route"),
        ("phase", _) => ("recovery:congestion_state_updated", "new"),
        ("cwnd", _) => ("recovery:metrics_updated", "congestion_window"),
        ("flight_size", _) => ("recovery:metrics_updated", "bytes_in_flight"),
        ("srtt", _) => ("recovery:metrics_updated", "smoothed_rtt"),
        (other, _) => ("recovery:metrics_updated", other),
    };
    let mut event = json!({
        "time": at.as_nanos() as f64 / 1e6, "name": kind, "group_id": subject.to_string(), "data": { field: value },
    });
    if let Some(path) = path {
        event["path"] = json!(path.to_string());
    }
    event
}

#[cfg(test)]
#[path = "qlog_tests.rs"]
mod tests;
