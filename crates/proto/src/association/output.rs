//! What an open association sends next (RFC 9260 §6.1, §6.10): answers, shutdown, heartbeats, data, SACK.

use core::time::Duration;

use whimbrel_machine::{Ecn, Fragmentation, Instant, IpProtocol, Route, Transmit};
use whimbrel_wire::{COMMON_HEADER_LEN, ChecksumMode, CommonHeader, EmitChunk, PacketWriter};

use super::replies::{Encoded, First, Reply};
use super::{Context, Open};
use crate::auth::chunk_writer::ChunkWriter;
use crate::config::{Config, FailedRoute};
use crate::interface::{PathId, PathState};
use crate::path::Path;
/// A packet about whose path nothing is known. What is larger than the base size, such as a COOKIE ECHO with a large
/// cookie, cannot be made smaller, so it may be fragmented.
pub(crate) fn single_packet(config: &Config, route: Route, bytes: usize) -> Transmit {
    let fragmentation =
        if bytes > config.pmtu.base { Fragmentation::Allowed } else { Fragmentation::Forbidden };
    datagrams(route, fragmentation, bytes)
}

fn datagrams(route: Route, fragmentation: Fragmentation, segment: usize) -> Transmit {
    Transmit { route, ecn: Ecn::NotCapable, fragmentation, protocol: IpProtocol::Sctp, segment }
}

/// A packet with one chunk and a CRC32c.
pub(crate) fn single_chunk(header: CommonHeader, chunk: &impl EmitChunk) -> Vec<u8> {
    let mut out = Vec::with_capacity(COMMON_HEADER_LEN + chunk.wire_len());
    write_single_chunk(header, chunk, &mut out);
    out
}

/// As [`single_chunk`], to the end of `out`.
pub(super) fn write_single_chunk(header: CommonHeader, chunk: &impl EmitChunk, out: &mut Vec<u8>) {
    let mut writer = PacketWriter::new(out, header, usize::MAX);
    let fits = writer.push(chunk);
    debug_assert!(fits, "a control chunk fits its packet");
    writer.finish(ChecksumMode::Crc32c);
}

impl Open {
    /// The next train of packets for one route.
    pub(crate) fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.notes.said_all = false;
        self.end_used_vouching(context);
        self.react_to_primary_change(context);
        self.start_up(context);
        if self.sender.combines_paths() {
            let room = context.config.limits.send_room(self.sender.window());
            self.sender.note_filling(context.now, room);
        }
        self.sender.open_bursts(context.now, &self.paths);
        let start = out.len();
        while let Some(reply) = self.replies.pop() {
            // The address may have gone since the answer was given.
            if self.locals.is_source(reply.route.local.ip()) || reply.first == First::Asconf {
                self.write_reply(context, &reply, out);
                return Some(self.sent(reply.route, out.len() - start));
            }
        }
        if let Some(route) = self.poll_shutdown(context, out) {
            return Some(self.sent(route, out.len() - start));
        }
        // The peer can answer neither before it has what is said about keys.
        if self.auth.is_pending()
            && let Some(train) = self.poll_train(context, max_segments, out)
        {
            self.notes.said_all = false;
            return Some(train);
        }
        // Neither is sent in clear where packets are to be protected (chunk draft §3.2).
        let in_clear = self.auth.lacks_keys();
        if !in_clear && let Some(route) = self.poll_asconf(context, out) {
            return Some(self.sent(route, out.len() - start));
        }
        if !in_clear && let Some(route) = self.poll_heartbeat(context, out) {
            // A probe that arrived in fragments would prove nothing (RFC 8899 §3).
            let fragmentation = Fragmentation::Forbidden;
            return Some(Transmit { fragmentation, ..self.sent(route, out.len() - start) });
        }
        if let Some(train) = self.poll_train(context, max_segments, out) {
            return Some(train);
        }
        if self.receive.ack_due(context.now)
            && let Some(route) = self.sack_destination(context.config)
        {
            self.write_reply(context, &Reply { route, chunks: Vec::new(), first: First::Other }, out);
            self.notes.said_all = true;
            return Some(self.sent(route, out.len() - start));
        }
        None
    }

    /// Packets with DATA.
    fn poll_train(
        &mut self,
        context: &mut Context<'_>,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let start = out.len();
        let max_segments = if self.counts_bytes() { 1 } else { max_segments.max(1) };
        let (path, segment) = self.poll_data(context, max_segments, out)?;
        let all_out = self.sender.is_all_out(context.now, &self.paths, &self.auth);
        self.notes.said_all = all_out && !self.receive.ack_due(context.now);
        Some(self.sent_train(path, out.len() - start, segment))
    }

    /// A packet with answers, and the SACK if one is pending; with the SACK alone if there are no answers.
    fn write_reply(&mut self, context: &mut Context<'_>, reply: &Reply, out: &mut Vec<u8>) {
        let (route, chunks) = (reply.route, &reply.chunks);
        let checksum = self.checksum();
        let needed = COMMON_HEADER_LEN + chunks.len() + self.auth.largest_overhead();
        let limit = self.packet_size(context, route).max(needed);
        let mut writer = ChunkWriter::new(&self.auth, out, context.header(self.peer.tag), limit);
        let fits = writer.push(&self.auth, &Encoded(chunks));
        debug_assert!(fits, "answers are bounded");
        // COOKIE ECHO and heartbeats of an unconfirmed address are no place for a SACK.
        let due = self.receive.ack_due(context.now);
        if chunks.is_empty() || (due && self.sack_destination(context.config) == Some(route)) {
            self.write_sack(context, &mut writer, 0);
        } else if due && route == self.receive.route() && reply.first == First::AsconfAck {
            // RFC 5061 §5.2 V4: a brief one may go with the answer to where the peer has moved.
            let room = writer.room_for(&self.auth, self.receive.sack_type());
            self.write_sack(context, &mut writer, room.saturating_sub(self.receive.brief_sack()));
        }
        writer.finish(&self.auth, checksum);
    }

    /// The largest packet known to arrive by `route` (RFC 9260 §6.2: a SACK is cut to the path MTU).
    pub(crate) fn packet_size(&self, context: &Context<'_>, route: Route) -> usize {
        let path = self.paths.by_route(route).and_then(|id| self.paths.get(id));
        path.map_or(context.config.pmtu.base & !3, Path::packet_size)
    }

    /// Appends a SACK, see [`Receive::append_sack`](crate::receive::Receive::append_sack).
    pub(crate) fn write_sack(
        &mut self,
        context: &mut Context<'_>,
        writer: &mut ChunkWriter<'_>,
        reserve: usize,
    ) {
        if self.receive.append_sack(&self.auth, writer, reserve) {
            self.set_sack_timer(context);
        }
    }

    /// Where a SACK goes: to where the last DATA came from, unless that address has not been confirmed
    /// (RFC 9260 §6.4, §5.4) or nothing that is sent there seems to arrive (`FailedRoute`).
    pub(crate) fn sack_destination(&self, config: &Config) -> Option<Route> {
        let route = self.confirmed_or_in_use(self.receive.route())?;
        let fails = |path: &&Path| matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive);
        let failed = || self.paths.by_route(route).and_then(|id| self.paths.get(id)).filter(fails);
        // Where no HEARTBEAT asks any more, what is known of paths grows old, and the DATA is all that tells where the peer is.
        let follows = config.sack.failed_route == FailedRoute::Follow || self.heartbeats_are_over();
        if follows || failed().is_none() {
            return Some(route);
        }
        let in_use = self.paths.get(self.data_path());
        let works = in_use.filter(|path| path.is_usable() && path.state == PathState::Active);
        Some(works.map_or(route, |path| path.route))
    }

    /// A path that had failed works again. What came by it meanwhile was acknowledged by another, which may have failed itself before that was
    /// noticed: it is acknowledged again.
    pub(crate) fn acknowledge_again(&mut self, context: &Context<'_>, id: PathId) {
        let avoided = context.config.sack.failed_route == FailedRoute::Avoid;
        if avoided && self.paths.by_route(self.receive.route()) == Some(id) {
            self.receive.force_ack();
        }
    }

    /// Where an answer to a packet from `route` goes. To an address that is not confirmed nothing may go but
    /// heartbeats and their answers, COOKIE ACK (RFC 9260 §5.4) and ASCONF-ACK (RFC 5061 §5.3 F1): `None` if there is no
    /// other, as while the peer moves.
    pub(crate) fn confirmed_or_in_use(&self, route: Route) -> Option<Route> {
        let confirmed = self.is_confirmed(route.remote.ip()) && self.is_port_known(route);
        let good = confirmed && self.locals.is_source(route.local.ip());
        let in_use = || self.paths.get(self.data_path()).filter(|path| path.is_usable());
        if good { Some(route) } else { in_use().map(|path| path.route) }
    }

    /// The INIT's round trip is the first RTT measurement of its path (RFC 9260 §6.3.1 C2).
    pub(crate) fn measure_first(&mut self, now: Instant, rtt: Duration) {
        if let Some(path) = self.paths.iter_mut().next() {
            path.on_measurement(now, rtt, &mut self.notes.round_trips);
        }
    }

    pub(crate) fn poll_replies(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<Transmit> {
        let Reply { route, chunks, .. } = self.replies.pop()?;
        let start = out.len();
        let mut writer = ChunkWriter::new(&self.auth, out, context.header(self.peer.tag), usize::MAX);
        let fits = writer.push(&self.auth, &Encoded(&chunks));
        debug_assert!(fits);
        writer.finish(&self.auth, self.checksum());
        self.count_sent(route, out.len() - start);
        Some(single_packet(context.config, route, out.len() - start))
    }

    /// How packets to the peer are protected (RFC 9653 §5.2).
    pub(crate) fn checksum(&self) -> ChecksumMode {
        if self.peer.zero_checksum { ChecksumMode::Zero } else { ChecksumMode::Crc32c }
    }

    /// Counts a packet on the path it leaves by, if it is one.
    fn count_sent(&mut self, route: Route, bytes: usize) -> Option<&Path> {
        let path = self.paths.by_route(route).and_then(|id| self.paths.get_mut(id))?;
        path.counters.packets_sent += 1;
        path.counters.bytes_sent += bytes as u64;
        let id = path.id;
        self.count_vouched(id, bytes);
        self.paths.get(id)
    }

    fn sent(&mut self, route: Route, bytes: usize) -> Transmit {
        let path = self.count_sent(route, bytes);
        let fragmentation = path.map_or(Fragmentation::Forbidden, |path| path.fragmentation(bytes));
        datagrams(route, fragmentation, bytes)
    }

    fn sent_train(&mut self, id: PathId, bytes: usize, segment: usize) -> Transmit {
        let path = self.paths.get_mut(id).expect("data was just sent on it");
        path.counters.packets_sent += bytes.div_ceil(segment) as u64;
        path.counters.bytes_sent += bytes as u64;
        let (route, fragmentation) = (path.route, path.fragmentation(segment));
        self.count_vouched(id, bytes);
        datagrams(route, fragmentation, segment)
    }
}
