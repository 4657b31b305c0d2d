//! A sender with its paths and T3-rtx timers and nothing else, for tests and fuzz targets.

use core::time::Duration;
use std::collections::BTreeSet;

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_wire::{
    ChecksumMode, Chunk, CommonHeader, CountedSack, GapAckBlock, Packet, SackBuilder, StreamId, Tsn,
};

use super::flow::Flow;
use super::outstanding::SackError;
use super::report::{Report, T3};
use super::sender::Sender;
use super::turn::{Next, Permit, SackSlot, Train, Turn};
use crate::association::single_chunk;
use crate::auth::session::Auth;
use crate::config::Config;
use crate::interface::{Message, PathId, PathState, Urgency};
use crate::path::{Egress, Paths, control_path, testing};

/// Outbound streams.
pub(super) const STREAMS: u16 = 3;

const HEADER: CommonHeader = CommonHeader { source_port: 5001, destination_port: 5002, verification_tag: 7 };

/// What an association does around its sender, as far as paths and T3-rtx go.
pub(super) struct Rig {
    pub(super) config: Config,
    pub(super) paths: Paths,
    pub(super) sender: Sender,
    pub(super) now: Instant,
    /// The paths whose T3-rtx runs.
    pub(super) timers: BTreeSet<PathId>,
    /// The path that SACKs come by.
    pub(super) sack_by: Option<PathId>,
    /// How many packets they say that they are for.
    pub(super) sack_packets: u8,
    /// What they say has come twice.
    pub(super) duplicates: Vec<Tsn>,
}

/// A DATA chunk as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    pub(super) tsn: Tsn,
    pub(super) stream: StreamId,
    pub(super) payload: Vec<u8>,
}

/// A train as it was written.
pub(super) struct Written {
    pub(super) train: Train,
    /// The chunks of each packet.
    pub(super) packets: Vec<Vec<Sent>>,
}

impl Rig {
    /// Four paths between two addresses of each side, all confirmed and active.
    pub(super) fn new(config: Config, initial_tsn: Tsn, a_rwnd: u32) -> Self {
        let paths = testing::mesh();
        let sender = Sender::new(&config, &paths, initial_tsn, STREAMS, a_rwnd);
        let sack_by = Some(paths.primary());
        Self {
            config,
            paths,
            sender,
            now: Instant::ZERO,
            timers: BTreeSet::new(),
            sack_by,
            sack_packets: 0,
            duplicates: Vec::new(),
        }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
        self.sender.opportunity();
    }

    /// A second passes, or what each path takes to send by its pace if that is more: rounds of a minute make a slow one.
    pub(super) fn pass_until_departure(&mut self) {
        let last = self.sender.flows.iter().filter_map(Flow::next_departure).max();
        let now = self.now + Duration::from_secs(1);
        self.now = last.map_or(now, |last| last.max(now));
        self.sender.opportunity();
    }

    /// Queues a message of `len` bytes; false if it is refused.
    pub(super) fn send(&mut self, stream: u16, len: usize, limit: usize) -> bool {
        self.send_with(Urgency::Usual, stream, len, limit)
    }

    pub(super) fn send_with(&mut self, urgency: Urgency, stream: u16, len: usize, limit: usize) -> bool {
        let payload = Bytes::from(vec![len as u8; len]);
        let message = Message { urgency, ..Message::new(StreamId(stream), payload) };
        self.sender.send(&self.paths, message, limit, &Auth::default()).is_ok()
    }

    /// The next train, if there is one.
    pub(super) fn turn(&mut self, permit: Permit, max_segments: usize) -> Option<Written> {
        self.sender.open_bursts(self.now, &self.paths);
        let (mut out, auth) = (Vec::new(), Auth::default());
        let next = self.sender.next_packet(&mut Turn {
            now: self.now,
            paths: &self.paths,
            permit,
            max_segments,
            shuts_down: false,
            header: HEADER,
            checksum: ChecksumMode::Crc32c,
            auth: &auth,
            sack: SackSlot::default(),
            out: &mut out,
        });
        let Next::Train(train) = next else {
            assert!(out.is_empty(), "what is not announced is not written");
            return None;
        };
        if let Some(t3) = train.t3 {
            self.set_t3(train.path, t3);
        }
        Some(Written { train, packets: out.chunks(train.segment).map(chunks).collect() })
    }

    pub(super) fn sack(
        &mut self,
        cumulative: Tsn,
        gaps: &[GapAckBlock],
        a_rwnd: u32,
    ) -> Result<(), SackError> {
        let report = self.try_report(cumulative, gaps, a_rwnd);
        self.apply(report)?;
        self.sender.opportunity();
        Ok(())
    }

    /// What a SACK has changed, from which no consequences are drawn.
    #[cfg(test)]
    pub(super) fn report(&mut self, cumulative: Tsn, gaps: &[GapAckBlock], a_rwnd: u32) -> Report {
        self.try_report(cumulative, gaps, a_rwnd).expect("a true SACK")
    }

    fn try_report(
        &mut self,
        cumulative: Tsn,
        gaps: &[GapAckBlock],
        a_rwnd: u32,
    ) -> Result<Report, SackError> {
        let duplicate_tsns = &self.duplicates;
        let sack =
            SackBuilder { cumulative_tsn_ack: cumulative, a_rwnd, gap_ack_blocks: gaps, duplicate_tsns };
        let packet = single_chunk(HEADER, &CountedSack { sack, packets: self.sack_packets });
        let packet = Packet::parse(&packet).expect("a packet");
        let Some(Ok(Chunk::Sack(sack))) = packet.chunks().next() else { panic!("a SACK") };
        self.sender.on_sack(self.now, &sack.into(), self.sack_by)
    }

    /// The Cumulative TSN Ack of a SHUTDOWN.
    pub(super) fn shutdown_ack(&mut self, cumulative: Tsn) -> Result<(), SackError> {
        let report = self.sender.on_cumulative_ack(self.now, cumulative);
        self.apply(report)
    }

    fn apply(&mut self, report: Result<Report, SackError>) -> Result<(), SackError> {
        for change in report?.paths {
            // A path may be gone by the time that what was sent there is acknowledged.
            if self.paths.get(change.path).is_some() {
                self.set_t3(change.path, change.t3);
            }
        }
        Ok(())
    }

    fn set_t3(&mut self, path: PathId, t3: T3) {
        match t3 {
            T3::Start | T3::Restart => self.timers.insert(path),
            T3::Stop => self.timers.remove(&path),
        };
    }

    /// T3-rtx of a path expires, if it runs.
    pub(super) fn expire(&mut self, path: PathId) {
        if self.timers.remove(&path) {
            self.sender.opportunity();
            self.sender.on_timeout(path);
            self.sender.force(&self.paths, path);
        }
    }

    /// The reordering timer of a path expires.
    pub(super) fn look(&mut self, path: PathId) {
        let report = self.sender.on_reordering_timer(self.now, path);
        self.sender.opportunity();
        self.apply(Ok(report)).expect("nothing was said");
    }

    /// The probe timer of a path expires.
    pub(super) fn probe_tail(&mut self, path: PathId) {
        self.sender.opportunity();
        if let Some(t3) = self.sender.probe_tail(&self.paths, path, self.now, Duration::ZERO) {
            self.set_t3(path, t3);
        }
    }

    pub(super) fn give_up(&mut self, path: PathId) {
        if self.sender.give_up(&self.paths, path) {
            self.timers.remove(&path);
        }
    }

    /// The link of a path goes down.
    pub(super) fn close(&mut self, path: PathId) {
        self.paths.get_mut(path).expect("a path").egress = Egress::Closed;
        self.timers.remove(&path);
        self.sender.silence(&self.paths, path);
        self.set_state(path, PathState::Inactive);
    }

    /// A path works and is known to.
    pub(super) fn open(&mut self, path: PathId) {
        self.paths.get_mut(path).expect("a path").egress = Egress::Open;
        self.set_state(path, PathState::Active);
    }

    pub(super) fn set_state(&mut self, path: PathId, state: PathState) {
        testing::set(&mut self.paths, path, state, u32::from(state != PathState::Active));
        self.sender.opportunity();
    }

    pub(super) fn add(&mut self, local: u8, remote: u8) {
        let id = testing::add(&mut self.paths, local, remote, &self.config);
        self.sender.add_path(&self.config, self.paths.get(id).expect("a path"));
        self.sender.opportunity();
    }

    /// A path goes, unless it is the last one or has gone already.
    pub(super) fn remove(&mut self, path: PathId) {
        if self.paths.len() == 1 || self.paths.get(path).is_none() {
            return;
        }
        self.close(path);
        self.paths.remove(path);
        let successor = control_path(&self.paths).or_else(|| self.paths.iter().next().map(|path| path.id));
        let successor = successor.expect("another path");
        if self.paths.primary() == path {
            self.paths.set_primary(successor);
        }
        self.sender.path_gone(path);
    }

    /// A round trip by a path takes so long.
    #[cfg(test)]
    pub(super) fn measure(&mut self, path: PathId, round_trip: Duration) {
        self.paths.get_mut(path).expect("a path").rto.on_measurement(round_trip);
    }

    /// Sends a message in a packet of its own by the path whose turn it is, if there is one.
    #[cfg(test)]
    pub(super) fn send_one(&mut self, bytes: usize) -> Option<PathId> {
        assert!(self.send(0, bytes, usize::MAX));
        self.sender.opportunity();
        self.turn(Permit::Everything, 1).map(|written| written.train.path)
    }

    pub(super) fn ids(&self) -> Vec<PathId> {
        self.paths.iter().map(|path| path.id).collect()
    }
}

/// The DATA chunks of a packet.
fn chunks(packet: &[u8]) -> Vec<Sent> {
    let packet = Packet::parse(packet).expect("a packet");
    assert!(packet.checksum_is_valid());
    let sent = |chunk| match chunk {
        Ok(Chunk::Data(data)) => Sent { tsn: data.tsn, stream: data.stream, payload: data.payload.to_vec() },
        other => panic!("DATA, not {other:?}"),
    };
    packet.chunks().map(sent).collect()
}
