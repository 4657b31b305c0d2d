use whimbrel_machine::Route;
use whimbrel_wire::EmitChunk;

/// Chunks that answer the peer, waiting to be sent where the question came from (RFC 9260 §6.4).
///
/// Bounded: answers beyond the limits are dropped, as if lost on the way. What one packet of the peer can cause
/// therefore never exceeds one packet, nor what it has sent (RFC 5062 §8, §10), but where no path works both ways: then a few small copies go by
/// other confirmed paths, some times in an RTO (`one_way.rs`).
#[derive(Debug, Default)]
pub(crate) struct Replies {
    queue: Vec<Reply>,
}

/// Chunks for one packet.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) route: Route,
    /// Complete chunks, padded.
    pub(crate) chunks: Vec<u8>,
    /// What the first of them is.
    pub(crate) first: First,
}

/// The first chunk of a packet, as far as it decides what becomes of the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum First {
    /// COOKIE ACK, which must be the first chunk of its packet (RFC 9260 §5.1 D).
    CookieAck,
    /// ASCONF: it may leave from an address that nothing else leaves from (RFC 5061 §5.3 F1).
    Asconf,
    /// ASCONF-ACK.
    AsconfAck,
    /// Any other.
    Other,
}

/// Routes with answers pending at a time.
const MAX_ROUTES: usize = 32;
/// Bytes of answers for one route: one packet.
pub(crate) const MAX_BYTES: usize = 1100;
/// A HEARTBEAT may be longer than that, and MUST be answered all the same (RFC 9260 §8.3). Its answer goes alone, one at a
/// time, and with AUTH and headers it fits a UDP datagram.
const LONGEST_ALONE: usize = 65_000;
/// What COOKIE ACK adds to the answers of a route.
const COOKIE_ACK_LEN: usize = 4;
/// HEARTBEAT ACK or COOKIE ACK, and a HEARTBEAT.
const USUAL_BYTES: usize = 64;

impl Replies {
    /// Queues a chunk for `route`.
    pub(crate) fn push(&mut self, route: Route, chunk: &impl EmitChunk) {
        if let Some(chunks) = self.room(route, chunk.wire_len(), First::Other) {
            chunk.emit(chunks);
        }
    }

    /// Queues the encoded, padded chunk `bytes` for `route`, which is a `kind` of chunk. False if there is no room.
    pub(crate) fn push_raw(&mut self, route: Route, kind: First, bytes: &[u8]) -> bool {
        let Some(chunks) = self.room(route, bytes.len(), kind) else { return false };
        chunks.extend_from_slice(bytes);
        true
    }

    /// The answers for `route`, if they may grow by `bytes` of this `kind`.
    fn room(&mut self, route: Route, bytes: usize, kind: First) -> Option<&mut Vec<u8>> {
        debug_assert_eq!(bytes % 4, 0);
        let at = match self.queue.iter().position(|reply| reply.route == route) {
            Some(at) => at,
            None if self.queue.len() < MAX_ROUTES && self.admits(bytes) => {
                // Mostly there is one: no room for more is kept in each of many associations.
                self.queue.reserve_exact(1);
                self.queue.push(Reply { route, chunks: Vec::with_capacity(USUAL_BYTES), first: kind });
                self.queue.len() - 1
            }
            None => return None,
        };
        let chunks = &mut self.queue[at].chunks;
        (chunks.is_empty() || chunks.len() + bytes <= MAX_BYTES).then_some(chunks)
    }

    /// Whether a packet may be begun with a chunk of this size.
    fn admits(&self, bytes: usize) -> bool {
        let alone = || self.queue.iter().all(|reply| reply.chunks.len() <= MAX_BYTES + COOKIE_ACK_LEN);
        bytes <= MAX_BYTES || (bytes <= LONGEST_ALONE && alone())
    }

    /// Queues COOKIE ACK for `route`, before anything else that goes there. False if there is one already.
    pub(crate) fn cookie_ack(&mut self, route: Route) -> bool {
        let mut chunk = Vec::with_capacity(USUAL_BYTES);
        whimbrel_wire::CookieAck.emit(&mut chunk);
        match self.queue.iter_mut().find(|reply| reply.route == route) {
            Some(reply) if reply.first == First::CookieAck => return false,
            Some(reply) => {
                reply.first = First::CookieAck;
                chunk.extend_from_slice(&reply.chunks);
                reply.chunks = chunk;
            }
            None => {
                // A COOKIE ECHO can be repeated from any number of addresses.
                self.queue.truncate(MAX_ROUTES - 1);
                self.queue.reserve_exact(1);
                self.queue.insert(0, Reply { route, chunks: chunk, first: First::CookieAck });
            }
        }
        true
    }

    /// The answers for one route, oldest first.
    pub(crate) fn pop(&mut self) -> Option<Reply> {
        if self.queue.is_empty() { None } else { Some(self.queue.remove(0)) }
    }
}

/// Chunks that are encoded already.
pub(crate) struct Encoded<'a>(pub(crate) &'a [u8]);

impl EmitChunk for Encoded<'_> {
    fn wire_len(&self) -> usize {
        self.0.len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
