//! Parameters of stream reconfiguration (RFC 6525 §4).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     Parameter Type = 13       | Parameter Length = 16 + 2 * N |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Re-configuration Request Sequence Number            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |           Re-configuration Response Sequence Number           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                Sender's Last Assigned TSN                     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Stream Number 1 (optional)   |    Stream Number 2 (optional) |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//!
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     Parameter Type = 16       |  Parameter Length = 12 or 20  |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |         Re-configuration Response Sequence Number             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                            Result                             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                   Sender's Next TSN (optional)                |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  Receiver's Next TSN (optional)               |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//!
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Parameter Type = 17 or 18   |      Parameter Length = 12    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Re-configuration Request Sequence Number             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |      Number of new streams    |         Reserved              |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! Type 14 is type 13 without its second and third number.

use crate::list::{List, array};
use crate::parameter::{ParameterErrorKind, RawParameter};
use crate::serial::{StreamId, Tsn};

/// Resets streams of the sender (RFC 6525 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingSsnResetRequest<'a> {
    /// Numbers the request.
    pub request_sequence_number: u32,
    /// The request of the peer this one also answers, or the last one seen.
    pub response_sequence_number: u32,
    /// The last TSN the sender assigned.
    pub last_assigned_tsn: Tsn,
    /// The streams; none means all.
    pub streams: List<'a, StreamId>,
}

impl<'a> OutgoingSsnResetRequest<'a> {
    const FIXED_LEN: usize = 12;

    pub(super) fn decode(raw: &RawParameter<'a>) -> Result<Self, ParameterErrorKind> {
        let (&[q0, q1, q2, q3, r0, r1, r2, r3, t0, t1, t2, t3], streams) = raw.split()?;
        Ok(Self {
            request_sequence_number: u32::from_be_bytes([q0, q1, q2, q3]),
            response_sequence_number: u32::from_be_bytes([r0, r1, r2, r3]),
            last_assigned_tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
            streams: raw.list(streams)?,
        })
    }

    pub(super) fn value_len(&self) -> usize {
        Self::FIXED_LEN + self.streams.wire_len()
    }

    pub(super) fn emit_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request_sequence_number.to_be_bytes());
        out.extend_from_slice(&self.response_sequence_number.to_be_bytes());
        out.extend_from_slice(&self.last_assigned_tsn.0.to_be_bytes());
        self.streams.emit(out);
    }
}

/// Asks the peer to reset streams of its own (RFC 6525 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncomingSsnResetRequest<'a> {
    /// Numbers the request.
    pub request_sequence_number: u32,
    /// The streams; none means all.
    pub streams: List<'a, StreamId>,
}

impl<'a> IncomingSsnResetRequest<'a> {
    const FIXED_LEN: usize = 4;

    pub(super) fn decode(raw: &RawParameter<'a>) -> Result<Self, ParameterErrorKind> {
        let (&number, streams) = raw.split()?;
        Ok(Self { request_sequence_number: u32::from_be_bytes(number), streams: raw.list(streams)? })
    }

    pub(super) fn value_len(&self) -> usize {
        Self::FIXED_LEN + self.streams.wire_len()
    }

    pub(super) fn emit_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request_sequence_number.to_be_bytes());
        self.streams.emit(out);
    }
}

/// Answers a request (RFC 6525 §4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReConfigResponse {
    /// The request answered.
    pub response_sequence_number: u32,
    /// What came of it: 0 nothing to do, 1 performed, 2 denied, 3 wrong SSN, 4 request already in progress,
    /// 5 bad sequence number, 6 in progress (RFC 6525 §4.4, table 3).
    pub result: u32,
    /// The next TSN of the responder and the next one the requester has to use; only after a SSN/TSN reset.
    pub next_tsns: Option<(Tsn, Tsn)>,
}

impl ReConfigResponse {
    const SHORT_LEN: usize = 8;
    const LONG_LEN: usize = 16;

    pub(super) fn decode(raw: &RawParameter<'_>) -> Result<Self, ParameterErrorKind> {
        let (&[n0, n1, n2, n3, r0, r1, r2, r3], rest) = raw.split()?;
        let next_tsns = match rest.len() {
            0 => None,
            8 => {
                let [s0, s1, s2, s3, t0, t1, t2, t3] = array(rest);
                Some((Tsn(u32::from_be_bytes([s0, s1, s2, s3])), Tsn(u32::from_be_bytes([t0, t1, t2, t3]))))
            }
            _ => return Err(ParameterErrorKind::WrongLength),
        };
        Ok(Self {
            response_sequence_number: u32::from_be_bytes([n0, n1, n2, n3]),
            result: u32::from_be_bytes([r0, r1, r2, r3]),
            next_tsns,
        })
    }

    pub(super) fn value_len(&self) -> usize {
        if self.next_tsns.is_some() { Self::LONG_LEN } else { Self::SHORT_LEN }
    }

    pub(super) fn emit_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.response_sequence_number.to_be_bytes());
        out.extend_from_slice(&self.result.to_be_bytes());
        if let Some((senders, receivers)) = self.next_tsns {
            out.extend_from_slice(&senders.0.to_be_bytes());
            out.extend_from_slice(&receivers.0.to_be_bytes());
        }
    }
}

/// Adds streams in one direction (RFC 6525 §4.5, §4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddStreamsRequest {
    /// Numbers the request.
    pub request_sequence_number: u32,
    /// How many streams to add.
    pub new_streams: u16,
}

impl AddStreamsRequest {
    pub(super) const VALUE_LEN: usize = 8;

    pub(super) fn decode(raw: &RawParameter<'_>) -> Result<Self, ParameterErrorKind> {
        let [n0, n1, n2, n3, s0, s1, _, _] = raw.exactly()?;
        Ok(Self {
            request_sequence_number: u32::from_be_bytes([n0, n1, n2, n3]),
            new_streams: u16::from_be_bytes([s0, s1]),
        })
    }

    pub(super) fn emit_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request_sequence_number.to_be_bytes());
        out.extend_from_slice(&self.new_streams.to_be_bytes());
        out.extend_from_slice(&[0; 2]);
    }
}
