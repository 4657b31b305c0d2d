//! What a trace tells of associations and their paths: each quantity when it has changed.

use std::collections::BTreeMap;

use whimbrel_machine::{Record, Sink, Value};
use whimbrel_proto::path::congestion::CongestionPhase;
use whimbrel_proto::{AssociationId, AssociationState, Endpoint, PathId, PathState, PathView};

/// The name of the one record that both an association and a path have.
const STATE: &str = "state";

/// What is recorded of a path. `None` is what it does not have yet, such as a measured round-trip time.
type Quantities = [(&'static str, Option<Value>); 17];

/// How much is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Detail {
    /// States, windows and times.
    #[default]
    Quantities,
    /// Also what is sent and received, which changes with every packet.
    Traffic,
}

/// Compares what associations are like after each step with what it has recorded of them.
///
/// It is asked only while somebody wants records, and looks at every association then: writing the records costs more than looking at what is
/// unchanged.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    detail: Detail,
    recorded: BTreeMap<AssociationId, Recorded>,
}

/// What was recorded of an association.
#[derive(Debug)]
struct Recorded {
    state: AssociationState,
    paths: Vec<(PathId, Quantities)>,
}

impl Default for Recorded {
    fn default() -> Self {
        Self { state: AssociationState::Closed, paths: Vec::new() }
    }
}

impl Tracing {
    pub(crate) fn of(detail: Detail) -> Self {
        Self { detail, ..Self::default() }
    }

    /// Records what has changed since the last call.
    pub(crate) fn tell<E>(&mut self, endpoint: &Endpoint, sink: &mut impl Sink<E>) {
        let mut before = core::mem::take(&mut self.recorded);
        for (association, state) in endpoint.associations() {
            let mut recorded = before.remove(&association).unwrap_or_default();
            let paths = endpoint.paths(association);
            let paths = paths.iter().map(|path| (path.id, quantities(path, self.detail)));
            recorded.follow(association, state, paths.collect(), sink);
            self.recorded.insert(association, recorded);
        }
        for (association, mut gone) in before {
            gone.follow(association, AssociationState::Closed, Vec::new(), sink);
        }
    }
}

impl Recorded {
    fn follow<E>(
        &mut self,
        association: AssociationId,
        state: AssociationState,
        paths: Vec<(PathId, Quantities)>,
        sink: &mut impl Sink<E>,
    ) {
        let subject = association.number();
        if self.state != state {
            self.state = state;
            sink.trace(Record { name: STATE, subject, path: None, value: name(state) });
        }
        self.paths.retain(|&(id, _)| {
            let there = paths.iter().any(|&(path, _)| path == id);
            if !there {
                let (path, value) = (Some(id.number()), Value::State("removed"));
                sink.trace(Record { name: STATE, subject, path, value });
            }
            there
        });
        for (path, now) in paths {
            let at = self.paths.iter().position(|&(id, _)| id == path);
            let before = at.map(|at| core::mem::replace(&mut self.paths[at].1, now));
            if before.is_none() {
                self.paths.push((path, now));
            }
            for (nth, &(name, value)) in now.iter().enumerate() {
                let Some(value) = value.filter(|_| before.is_none_or(|before| before[nth].1 != value)) else {
                    continue;
                };
                sink.trace(Record { name, subject, path: Some(path.number()), value });
            }
        }
    }
}

fn quantities(path: &PathView, detail: Detail) -> Quantities {
    let count = |count: u64| (detail == Detail::Traffic).then_some(Value::Amount(count));
    let counters = &path.counters;
    let bytes = |bytes: usize| Value::Amount(bytes as u64);
    let time = |time: core::time::Duration| Value::Amount(time.as_nanos() as u64);
    let state = match path.state {
        PathState::Unconfirmed => "unconfirmed",
        PathState::Active => "active",
        PathState::PotentiallyFailed => "potentially-failed",
        PathState::Inactive => "inactive",
    };
    let phase = match path.phase {
        CongestionPhase::SlowStart => "slow-start",
        CongestionPhase::ConservativeSlowStart => "conservative-slow-start",
        CongestionPhase::Avoidance => "congestion-avoidance",
        CongestionPhase::Startup => "startup",
        CongestionPhase::Drain => "drain",
        CongestionPhase::ProbeBandwidthDown => "probe-bandwidth-down",
        CongestionPhase::ProbeBandwidthCruise => "probe-bandwidth-cruise",
        CongestionPhase::ProbeBandwidthRefill => "probe-bandwidth-refill",
        CongestionPhase::ProbeBandwidthUp => "probe-bandwidth-up",
        CongestionPhase::ProbeRoundTrip => "probe-round-trip",
        _ => "unnamed",
    };
    [
        ("route", Some(Value::Route(path.route))),
        (STATE, Some(Value::State(state))),
        ("in_use", Some(Value::State(if path.in_use { "yes" } else { "no" }))),
        ("cwnd", Some(bytes(path.cwnd))),
        ("ssthresh", Some(bytes(path.ssthresh))),
        ("rto", Some(time(path.rto))),
        ("srtt", path.srtt.map(time)),
        ("flight_size", Some(bytes(path.flight_size))),
        ("phase", Some(Value::State(phase))),
        ("error_count", Some(Value::Amount(path.error_count.into()))),
        ("pacing_rate", path.pacing_rate.and_then(count)),
        ("bytes_sent", count(counters.bytes_sent)),
        ("bytes_received", count(counters.bytes_received)),
        ("data_retransmitted", count(counters.data_retransmitted)),
        ("fast_retransmits", count(counters.fast_retransmits)),
        ("timeouts", count(counters.timeouts)),
        ("tail_probes", count(counters.tail_probes)),
    ]
}

/// A state as RFC 9260 §4 spells it, in small letters.
const fn name(state: AssociationState) -> Value {
    Value::State(match state {
        AssociationState::Closed => "closed",
        AssociationState::CookieWait => "cookie-wait",
        AssociationState::CookieEchoed => "cookie-echoed",
        AssociationState::Established => "established",
        AssociationState::ShutdownPending => "shutdown-pending",
        AssociationState::ShutdownSent => "shutdown-sent",
        AssociationState::ShutdownReceived => "shutdown-received",
        AssociationState::ShutdownAckSent => "shutdown-ack-sent",
    })
}
