use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Route, Unreachable};
use whimbrel_path::Rto;

use crate::association::{Ending, Handled};
use crate::config::{Config, STEADY_TRIES, SetUp};
use crate::interface::CloseReason;
use crate::timers::{TimerId, Timers};

/// Two routes that nothing is known of are tried no closer to each other (RFC 8305 §8).
const STAGGER: Duration = Duration::from_millis(250);

/// INIT is not repeated any later than this after the last one: whatever kept it back may be over, and nothing tells.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

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
    /// When each of the routes was tried first and last.
    tried: Vec<(Route, [Instant; 2])>,
    /// The exchange before this one took so long by this route if the first of several tries was answered.
    slow: Option<(Route, Duration)>,
    /// A try out of turn goes this way.
    prompted: Option<Route>,
    /// Tries that do not count: they were sooner than they would be without [`SetUp::Prompt`].
    uncounted: u32,
    /// So many of these are to come before the timer is taken to have run out.
    between: u32,
    rto: Rto,
}

impl Attempt {
    /// `rto` is what is known of the round trip.
    pub(super) fn new(now: Instant, timer: TimerId, routes: Vec<Route>, rto: Rto) -> Self {
        Self {
            tried: Vec::new(),
            slow: None,
            routes,
            timer,
            sent: 0,
            due: true,
            first_sent_at: now,
            last_sent_at: now,
            prompted: None,
            uncounted: 0,
            between: 0,
            rto,
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
        if self.between > 0 {
            (self.between, self.uncounted, self.due) = (self.between - 1, self.uncounted + 1, true);
            return Ok(());
        }
        if self.sent.saturating_sub(self.uncounted) > config.failure.max_init_retransmits {
            return Err(Ending::Silent(CloseReason::Unreachable));
        }
        let early = self.rto.current() < config.rto.initial;
        let steady = self.is_steady(config);
        self.uncounted += u32::from(early || steady);
        // Backing off is per address: it begins once every route has had its try.
        if !steady && (self.sent as usize).is_multiple_of(self.routes.len()) {
            self.rto.back_off();
        }
        self.between = self.parts(config) - 1;
        self.due = true;
        Ok(())
    }

    /// The peer has been heard by `route`, but not what is waited for: that was lost, and is asked for there once in each RTO. By the timer, which has backed off,
    /// it may take a minute until the next try, and the way that is tried then may be gone. `route` must be one of those that are tried, but for the ports, which
    /// translators change.
    pub(super) fn prompt(&mut self, now: Instant, route: Route) {
        if self.routes.iter().any(|tried| ips(*tried) == ips(route))
            && now >= self.last_sent_at + self.rto.without_back_off()
        {
            self.prompted = Some(route);
        }
    }

    /// A timer that has doubled so often that it is long is waited for in so many parts, with tries between that do not count.
    fn parts(&self, config: &Config) -> u32 {
        if config.set_up == SetUp::Standard || self.timer != TimerId::T1Init {
            return 1;
        }
        self.rto.current().as_nanos().div_ceil(LONGEST_PAUSE.as_nanos()).max(1) as u32
    }

    /// Whether the timer is not to double yet: nothing is known of the network, not even that it takes longer than this.
    fn is_steady(&self, config: &Config) -> bool {
        let rounds = self.sent as usize / self.routes.len().max(1);
        config.set_up != SetUp::Standard
            && self.rto.current() == config.rto.initial
            && rounds < STEADY_TRIES as usize
    }

    /// When `route` was tried first and last. Ports do not count, which translators change.
    fn tried(&self, route: Route) -> [Instant; 2] {
        let tried = self.tried.iter().find(|(tried, _)| ips(*tried) == ips(route));
        tried.map_or([self.first_sent_at, self.last_sent_at], |&(_, at)| at)
    }

    /// How long ago `route` was tried last, and whether it was tried once only.
    pub(super) fn since_tried(&self, now: Instant, route: Route) -> (Duration, bool) {
        let [first, last] = self.tried(route);
        (now.saturating_since(last), first == last)
    }

    /// What follows `before`, which has been answered by `route`: nobody knows which try of several.
    pub(super) fn after(mut self, now: Instant, before: &Self, route: Route) -> Self {
        let [first, last] = before.tried(route);
        self.slow = (first != last).then(|| (route, now.saturating_since(first)));
        self
    }

    /// What was tried before this is answered by `route` once more: the answer to an earlier try had come first, and a round trip takes about as long as that. How long, unless
    /// that is known.
    ///
    /// Answers come as far apart as the tries were. Those that come at once were held up together, or are one that came twice, and tell nothing.
    pub(super) fn on_another_answer(
        &mut self,
        now: Instant,
        config: &Config,
        timers: &mut Timers,
        route: Route,
    ) -> Option<Duration> {
        let apart = now >= self.first_sent_at + config.rto.initial / 2;
        let (_, took) = self.slow.take_if(|(answered, _)| apart && ips(*answered) == ips(route))?;
        let took = took.min(LONGEST_PAUSE * 2);
        let timeout = took * 2;
        if timeout > self.rto.current() {
            self.rto.install(timeout);
            timers.set(self.timer, self.last_sent_at + self.rto.current());
        }
        Some(took)
    }

    /// When the last try was made, if there was more than one, in turn or out of it.
    pub(super) fn sent_again_at(&self) -> Option<Instant> {
        let once = self.sent == 1 && self.last_sent_at == self.first_sent_at;
        (!once).then_some(self.last_sent_at)
    }

    fn note_tried(&mut self, now: Instant, route: Route) {
        match self.tried.iter_mut().find(|(tried, _)| *tried == route) {
            Some((_, [_, last])) => *last = now,
            None => {
                // Routes come and go with the links.
                let Self { tried, routes, .. } = self;
                tried.retain(|(tried, _)| routes.contains(tried));
                tried.push((route, [now, now]));
            }
        }
    }

    /// The route of the next try, which counts from now on, if one is due.
    pub(super) fn next_route(&mut self, timers: &mut Timers, config: &Config, now: Instant) -> Option<Route> {
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
        self.note_tried(now, route);
        // RTO.Initial is that of an address: others need not wait for it, but for long enough that the first one wins where it works (RFC 8305 §5).
        let wait = if self.is_steady(config) {
            (self.rto.current() / self.routes.len() as u32).max(STAGGER.min(self.rto.current()))
        } else {
            self.rto.current() / self.parts(config)
        };
        timers.set(self.timer, now + wait);
        Some(route)
    }
}

fn ips(route: Route) -> [IpAddr; 2] {
    [route.local.ip(), route.remote.ip()]
}
