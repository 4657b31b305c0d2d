//! What an open association sends next (RFC 9260 §6.1, §6.10): answers, shutdown, heartbeats, data, SACK.

use whimbrel_machine::{Ecn, Fragmentation, Route, Transmit};
use whimbrel_wire::{COMMON_HEADER_LEN, ChecksumMode, SackBuilder, chunk_type};

use super::chunk_writer::ChunkWriter;
use super::context::Context;
use super::open::Open;
use super::replies::Encoded;
use crate::config::Config;
use crate::interface::PathId;
use crate::path::Path;

/// A SACK without gap ack blocks or duplicates.
const SMALLEST_SACK: usize = 16;

/// A packet about whose path nothing is known. What is larger than the base size, such as a COOKIE ECHO with a large
/// cookie, cannot be made smaller, so it may be fragmented.
pub(crate) fn single_packet(config: &Config, route: Route, bytes: usize) -> Transmit {
    let fragmentation =
        if bytes > config.pmtu.base { Fragmentation::Allowed } else { Fragmentation::Forbidden };
    Transmit { route, ecn: Ecn::NotCapable, fragmentation, segment: bytes }
}

impl Open {
    /// The next train of packets for one route.
    pub(crate) fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.react_to_primary_change(context);
        self.open_bursts(context.config.congestion.burst);
        let start = out.len();
        if let Some((route, chunks)) = self.replies.pop() {
            self.write_control(context, route, &chunks, out);
            return Some(self.sent(route, out.len() - start));
        }
        if let Some(route) = self.poll_shutdown(context, out) {
            return Some(self.sent(route, out.len() - start));
        }
        if let Some(route) = self.poll_heartbeat(context, out) {
            // A probe that arrived in fragments would prove nothing (RFC 8899 §3).
            let fragmentation = Fragmentation::Forbidden;
            return Some(Transmit { fragmentation, ..self.sent(route, out.len() - start) });
        }
        if let Some((path, segment)) = self.poll_data(context, max_segments.max(1), out) {
            return Some(self.sent_train(path, out.len() - start, segment));
        }
        if self.receive.ack_due(context.now) {
            let route = self.sack_destination();
            self.write_control(context, route, &[], out);
            return Some(self.sent(route, out.len() - start));
        }
        None
    }

    /// A packet with the encoded `chunks`, and the SACK if one is pending.
    fn write_control(&mut self, context: &mut Context<'_>, route: Route, chunks: &[u8], out: &mut Vec<u8>) {
        let checksum = self.checksum();
        let needed = COMMON_HEADER_LEN + chunks.len() + self.auth.largest_overhead();
        let limit = self.packet_size(context, route).max(needed);
        let mut writer = ChunkWriter::new(out, context.header(self.peer.tag), limit);
        let fits = writer.push(&self.auth, &Encoded(chunks));
        debug_assert!(fits, "answers are bounded");
        // COOKIE ECHO and heartbeats of an unconfirmed address are no place for a SACK.
        if chunks.is_empty() || (self.receive.ack_due(context.now) && route == self.sack_destination()) {
            self.write_sack(context, &mut writer, 0);
        }
        writer.finish(&self.auth, checksum);
    }

    /// The largest packet known to arrive by `route` (RFC 9260 §6.2: a SACK is cut to the path MTU).
    pub(crate) fn packet_size(&self, context: &Context<'_>, route: Route) -> usize {
        let path = self.paths.by_route(route).and_then(|id| self.paths.get(id));
        path.map_or(context.config.pmtu.base & !3, Path::packet_size)
    }

    /// Appends a SACK as large as the packet allows (RFC 9260 §6.7), leaving `reserve` bytes for what follows. Without
    /// room for one it stays pending.
    pub(crate) fn write_sack(
        &mut self,
        context: &mut Context<'_>,
        writer: &mut ChunkWriter<'_>,
        reserve: usize,
    ) {
        let room = writer.room_for(&self.auth, chunk_type::SACK).saturating_sub(reserve);
        if room < SMALLEST_SACK {
            return;
        }
        let sack: SackBuilder<'_> = self.receive.write_sack(room);
        let fits = writer.push(&self.auth, &sack);
        debug_assert!(fits, "a SACK is cut to fit");
        self.set_sack_timer(context);
    }

    /// Where a SACK goes: to where the last DATA came from, unless that address has not been confirmed
    /// (RFC 9260 §6.4, §5.4).
    pub(crate) fn sack_destination(&self) -> Route {
        self.confirmed_or_in_use(self.sack_route)
    }

    /// Where an answer to a packet from `route` goes. To an address that is not confirmed nothing may go but
    /// heartbeats and their answers, and COOKIE ACK (RFC 9260 §5.4).
    pub(crate) fn confirmed_or_in_use(&self, route: Route) -> Route {
        let confirmed =
            self.paths.iter().any(|path| path.confirmed && path.route.remote.ip() == route.remote.ip());
        if confirmed { route } else { self.route_in_use() }
    }

    /// How packets to the peer are protected (RFC 9653 §5.2).
    pub(crate) fn checksum(&self) -> ChecksumMode {
        if self.peer.zero_checksum { ChecksumMode::Zero } else { ChecksumMode::Crc32c }
    }

    /// Counts a packet on the path it leaves by, if it is one.
    pub(crate) fn count_sent(&mut self, route: Route, bytes: usize) {
        if let Some(path) = self.paths.by_route(route).and_then(|id| self.paths.get_mut(id)) {
            path.counters.packets_sent += 1;
            path.counters.bytes_sent += bytes as u64;
        }
    }

    fn sent(&mut self, route: Route, bytes: usize) -> Transmit {
        self.count_sent(route, bytes);
        let path = self.paths.by_route(route).and_then(|id| self.paths.get(id));
        let fragmentation = path.map_or(Fragmentation::Forbidden, |path| path.fragmentation(bytes));
        Transmit { route, ecn: Ecn::NotCapable, fragmentation, segment: bytes }
    }

    fn sent_train(&mut self, path: PathId, bytes: usize, segment: usize) -> Transmit {
        let path = self.paths.get_mut(path).expect("data was just sent on it");
        path.counters.packets_sent += bytes.div_ceil(segment) as u64;
        path.counters.bytes_sent += bytes as u64;
        let fragmentation = path.fragmentation(segment);
        Transmit { route: path.route, ecn: Ecn::NotCapable, fragmentation, segment }
    }
}
