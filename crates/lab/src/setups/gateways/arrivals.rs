use whimbrel_machine::Instant;
use whimbrel_netsim::{Intruder, Overheard};
use whimbrel_testbed::Notes;
use whimbrel_wire::{Chunk, Packet};

use super::network::is_terminal;

/// When data reached the terminal around its moves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrivals {
    last: Option<Instant>,
    /// One for each move.
    pub gaps: Vec<Gap>,
}

/// The silence around a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The last data before it.
    pub before: Instant,
    /// When the terminal left.
    pub left: Instant,
    /// The first data after that.
    pub after: Option<Instant>,
}

impl Arrivals {
    /// Notes, and who makes them. `seen` is shown every packet besides.
    pub(super) fn observe(
        mut seen: impl FnMut(Instant, &Overheard<'_>) + Send + 'static,
    ) -> (Notes<Self>, Box<dyn Intruder>) {
        Notes::by(move |arrivals: &mut Self, now, packet| {
            seen(now, &packet);
            if packet.transit {
                return;
            }
            let data = || {
                let packet = Packet::parse(packet.bytes).ok()?;
                packet.chunks().flatten().find(|chunk| matches!(chunk, Chunk::Data(_))).map(|_| ())
            };
            if packet.route.local.port() == 0 && is_terminal(packet.route.remote.ip()) && data().is_some() {
                arrivals.arrive(now);
            }
        })
    }

    fn arrive(&mut self, now: Instant) {
        self.last = Some(now);
        if let Some(gap) = self.gaps.last_mut() {
            gap.after.get_or_insert(now);
        }
    }

    /// The terminal leaves.
    pub(super) fn leave(&mut self, now: Instant) {
        self.gaps.push(Gap { before: self.last.unwrap_or(now), left: now, after: None });
    }
}
