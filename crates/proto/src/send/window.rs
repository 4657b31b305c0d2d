/// The peer's receive window as we know it (RFC 9260 §6.2.1), in bytes of user data.
#[derive(Debug)]
pub(super) struct PeerWindow {
    /// The window of the last SACK; what is in flight counts against it.
    advertised: usize,
    /// User data that has been acknowledged since without a word about the window: the peer may hold it still.
    held: usize,
    /// The largest window ever advertised, for silly window avoidance.
    pub(super) largest: usize,
    /// A single DATA chunk may be sent into a closed window (RFC 9260 §6.1 A).
    pub(super) probe_allowed: bool,
    /// Probes sent since the window closed; backs the interval off.
    pub(super) probes: u32,
    /// A SACK has come since the last timeout: while the window is closed, timeouts are then no errors.
    peer_answers: bool,
}

impl PeerWindow {
    /// Bytes of user data that the peer had room for when it last told.
    pub(super) fn advertised(&self) -> usize {
        self.advertised
    }

    /// The window of an INIT or INIT ACK.
    pub(super) fn new(a_rwnd: u32) -> Self {
        let a_rwnd = a_rwnd as usize;
        Self {
            advertised: a_rwnd,
            held: 0,
            largest: a_rwnd,
            probe_allowed: false,
            probes: 0,
            peer_answers: false,
        }
    }

    /// Bytes of new user data that the peer has room for with `in_flight` bytes on their way. What is sent takes from it, what is lost or
    /// acknowledged gives back (RFC 9260 §6.2.1 B to D).
    pub(super) fn left(&self, in_flight: usize) -> usize {
        self.advertised.saturating_sub(self.held).saturating_sub(in_flight)
    }

    /// A SACK has told of the window (RFC 9260 §6.2.1 D ii).
    pub(super) fn on_sack(&mut self, a_rwnd: usize, in_flight: usize) {
        (self.advertised, self.held) = (a_rwnd, 0);
        self.largest = self.largest.max(a_rwnd);
        self.peer_answers = true;
        if self.left(in_flight) > 0 {
            self.probes = 0;
            self.probe_allowed = false;
        }
    }

    /// So much user data has been acknowledged by a SHUTDOWN, which does not tell of the window.
    pub(super) fn on_acknowledged(&mut self, payload: usize) {
        self.held = self.held.saturating_add(payload);
    }

    /// T3-rtx has expired. `earliest` are the bytes of user data in the chunk it guarded, if there is one. Whether that was
    /// a probe of a window that the peer keeps closed but answers for, and so no error (RFC 9260 §6.1 A): a chunk for which
    /// the window has become too small is such a probe, too.
    pub(super) fn on_timeout(&mut self, earliest: Option<usize>) -> bool {
        let refused = earliest.is_none_or(|payload| self.refuses(payload));
        let probing = refused && core::mem::take(&mut self.peer_answers);
        if probing && self.probes > 0 {
            self.count_probe();
        }
        probing
    }

    /// Whether the peer has no room for a chunk with so many bytes of user data.
    pub(super) fn refuses(&self, payload: usize) -> bool {
        payload > self.advertised
    }

    /// It is time to probe the closed window.
    pub(super) fn allow_probe(&mut self) {
        self.probe_allowed = true;
        self.count_probe();
    }

    fn count_probe(&mut self) {
        self.probes = self.probes.saturating_add(1);
    }
}
