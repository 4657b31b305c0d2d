use core::time::Duration;

/// Retransmission timeout parameters (RFC 9260 §6.3.1, §16).
#[derive(Clone, Debug)]
pub struct RtoConfig {
    /// RTO.Initial.
    pub initial: Duration,
    /// RTO.Min.
    pub min: Duration,
    /// RTO.Max.
    pub max: Duration,
    /// G, the clock granularity of RFC 9260 §6.3.1: RTTVAR never falls below it. Timers here are exact to the nanosecond; a
    /// coarser G keeps the RTO of a path with a steady round-trip time that far above it, as a coarse clock does.
    pub granularity: Duration,
}
