use core::net::SocketAddr;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use whimbrel_machine::{Instant, Value};

use crate::DropReason;

/// One line of the event trace. Links are named by number, their sides `0` (a to b) and `1` (b to a).
#[derive(Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum Line<'a> {
    /// A packet went onto a link. `waiting` packets were in front of it.
    Enqueue {
        packet: u64,
        link: u32,
        side: u32,
        local: SocketAddr,
        remote: SocketAddr,
        bytes: u32,
        waiting: u64,
    },
    /// A packet was dropped, on a link or before it came to one.
    Drop { packet: u64, link: Option<u32>, side: Option<u32>, bytes: u32, reason: DropReason },
    /// A packet reached its host; `local` is the host's own address.
    Deliver { packet: u64, host: &'a str, local: SocketAddr, remote: SocketAddr, bytes: u32 },
    /// An ICMP error reached the host.
    Unreachable { host: &'a str, local: SocketAddr, remote: SocketAddr, reason: String },
    /// A link changed.
    Link { link: u32, side: u32, change: &'static str, detail: String },
    /// A host was told something about its links.
    Fact { host: &'a str, fact: String },
    /// A host began to run.
    Start { host: &'a str },
    /// A host stopped without a word.
    Crash { host: &'a str },
    /// A host fell asleep.
    Suspend { host: &'a str },
    /// A host woke up.
    Resume { host: &'a str },
    /// A machine recorded that a quantity has a new value.
    Record {
        host: &'a str,
        name: &'static str,
        subject: u64,
        path: Option<u32>,
        #[serde(serialize_with = "plain")]
        value: Value,
    },
    /// What an app noted.
    Note { host: &'a str, name: &'static str, value: u64 },
}

/// An amount is a number, everything else a text.
fn plain<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Value::Amount(amount) => serializer.serialize_u64(*amount),
        Value::State(state) => serializer.serialize_str(state),
        Value::Route(route) => serializer.collect_str(route),
    }
}

#[derive(Serialize)]
struct Timed<'a> {
    at: u64,
    #[serde(flatten)]
    line: Line<'a>,
}

/// The event trace: one JSON object per line. After the first error nothing more is written; the error is kept for
/// whoever asks.
pub(crate) struct Trace {
    out: Box<dyn Write + Send>,
    error: Option<io::Error>,
}

impl Trace {
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, error: None }
    }

    pub(crate) fn line(&mut self, at: Instant, line: Line<'_>) {
        if self.error.is_some() {
            return;
        }
        let timed = Timed { at: at.as_nanos(), line };
        let written = serde_json::to_writer(&mut self.out, &timed).map_err(io::Error::from);
        self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.error.take().map_or_else(|| self.out.flush(), Err)
    }
}
