//! What is written down of packets: captures and the event trace.
use whimbrel_machine::{Instant, Route};

use crate::fabric::{A_TO_B, Fabric, link_and_side};
use crate::trace::Line;
use crate::{Captured, DropReason, Fate};

impl Fabric {
    /// A packet has been offered to a link.
    pub(crate) fn watch_entry(&mut self, now: Instant, direction: u32, slot: u32, fate: Fate) {
        let (link, side) = link_and_side(direction);
        let captured = side == A_TO_B && self.captures.wants(link);
        if self.trace.is_none() && !captured {
            return;
        }
        let waiting = self.directions[direction as usize].waiting(now).0 as u64;
        let packet = &self.packets[slot];
        let (number, bytes, Route { local, remote }) = (packet.number, packet.ip_bytes, packet.route);
        if captured {
            self.capture(now, direction, slot, Some(fate));
        }
        if let Fate::Dropped(reason) = fate {
            self.trace_drop(now, number, Some(direction), bytes, reason);
        } else if let Some(trace) = &mut self.trace {
            trace.line(now, Line::Enqueue { packet: number, link, side, local, remote, bytes, waiting });
        }
    }

    /// Captures a packet that a link's first end sends (and what became of it there) or gets.
    pub(crate) fn capture(&mut self, now: Instant, direction: u32, slot: u32, entered: Option<Fate>) {
        let packet = &self.packets[slot];
        let lost = match entered {
            Some(Fate::Dropped(reason)) => Some(format!("dropped: {}", reason.name())),
            _ => None,
        };
        let captured = Captured {
            route: packet.route,
            ecn: packet.ecn,
            payload: &packet.bytes,
            inbound: entered.is_none(),
            comment: lost.as_deref(),
        };
        self.captures.write(link_and_side(direction).0, now, packet.protocol, &captured);
    }

    pub(crate) fn trace_drop(
        &mut self,
        now: Instant,
        packet: u64,
        direction: Option<u32>,
        bytes: u32,
        reason: DropReason,
    ) {
        if let Some(trace) = &mut self.trace {
            let (link, side) = direction.map(link_and_side).unzip();
            trace.line(now, Line::Drop { packet, link, side, bytes, reason });
        }
    }
}
