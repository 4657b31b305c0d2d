use core::time::Duration;

/// Acknowledgement parameters (RFC 9260 §6.2).
#[derive(Clone, Debug)]
pub struct SackConfig {
    /// SACK.Delay, at most 500 ms.
    pub delay: Duration,
    /// A SACK is sent at once when this many packets with DATA are unacknowledged.
    pub packets: u32,
    /// What happens when DATA comes by another route than before.
    pub new_route: NewRoute,
}

/// What happens when DATA comes by another route than before. SACKs follow it in any case (RFC 9260 §6.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NewRoute {
    /// It is acknowledged at once: the peer has moved to another path, and can hardly wait to hear whether that one works.
    #[default]
    AcknowledgeAtOnce,
    /// It is acknowledged like any other: a peer that uses several paths at once changes the route all the time.
    Delay,
}
