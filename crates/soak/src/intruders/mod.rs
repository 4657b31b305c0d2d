//! Attackers, who are let into the network of a scenario.
//!
//! Both kinds learn what they need by themselves, from what [`Intruder`](whimbrel_netsim::Intruder) shows them; the one off
//! the path looks at nothing but addresses and ports.

mod forge;
mod off_path;
mod on_path;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::Intruder;

use crate::draw::Draw;
use crate::kind::Attack;
use crate::scenario::Scenario;

/// Forgeries of one attacker, at most.
const MOST: u64 = 20_000;

/// How hard an attacker tries.
#[derive(Clone, Copy, Debug)]
struct Zeal {
    /// The probability that a packet makes him do something.
    chance: f64,
    /// Forgeries at a time, at most.
    burst: u64,
    /// He gives up then.
    until: Instant,
}

impl Scenario {
    /// Who attacks the run of `seed`.
    pub(crate) fn intruder(&self, seed: u64) -> Option<Box<dyn Intruder>> {
        let mut draw = Draw(Seed::from_u64(seed).stream("attack", 0));
        let zeal = Zeal {
            chance: draw.one_of(&[0.02, 0.1, 0.5]),
            burst: draw.between(1, 6),
            until: self.networks.heal_at,
        };
        match self.kind.attack {
            Attack::None => None,
            Attack::OffPath => Some(Box::new(off_path::OffPath::new(draw, zeal))),
            Attack::OnPath(_) => Some(Box::new(on_path::OnPath::new(draw, zeal))),
        }
    }
}
