use whimbrel_machine::{Instant, Rng, Seed};

/// How packets are lost on the wire, after they have used the bottleneck.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Loss {
    /// No packet is lost.
    #[default]
    None,
    /// Each packet is lost with this probability, independently of the others.
    Bernoulli(f64),
    /// Every n-th packet is lost, for comparison with closed forms; 0 loses none.
    Periodic(u32),
    /// Each packet is lost independently, with a probability that changes over time: the frame error rate of a link whose
    /// signal fades.
    Ramp(Ramp),
    /// Packets are lost in bursts.
    GilbertElliott(GilbertElliott),
}

/// A probability that goes in a straight line from one value to another, and stays there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ramp {
    /// Until here it is `from`.
    pub begin: Instant,
    /// From here on it is `to`.
    pub end: Instant,
    /// The probability before.
    pub from: f64,
    /// The probability after.
    pub to: f64,
}

impl Ramp {
    /// The probability at a time.
    pub fn at(&self, now: Instant) -> f64 {
        if now <= self.begin {
            self.from
        } else if now >= self.end {
            self.to
        } else {
            let share = (now - self.begin).as_nanos() as f64 / (self.end - self.begin).as_nanos() as f64;
            self.from + (self.to - self.from) * share
        }
    }
}

/// A two-state Markov chain that moves once per packet; each state has a loss probability of its own (Gilbert 1960,
/// Elliott 1963).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Probability to leave the good state, per packet.
    pub good_to_bad: f64,
    /// Probability to leave the bad state, per packet; its inverse is the mean length of a bad spell, in packets.
    pub bad_to_good: f64,
    /// Loss probability in the good state.
    pub loss_good: f64,
    /// Loss probability in the bad state.
    pub loss_bad: f64,
}

impl GilbertElliott {
    /// No more is lost in bursts, however long: the good state has to be left again.
    const MOST: f64 = 0.999;

    /// The greatest mean loss rate that bursts of this mean length (packets, at least 1) can have: two are at least one packet apart.
    pub fn most_in_bursts(mean_burst: f64) -> f64 {
        let burst = mean_burst.max(1.0);
        (burst / (burst + 1.0)).min(Self::MOST)
    }

    /// The chain that loses everything in the bad state and nothing in the good one (Gilbert's simple model), with
    /// the given mean loss rate (in `0..1`) and mean burst length (packets, at least 1).
    pub fn bursts(mean_loss: f64, mean_burst: f64) -> Self {
        let bad_to_good = 1.0 / mean_burst.max(1.0);
        let mean_loss = mean_loss.clamp(0.0, Self::MOST);
        let good_to_bad = (bad_to_good * mean_loss / (1.0 - mean_loss)).min(1.0);
        Self { good_to_bad, bad_to_good, loss_good: 0.0, loss_bad: 1.0 }
    }

    /// The long-run share of packets that are lost.
    pub fn mean_loss(&self) -> f64 {
        let both = self.good_to_bad + self.bad_to_good;
        let bad = if both > 0.0 { self.good_to_bad / both } else { 0.0 };
        bad * self.loss_bad + (1.0 - bad) * self.loss_good
    }
}

/// A loss model at work: its state and its random streams.
#[derive(Debug)]
pub(crate) struct LossProcess {
    model: Loss,
    bad: bool,
    /// Packets since the last periodic loss.
    passed: u32,
    draws: Rng,
    moves: Rng,
}

impl LossProcess {
    pub(crate) fn new(model: Loss, seed: &Seed, id: u64) -> Self {
        Self {
            model,
            bad: false,
            passed: 0,
            draws: seed.stream("link.loss", id),
            moves: seed.stream("link.loss-state", id),
        }
    }

    /// Changes the model; the streams go on, and a chain starts in its good state.
    pub(crate) fn set(&mut self, model: Loss) {
        self.model = model;
        self.bad = false;
    }

    /// Whether the next packet is lost, which leaves the bottleneck at `departs`.
    pub(crate) fn next(&mut self, departs: Instant) -> bool {
        match self.model {
            Loss::None => false,
            Loss::Bernoulli(probability) => self.draws.chance(probability),
            Loss::Ramp(ramp) => self.draws.chance(ramp.at(departs)),
            Loss::Periodic(every) => {
                self.passed = self.passed.saturating_add(1);
                let lost = every > 0 && self.passed >= every;
                self.passed = if lost { 0 } else { self.passed };
                lost
            }
            Loss::GilbertElliott(chain) => {
                let lost = self.draws.chance(if self.bad { chain.loss_bad } else { chain.loss_good });
                let leave = if self.bad { chain.bad_to_good } else { chain.good_to_bad };
                self.bad ^= self.moves.chance(leave);
                lost
            }
        }
    }
}

#[cfg(test)]
#[path = "loss_tests.rs"]
mod tests;
