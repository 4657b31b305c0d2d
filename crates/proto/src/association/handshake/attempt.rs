use whimbrel_machine::{Instant, Route};

use crate::association::context::Ending;
use crate::config::Config;
use crate::interface::CloseReason;
use crate::path::rto::Rto;

/// The retransmission of INIT or COOKIE ECHO over all routes in turn (RFC 9260 §5.1).
#[derive(Debug)]
pub(in crate::association) struct Attempt {
    pub(super) sent: u32,
    pub(super) due: bool,
    pub(super) first_sent_at: Instant,
    pub(super) rto: Rto,
}

impl Attempt {
    pub(super) fn new(now: Instant, config: &Config) -> Self {
        Self { sent: 0, due: true, first_sent_at: now, rto: Rto::new(&config.rto) }
    }

    pub(in crate::association) fn route(&self, routes: &[Route]) -> Option<Route> {
        let turn = self.sent.saturating_sub(1) as usize;
        routes.get(turn % routes.len().max(1)).copied()
    }

    /// Every route has had its try.
    pub(super) fn is_last_hope(&self, routes: usize) -> bool {
        self.sent as usize >= routes
    }

    /// The timer ran out: another try, unless Max.Init.Retransmits is used up (RFC 9260 §5.1.4).
    pub(super) fn expire(&mut self, config: &Config, routes: usize) -> Result<(), Ending> {
        if self.sent > config.failure.max_init_retransmits {
            return Err(Ending::Silent(CloseReason::Unreachable));
        }
        // Backing off is per address: it begins once every route has had its try.
        if (self.sent as usize).is_multiple_of(routes.max(1)) {
            self.rto.back_off();
        }
        self.due = true;
        Ok(())
    }

    /// The route for the next try, which counts from now on.
    pub(super) fn next_route(&mut self, routes: &[Route], now: Instant) -> Option<Route> {
        self.sent += 1;
        if self.sent == 1 {
            self.first_sent_at = now;
        }
        self.route(routes)
    }
}
