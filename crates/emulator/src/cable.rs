use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Change, DirectionStats, LinkConfig, Pattern};

use crate::Direction;
use crate::lane::Lane;

/// Bytes of an Ethernet header: what a frame is longer than its IP packet.
const ETHERNET_HEADER: u32 = 14;

/// Two directions of a link for whole Ethernet frames, in real time but without any device: whoever owns it reads and
/// writes the frames, and asks when the next is due. "Up" goes from the first end to the second.
pub struct Cable {
    up: Lane<()>,
    down: Lane<()>,
    epoch: std::time::Instant,
}

impl Cable {
    /// A cable that begins now. The same seed makes the same random decisions for the same frames.
    pub fn new(up: LinkConfig, down: LinkConfig, seed: Seed) -> Self {
        let epoch = std::time::Instant::now();
        Self { up: Lane::new(up, &seed, 0), down: Lane::new(down, &seed, 1), epoch }
    }

    /// A frame comes to the first end (`up`) or to the second.
    pub fn offer(&mut self, up: bool, frame: &[u8]) {
        let (now, ip_bytes) = (self.now(), (frame.len() as u32).saturating_sub(ETHERNET_HEADER));
        self.lane(up).offer(now, &(), ip_bytes, frame);
    }

    /// Hands every frame that is due to `deliver`, with the direction it takes.
    pub fn deliver(&mut self, mut deliver: impl FnMut(bool, &[u8])) {
        let now = self.now();
        for up in [true, false] {
            while let Some(due) = self.lane(up).pop_due(now) {
                deliver(up, &due.bytes);
                self.lane(up).recycle(due.bytes);
            }
        }
    }

    /// When the next frame is due, on the system's clock.
    pub fn next_due(&self) -> Option<std::time::Instant> {
        let next = [self.up.next_due(), self.down.next_due()].into_iter().flatten().min()?;
        self.epoch.checked_add(next.saturating_since(Instant::ZERO))
    }

    /// Changes one direction, or both, now.
    pub fn set(&mut self, direction: Direction, change: Change) {
        let now = self.now();
        if direction != Direction::Downlink {
            self.up.change(now, change);
        }
        if direction != Direction::Uplink {
            self.down.change(now, change);
        }
    }

    /// Has one direction, or both, follow a pattern from now on. Every frame counts, address resolution and the like, too.
    pub fn follow(&mut self, direction: Direction, pattern: &Arc<Pattern>) {
        let now = self.now();
        if direction != Direction::Downlink {
            self.up.follow(now, Arc::clone(pattern));
        }
        if direction != Direction::Uplink {
            self.down.follow(now, Arc::clone(pattern));
        }
    }

    /// What passed up and down.
    pub fn stats(&self) -> (DirectionStats, DirectionStats) {
        (*self.up.link().stats(), *self.down.link().stats())
    }

    fn now(&self) -> Instant {
        Instant::ZERO
            + Duration::from_nanos(u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    const fn lane(&mut self, up: bool) -> &mut Lane<()> {
        if up { &mut self.up } else { &mut self.down }
    }
}

impl core::fmt::Debug for Cable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cable").field("next_due", &self.next_due()).finish_non_exhaustive()
    }
}
