use whimbrel_machine::Route;
use whimbrel_wire::EmitChunk;

/// Chunks that answer the peer, waiting to be sent where the question came from (RFC 9260 §6.4).
///
/// Bounded: answers beyond the limits are dropped, as if lost on the way. What one packet of the peer can cause
/// therefore never exceeds one packet (RFC 5062 §8, §10).
#[derive(Debug, Default)]
pub(crate) struct Replies {
    queue: Vec<Reply>,
}

#[derive(Debug)]
struct Reply {
    route: Route,
    /// Complete chunks, padded.
    chunks: Vec<u8>,
    /// COOKIE ACK must be the first chunk of its packet (RFC 9260 §5.1 D).
    first: bool,
}

/// Routes with answers pending at a time.
const MAX_ROUTES: usize = 32;
/// Bytes of answers for one route: one packet.
pub(crate) const MAX_BYTES: usize = 1100;

impl Replies {
    /// Queues a chunk for `route`.
    pub(crate) fn push(&mut self, route: Route, chunk: &impl EmitChunk) {
        let mut bytes = Vec::with_capacity(chunk.wire_len());
        chunk.emit(&mut bytes);
        self.push_raw(route, &bytes);
    }

    /// Queues the encoded, padded chunk `bytes` for `route`. False if there is no room.
    pub(crate) fn push_raw(&mut self, route: Route, bytes: &[u8]) -> bool {
        debug_assert_eq!(bytes.len() % 4, 0);
        let room = self.queue.len() < MAX_ROUTES && bytes.len() <= MAX_BYTES;
        match self.queue.iter_mut().find(|reply| reply.route == route) {
            Some(reply) if reply.chunks.len() + bytes.len() <= MAX_BYTES => {
                reply.chunks.extend_from_slice(bytes);
                true
            }
            Some(_) => false,
            None if room => {
                self.queue.push(Reply { route, chunks: bytes.to_vec(), first: false });
                true
            }
            None => false,
        }
    }

    /// Queues COOKIE ACK for `route`, before anything else that goes there.
    pub(crate) fn cookie_ack(&mut self, route: Route) {
        let mut chunk = Vec::new();
        whimbrel_wire::CookieAck.emit(&mut chunk);
        match self.queue.iter_mut().find(|reply| reply.route == route) {
            Some(reply) if reply.first => {}
            Some(reply) => {
                reply.first = true;
                chunk.extend_from_slice(&reply.chunks);
                reply.chunks = chunk;
            }
            None => {
                // A COOKIE ECHO can be repeated from any number of addresses.
                self.queue.truncate(MAX_ROUTES - 1);
                self.queue.insert(0, Reply { route, chunks: chunk, first: true });
            }
        }
    }

    /// The answers for one route, oldest first.
    pub(crate) fn pop(&mut self) -> Option<(Route, Vec<u8>)> {
        if self.queue.is_empty() {
            return None;
        }
        let reply = self.queue.remove(0);
        Some((reply.route, reply.chunks))
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
