//! What a SACK says (RFC 9260 §6.2, §6.7), and an NR-SACK.

use whimbrel_wire::draft::NrSackBuilder;
use whimbrel_wire::{CountedSack, GapAckBlock, SackBuilder};

use super::non_renegable::Split;
use super::{Receive, saturated};
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::session::Auth;
use crate::send::LEAST_ROOM;

/// Gap ack blocks whose memory is kept between SACKs.
pub(super) const KEPT_BLOCKS: usize = 64;

/// When so much has come again, longer SACKs are lost. One or two may be, anywhere.
const ENOUGH_UNHEARD: u32 = 4;

/// A SACK with no more gap ack blocks than this, and the duplicates and the AUTH chunk that go with it, passes any network (RFC 1122 §3.3.2: 576 bytes).
pub(super) const BRIEF_BLOCKS: usize = 100;

/// What the SACK last written has said of what lies beyond gaps.
#[derive(Debug, Default)]
pub(super) struct LastSack {
    pub(super) blocks: Vec<GapAckBlock>,
    /// NR-SACKs are sent instead of SACKs: the blocks by kind.
    pub(super) split: Option<Box<Split>>,
    /// How often something came again that a SACK with more than [`BRIEF_BLOCKS`] had acknowledged for good.
    unheard: u32,
}

impl LastSack {
    /// Something has come again that is acknowledged for good.
    pub(super) fn note_repeated(&mut self) {
        if self.entries() > BRIEF_BLOCKS {
            self.unheard += 1;
        }
    }

    /// How many gap ack blocks it had.
    fn entries(&self) -> usize {
        self.split.as_ref().map_or(self.blocks.len(), |split| split.len())
    }

    /// So many blocks are written, of `max` that there is room for. A long SACK is cut if long ones do not arrive: nothing answers a SACK, so that no
    /// search for the path's MTU finds out that the way back has become smaller, but that what they acknowledge comes again and again says so.
    fn most(&self, max: usize) -> usize {
        if self.unheard >= ENOUGH_UNHEARD { max.min(BRIEF_BLOCKS + 1) } else { max }
    }

    fn note_written(&mut self) {
        if self.entries() <= BRIEF_BLOCKS {
            self.unheard = 0;
        }
    }
}

impl Receive {
    /// The SACK of now, at most `max_len` bytes long (but never less than 16): gap ack blocks lowest first as many
    /// as fit (RFC 9260 §6.7), then duplicates. Whatever was due or pending counts as sent.
    pub(crate) fn write_sack(&mut self, max_len: usize) -> SackBuilder<'_> {
        let max_entries = SackBuilder::max_entries(max_len);
        self.collect_blocks(self.last_sack.most(max_entries));
        self.last_sack.note_written();
        SackBuilder {
            cumulative_tsn_ack: self.tsns.cumulative_tsn(),
            a_rwnd: saturated(self.window.advertise(self.reassembly.items())),
            duplicate_tsns: self.acknowledgement.sent(max_entries - self.last_sack.blocks.len()),
            gap_ack_blocks: &self.last_sack.blocks,
        }
    }

    /// The same as an NR-SACK of at most `max_len` bytes, but never less than 20; `None` if SACKs are sent. It says of `packets` packets.
    pub(crate) fn write_nr_sack(&mut self, max_len: usize, packets: u8) -> Option<NrSackBuilder<'_>> {
        let max_entries = NrSackBuilder::max_entries(max_len);
        let mut split = self.last_sack.split.take()?;
        let max_blocks = self.last_sack.most(max_entries);
        self.collect_blocks(max_blocks);
        split.make(&self.last_sack.blocks, self.tsns.cumulative(), self.reassembly.held(), max_blocks);
        self.last_sack.split = Some(split);
        self.last_sack.note_written();
        let Split { renegable, non_renegable } = &**self.last_sack.split.as_ref()?;
        let entries = renegable.len() + non_renegable.len();
        let sack = SackBuilder {
            cumulative_tsn_ack: self.tsns.cumulative_tsn(),
            a_rwnd: saturated(self.window.advertise(self.reassembly.items())),
            duplicate_tsns: self.acknowledgement.sent(max_entries - entries),
            gap_ack_blocks: renegable,
        };
        Some(NrSackBuilder { sack, non_renegable_blocks: non_renegable, packets })
    }

    /// What has been received beyond gaps, lowest first, in `max` blocks at most.
    fn collect_blocks(&mut self, max: usize) {
        self.last_sack.blocks.clear();
        if self.last_sack.blocks.capacity() > KEPT_BLOCKS {
            self.last_sack.blocks = Vec::new();
        }
        if self.tsns.has_gaps() {
            self.tsns.gap_ack_blocks(max, &mut self.last_sack.blocks);
        }
    }

    /// Bytes of a SACK without gap ack blocks or duplicates.
    fn bare_sack(&self) -> usize {
        if self.last_sack.split.is_some() { 20 } else { 16 }
    }

    /// Bytes of a SACK with as many gap ack blocks as are sent to an address that has not been confirmed. Sixteen fit: one with fewer tells of all that
    /// there are.
    pub(crate) fn brief_sack(&self) -> usize {
        self.bare_sack() + 4 * LEAST_ROOM
    }

    /// Appends a SACK as large as the packet allows (RFC 9260 §6.7), leaving `reserve` bytes for what follows. Without room for
    /// one it stays pending, and the result is false.
    pub(crate) fn append_sack(&mut self, auth: &Auth, writer: &mut ChunkWriter<'_>, reserve: usize) -> bool {
        let room = writer.room_for(auth, self.sack_type()).saturating_sub(reserve);
        if room < self.bare_sack() {
            return false;
        }
        let packets = self.prompt.count(self.acknowledgement.unacknowledged());
        let fits = match self.write_nr_sack(room, packets) {
            Some(sack) => writer.push(auth, &sack),
            None => writer.push(auth, &CountedSack { sack: self.write_sack(room), packets }),
        };
        debug_assert!(fits, "a SACK is cut to fit");
        true
    }
}
