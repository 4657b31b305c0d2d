use core::time::Duration;

use whimbrel_machine::{Instant, Rng};
use whimbrel_proto::{PathId, PathQuality, PathView};

use super::failover::Failover;
use crate::{Action, Decision, Fact, Governed, Pace, Policy, Reason, View};

/// B̂ below this share of Ĉ is congestion, too: one part in so many (b08 section 4.2.2.3).
const STARVED: u64 = 10;

/// What AISLE goes by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AisleParameters {
    /// θ: another path must carry so many times as much as the one in use.
    pub advantage: f64,
    /// T_h: after a swap there is none for this long.
    pub hysteresis: Duration,
    /// T_d: what a path carried longer ago than this is not known any more.
    pub validity: Duration,
}

impl Default for AisleParameters {
    /// Those of the paper.
    fn default() -> Self {
        Self { advantage: 1.1, hysteresis: Duration::from_secs(60), validity: Duration::from_secs(120) }
    }
}

/// Spreads many hosts over networks in proportion to what those can carry, without anybody telling them (AISLE, b08 section 4.2.2.3).
///
/// It is the sender's: whoever sends chooses among the paths to the peer, be they from several addresses of ours or to several of the peer's. When the primary path is congested,
/// since T3-rtx has expired, Fast Recovery has begun, or it carries less than a tenth of what it can, the path is swapped for another with the
/// probability p = Ĉ₂ / (Ĉ₁ + Ĉ₂), if that is known to carry more than θ times as much, or if nothing is known of that, which takes another draw with the same probability. After a swap there is none for T_h. Of several other paths
/// the one with the greatest capacity is looked at.
///
/// Capacities come of [`HeartbeatForm::Train`](whimbrel_proto::HeartbeatForm::Train); without them there is never a swap. Addresses that come and go, and paths that fail, are left to [`Failover`],
/// which does not hear of the quality of paths here.
#[derive(Debug)]
pub struct Aisle {
    parameters: AisleParameters,
    rest: Governed<Failover>,
    draws: Rng,
    swapped: Option<Instant>,
    /// The primary path, and how often it had been congested when that was last looked at.
    seen: Option<(PathId, u64)>,
}

impl Aisle {
    /// As a policy, with draws of its own.
    pub fn policy(parameters: AisleParameters, pace: Pace, draws: Rng) -> Self {
        Self { parameters, rest: Failover::policy(pace), draws, swapped: None, seen: None }
    }

    /// The random stream that a policy's draws come from.
    pub const STREAM: &'static str = "aisle";

    /// Whether the primary path is congested by what has been told since the last fact.
    fn infers_congestion(&mut self, primary: &PathView) -> bool {
        let losses = primary.counters.timeouts + primary.counters.fast_retransmits;
        let before = self.seen.replace((primary.id, losses));
        let lost = before.is_some_and(|(path, before)| path == primary.id && losses > before);
        let starved = primary.available.zip(primary.capacity);
        lost || starved.is_some_and(|(available, capacity)| available.rate < capacity.rate / STARVED)
    }

    /// The path to swap the primary one for, if it is to be.
    fn choose(&mut self, now: Instant, view: &View<'_>, primary: &PathView) -> Option<PathId> {
        // Step 1.
        let held = |swapped: Instant| now.saturating_since(swapped) < self.parameters.hysteresis;
        if self.swapped.is_some_and(held) {
            return None;
        }
        let others = view.paths.iter().filter(|path| path.id != primary.id && view.is_usable(path));
        let known = others.filter_map(|path| path.capacity.map(|capacity| (capacity.rate, path)));
        let (rate, other) = known.max_by_key(|(rate, path)| (*rate, core::cmp::Reverse(path.id)))?;
        let share = rate as f64 / (rate as f64 + primary.capacity?.rate as f64);
        if !self.draws.chance(share) {
            return None;
        }
        // Step 2.
        let valid =
            other.available.filter(|found| now.saturating_since(found.at) <= self.parameters.validity);
        let swap = match valid {
            Some(there) => {
                let here = primary.available.map_or(0, |available| available.rate);
                there.rate as f64 > self.parameters.advantage * here as f64
            }
            None => self.draws.chance(share),
        };
        swap.then_some(other.id)
    }
}

impl Policy for Aisle {
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        // The paper's hosts do not look at round trips or losses by themselves: no path is left for its quality.
        let plain = |path: &PathView| PathView { quality: PathQuality::default(), ..path.clone() };
        let paths: Vec<PathView> = view.paths.iter().map(plain).collect();
        let mut decisions = self.rest.observe(now, fact, &View { paths: &paths, ..*view });
        let moves = decisions.iter().any(|decision| matches!(decision.action, Action::UsePath(_)));
        let Some(primary) = view.primary_path().filter(|path| view.is_usable(path) && !moves) else {
            return decisions;
        };
        let news = matches!(*fact, Fact::PathEstimates { path } if path == primary.id);
        if self.infers_congestion(primary)
            && news
            && let Some(path) = self.choose(now, view, primary)
        {
            self.swapped = Some(now);
            decisions.push(Decision { action: Action::UsePath(path), reason: Reason::Congested });
        }
        decisions
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.rest.next_deadline()
    }
}

#[cfg(test)]
#[path = "aisle_tests.rs"]
mod tests;
