//! How hurried an association is set up.

use core::time::Duration;

use super::Config;

/// So many times a route is tried before the timer of INIT or COOKIE ECHO doubles, where that is [`SetUp::Prompt`].
pub(crate) const STEADY_TRIES: u32 = 4;

/// How soon what is lost while an association is set up is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SetUp {
    /// By RTO.Initial, and by RTO.Min once there is a round trip, doubled with each timeout (RFC 9260 §5.1, §6.3).
    #[default]
    Standard,
    /// By the round trip as soon as one is known, and by nothing shorter than this. RTO.Min is there for acknowledgements that a receiver keeps back, which nobody does yet.
    /// COOKIE ECHO and the state cookie measure round trips, too. INIT has no round trip to go by: its timer doubles after some tries on each route, and INIT goes out every
    /// two seconds while a longer one runs. What the peer sends twice has our answer to it sent again, as the peer has not heard that. Where packets are protected all this
    /// goes on until both ends have keys, and the first message about them goes with COOKIE ECHO.
    Prompt(Duration),
}

impl SetUp {
    const fn least_timeout(self) -> Option<Duration> {
        match self {
            Self::Standard => None,
            Self::Prompt(least) => Some(least),
        }
    }
}

impl Config {
    /// What stands for RTO.Min until an association is up, if anything does.
    pub(crate) fn least_set_up_timeout(&self) -> Option<Duration> {
        self.set_up.least_timeout().map(|least| least.min(self.rto.min))
    }

    /// How long INIT or COOKIE ECHO is repeated at most until it is given up: T1 and its Max.Init.Retransmits repetitions, backed
    /// off (RFC 9260 §5.1.4).
    pub(super) fn handshake_tries(&self) -> Duration {
        let mut left = self.failure.max_init_retransmits.saturating_add(1);
        let (mut rto, mut total) = (self.rto.initial, Duration::ZERO);
        while left > 0 && rto < self.rto.max {
            total = total.saturating_add(rto);
            rto = rto.saturating_mul(2);
            left -= 1;
        }
        // Those that count none: as many as do not double the timer, and those before RTO.Initial, each twice as long as the last.
        let uncounted = match self.set_up {
            SetUp::Standard => Duration::ZERO,
            SetUp::Prompt(_) => self.rto.initial.saturating_mul(STEADY_TRIES + 2),
        };
        total.saturating_add(self.rto.max.saturating_mul(left)).saturating_add(uncounted)
    }
}
