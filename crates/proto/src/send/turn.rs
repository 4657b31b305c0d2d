//! An opportunity to send, and what becomes of it.

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{COMMON_HEADER_LEN, ChecksumMode, CommonHeader, Tsn, chunk_type};

use super::report::T3;
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::session::Auth;
use crate::interface::PathId;
use crate::path::Paths;
use crate::receive::{Receive, SACK_ROOM};

/// An opportunity to send DATA, with what surrounds DATA in a packet.
pub(crate) struct Turn<'a> {
    pub(crate) now: Instant,
    pub(crate) paths: &'a Paths,
    pub(crate) permit: Permit,
    /// Packets in a train at most.
    pub(crate) max_segments: usize,
    /// The association shuts down as soon as the last message is acknowledged: that is urgent.
    pub(crate) shuts_down: bool,
    pub(crate) header: CommonHeader,
    pub(crate) checksum: ChecksumMode,
    pub(crate) auth: &'a Auth,
    pub(crate) sack: SackSlot<'a>,
    /// Packets are written to its end.
    pub(crate) out: &'a mut Vec<u8>,
}

/// What may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permit {
    /// Retransmissions, and new data behind them.
    Everything,
    /// Retransmissions only.
    Retransmissions,
    /// One packet of new data on the primary path, whatever the windows say.
    Probe,
    /// No data.
    Nothing,
}

/// A SACK that goes with the first DATA packet to the same place (RFC 9260 §6.1).
#[derive(Default)]
pub(crate) struct SackSlot<'a> {
    /// The SACK that is pending and where it goes, if there is one that may go with DATA.
    pub(crate) pending: Option<(&'a mut Receive, Route)>,
    /// It has been written.
    pub(crate) written: bool,
}

impl SackSlot<'_> {
    /// Writes the SACK into a packet that leaves by `route`, if it goes there, leaving `reserve` bytes for what follows.
    pub(super) fn bundle(&mut self, auth: &Auth, writer: &mut ChunkWriter<'_>, route: Route, reserve: usize) {
        let fits = |receive: &Receive| writer.room_for(auth, receive.sack_type()) >= SACK_ROOM;
        if let Some((receive, _)) = self.pending.take_if(|(receive, goes)| *goes == route && fits(receive)) {
            self.written = receive.append_sack(auth, writer, reserve);
        }
    }
}

/// What became of an opportunity to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Packets have been written.
    Train(Train),
    /// New data has its turn, but there is no room for it in a window.
    NoRoom,
    /// There is nothing to send.
    Nothing,
}

/// Packets with DATA for one path, of equal size but for the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Train {
    pub(crate) path: PathId,
    pub(crate) content: Content,
    /// Bytes of each packet but the last, which may be shorter.
    pub(crate) segment: usize,
    /// The first TSN in it.
    pub(crate) first: Tsn,
    /// What becomes of T3-rtx of the path; `None` if there is no DATA in it after all, but a SACK.
    pub(crate) t3: Option<T3>,
    /// Its round trip is being timed.
    pub(crate) timed: bool,
}

/// What DATA a train carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Chunks sent before.
    Retransmission,
    /// A copy of a chunk that is accounted for elsewhere: the tail-loss probe of its former path.
    Copy,
    /// New data, the very first on this path.
    First,
    /// New data.
    New,
}

/// Bytes of a packet to a peer with this `auth` before its first DATA chunk: the common header, and AUTH if the peer wants
/// DATA authenticated.
pub(crate) fn overhead(auth: &Auth) -> usize {
    COMMON_HEADER_LEN + auth.overhead(chunk_type::DATA)
}
