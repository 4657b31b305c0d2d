//! What the controllers have in common that follow RFC 9260 §7.2: windows, slow start, and the decay of an idle window.

use super::{LARGEST_WINDOW, NewPath};

/// L of RFC 9260 §7.2.1 for hosts that move; the value of RFC 9406 §4.3 where nothing is paced.
pub(super) const SLOW_START_LIMIT: u32 = 8;

/// The windows of a path, in bytes.
///
/// - *Fully utilised* (RFC 9260 §7.2.1, §7.2.2: "cwnd or more bytes outstanding") means here that no further full packet
///   would have fitted: flight size + PMDCS > cwnd. §6.1 B lets a sender overbook by up to PMDCS − 1 bytes but does
///   not oblige it, and a sender that waits for room, or whose last packet is short because the next message does
///   not fit beside it, rests just below cwnd although it is limited by nothing else.
/// - A path on which nothing was ever sent keeps its initial window. The idle rule of §7.2.1 is about windows that
///   were learnt and have become old; applying it to a standby path would set its ssthresh to the initial window
///   and take slow start away from the path a failover is about to need. For the same reason ssthresh is only
///   touched when cwnd really shrinks, and idleness never raises cwnd, as max(cwnd/2, 4·PMDCS) would after a timeout.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    path: NewPath,
    slow_start_limit: u32,
    pub(super) cwnd: usize,
    pub(super) ssthresh: usize,
    use_so_far: Use,
}

/// How far the idle rule has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// The window is the initial one.
    Never,
    /// DATA was sent since the last adjustment for idleness.
    Active,
    /// ssthresh has kept the window from before the idle time.
    Idle,
}

impl Windows {
    /// Those of a new path. Slow start grows by at most `slow_start_limit` full chunks per SACK (L of RFC 9260 §7.2.1).
    pub(super) fn new(path: &NewPath, slow_start_limit: u32) -> Self {
        Self {
            path: *path,
            slow_start_limit,
            cwnd: path.initial_cwnd(),
            ssthresh: path.ssthresh.unwrap_or(LARGEST_WINDOW).min(LARGEST_WINDOW),
            use_so_far: Use::Never,
        }
    }

    /// Checks L.
    pub(super) fn validate(slow_start_limit: u32) -> Result<(), &'static str> {
        if slow_start_limit >= 1 {
            Ok(())
        } else {
            Err("slow start must grow by at least one packet per SACK")
        }
    }

    pub(super) fn pmdcs(&self) -> usize {
        self.path.pmdcs
    }

    pub(super) fn most_per_sack(&self) -> usize {
        self.path.pmdcs.saturating_mul(self.slow_start_limit as usize)
    }

    /// The window is in use.
    pub(super) fn used(&mut self) {
        self.use_so_far = Use::Active;
    }

    pub(super) fn is_fully_utilised(&self, flight_size: usize) -> bool {
        flight_size.saturating_add(self.path.pmdcs) > self.cwnd
    }

    pub(super) fn is_in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    pub(super) fn grow(&mut self, bytes: usize) {
        self.cwnd = self.cwnd.saturating_add(bytes).min(LARGEST_WINDOW);
    }

    pub(super) fn shrink(&mut self, bytes: usize) {
        self.cwnd = self.cwnd.saturating_sub(bytes).max(self.path.pmdcs);
    }

    /// So many bytes have been acknowledged in slow start (RFC 9260 §7.2.1).
    pub(super) fn grow_in_slow_start(&mut self, acked: usize) {
        self.grow(acked.min(self.most_per_sack()));
    }

    /// A loss that SACKs have shown leaves so much of the window, but no less than RFC 9260 §7.2.3 does.
    pub(super) fn on_loss(&mut self, left: usize) {
        self.used();
        self.ssthresh = left.max(4 * self.path.pmdcs);
        self.cwnd = self.ssthresh;
    }

    /// T3-rtx has expired: one packet, and slow start up to what a loss leaves (RFC 9260 §7.2.3).
    pub(super) fn on_timeout(&mut self, left: usize) {
        self.on_loss(left);
        self.cwnd = self.path.pmdcs;
    }

    /// Whether the window has shrunk for one more RTO without DATA (RFC 9260 §7.2.1).
    pub(super) fn on_idle_period(&mut self) -> bool {
        let decayed = (self.cwnd / 2).max(4 * self.path.pmdcs);
        if self.use_so_far == Use::Never || decayed >= self.cwnd {
            return false;
        }
        if self.use_so_far == Use::Active {
            self.ssthresh = self.cwnd;
            self.use_so_far = Use::Idle;
        }
        self.cwnd = decayed;
        true
    }

    pub(super) fn on_packet_size(&mut self, pmdcs: usize) {
        self.path.pmdcs = pmdcs;
        if self.use_so_far == Use::Never {
            self.cwnd = self.path.initial_cwnd();
        }
        self.cwnd = self.cwnd.max(pmdcs);
    }

    pub(super) fn install(&mut self, cwnd: usize, ssthresh: usize) {
        self.used();
        self.cwnd = cwnd.clamp(self.path.pmdcs, LARGEST_WINDOW);
        self.ssthresh = ssthresh.min(LARGEST_WINDOW);
    }
}
