//! What a SACK says (RFC 9260 §6.2, §6.7), and an NR-SACK.

use whimbrel_wire::draft::NrSackBuilder;
use whimbrel_wire::{CountedSack, SackBuilder};

use super::non_renegable::Split;
use super::{BRIEF_BLOCKS, Receive, saturated};
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::session::Auth;

/// Gap ack blocks whose memory is kept between SACKs.
pub(super) const KEPT_BLOCKS: usize = 64;

/// When so much has come again, longer SACKs are lost. One or two may be, anywhere.
const ENOUGH_UNHEARD: u32 = 4;

/// Bytes of an NR-SACK without gap ack blocks or duplicates; a SACK needs less.
const SMALLEST_SACK: usize = 20;

impl Receive {
    /// The SACK of now, at most `max_len` bytes long (but never less than 16): gap ack blocks lowest first as many
    /// as fit (RFC 9260 §6.7), then duplicates. Whatever was due or pending counts as sent.
    pub(crate) fn write_sack(&mut self, max_len: usize) -> SackBuilder<'_> {
        let max_entries = SackBuilder::max_entries(max_len);
        self.collect_blocks(max_entries);
        SackBuilder {
            cumulative_tsn_ack: self.tsns.cumulative_tsn(),
            a_rwnd: saturated(self.window.advertise(self.reassembly.items())),
            duplicate_tsns: self.acknowledgement.sent(max_entries - self.blocks.len()),
            gap_ack_blocks: &self.blocks,
        }
    }

    /// The same as an NR-SACK of at most `max_len` bytes, but never less than 20; `None` if SACKs are sent. It says of `packets` packets.
    pub(crate) fn write_nr_sack(&mut self, max_len: usize, packets: u8) -> Option<NrSackBuilder<'_>> {
        let max_entries = NrSackBuilder::max_entries(max_len);
        let mut split = self.split.take()?;
        self.collect_blocks(max_entries);
        split.make(&self.blocks, self.tsns.cumulative(), self.reassembly.held(), max_entries);
        let Split { renegable, non_renegable } = &**self.split.insert(split);
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
        self.blocks.clear();
        if self.blocks.capacity() > KEPT_BLOCKS {
            self.blocks = Vec::new();
        }
        if self.tsns.has_gaps() {
            self.tsns.gap_ack_blocks(max, &mut self.blocks);
        }
        self.shorten();
    }

    /// Cuts a long SACK if long ones do not arrive. Nothing answers a SACK, so that no search for the path's MTU finds out that the way back has
    /// become smaller, but that what they acknowledge comes again and again says so.
    fn shorten(&mut self) {
        if self.blocks.len() <= BRIEF_BLOCKS {
            self.unheard = 0;
        } else if self.unheard >= ENOUGH_UNHEARD {
            self.blocks.truncate(BRIEF_BLOCKS + 1);
        }
    }

    /// Appends a SACK as large as the packet allows (RFC 9260 §6.7), leaving `reserve` bytes for what follows. Without room for
    /// one it stays pending, and the result is false.
    pub(crate) fn append_sack(&mut self, auth: &Auth, writer: &mut ChunkWriter<'_>, reserve: usize) -> bool {
        let room = writer.room_for(auth, self.sack_type()).saturating_sub(reserve);
        if room < SMALLEST_SACK {
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
