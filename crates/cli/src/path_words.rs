//! How a path is shown, in JSON and in words.

use serde_json::{Value, json};
use whimbrel::proto::path::congestion::CongestionPhase;
use whimbrel::{PathState, PathView};

/// A path as JSON.
pub(crate) fn path_json(path: &PathView) -> Value {
    json!({
        "local": path.route.local, "remote": path.route.remote, "state": state_name(path),
        "in_use": path.in_use, "primary": path.primary,
        "srtt_ms": path.srtt.map(|srtt| srtt.as_secs_f64() * 1e3), "rto_ms": path.rto.as_secs_f64() * 1e3,
        "cwnd": path.cwnd, "ssthresh": path.ssthresh, "congestion": phase_name(path.phase),
        "flight_size": path.flight_size,
        "bytes_sent": path.counters.bytes_sent, "bytes_received": path.counters.bytes_received,
        "data_retransmitted": path.counters.data_retransmitted, "timeouts": path.counters.timeouts,
    })
}

fn phase_name(phase: CongestionPhase) -> &'static str {
    match phase {
        CongestionPhase::SlowStart => "slow start",
        CongestionPhase::ConservativeSlowStart => "conservative slow start",
        CongestionPhase::Avoidance => "congestion avoidance",
        CongestionPhase::Startup => "startup",
        CongestionPhase::Drain => "drain",
        CongestionPhase::ProbeBandwidthDown => "probe down",
        CongestionPhase::ProbeBandwidthCruise => "probe cruise",
        CongestionPhase::ProbeBandwidthRefill => "probe refill",
        CongestionPhase::ProbeBandwidthUp => "probe up",
        CongestionPhase::ProbeRoundTrip => "probe RTT",
        _ => "unknown",
    }
}

/// All paths in one line, the one in use first and marked.
pub(crate) fn describe(paths: &[PathView]) -> String {
    let mut paths: Vec<&PathView> = paths.iter().collect();
    paths.sort_by_key(|path| !path.in_use);
    let shown: Vec<String> = paths.iter().take(4).map(|path| describe_one(path)).collect();
    let more = match paths.len().saturating_sub(4) {
        0 => String::new(),
        more => format!("  +{more} more"),
    };
    shown.join("  ") + &more
}

fn describe_one(path: &PathView) -> String {
    let mark = if path.in_use { "* " } else { "" };
    let rtt = path.srtt.map(|srtt| format!(" {:.0} ms", srtt.as_secs_f64() * 1e3)).unwrap_or_default();
    format!("{mark}{}→{} {}{rtt}", path.route.local.ip(), path.route.remote.ip(), state_name(path))
}

/// A path's state in a word.
pub(crate) fn state_name(path: &PathView) -> &'static str {
    match path.state {
        PathState::Active if !path.in_use => "standby",
        state => plain_state_name(state),
    }
}

/// A state in the RFC's words.
pub(crate) fn plain_state_name(state: PathState) -> &'static str {
    match state {
        PathState::Unconfirmed => "unconfirmed",
        PathState::Active => "active",
        PathState::PotentiallyFailed => "potentially failed",
        PathState::Inactive => "inactive",
    }
}
