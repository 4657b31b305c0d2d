//! Streams.

use crate::send::stream_scheduler::NewStreamScheduler;

/// Stream parameters.
#[derive(Clone, Debug)]
pub struct StreamConfig {
    /// Outbound streams asked for (OS); at least 1.
    pub outbound: u16,
    /// Inbound streams accepted at most (MIS); at least 1.
    pub inbound_max: u16,
    /// Makes the scheduler that picks the stream to send from (RFC 8260 §3).
    pub scheduler: NewStreamScheduler,
}
