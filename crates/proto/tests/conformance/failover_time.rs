//! How long a dead primary path goes unnoticed, against what RFC 9260 §6.3.3 and §8.2 make it: T3-rtx doubles at each
//! expiry (E2) and the path fails when its error counter exceeds Path.Max.Retrans, so from the first unanswered
//! transmission, or the last answer if data is in flight all the time, to the failover it takes Σ min(2^i · RTO, RTO.Max), i = 0 ..= PMR.
//!
//! The error counter goes up with retransmissions and heartbeats on that path only, and lost chunks are retransmitted
//! on the other path. What keeps the dead path under test is new data, which goes on to use the primary until it
//! fails (§6.4.1), and its T3-rtx.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Config, Event, PathState, PathView};

use whimbrel_testbed::{CLIENT, Pair, User, address, link, message, remotes};

struct Measured {
    /// RTO of the primary when its link was cut.
    rto: Duration,
    /// From the last answer, which restarted T3-rtx, to the end of the path.
    inactive_after: Duration,
    /// From there until the first new DATA on the other path.
    takes_over_after: Duration,
}

/// The first new data after the failover waits until what was lost has been retransmitted, which slow start allows
/// within a few round trips of 2 ms.
const FEW_ROUND_TRIPS: Duration = Duration::from_millis(20);

fn primary(pair: &Pair) -> PathView {
    let paths = pair.paths(CLIENT);
    paths.into_iter().find(|path| path.route.local == address(CLIENT, 0)).unwrap()
}

fn other(pair: &Pair) -> PathView {
    let paths = pair.paths(CLIENT);
    paths.into_iter().find(|path| path.route.local == address(CLIENT, 1)).unwrap()
}

fn measure(mut config: Config, pmr: u32) -> Measured {
    config.failure.path_max_retrans = pmr;
    config.failure.association = whimbrel_proto::AssociationFailure::Errors(100);
    let mut client = User::client(&remotes(2));
    // More than can be sent before the end: there always is new data.
    client.outbox = (0..20_000).map(|n| message(0, n, 1000)).collect();
    let mut server = User::server();
    server.discard = true;
    let mut pair = Pair::new(11, config, &[link(100, 1), link(100, 1)], client, server);
    // Early in slow start: nothing has been lost, and cwnd limits what is in flight, not the send buffer or the peer's
    // window. Otherwise the first new data after a timeout would have to wait until what was lost is acknowledged on
    // the other path.
    let cut = Instant::from_nanos(30_000_000);
    pair.world.run_until(cut);
    // From now on nothing of the primary path arrives anywhere, what is on its way included.
    pair.cut(0, cut);
    pair.world.run_until(cut);
    let at_cut = primary(&pair);
    assert_eq!(at_cut.state, PathState::Active);
    assert_eq!(at_cut.error_count, 0);
    assert!(at_cut.flight_size > 0, "data was being sent");
    let started = last_restart(&pair, cut);
    let limit = cut + Duration::from_secs(200);
    let failed = |pair: &Pair| primary(pair).state == PathState::Inactive;
    pair.world.run_until_or(limit, |world| {
        world.app(pair.client).path_states().iter().any(|&(_, state)| state == PathState::Inactive)
    });
    assert!(failed(&pair));
    let inactive_at = pair.world.now();
    let sent_before = other(&pair).counters.data_sent;
    pair.world.run_until_or(limit, |world| {
        let association = world.app(pair.client).association().unwrap();
        let paths = world.machine(pair.client).paths(association);
        paths
            .iter()
            .any(|path| path.route.local == address(CLIENT, 1) && path.counters.data_sent > sent_before)
    });
    assert!(other(&pair).counters.data_retransmitted > 0, "what was lost went there as well");
    let first_on_other = pair.client().events.iter().find_map(|(at, event)| match event {
        Event::PathInUse { route, .. } if *at >= cut => Some((*at, *route)),
        _ => None,
    });
    assert_eq!(first_on_other.map(|(at, route)| (at, route.local)), Some((inactive_at, address(CLIENT, 1))));
    Measured {
        rto: at_cut.rto,
        inactive_after: inactive_at.saturating_since(started),
        takes_over_after: pair.world.now().saturating_since(inactive_at),
    }
}

/// When T3-rtx of the primary path was last restarted: with the last SACK that acknowledged anything (§6.3.2 R3).
fn last_restart(pair: &Pair, cut: Instant) -> Instant {
    let sent = pair
        .client()
        .events
        .iter()
        .rev()
        .find(|(at, event)| *at <= cut && matches!(event, Event::Sent { .. }));
    sent.expect("data was acknowledged before").0
}

fn expected(rto: Duration, max: Duration, pmr: u32) -> Duration {
    (0..=pmr).map(|i| (rto * 2_u32.pow(i)).min(max)).sum()
}

fn table(name: &str, config: &Config) {
    println!("{name}: RTO.Min {:?}, RTO.Max {:?}", config.rto.min, config.rto.max);
    println!(
        "PMR    RTO at the cut    sum of timeouts    primary inactive after    difference    new data after"
    );
    for pmr in 0..=5 {
        let measured = measure(config.clone(), pmr);
        let expected = expected(measured.rto, config.rto.max, pmr);
        let difference = measured.inactive_after.as_secs_f64() / expected.as_secs_f64() - 1.0;
        println!(
            "{pmr:3}    {:14?}    {expected:15?}    {:22?}    {:9.3} %    {:?}",
            measured.rto,
            measured.inactive_after,
            difference * 100.0,
            measured.takes_over_after,
        );
        assert!(difference.abs() <= 0.01, "PMR {pmr}");
        assert!(measured.takes_over_after <= FEW_ROUND_TRIPS, "PMR {pmr}");
    }
}

/// RFC 9260 §16: the values everybody has: 1 s doubled five times is 63 s.
#[test]
fn failover_with_the_rfcs_parameters_takes_the_sum_of_the_timeouts() {
    let config = Config::rfc();
    table("Config::rfc()", &config);
}

/// The setting of the handover papers: RTO.Min and RTO.Initial 20 ms, no SACK delay.
#[test]
fn failover_with_short_timeouts_takes_the_sum_of_the_timeouts() {
    let mut config = Config::rfc();
    config.rto.initial = Duration::from_millis(20);
    config.rto.min = Duration::from_millis(20);
    config.sack.delay = Duration::ZERO;
    table("RTO.Min 20 ms", &config);
}

/// RTO.Max ends the doubling: 20, 40, 80, 100, 100, 100 ms.
#[test]
fn failover_with_a_low_ceiling_takes_the_sum_of_the_timeouts() {
    let mut config = Config::rfc();
    config.rto.initial = Duration::from_millis(20);
    config.rto.min = Duration::from_millis(20);
    config.rto.max = Duration::from_millis(100);
    config.sack.delay = Duration::ZERO;
    table("RTO.Min 20 ms, RTO.Max 100 ms", &config);
}
