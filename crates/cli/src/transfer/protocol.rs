//! The messages of the file-transfer protocol, version 1 (docs/file-transfer.md).
//!
//! Control messages travel on stream 0 with [`PPID_CONTROL`]: one type byte, then fixed fields in network byte
//! order, then variable ones with a length in front. Bytes after the known fields are ignored, so that later minor
//! versions can append fields. The content of a file travels on one of the other streams, framed by
//! [`DataMessage`].

use bytes::{BufMut, Bytes, BytesMut};

pub(crate) use super::cursor::Malformed;
use super::cursor::{Cursor, MAGIC, put_id_and_number, put_text};
use super::names::RelativePath;

/// The version this code speaks.
pub(crate) const VERSION: u16 = 1;
/// SCTP port of the file-transfer service.
pub(crate) const SCTP_PORT: u16 = 7878;
/// How many offers may be unanswered or unfinished at a time.
pub(crate) const WINDOW: usize = 256;
/// How many unfinished contents of one name and size a receiver keeps.
pub(crate) const COPIES: u8 = 4;
/// Proofs a receiver may ask for per offer: of what is in place, and of each unfinished copy.
pub(crate) const PROOFS: u8 = 1 + COPIES;
/// Bytes of file content in one message, at most.
pub(crate) const BLOCK: usize = 64 * 1024;

/// PPID of control messages ("WHF" and a number; unassigned at IANA).
pub(crate) const PPID_CONTROL: u32 = 0x5748_4600;
/// PPID of the message that begins a file on a data stream.
pub(crate) const PPID_BEGIN: u32 = 0x5748_4601;
/// PPID of file content.
pub(crate) const PPID_DATA: u32 = 0x5748_4602;
/// PPID of the message that ends a file.
pub(crate) const PPID_END: u32 = 0x5748_4603;
/// PPID of the message that gives up a file in the middle.
pub(crate) const PPID_ABANDON: u32 = 0x5748_4604;

/// BLAKE3 of some content.
pub(crate) type Hash = [u8; 32];

/// What is offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A directory, so that empty ones arrive too.
    Directory,
}

/// One file or directory, as the sender sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    /// Chosen by the sender; free again when the file is over.
    pub(crate) id: u32,
    /// File or directory.
    pub(crate) kind: Kind,
    /// Bytes; 0 for a directory.
    pub(crate) size: u64,
    /// Last modification, seconds since 1970 (may be negative).
    pub(crate) mtime: i64,
    /// Who may read, write and execute it: the nine permission bits.
    pub(crate) mode: u16,
    /// Where it goes, below the receiver's directory.
    pub(crate) path: RelativePath,
}

/// How the receiver ended a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Received, its hash checked, in place.
    Verified,
    /// The very same content was there already.
    Already,
    /// Something of that name is there, and may not be replaced.
    Exists,
    /// The name is not acceptable.
    BadName,
    /// Not enough space.
    NoSpace,
    /// The content does not have the hash the sender named.
    Corrupt,
    /// Another transfer of the same file is under way; try later.
    Busy,
    /// A file-system error at the receiver.
    Failed,
    /// The sender gave up; the receiver confirms.
    Abandoned,
}

impl Outcome {
    const ALL: [Self; 9] = [
        Self::Verified,
        Self::Already,
        Self::Exists,
        Self::BadName,
        Self::NoSpace,
        Self::Corrupt,
        Self::Busy,
        Self::Failed,
        Self::Abandoned,
    ];

    /// The name in JSON output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Already => "already-there",
            Self::Exists => "exists",
            Self::BadName => "bad-name",
            Self::NoSpace => "no-space",
            Self::Corrupt => "corrupt",
            Self::Busy => "busy",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether the content is at its place in the receiver's directory.
    pub(crate) const fn is_success(self) -> bool {
        matches!(self, Self::Verified | Self::Already)
    }

    /// Whether the same offer may succeed a moment later.
    pub(crate) const fn is_passing(self) -> bool {
        matches!(self, Self::Busy)
    }
}

/// Why a sender gives up a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Abandon {
    /// The source cannot be read; what has arrived is good and can be resumed.
    Unreadable,
    /// The source changed while it was read; what has arrived is worthless.
    Changed,
    /// The receiver has ended the file already.
    Ended,
}

/// A message on stream 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// First message of the sender.
    Hello {
        /// Highest version it speaks.
        version: u16,
        /// How many offers will follow; for display.
        files: u64,
        /// How many bytes they have together; for display.
        bytes: u64,
    },
    /// First message of the receiver.
    Welcome {
        /// The version both will speak.
        version: u16,
    },
    /// Sender: may I send this?
    Offer(Offer),
    /// Receiver: show me that your first `length` bytes hash to what I have.
    Prove {
        /// Which file.
        id: u32,
        /// At most the offered size.
        length: u64,
    },
    /// Sender: this is the BLAKE3 of those bytes.
    Claim {
        /// Which file.
        id: u32,
        /// BLAKE3 of the first `length` bytes.
        hash: Hash,
    },
    /// Receiver: send it, from this offset.
    Accept {
        /// Which file.
        id: u32,
        /// 0, or the `length` of the proof.
        offset: u64,
    },
    /// Receiver: this file is over, and this is how it went.
    Result {
        /// Which file.
        id: u32,
        /// How it went.
        outcome: Outcome,
        /// In words, for people; empty if there is nothing to add.
        text: String,
    },
    /// Sender: forget this offer. Allowed before the file begins.
    Cancel {
        /// Which file.
        id: u32,
        /// Why, for people.
        text: String,
    },
    /// Sender: every file is over, nothing more will come.
    Bye,
    /// Either: this transfer cannot go on.
    Fatal {
        /// Why, for people.
        text: String,
    },
}

/// What happens to the file on a data stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DataMessage {
    /// A file begins.
    Begin {
        /// As offered.
        id: u32,
        /// As accepted.
        offset: u64,
    },
    /// The next bytes of it.
    Data(Bytes),
    /// It is complete.
    End {
        /// BLAKE3 of the whole file, from its first byte.
        hash: Hash,
    },
    /// It will not be completed.
    Abandon {
        /// What that means for the part that arrived.
        reason: Abandon,
        /// Why, for people.
        text: String,
    },
}

impl Control {
    /// The bytes of the message.
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(64);
        match self {
            Self::Hello { version, files, bytes } => {
                out.put_u8(1);
                out.put_slice(MAGIC);
                out.put_u16(*version);
                out.put_u64(*files);
                out.put_u64(*bytes);
            }
            Self::Welcome { version } => {
                out.put_u8(2);
                out.put_slice(MAGIC);
                out.put_u16(*version);
            }
            Self::Offer(offer) => encode_offer(offer, &mut out),
            Self::Prove { id, length } => put_id_and_number(&mut out, 4, *id, *length),
            Self::Claim { id, hash } => {
                out.put_u8(5);
                out.put_u32(*id);
                out.put_slice(hash);
            }
            Self::Accept { id, offset } => put_id_and_number(&mut out, 6, *id, *offset),
            Self::Result { id, outcome, text } => {
                out.put_u8(7);
                out.put_u32(*id);
                out.put_u8(Outcome::ALL.iter().position(|o| o == outcome).unwrap_or(0) as u8);
                put_text(&mut out, text);
            }
            Self::Cancel { id, text } => {
                out.put_u8(8);
                out.put_u32(*id);
                put_text(&mut out, text);
            }
            Self::Bye => out.put_u8(9),
            Self::Fatal { text } => {
                out.put_u8(10);
                put_text(&mut out, text);
            }
        }
        out.freeze()
    }

    /// Reads a message. Never panics; `Malformed` says what is wrong.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(bytes);
        Ok(match cursor.u8()? {
            1 => {
                cursor.magic()?;
                Self::Hello { version: cursor.u16()?, files: cursor.u64()?, bytes: cursor.u64()? }
            }
            2 => {
                cursor.magic()?;
                Self::Welcome { version: cursor.u16()? }
            }
            3 => Self::Offer(decode_offer(&mut cursor)?),
            4 => Self::Prove { id: cursor.u32()?, length: cursor.u64()? },
            5 => Self::Claim { id: cursor.u32()?, hash: cursor.hash()? },
            6 => Self::Accept { id: cursor.u32()?, offset: cursor.u64()? },
            7 => Self::Result {
                id: cursor.u32()?,
                outcome: *Outcome::ALL.get(usize::from(cursor.u8()?)).ok_or(Malformed("unknown outcome"))?,
                text: cursor.text()?,
            },
            8 => Self::Cancel { id: cursor.u32()?, text: cursor.text()? },
            9 => Self::Bye,
            10 => Self::Fatal { text: cursor.text()? },
            _ => return Err(Malformed("unknown control message")),
        })
    }
}

fn encode_offer(offer: &Offer, out: &mut BytesMut) {
    out.put_u8(3);
    out.put_u32(offer.id);
    out.put_u8(match offer.kind {
        Kind::File => 0,
        Kind::Directory => 1,
    });
    out.put_u64(offer.size);
    out.put_i64(offer.mtime);
    out.put_u8(u8::from(offer.mode & 0o100 != 0));
    out.put_u8(offer.path.components().len() as u8);
    for component in offer.path.components() {
        out.put_u8(component.len() as u8);
        out.put_slice(component);
    }
    out.put_u16(offer.mode);
}

/// The path comes out unchecked by the file system but checked by [`RelativePath`]; a bad one is kept apart from a
/// malformed message, since it concerns one file only.
fn decode_offer(cursor: &mut Cursor<'_>) -> Result<Offer, Malformed> {
    let id = cursor.u32()?;
    let kind = match cursor.u8()? {
        0 => Kind::File,
        1 => Kind::Directory,
        _ => return Err(Malformed("unknown kind of offer")),
    };
    let size = cursor.u64()?;
    let mtime = cursor.u64()? as i64;
    let executable = cursor.u8()? != 0;
    let count = cursor.u8()?;
    let components = (0..count)
        .map(|_| {
            let length = usize::from(cursor.u8()?);
            cursor.take(length).map(<[u8]>::to_vec)
        })
        .collect::<Result<Vec<_>, _>>()?;
    // A sender that does not say who may read it leaves that to the receiver.
    let mode = cursor.u16().unwrap_or(if executable { 0o777 } else { 0o666 }) & 0o777;
    Ok(Offer { id, kind, size, mtime, mode, path: RelativePath::unchecked(components) })
}

impl DataMessage {
    /// PPID and bytes of the message.
    pub(crate) fn encode(&self) -> (u32, Bytes) {
        let mut out = BytesMut::new();
        match self {
            Self::Data(bytes) => (PPID_DATA, bytes.clone()),
            Self::Begin { id, offset } => {
                out.put_u32(*id);
                out.put_u64(*offset);
                (PPID_BEGIN, out.freeze())
            }
            Self::End { hash } => (PPID_END, Bytes::copy_from_slice(hash)),
            Self::Abandon { reason, text } => {
                out.put_u8(match reason {
                    Abandon::Unreadable => 0,
                    Abandon::Changed => 1,
                    Abandon::Ended => 2,
                });
                put_text(&mut out, text);
                (PPID_ABANDON, out.freeze())
            }
        }
    }

    /// Reads a message of a data stream.
    pub(crate) fn decode(ppid: u32, bytes: Bytes) -> Result<Self, Malformed> {
        let mut cursor = Cursor(&bytes);
        Ok(match ppid {
            PPID_DATA => Self::Data(bytes),
            PPID_BEGIN => Self::Begin { id: cursor.u32()?, offset: cursor.u64()? },
            PPID_END => Self::End { hash: cursor.hash()? },
            PPID_ABANDON => {
                let reason = match cursor.u8()? {
                    0 => Abandon::Unreadable,
                    1 => Abandon::Changed,
                    2 => Abandon::Ended,
                    _ => return Err(Malformed("unknown reason to abandon")),
                };
                Self::Abandon { reason, text: cursor.text()? }
            }
            _ => return Err(Malformed("unknown payload protocol identifier")),
        })
    }
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
