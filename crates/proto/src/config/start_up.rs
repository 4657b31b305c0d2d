use core::time::Duration;

/// How a path starts that new data goes over to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartUp {
    /// With the window that it has: [`CongestionConfig::initial_window`](crate::CongestionConfig::initial_window) on a fresh path, from which slow start
    /// feels its way (RFC 9260 §7.2.1).
    SlowStart,
    /// With what the path was measured to hold, capacity times round trip, as window and as slow-start threshold, sent at the pace of the capacity for
    /// the first round trip (paper b08, section 4.3.1, where an ideal sender knows the bandwidth). [`HeartbeatForm::Train`](crate::HeartbeatForm::Train) measures it, on
    /// both. A path of which nothing is known, or what is older than this, starts as above.
    ByEstimate {
        /// An estimate that was measured longer ago counts for nothing.
        no_older_than: Duration,
    },
}
