use whimbrel_machine::Instant;

use crate::association::PortProbe;

/// What a path is supervised by (RFC 9260 §8.3): when it was last probed and heard, and which probes have not been answered.
#[derive(Debug)]
pub(crate) struct Supervision {
    /// When something that measures the RTT or a HEARTBEAT was last sent: the path is idle if that is long ago
    /// (RFC 9260 §8.3).
    pub(crate) last_probing: Instant,
    /// When a packet last came by this path.
    pub(crate) heard: Option<Instant>,
    /// When DATA that went by this path alone was last acknowledged.
    pub(crate) proved: Option<Instant>,
    /// The HEARTBEAT that has not been answered yet.
    pub(crate) heartbeat: Option<PendingHeartbeat>,
    /// The port that the peer seems to have now, which has not answered yet.
    pub(crate) new_port: Option<PortProbe>,
}

/// A HEARTBEAT that has not been answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingHeartbeat {
    pub(crate) nonce: u64,
    pub(crate) sent_at: Instant,
    /// It has left; otherwise it waits to be written.
    pub(crate) written: bool,
    /// It has been sent again, so its answer measures nothing.
    pub(crate) repeated: bool,
    /// The nonce of one sent before in vain, and when: its answer may still come.
    pub(crate) earlier: Option<(u64, Instant)>,
}

/// A path MTU probe that is to be written or has been sent: a padded HEARTBEAT (RFC 8899 §6.2.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MtuProbe {
    pub(crate) nonce: u64,
    /// The SCTP packet, in bytes.
    pub(crate) size: usize,
    /// It has left; otherwise it waits to be written.
    pub(crate) written: bool,
}

impl Supervision {
    /// A path that begins now.
    pub(super) fn new(now: Instant) -> Self {
        Self { last_probing: now, heard: None, proved: None, heartbeat: None, new_port: None }
    }
}

impl PendingHeartbeat {
    /// A HEARTBEAT that waits to be written.
    pub(crate) fn new(nonce: u64, now: Instant) -> Self {
        Self { nonce, sent_at: now, written: false, repeated: false, earlier: None }
    }

    /// The same one is to be written again.
    pub(crate) fn repeat(&mut self) {
        (self.written, self.repeated) = (false, true);
    }

    /// When the heartbeat with this nonce was sent, if it is this one or the earlier one.
    pub(crate) fn sent_with(&self, nonce: u64) -> Option<Instant> {
        let earlier = self.earlier.filter(|&(earlier, _)| earlier == nonce).map(|(_, sent_at)| sent_at);
        if self.nonce == nonce { Some(self.sent_at) } else { earlier }
    }
}
