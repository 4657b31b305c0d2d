//! How good a path is at present, as far as those who choose between paths want to know: how long a round trip takes there, and
//! whether more is lost than any sender can bear.

use core::time::Duration;

use whimbrel_machine::Instant;

use self::waiting::{Ended, Waiting, is_far_less};

mod waiting;

/// What a path is worth at present.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathQuality {
    /// How long a round trip takes of late, as far as that is known. `None` before anything is measured.
    pub delay: Option<Delay>,
    /// So many packets were lost lately that no network is meant to: more than about 5 %, over more than one round trip. Packets that were
    /// sent too fast for a queue are not taken for that.
    pub lossy: bool,
    /// The queue that makes the delay long may be the association's own. The sender filled its congestion window all the time when the delay was
    /// still short; whoever fills it only because the delay has grown has not caused that. Or for some time the peer has sent at a run and has hardly
    /// been sent anything: it knows how full its window is, and only it does.
    pub saturated: bool,
    /// Bytes of user data that it carries in a second: of late, if something waits for it, or else the most of late. One that data has just moved to
    /// is taken to carry what the path before did.
    pub carries: u64,
    /// Bytes of user data that it carried in a second while more waited, if it carried far less than was to be sent and that is not long ago.
    pub limit: Option<u64>,
}

impl PathQuality {
    /// Whether it could carry what `other` carries now, as far as anybody knows: it has not been found to carry less than three quarters of that.
    pub fn carries_what(&self, other: &Self) -> bool {
        self.limit.is_none_or(|limit| !is_far_less(limit, other.carries))
    }

    /// Whether it carried so much more than `limit` bytes in a second, when it was last used, that the path with that limit carries less than three
    /// quarters of it.
    pub fn carried_more_than(&self, limit: u64) -> bool {
        !self.lossy && is_far_less(limit, self.limit.unwrap_or(self.carries))
    }
}

/// The shortest round trip of late: what a packet takes that is lucky with jitter, behind whatever queue stands in its way. Where a path carries
/// far less than it did, so that messages wait for the sender's window or pace, that wait is part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// It takes this long at least: what was found last where data measures it, the lesser of the last two answers where heartbeats do.
    pub least: Duration,
    /// It takes no longer, if what was found twice is believed: the greater of the last two findings.
    pub most: Duration,
    /// How much of `least` messages wait in the sender. On another path from the same host's address they may have to wait as long.
    pub waiting: Duration,
    /// When that was found.
    pub at: Instant,
}

/// Watches a path, and tells when its quality has changed by something worth a thought.
///
/// Losses are judged by a cumulative sum (Page's test) of what speaks for a loss of 10 % rather than 2 %: each lost packet adds ln 5 to
/// the sum, each that arrives takes ln (0.98 / 0.9) away, and it never falls below zero.
/// A path that loses 1 % passes the limit once in 10¹⁰ packets, one that loses 30 % after some 40, and 5 % are borne for ever.
#[derive(Clone, Debug, Default)]
pub struct Quality {
    span: Span,
    /// The shortest round trips of the last span and of the one before, in nanoseconds.
    shortest: [Option<u64>; 2],
    /// The shortest round trip of the last span without what messages waited before they were sent, in nanoseconds.
    round_trip: u64,
    /// The delay that rises are measured by, in nanoseconds: the shortest so far, which grows by a sixteenth with each span.
    usual: u64,
    /// What waits in the sender, and why.
    waiting: Waiting,
    /// Until when the limit of what it carries is believed, and for how long it was when it was last found.
    limited_until: Instant,
    limited_for: Duration,
    /// In the last span the peer sent at a run, and hardly anything arrived there. One such span may come of acknowledgements that begin to wait in a
    /// queue.
    listened: bool,
    /// The cumulative sum, in thousandths.
    evidence: i32,
    now: PathQuality,
    /// What was last told.
    told: PathQuality,
    /// The next finding is to be told whatever it is.
    asked: Option<Asked>,
}

/// What the acknowledgement of packets with DATA says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arrival {
    /// How many packets have arrived.
    pub packets: u32,
    /// Bytes of DATA chunks in them.
    pub bytes: usize,
    /// What one of them took.
    pub round_trip: Option<Duration>,
    /// The congestion window was full.
    pub full: bool,
    /// Bytes of user data that wait for nothing but the window or the pace of the path; `None` while the controller holds data back to measure the path.
    pub waiting: Option<usize>,
}

/// Somebody wants to know how the path is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    /// Nothing has been found since.
    Waiting,
    /// This has been found.
    Found,
}

/// What is gathered until there is enough of it.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    began: Option<Instant>,
    shortest: Option<u64>,
    round_trips: u32,
    acknowledgements: u32,
    /// How many of them found the congestion window full.
    full: u32,
    lost: u32,
    /// Packets with DATA that have arrived at the peer, and here.
    arrived: u32,
    received: u32,
}

/// The parts of a cumulative sum.
mod evidence {
    /// A packet was lost.
    pub(super) const LOST: i32 = 1_609;
    /// One has arrived.
    pub(super) const ARRIVED: i32 = -85;
    /// A heartbeat was answered on a path on which no DATA was lost meanwhile.
    pub(super) const ANSWERED: i32 = -5_000;
    /// From here on the path is lossy.
    pub(super) const ENOUGH: i32 = 15_000;
    /// And is so until the sum is below this.
    pub(super) const LITTLE: i32 = 5_000;
    /// It goes no higher.
    pub(super) const MOST: i32 = 20_000;
}

/// A span lasts this long at least, and as long as a round trip.
const SHORTEST_SPAN: Duration = Duration::from_millis(250);

/// And until so many round trips were measured: the shortest of fewer is chance where they vary.
const ROUND_TRIPS: u32 = 8;

/// A span that lasts so long is of a path that carries next to nothing.
const IDLE: Duration = Duration::from_secs(1);

/// Who receives fewer packets with DATA in a second is not the reason for a long queue.
const AT_A_RUN: u128 = 100;

/// And so many times as many as it sends.
const HARDLY: u32 = 4;

/// Of the packets lost in one span no more count: a queue that has overflown has lost many at once, and that is over.
const MOST_LOST: u32 = 8;

/// For how long it is believed that a path carries too little: so long at first, twice as long each time that is found again, and no longer
/// than the second. To find out whether it carries more by now costs an interruption.
const LIMIT_BELIEVED: [Duration; 2] = [Duration::from_secs(32), Duration::from_secs(256)];

/// A change of the delay by less is not told.
const LEAST_CHANGE: u64 = 10_000_000;

impl Span {
    /// Whether the peer has sent at a run, and hardly anything has arrived there.
    fn listens(&self, now: Instant) -> bool {
        let lasted = self.began.map_or(Duration::ZERO, |began| now.saturating_since(began));
        let run = !lasted.is_zero()
            && u128::from(self.received) * Duration::from_secs(1).as_nanos() >= AT_A_RUN * lasted.as_nanos();
        run && self.received / HARDLY > self.arrived
    }
}

impl Quality {
    /// What the path is worth at present.
    pub const fn now(&self) -> PathQuality {
        self.now
    }

    /// What the path is worth, if that has changed since it was last asked: by a quarter and 10 ms, or in kind.
    pub fn take_news(&mut self) -> Option<PathQuality> {
        let PathQuality { delay, lossy, saturated, .. } = self.now;
        let differ = |of: fn(Delay) -> Duration| {
            let [now, told] = [delay, self.told.delay].map(|delay| delay.map_or(0, |delay| nanos(of(delay))));
            now.abs_diff(told) >= LEAST_CHANGE.max(told / 4)
        };
        let found = self.asked.take_if(|asked| *asked == Asked::Found).is_some();
        let changed = found || differ(|delay| delay.least) || differ(|delay| delay.most);
        // Whoever has left a path because it carries too little is told that this is over, too.
        let limited = self.told.limit.is_some() != self.now.limit.is_some();
        if !changed && !limited && lossy == self.told.lossy && saturated == self.told.saturated {
            return None;
        }
        self.told = self.now;
        Some(self.now)
    }

    /// The next finding is news, even if it is what is known already.
    pub fn ask(&mut self) {
        self.asked = Some(Asked::Waiting);
    }

    /// Packets of DATA have arrived.
    pub fn on_acknowledged(&mut self, now: Instant, arrival: &Arrival) {
        let &Arrival { packets, bytes, round_trip, full, waiting } = arrival;
        match waiting {
            Some(waiting) => self.waiting.on_acknowledged(bytes as u64, waiting as u64),
            None => self.waiting.on_held_back(),
        }
        let arrived = i32::try_from(packets).unwrap_or(i32::MAX).saturating_mul(evidence::ARRIVED);
        self.weigh(arrived);
        self.span.acknowledgements = self.span.acknowledgements.saturating_add(1);
        self.span.arrived = self.span.arrived.saturating_add(packets);
        self.span.full = self.span.full.saturating_add(u32::from(full));
        if let Some(round_trip) = round_trip {
            self.measure(now, round_trip);
        }
        let began = *self.span.began.get_or_insert(now);
        let least = Duration::from_nanos(self.round_trip).max(SHORTEST_SPAN);
        if self.span.round_trips >= ROUND_TRIPS && now >= began + least {
            self.close_span(now);
        }
    }

    /// What the path carried of late while nothing waited for it, in bytes/s.
    pub fn carried(&self) -> u64 {
        self.waiting.carried()
    }

    /// What another path carried goes by this one from now on: it should carry as much, in bytes/s.
    pub fn expect(&mut self, carried: u64) {
        self.waiting.expect(carried);
    }

    /// A packet with DATA of the peer has come.
    pub fn on_received(&mut self) {
        self.span.received = self.span.received.saturating_add(1);
    }

    /// Packets of DATA are lost.
    pub fn on_lost(&mut self, packets: u32) {
        let counted = packets.min(MOST_LOST - self.span.lost.min(MOST_LOST));
        self.span.lost += counted;
        self.weigh(counted as i32 * evidence::LOST);
    }

    /// Packets that had been called lost have arrived late.
    pub fn on_late(&mut self, packets: u32) {
        let counted = packets.min(MOST_LOST);
        self.span.lost -= counted.min(self.span.lost);
        self.weigh(-(counted as i32) * evidence::LOST);
    }

    /// A heartbeat was answered. On a path that carries nothing else it says all that there is to know, and nothing where DATA is lost.
    pub fn on_heartbeat(&mut self, now: Instant, round_trip: Duration) {
        self.measure(now, round_trip);
        let began = self.span.began.unwrap_or(now);
        if self.span.acknowledgements == 0 || now >= began + IDLE {
            if self.span.lost == 0 {
                self.weigh(evidence::ANSWERED);
            }
            self.close_span(now);
            let [last, before] = self.shortest;
            self.tell_delay(now, last.min(before.or(last)), Duration::ZERO);
        }
    }

    /// The path has answered twice in a row after such a time and no sooner: what was measured before says nothing any more.
    pub fn on_slow_answers(&mut self, now: Instant, round_trip: Duration) {
        self.span = Span { began: Some(now), ..Span::default() };
        self.shortest = [Some(nanos(round_trip)); 2];
        self.tell_delay(now, self.shortest[0], Duration::ZERO);
    }

    fn measure(&mut self, now: Instant, round_trip: Duration) {
        let span = &mut self.span;
        span.began.get_or_insert(now);
        let round_trip = nanos(round_trip);
        span.shortest = Some(span.shortest.map_or(round_trip, |shortest| shortest.min(round_trip)));
        span.round_trips = span.round_trips.saturating_add(1);
    }

    fn weigh(&mut self, by: i32) {
        self.evidence = self.evidence.saturating_add(by).clamp(0, evidence::MOST);
        let limit = if self.now.lossy { evidence::LITTLE } else { evidence::ENOUGH };
        self.now.lossy = self.evidence >= limit;
    }

    fn tell_delay(&mut self, at: Instant, least: Option<u64>, waiting: Duration) {
        // `None` is less than any.
        let most = self.shortest[0].max(self.shortest[1]);
        self.now.delay = least.zip(most).map(|(least, most)| {
            let [least, most] = [least, most].map(Duration::from_nanos);
            Delay { least, most, waiting, at }
        });
        self.asked = self.asked.map(|_| Asked::Found);
    }

    fn note_limit(&mut self, now: Instant) {
        // Who has to send much again carries less for that, and not because the network is thin.
        if self.now.lossy {
            self.waiting.forget_limit();
        }
        let [least, most] = LIMIT_BELIEVED;
        match self.waiting.limit() {
            // It has carried more, or that is long ago.
            None if self.now.limit.is_some() || now >= self.limited_until + most => {
                (self.limited_for, self.limited_until) = (Duration::ZERO, now);
            }
            None => {}
            Some(_) if self.waiting.found_limit() => {
                // Found anew, after it was no longer believed; else this is still the same finding.
                if now >= self.limited_until {
                    self.limited_for = self.limited_for.saturating_mul(2).clamp(least, most);
                }
                self.limited_until = now + self.limited_for;
            }
            Some(_) if now >= self.limited_until => self.waiting.forget_limit(),
            Some(_) => {}
        }
        (self.now.carries, self.now.limit) = (self.waiting.carries(), self.waiting.limit());
    }

    fn close_span(&mut self, now: Instant) {
        let Span { shortest, acknowledgements, full, .. } = self.span;
        let listens = self.span.listens(now);
        let listens = core::mem::replace(&mut self.listened, listens) && listens;
        let lasted = self.span.began.map_or(Duration::ZERO, |began| now.saturating_since(began));
        self.span = Span { began: Some(now), ..Span::default() };
        let round_trip = shortest.unwrap_or(u64::MAX);
        let grown = self.usual > 0 && round_trip > self.usual.saturating_mul(2).saturating_add(LEAST_CHANGE);
        let before = core::mem::replace(&mut self.round_trip, shortest.unwrap_or(0));
        let fills = grown && self.round_trip > before.saturating_add(before / 8);
        let steady = lasted <= Duration::from_nanos(self.round_trip).max(SHORTEST_SPAN) * 2;
        let waits = self.waiting.close(Ended { lasted, steady, fills });
        self.note_limit(now);
        // A window that was large enough for the round trip of before is too small for a longer one, on any path, until it has grown.
        let waits = waits.filter(|_| !grown || self.waiting.is_short_for_long());
        let shortest = shortest.map(|shortest| shortest.saturating_add(waits.map_or(0, nanos)));
        self.shortest = [shortest, self.shortest[0]];
        self.tell_delay(now, shortest, waits.unwrap_or_default());
        if waits.is_some() {
            // The path does not carry what it did: that is not of the sender's making.
            self.now.saturated = false;
        } else if !grown || acknowledgements == 0 {
            let filled = acknowledgements > 0 && u64::from(full) * 4 >= u64::from(acknowledgements) * 3;
            self.now.saturated = filled || listens;
        }
        let older = if self.usual > 0 { self.usual.saturating_add(self.usual / 16) } else { u64::MAX };
        self.usual = round_trip.min(older);
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "quality_tests.rs"]
mod tests;
