//! Links whose directions share a medium.

use std::collections::BTreeMap;

use whimbrel_machine::Instant;

use super::Fabric;
use crate::event_queue::Due;
use crate::medium::{Outcome, SharedMedium};
use crate::{Fate, LinkId, Offered, Side};

/// A medium, and the packets that it has.
pub(super) struct Air {
    medium: Box<dyn SharedMedium + Send>,
    /// Where the packets are, by the tickets that the medium knows, and in which generation of their slots: what is lost with its link meanwhile stays in the
    /// radio's queue, and nobody hears it.
    packets: BTreeMap<u32, (u32, u32)>,
    next_ticket: u32,
    /// The event that is waited for.
    due: Instant,
}

/// A direction's place on its medium.
#[derive(Clone, Copy)]
pub(super) struct Station {
    medium: u32,
    number: u32,
}

impl Fabric {
    /// Has directions of links share a medium, each as the station of the number given. Rate, queue and overhead of these links count no more; what else
    /// links have, such as delay and loss, comes after the medium.
    pub(crate) fn share(
        &mut self,
        medium: Box<dyn SharedMedium + Send>,
        stations: impl IntoIterator<Item = (LinkId, Side, usize)>,
    ) {
        let index = self.media.len() as u32;
        for (link, side, number) in stations {
            for direction in side.directions(link) {
                self.stations[direction as usize] = Some(Station { medium: index, number: number as u32 });
            }
        }
        self.media.push(Air { medium, packets: BTreeMap::new(), next_ticket: 0, due: Instant::FAR_FUTURE });
    }

    /// A packet comes to a direction that is a station of a medium.
    pub(super) fn enter_medium(&mut self, now: Instant, station: Station, slot: u32) {
        self.air(now, station.medium);
        let packet = &self.packets[slot];
        let (direction, generation) = (packet.direction, self.packets.generation(slot));
        let air = &mut self.media[station.medium as usize];
        let offered = Offered {
            ip_bytes: packet.ip_bytes,
            fragmentation: packet.fragmentation,
            flow: &packet.route,
            ticket: air.next_ticket,
        };
        let has_room = || air.medium.offer(now, station.number as usize, air.next_ticket, packet.ip_bytes);
        let fate = self.directions[direction as usize].offer_to_medium(now, &offered, has_room);
        if fate == Fate::Waits {
            air.packets.insert(air.next_ticket, (slot, generation));
            air.next_ticket = air.next_ticket.wrapping_add(1);
        }
        self.watch_entry(now, direction, slot, fate);
        self.begin(now, slot, &fate);
        self.await_medium(station.medium);
    }

    /// Lets what is due happen on a medium.
    pub(crate) fn air(&mut self, now: Instant, medium: u32) {
        if self.media[medium as usize].due > now {
            return;
        }
        while let Some(Outcome { ticket, delivered, .. }) = self.media[medium as usize].medium.advance(now) {
            let Some((slot, generation)) = self.media[medium as usize].packets.remove(&ticket) else {
                continue;
            };
            if !self.packets.is_current(slot, generation) {
                continue;
            }
            let direction = self.packets[slot].direction;
            let fate = self.directions[direction as usize].leave_medium(now, delivered);
            if let Fate::Dropped(reason) = fate {
                let (number, bytes) = (self.packets[slot].number, self.packets[slot].ip_bytes);
                self.trace_drop(now, number, Some(direction), bytes, reason);
            }
            self.follow(slot, &fate);
        }
        self.media[medium as usize].due = Instant::FAR_FUTURE;
        self.await_medium(medium);
    }

    /// Sees to it that the next event on a medium is not missed.
    fn await_medium(&mut self, medium: u32) {
        let air = &mut self.media[medium as usize];
        let due = air.medium.next_event().unwrap_or(Instant::FAR_FUTURE);
        let known = core::mem::replace(&mut air.due, due);
        if known != due && due < Instant::FAR_FUTURE {
            self.events.push(due, Due::Medium { medium });
        }
    }
}
