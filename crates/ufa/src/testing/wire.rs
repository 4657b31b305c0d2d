//! What the network does to messages.

use core::time::Duration;

use whimbrel_machine::{Instant, Route};

use super::{DELAY, Scene, TERMINAL};
use crate::sip::{Message, SIP_PORT};

/// Longer than any timer of SIP, and as long as a target waits for a terminal.
const LATE: Duration = Duration::from_secs(40);

/// What the network does to datagrams.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) loss: f64,
    pub(crate) duplicate: f64,
    /// Up to so much later.
    pub(crate) jitter: Duration,
}

/// What becomes of one kind of message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mishap {
    /// Nothing.
    None,
    /// The first copy is lost.
    LostOnce,
    /// All are.
    Lost,
    /// Each comes twice.
    Doubled,
    /// Each comes once more, 40 s later.
    ComesAgain,
    /// The first copy comes 40 s late.
    FirstLate,
    /// All do.
    Late,
}

impl Mishap {
    pub(crate) const ALL: [Self; 6] =
        [Self::LostOnce, Self::Lost, Self::Doubled, Self::ComesAgain, Self::FirstLate, Self::Late];

    /// When copies come, counted from when they should.
    fn copies(self, is_first: bool) -> &'static [Duration] {
        match self {
            Self::Lost => &[],
            Self::LostOnce if is_first => &[],
            Self::Doubled => &[Duration::ZERO, Duration::ZERO],
            Self::ComesAgain => &[Duration::ZERO, LATE],
            Self::FirstLate if is_first => &[LATE],
            Self::Late => &[LATE],
            Self::None | Self::LostOnce | Self::FirstLate => &[Duration::ZERO],
        }
    }
}

/// A kind of message to which something happens: from whom to whom, and the method (of responses with the status).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub(crate) message: (usize, usize, &'static str),
    pub(crate) mishap: Mishap,
    pub(crate) seen: u32,
}

/// The method, of responses with the status.
fn what(message: &Message) -> String {
    match message.status() {
        0 => message.method().to_string(),
        status => format!("{status} {}", message.method()),
    }
}

impl Scene {
    pub(super) fn send(&mut self, from: usize, route: Route, bytes: Vec<u8>) {
        if route.remote.port() != SIP_PORT {
            return self.released.push((route, bytes));
        }
        let to = self.host_at(route.remote.ip()).unwrap_or(TERMINAL);
        let mut copies: &[Duration] = &[Duration::ZERO];
        if let Ok(message) = Message::parse(&bytes) {
            if let Some(victim) = &mut self.victim
                && victim.message.0 == from
                && victim.message.1 == to
                && victim.message.2 == what(&message)
            {
                victim.seen += 1;
                copies = victim.mishap.copies(victim.seen == 1);
            }
            self.log.push((self.now, from, to, message));
        }
        // Nothing leaves from where the terminal is not.
        if from == TERMINAL && self.here != Some(route.local.ip()) {
            return;
        }
        for late in copies {
            self.put_on_the_wire(route, &bytes, *late);
        }
    }

    fn put_on_the_wire(&mut self, route: Route, bytes: &[u8], late: Duration) {
        let copies = 1 + u32::from(self.rng.chance(self.faults.duplicate));
        for _ in 0..copies {
            if self.rng.chance(self.faults.loss) {
                continue;
            }
            let late = late + self.rng.duration_below(self.faults.jitter.max(Duration::from_nanos(1)));
            self.sent += 1;
            self.wire.insert((self.now + DELAY + late, self.sent), (route, bytes.to_vec()));
        }
    }

    /// Messages between hosts in the order of their first copies: from, to, method (of responses with the status).
    pub(crate) fn exchange(&self, since: Instant) -> Vec<(usize, usize, String)> {
        let mut seen = Vec::new();
        for (at, from, to, message) in &self.log {
            let key = (*from, *to, what(message), message.branch().to_owned());
            if *at >= since && !seen.contains(&key) {
                seen.push(key);
            }
        }
        seen.into_iter().map(|(from, to, what, _)| (from, to, what)).collect()
    }
}
