//! Path MTU discovery by probing (RFC 8899) for one path.

use core::time::Duration;

use whimbrel_machine::Instant;

use crate::PacketSizes;
use crate::packet_sizes::Vanished;

/// Path MTU parameters. Sizes are SCTP packets in bytes: common header and chunks, without UDP or IP headers
/// (the PLPMTU of RFC 8899).
#[derive(Clone, Debug)]
pub struct PmtuConfig {
    /// BASE_PLPMTU: assumed to work nearly everywhere, used until probing finds more.
    pub base: usize,
    /// The largest packet ever tried.
    pub max: usize,
    /// Whether to search above `base`.
    pub search: PmtuSearch,
    /// DATA chunks are cut to fit a packet of this many bytes, and where no more than 20 MB/s flow, the smallest that a network may
    /// carry; where packets are larger, several chunks are bundled. `None`: as large as all paths carry (AMDCS, RFC 9260 §7.3).
    ///
    /// A chunk that has a TSN cannot be cut again (RFC 9260 §6.9). When a network silently stops carrying large packets, chunks
    /// that are small enough go out again in smaller packets, while larger ones depend on IP fragmentation.
    pub cut_for: Option<usize>,
}

/// How the path MTU is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PmtuSearch {
    /// Use `max` from the start, believe only ICMP.
    Off,
    /// Probe with padded heartbeats (RFC 8899 §6.2); search again after this time (PMTU_RAISE_TIMER).
    Probe {
        /// PMTU_RAISE_TIMER.
        raise_after: Duration,
    },
}

/// MAX_PROBES: a size counts as too big after this many probes of it were lost (RFC 8899 §5.1.2).
const MAX_PROBES: u8 = 3;

/// The PROBE_TIMER must not be shorter (RFC 8899 §5.1.1). The RFC would rather have 15 s for protocols that cannot
/// tell how long an answer takes; SCTP knows the path's RTO, so the timer is the larger of the two.
const SHORTEST_PROBE_TIMER: Duration = Duration::from_secs(1);

/// How long the Error state waits before it tries the base size again: the path may just be dead.
const ERROR_RETRY: Duration = Duration::from_secs(15);

/// A gain in bytes not worth three probes: about 1 % of a packet.
const LEAST_GAIN: usize = 16;

/// MIN_PLPMTU over IPv4: every host takes datagrams of 576 bytes (RFC 1122 §3.3.2), less the headers of IPv4 and UDP.
const LEAST_IPV4: usize = 576 - 20 - 8;

/// MIN_PLPMTU over IPv6: every link carries packets of 1,280 bytes (RFC 8200 §5), less the headers of IPv6 and UDP.
const LEAST_IPV6: usize = 1280 - 40 - 8;

/// The state machine of RFC 8899 §5.2. All sizes are SCTP packets in bytes, multiples of 4 as SCTP packets are.
///
/// The caller sends a padded HEARTBEAT of the size [`probe_due`](Self::probe_due) says once the path is confirmed,
/// reports what became of it, and keeps a timer at [`deadline`](Self::deadline).
///
/// The search tries the largest size first, as most paths carry it; then halves what is left.
///
/// Whether large packets have ceased to pass is told from lost DATA (RFC 8899 §4.3). One timeout throws doubt on a size above the
/// base: the base is used while a probe of the larger size is under way, which costs nothing on a path that is healthy, as
/// it carries a single packet then. Two timeouts with an answered heartbeat and no packet as large between them throw the same doubt on
/// the base, and MIN_PLPMTU is used. Lost probes alone never do that: the path may be down, or the peer may not know padding, and a
/// smaller size would shrink the chunks of the whole association, which are cut for its smallest path (RFC 9260 §7.3). Two timeouts
/// without an answer between them only have the size in use probed again, and the search begins anew when it is confirmed: after an
/// outage the path may be another one. Where small packets pass beside large ones, nothing times out; then large ones that are
/// lost one after the other throw the doubt.
#[derive(Clone, Debug)]
pub struct PathMtu {
    /// MIN_PLPMTU.
    min: usize,
    base: usize,
    max: usize,
    /// PMTU_RAISE_TIMER; `None` if there is no searching at all.
    raise_after: Option<Duration>,
    phase: Phase,
    /// PLPMTU.
    size: usize,
    /// The largest size that is not known to be too big.
    limit: usize,
    /// PROBED_SIZE: in flight, or the next to be tried.
    probed: usize,
    /// PROBE_COUNT: how many probes of this size were lost.
    lost: u8,
    in_flight_until: Option<Instant>,
    /// DATA has been lost without a word since a probe was last answered or a packet of the size in use has arrived. Smaller ones mean nothing.
    timed_out: bool,
    /// The largest packet with DATA that has arrived since.
    arrived: usize,
    /// A heartbeat has been answered since then: small packets pass.
    answered: bool,
    /// Packets that were lost of late, and none as large has arrived since.
    vanished: Vanished,
}

/// The phases of RFC 8899 §5.2. Disabled is the caller's not asking for probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The base size, or a smaller one that a router has named, is used but not confirmed yet.
    Base,
    /// Probing above `size`.
    Searching,
    /// Nothing to do until then; `None` if there is nothing larger to look for.
    SearchComplete { raise_at: Option<Instant> },
    /// The size that was to be confirmed did not get through.
    Error { retry_at: Instant },
}

impl PathMtu {
    /// A path of which nothing is known, over IPv6 or IPv4.
    pub fn new(config: &PmtuConfig, ipv6: bool) -> Self {
        let (base, max) = (config.base & !3, config.max & !3);
        let mut mtu = Self {
            min: base.min(if ipv6 { LEAST_IPV6 } else { LEAST_IPV4 }),
            base,
            max,
            raise_after: None,
            phase: Phase::SearchComplete { raise_at: None },
            size: max,
            limit: max,
            probed: max,
            lost: 0,
            in_flight_until: None,
            timed_out: false,
            arrived: 0,
            answered: false,
            vanished: Vanished::new(),
        };
        if let PmtuSearch::Probe { raise_after } = config.search {
            mtu.raise_after = Some(raise_after);
            mtu.confirm(base);
        }
        mtu
    }

    /// A probe sent `now` arrived: a HEARTBEAT ACK with its nonce came back. Late answers count, too.
    pub fn on_probe_acked(&mut self, size: usize, now: Instant) {
        let size = size & !3;
        if self.raise_after.is_none() || size > self.max || size < self.min {
            return;
        }
        (self.timed_out, self.answered) = (false, false);
        let confirms_base = matches!(self.phase, Phase::Base | Phase::Error { .. });
        if size <= self.size && !confirms_base {
            return;
        }
        self.size = size;
        self.limit = self.limit.max(self.size);
        if confirms_base {
            // The first size to try is the limit: the maximum, or what a router has named.
            self.search(self.limit, now);
        } else {
            self.search(self.halfway(), now);
        }
    }

    /// The probe timer has expired. Does nothing if no probe is in flight or its time is not up.
    pub fn on_probe_lost(&mut self, now: Instant) {
        if self.in_flight_until.is_none_or(|until| until > now) {
            return;
        }
        self.in_flight_until = None;
        self.lost += 1;
        if self.lost < MAX_PROBES {
            return;
        }
        self.lost = 0;
        match self.phase {
            Phase::Base | Phase::Error { .. } => self.phase = Phase::Error { retry_at: now + ERROR_RETRY },
            Phase::Searching => {
                self.limit = self.probed - 4;
                self.search(self.halfway(), now);
            }
            Phase::SearchComplete { .. } => {}
        }
    }

    /// A router says that packets above `reported` bytes do not pass (RFC 8899 §4.6.2). The caller has checked that
    /// the ICMP message quotes a packet of ours and has subtracted the headers below SCTP.
    ///
    /// Sizes not below what was sent, and sizes below MIN_PLPMTU, are lies or accidents and are ignored.
    pub fn on_packet_too_big(&mut self, reported: usize, now: Instant) {
        let reported = reported & !3;
        let sent = if self.in_flight_until.is_some() { self.probed.max(self.size) } else { self.size };
        if reported < self.min || reported >= sent {
            return;
        }
        if self.raise_after.is_none() {
            self.size = reported;
            return;
        }
        self.limit = reported;
        if reported < self.base {
            self.size = reported;
            self.search(reported, now);
        } else if reported < self.size {
            self.confirm(self.base);
        } else if self.phase == Phase::Searching {
            self.search(reported, now);
        }
    }

    /// T3-rtx has expired on this path, or a tail-loss probe has shown as much: the size in use may be a black hole (RFC 8899 §4.3).
    /// `lost`: bytes of the largest packet that is lost. If one as large has arrived since the last timeout it is not the size.
    pub fn on_timeout(&mut self, lost: usize) {
        let too_large = lost > self.arrived.max(self.min);
        let smaller = self.size == self.base || self.size > self.min;
        if self.size > self.base {
            self.doubt(self.base);
        } else if self.timed_out && self.answered && too_large {
            if !self.vanished.may_be_chance(lost, self.min) {
                self.doubt(self.min);
            }
        } else if self.timed_out && self.raise_after.is_some() && !self.is_unconfirmed() && smaller {
            // Nothing says whether it is the size: the path may be down, and be another one when it comes back.
            self.limit = self.max;
            self.confirm(self.size);
        }
        (self.timed_out, self.answered, self.arrived) = (true, false, 0);
    }

    /// A SACK has told of packets with DATA. Returns whether a smaller size is used from now on.
    pub fn on_packets(&mut self, sizes: &PacketSizes) -> bool {
        self.arrived = self.arrived.max(sizes.arrived);
        if sizes.arrived >= self.size {
            (self.timed_out, self.answered) = (false, false);
        }
        let Some(least) = self.vanished.on_packets(sizes, self.min) else { return false };
        let smaller = if least > self.base { self.base } else { self.min };
        if smaller >= self.size {
            // They were sent before the size was doubted.
            self.vanished.forget();
            return false;
        }
        let searches = self.raise_after.is_some();
        if searches {
            self.doubt(smaller);
            self.timed_out = true;
        }
        searches
    }

    /// A heartbeat without padding has been answered: small packets pass.
    pub fn on_heartbeat_answered(&mut self) {
        self.answered = self.timed_out;
    }

    /// The size to probe now, if a probe is due. Asking again gives the same answer until
    /// [`on_probe_sent`](Self::on_probe_sent).
    pub fn probe_due(&mut self, now: Instant) -> Option<usize> {
        if self.in_flight_until.is_some() {
            return None;
        }
        match self.phase {
            Phase::Base | Phase::Searching => Some(self.probed),
            Phase::SearchComplete { raise_at } => {
                if raise_at.is_none_or(|at| at > now) {
                    return None;
                }
                self.limit = self.max;
                self.phase = Phase::Searching;
                self.probed = self.max;
                Some(self.probed)
            }
            Phase::Error { retry_at } => (retry_at <= now).then_some(self.probed),
        }
    }

    /// The probe that was due has left; `rto` is the path's timeout, not backed off.
    pub fn on_probe_sent(&mut self, size: usize, now: Instant, rto: Duration) {
        debug_assert_eq!(size, self.probed);
        self.in_flight_until = Some(now + rto.max(SHORTEST_PROBE_TIMER));
    }

    /// When to call [`on_probe_lost`](Self::on_probe_lost) and then [`probe_due`](Self::probe_due).
    ///
    /// The zero instant, which has always passed, if a probe is due at once.
    pub fn deadline(&self) -> Option<Instant> {
        if self.in_flight_until.is_some() {
            return self.in_flight_until;
        }
        match self.phase {
            Phase::Base | Phase::Searching => Some(Instant::ZERO),
            Phase::SearchComplete { raise_at } => raise_at,
            Phase::Error { retry_at } => Some(retry_at),
        }
    }

    /// The largest packet to send (PLPMTU), in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The largest packet in bytes that is sure to pass if small ones do: [`Self::size`], but for one that has not been confirmed.
    #[inline]
    pub fn proved(&self) -> usize {
        if self.is_unconfirmed() { self.min } else { self.size }
    }

    /// MIN_PLPMTU: the largest packet in bytes that every network of its kind carries.
    #[inline]
    pub fn least(&self) -> usize {
        self.min
    }

    /// Whether packets have been lost that may have been too large, since a probe or a packet of the size in use last arrived.
    #[inline]
    pub fn is_in_doubt(&self) -> bool {
        self.timed_out
    }

    /// Whether not even the size that was to be confirmed gets through, or the path is down (the Error state of RFC 8899 §5.2).
    #[inline]
    pub fn is_in_error(&self) -> bool {
        matches!(self.phase, Phase::Error { .. })
    }

    /// Uses the size `instead` until a probe of the present one is answered. No effect when searching is off.
    fn doubt(&mut self, instead: usize) {
        if self.raise_after.is_some() && instead < self.size {
            self.phase = Phase::Searching;
            self.probed = self.size;
            self.size = instead;
            self.limit = self.limit.max(self.probed);
            self.lost = 0;
            self.in_flight_until = None;
            self.vanished.forget();
        }
    }

    fn is_unconfirmed(&self) -> bool {
        matches!(self.phase, Phase::Base | Phase::Error { .. })
    }

    /// Uses a `size`, the base or less, of which nothing is known until a probe of it is answered.
    fn confirm(&mut self, size: usize) {
        self.phase = Phase::Base;
        self.size = size;
        self.probed = size;
        self.lost = 0;
        self.in_flight_until = None;
    }

    /// Goes on searching with a probe of `next`, or ends the search if that is no gain.
    fn search(&mut self, next: usize, now: Instant) {
        self.lost = 0;
        self.in_flight_until = None;
        if next > self.size {
            self.phase = Phase::Searching;
            self.probed = next;
            return;
        }
        self.probed = self.size;
        let raise_at = self.raise_after.filter(|_| self.size < self.max).map(|after| now + after);
        self.phase = Phase::SearchComplete { raise_at };
    }

    /// The next size between what works and what may work; `size` itself when they are as good as equal.
    fn halfway(&self) -> usize {
        let room = self.limit.saturating_sub(self.size);
        if room < LEAST_GAIN { self.size } else { (self.size + room.div_ceil(2) + 3) & !3 }
    }

    /// What must hold after every call.
    #[cfg(test)]
    fn invariants(&self) {
        assert!(self.min <= self.size && self.size <= self.max);
        assert!(self.probed >= self.min && self.probed <= self.max);
        assert!([self.size, self.probed, self.limit].iter().all(|size| size.is_multiple_of(4)));
        if self.raise_after.is_some() {
            assert!(self.limit >= self.min && self.limit <= self.max);
        }
        if self.phase == Phase::Searching {
            assert!(self.probed > self.size && self.probed <= self.limit);
        }
        assert!(self.lost < MAX_PROBES);
    }
}

#[cfg(test)]
#[path = "pmtu_tests.rs"]
mod tests;
