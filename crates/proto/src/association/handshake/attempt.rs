use whimbrel_machine::{Instant, Route, Unreachable};
use whimbrel_path::Rto;

use crate::association::{Ending, Handled};
use crate::config::Config;
use crate::interface::CloseReason;
use crate::timers::{TimerId, Timers};

/// The retransmission of INIT or COOKIE ECHO over all routes in turn (RFC 9260 §5.1).
#[derive(Debug)]
pub(in crate::association) struct Attempt {
    pub(in crate::association) routes: Vec<Route>,
    /// T1-init or T1-cookie.
    timer: TimerId,
    pub(super) sent: u32,
    due: bool,
    pub(super) first_sent_at: Instant,
    last_sent_at: Instant,
    /// A try out of turn goes this way.
    prompted: Option<Route>,
    rto: Rto,
}

impl Attempt {
    pub(super) fn new(now: Instant, config: &Config, timer: TimerId, routes: Vec<Route>) -> Self {
        Self {
            routes,
            timer,
            sent: 0,
            due: true,
            first_sent_at: now,
            last_sent_at: now,
            prompted: None,
            rto: Rto::new(&config.rto),
        }
    }

    /// The route of the last try.
    pub(in crate::association) fn route(&self) -> Option<Route> {
        let turn = self.sent.saturating_sub(1) as usize;
        self.routes.get(turn % self.routes.len().max(1)).copied()
    }

    /// The network says that the route just tried leads nowhere: no need to wait for T1. Without SCTP at the end of the last one
    /// there is no hope (RFC 9260 §10 ICMP8; port unreachable means the same for UDP encapsulation, RFC 6951 §5.5).
    pub(in crate::association) fn on_unreachable(
        &self,
        reason: Unreachable,
        timers: &mut Timers,
        now: Instant,
    ) -> Handled {
        let routes_left = (self.sent as usize) < self.routes.len();
        match reason {
            Unreachable::Protocol if !routes_left => return Err(Ending::Silent(CloseReason::NoSctp)),
            Unreachable::Protocol | Unreachable::Destination if routes_left => timers.set(self.timer, now),
            _ => {}
        }
        Ok(())
    }

    /// The timer ran out: another try, unless Max.Init.Retransmits is used up (RFC 9260 §5.1.4).
    pub(super) fn expire(&mut self, config: &Config) -> Handled {
        if self.routes.is_empty() {
            let what = "no local address can reach the peer's addresses";
            return Err(Ending::Silent(CloseReason::Refused(what)));
        }
        if self.sent > config.failure.max_init_retransmits {
            return Err(Ending::Silent(CloseReason::Unreachable));
        }
        // Backing off is per address: it begins once every route has had its try.
        if (self.sent as usize).is_multiple_of(self.routes.len()) {
            self.rto.back_off();
        }
        self.due = true;
        Ok(())
    }

    /// The peer has been heard by `route`, but not what is waited for: that was lost, and is asked for there once in each RTO. By the timer, which has backed off,
    /// it may take a minute until the next try, and the way that is tried then may be gone. `route` must be one of those that are tried, but for the ports, which
    /// translators change.
    pub(super) fn prompt(&mut self, now: Instant, route: Route) {
        let is_tried =
            |tried: &Route| (tried.local.ip(), tried.remote.ip()) == (route.local.ip(), route.remote.ip());
        if self.routes.iter().any(is_tried) && now >= self.last_sent_at + self.rto.without_back_off() {
            self.prompted = Some(route);
        }
    }

    /// The route of the next try, which counts from now on, if one is due.
    pub(super) fn next_route(&mut self, timers: &mut Timers, now: Instant) -> Option<Route> {
        if let Some(route) = self.prompted.take() {
            self.last_sent_at = now;
            return Some(route);
        }
        if !core::mem::take(&mut self.due) {
            return None;
        }
        self.last_sent_at = now;
        self.sent += 1;
        if self.sent == 1 {
            self.first_sent_at = now;
        }
        let route = self.route()?;
        timers.set(self.timer, now + self.rto.current());
        Some(route)
    }
}
