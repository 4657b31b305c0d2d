//! Equations of the papers in closed form.

/// Received power in watts at distance `d` metres over flat ground (two rays), with gains of 1 and antennas 1.5 m high (c04,
/// formula 1).
pub(super) fn two_ray(d: f64, transmitted: f64) -> f64 {
    transmitted * 1.5_f64.powi(4) / d.powi(4)
}

/// The least signal at which the primary path must be changed at the latest, for a threshold `l2` at range `d`, if the host
/// moves `moved` metres meanwhile (c04, formula 2).
pub(super) fn primary_threshold(l2: f64, d: f64, moved: f64) -> f64 {
    l2 / ((d - moved) / d).powi(4)
}

/// The shortest time to failover: PMR + 1 timeouts, each twice as long as the one before, none longer than 60 s (b08,
/// equation 2).
pub(super) fn failover_time(rto: f64, pmr: i64) -> f64 {
    (0..=pmr).map(|n| (2_f64.powi(n as i32) * rto).min(60.0)).sum()
}

/// The same where no timeout reaches its limit (b08, equation 3).
pub(super) fn failover_time_closed(rto: f64, pmr: i64) -> f64 {
    rto * (2_f64.powi(pmr as i32 + 1) - 1.0)
}

/// The bandwidth-delay product in bytes.
pub(super) fn bandwidth_delay_product(rate_bps: f64, rtt: f64) -> f64 {
    rate_bps * rtt / 8.0
}
