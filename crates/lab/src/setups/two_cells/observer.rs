use core::net::IpAddr;

use whimbrel_machine::Instant;
use whimbrel_netsim::Intruder;
use whimbrel_testbed::Notes;
use whimbrel_wire::{Chunk, Packet, Parameter, Tsn};

use super::mobile;

/// What passes between the correspondent node and a mobile node, as it arrives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Noted {
    /// Requests to set a primary address, repeated ones left out: when the first copy arrived, and the serial number.
    pub set_primary: Vec<(Instant, u32)>,
    /// DATA: when, over which cell, and how many chunks after the first of all.
    pub data: Vec<(Instant, usize, u32)>,
    /// SACKs that newly acknowledge something behind a gap.
    pub reports: Vec<Instant>,
    first: Option<Tsn>,
    /// The highest TSN that a gap ack block has named.
    highest: Option<Tsn>,
}

impl Noted {
    /// Notes, and who makes them.
    pub fn observe() -> (Notes<Self>, Box<dyn Intruder>) {
        Notes::by(|noted: &mut Self, now, packet| {
            let Ok(parsed) = Packet::parse(packet.bytes) else { return };
            for chunk in parsed.chunks().flatten() {
                noted.on_chunk(now, packet.route.remote.ip(), &chunk);
            }
        })
    }

    fn on_chunk(&mut self, now: Instant, to: IpAddr, chunk: &Chunk<'_>) {
        match chunk {
            Chunk::Data(data) => {
                let first = *self.first.get_or_insert(data.tsn);
                let cell = usize::from(to == mobile(1).ip());
                self.data.push((now, cell, data.tsn.distance_from(first)));
            }
            Chunk::Sack(sack) => {
                let Some(end) = sack.gap_ack_blocks().map(|block| block.end).max() else { return };
                let end = sack.cumulative_tsn_ack.plus(end.into());
                if self.highest.is_none_or(|highest| highest.precedes(end)) {
                    self.highest = Some(end);
                    self.reports.push(now);
                }
            }
            Chunk::Asconf(asconf) => {
                let serial = asconf.sequence_number;
                let mut requests = asconf.parameters;
                let asks = requests.any(|request| matches!(request, Ok(Parameter::SetPrimaryAddress(_))));
                if asks && self.set_primary.iter().all(|&(_, known)| known != serial) {
                    self.set_primary.push((now, serial));
                }
            }
            _ => {}
        }
    }
}
