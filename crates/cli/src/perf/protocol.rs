//! What perf's client and server tell each other: JSON on stream 0, told from payload by the PPID.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use whimbrel::{Acknowledge, Association, Message, PayloadProtocolId, StreamId};

/// SCTP port of the measurement service.
pub(crate) const SCTP_PORT: u16 = 7879;
/// PPID of the JSON messages.
pub(super) const PPID_CONTROL: u32 = 0x5748_5000;
/// PPID of payload.
pub(super) const PPID_DATA: u32 = 0x5748_5001;
/// The version this code speaks.
pub(super) const VERSION: u32 = 2;

/// What to measure.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// The client sends.
    Upload,
    /// The server sends.
    Download,
    /// Both send.
    Both,
    /// The client sends one message at a time, the server returns it.
    Latency,
}

/// The client's wish.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub(super) struct Request {
    pub(super) version: u32,
    pub(super) mode: Mode,
    /// Bytes in a message.
    pub(super) size: u32,
    /// Whoever sends stops after this long …
    pub(super) seconds: f64,
    /// … or after this many bytes, if given.
    pub(super) bytes: Option<u64>,
    pub(super) streams: u16,
    pub(super) unordered: bool,
    /// Whoever sends hands over no more than this many bits of payload per second.
    pub(super) rate: Option<u64>,
}

impl Request {
    /// Checks what came from the network.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(self.version == VERSION, "the client speaks version {}, we speak {VERSION}", self.version);
        ensure!((1..=1 << 20).contains(&self.size), "message size {} is out of range", self.size);
        ensure!(
            self.seconds > 0.0 && self.seconds <= 86_400.0,
            "a duration of {} s is out of range",
            self.seconds
        );
        ensure!((1..=64).contains(&self.streams), "{} streams are out of range", self.streams);
        ensure!(self.rate != Some(0), "a rate of 0 bits per second is out of range");
        Ok(())
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// What was sent, or received.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct Counts {
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

/// What one side saw.
#[derive(Clone, Copy, Default, Serialize, Deserialize, Debug)]
pub(super) struct Seen {
    pub(super) counts: Counts,
    /// From the first payload to the last.
    pub(super) seconds: f64,
    /// CPU time of the whole process meanwhile.
    pub(super) cpu_seconds: f64,
}

impl Seen {
    /// What is seen of two associations at the same time: processor time is the whole process's in each of them.
    pub(super) fn and(self, other: Self) -> Self {
        let counts = Counts {
            messages: self.counts.messages + other.counts.messages,
            bytes: self.counts.bytes + other.counts.bytes,
        };
        let seconds = self.seconds.max(other.seconds);
        Self { counts, seconds, cpu_seconds: self.cpu_seconds.max(other.cpu_seconds) }
    }
}

/// A message on stream 0.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    /// Client: measure this.
    Request(Request),
    /// Server: go.
    Ready,
    /// Whoever sent: that was all, and so much it was.
    Done(Counts),
    /// The other side: this is what I saw.
    Seen(Seen),
    /// Something does not work.
    Error(String),
}

/// Sends a control message.
pub(super) async fn say(association: &Association, control: &Control) -> anyhow::Result<()> {
    let bytes = serde_json::to_vec(control).context("cannot encode a control message")?;
    let message = Message {
        ppid: PayloadProtocolId(PPID_CONTROL),
        acknowledge: Acknowledge::Immediately,
        ..Message::new(StreamId(0), Bytes::from(bytes))
    };
    association.send(message).await.context("the connection is lost")
}

/// Reads a control message.
pub(super) fn decode(bytes: &[u8]) -> anyhow::Result<Control> {
    match serde_json::from_slice(bytes) {
        Ok(Control::Error(text)) => bail!("the peer says: {}", crate::transfer::names::printable(&text)),
        Ok(control) => Ok(control),
        Err(_) => bail!("the peer does not speak the measurement protocol"),
    }
}

/// Waits for a control message when nothing else is due.
pub(super) async fn hear(association: &Association) -> anyhow::Result<Control> {
    let received = association.recv().await?.context("the peer closed the connection")?;
    ensure!(received.ppid.0 == PPID_CONTROL, "payload where a control message was due");
    decode(&received.payload)
}
