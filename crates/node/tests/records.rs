//! What the trace of a world tells of associations and paths, beside their events.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{LinkConfig, QueueLimit};
use whimbrel_node::Node;
use whimbrel_proto::{Config, Event, PathState, PathView};

use whimbrel_testbed::{CLIENT, Memory, Pair, SERVER, User, address, link, message, remotes};

/// What of a packet is not chunks, bytes.
const COMMON_HEADER: u64 = 12;

/// A line of the trace that is a record.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    at: Instant,
    host: String,
    name: String,
    path: Option<u32>,
    value: String,
}

impl Line {
    fn amount(&self) -> u64 {
        self.value.parse().unwrap()
    }
}

/// The value of a key in an object that contains no other one.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key} in {line}"));
    rest.split([',', '}']).next().unwrap().trim_matches('"')
}

fn records(trace: &Memory) -> Vec<Line> {
    let text = trace.text();
    let lines = text.lines().filter(|line| field(line, "what") == "record");
    let parsed = lines.map(|line| Line {
        at: Instant::from_nanos(field(line, "at").parse().unwrap()),
        host: field(line, "host").to_owned(),
        name: field(line, "name").to_owned(),
        path: field(line, "path").parse().ok(),
        value: field(line, "value").to_owned(),
    });
    parsed.collect()
}

/// The client's records of a quantity, of its association (`None`) or one of its paths.
fn of_client(records: &[Line], name: &str, path: Option<u32>) -> Vec<Line> {
    let wanted = |line: &&Line| line.host == "client" && line.name == name && line.path == path;
    records.iter().filter(wanted).cloned().collect()
}

fn traced(pair: &mut Pair) -> Memory {
    let trace = Memory::default();
    pair.world.trace_to(trace.clone());
    trace
}

fn path(pair: &Pair, network: usize) -> Option<PathView> {
    let paths = pair.paths(CLIENT);
    paths.into_iter().find(|path| path.route.local == address(CLIENT, network - 1))
}

/// Data for several seconds, over a bottleneck whose queue holds half of what the way holds.
fn bottleneck() -> Pair {
    let link = LinkConfig { queue: QueueLimit::packets(16), ..link(10, 20) };
    let client = User::client(&remotes(1)).queueing(4000, 1000);
    let mut server = User::server();
    server.discard = true;
    Pair::new(5, Config::rfc(), &[link], client, server)
}

#[test]
fn cwnd_is_halved_at_each_fast_retransmit() {
    let mut silent = bottleneck();
    let retransmitted = |pair: &Pair| path(pair, 1).is_some_and(|path| path.counters.fast_retransmits > 0);
    let mut first = None;
    while first.is_none() {
        silent.world.run_for(Duration::from_micros(10));
        first = retransmitted(&silent).then(|| silent.world.now());
    }
    let mut pair = bottleneck();
    let trace = traced(&mut pair);
    pair.run(4);
    let counters = path(&pair, 1).unwrap().counters;
    assert_eq!(counters.timeouts, 0);
    assert!(counters.fast_retransmits >= 3, "{counters:?}");

    let packet = path(&pair, 1).unwrap().packet_size as u64;
    let records = records(&trace);
    let (windows, thresholds) =
        (of_client(&records, "cwnd", Some(0)), of_client(&records, "ssthresh", Some(0)));
    // At first it is arbitrarily high (RFC 9260 §7.2.1).
    let thresholds = &thresholds[1..];
    assert_eq!(thresholds.len() as u64, counters.fast_retransmits);
    let found = first.unwrap().saturating_since(thresholds[0].at);
    assert!(found < Duration::from_micros(10), "{} and {first:?}", thresholds[0].at);
    for threshold in thresholds {
        let now = windows.iter().position(|window| window.at == threshold.at).expect("cwnd changes with it");
        // RFC 9260 §7.2.3, §7.2.4. What the same SACK acknowledges may have raised cwnd by a packet before.
        let before = windows[now - 1].amount();
        assert!((before..=before + packet).contains(&(threshold.amount() * 2 + 1)), "{threshold:?} {before}");
        assert_eq!(windows[now].amount(), threshold.amount());
    }
    // Between two cuts it only grows.
    let cut = |pair: &[Line]| pair[1].amount() < pair[0].amount();
    assert_eq!(windows.windows(2).filter(|pair| cut(pair)).count(), thresholds.len());
    let phases: Vec<String> =
        of_client(&records, "phase", Some(0)).into_iter().map(|line| line.value).collect();
    // A window just cut is not above ssthresh, which is slow start, until the next SACK (RFC 9260 §7.2.1).
    assert_eq!(
        (phases.len(), &*phases[0], &*phases[1]),
        (2 * thresholds.len(), "slow-start", "congestion-avoidance")
    );
    let last = path(&pair, 1).unwrap();
    assert_eq!(windows.last().unwrap().amount(), last.cwnd as u64);
    let (srtt, rto) = (of_client(&records, "srtt", Some(0)), of_client(&records, "rto", Some(0)));
    assert_eq!(u128::from(srtt.last().unwrap().amount()), last.srtt.unwrap().as_nanos());
    assert_eq!(u128::from(rto.last().unwrap().amount()), last.rto.as_nanos());
}

/// What changes with every packet is recorded only where that is asked for: the traces of experiments stay as they are.
#[test]
fn traffic_is_recorded_for_whoever_asks() {
    let run = |finish: fn(usize, Node) -> Node| {
        let link = LinkConfig { queue: QueueLimit::packets(16), ..link(10, 20) };
        let client = User::client(&remotes(1)).queueing(4000, 1000);
        let mut server = User::server();
        server.discard = true;
        let mut pair = Pair::with_nodes(5, Config::rfc(), &[link], client, server, finish);
        let trace = traced(&mut pair);
        pair.run(4);
        (records(&trace), path(&pair, 1).unwrap().counters)
    };
    let (recorded, counters) = run(|_, node| node.recording_traffic());
    let last = |name: &str| of_client(&recorded, name, Some(0)).last().map(Line::amount);
    assert!(counters.data_retransmitted > 0);
    assert_eq!(last("data_retransmitted"), Some(counters.data_retransmitted));
    assert_eq!(last("fast_retransmits"), Some(counters.fast_retransmits));
    assert_eq!(last("bytes_sent"), Some(counters.bytes_sent));
    let (usual, same) = run(|_, node| node);
    assert_eq!(same, counters);
    for name in ["bytes_sent", "bytes_received", "data_retransmitted", "fast_retransmits", "timeouts"] {
        assert!(of_client(&usual, name, Some(0)).is_empty(), "{name}");
    }
}

#[test]
fn a_dead_path_doubles_its_rto_and_changes_its_state() {
    let client = User::client(&remotes(2)).queueing(20_000, 1000);
    let mut server = User::server();
    server.discard = true;
    let mut config = Config::rfc();
    config.failure.path_max_retrans = 3;
    let mut pair = Pair::new(11, config, &[link(100, 1), link(100, 1)], client, server);
    let trace = traced(&mut pair);
    pair.run(1);
    let cut = Instant::from_nanos(1_000_000_000);
    let PathView { id, packet_size, .. } = path(&pair, 1).unwrap();
    let dead = id.number();
    pair.cut(0, cut);
    pair.run(100);

    let records = records(&trace);
    // That the first path works is told by `Event::Up`.
    let states = of_client(&records, "state", Some(dead));
    assert_eq!(states[0].value, "active");
    let states = &states[1..];
    let told = pair.client().events.iter().filter_map(|(at, event)| match event {
        Event::Path { path, state, .. } if path.number() == dead => Some((*at, *state)),
        _ => None,
    });
    let name = |state| match state {
        PathState::Unconfirmed => "unconfirmed",
        PathState::Active => "active",
        PathState::PotentiallyFailed => "potentially-failed",
        PathState::Inactive => "inactive",
    };
    let told: Vec<_> = told.map(|(at, state)| (at, name(state).to_owned())).collect();
    assert_eq!(states.iter().map(|line| (line.at, line.value.clone())).collect::<Vec<_>>(), told);
    assert_eq!(told.last().unwrap().1, "inactive");
    // RFC 9260 §6.3.3 E2, and cwnd is one PMDCS then (§7.2.3).
    let timeouts: Vec<_> =
        of_client(&records, "rto", Some(dead)).into_iter().filter(|l| l.at > cut).collect();
    assert!(timeouts.len() >= 3, "{timeouts:?}");
    assert!(timeouts.windows(2).all(|pair| pair[1].amount() == (pair[0].amount() * 2).min(60_000_000_000)));
    let windows = of_client(&records, "cwnd", Some(dead));
    let at_first = windows.iter().find(|window| window.at == timeouts[0].at).unwrap();
    assert_eq!(at_first.amount(), packet_size as u64 - COMMON_HEADER);
    let errors = of_client(&records, "error_count", Some(dead));
    let counted: Vec<u64> = errors.iter().filter(|line| line.at > cut).take(4).map(Line::amount).collect();
    assert_eq!(counted, [1, 2, 3, 4]);
    let flight = of_client(&records, "flight_size", Some(dead));
    assert!(flight.iter().any(|line| line.at < cut && line.amount() > 0));
}

#[test]
fn an_association_goes_through_its_states() {
    let mut client = User::client(&remotes(1));
    client.outbox = [message(0, 0, 100_000)].into();
    client.shutdown_when_done = true;
    let mut pair = Pair::new(3, Config::rfc(), &[link(10, 10)], client, User::server());
    let trace = traced(&mut pair);
    pair.run(10);
    assert!(pair.client().closed());
    let records = records(&trace);
    let states = |host: &str| -> Vec<String> {
        let of_association =
            records.iter().filter(|line| line.host == host && line.name == "state" && line.path.is_none());
        of_association.map(|line| line.value.clone()).collect()
    };
    assert_eq!(states("client"), ["cookie-wait", "cookie-echoed", "established", "shutdown-sent", "closed"]);
    assert_eq!(states("server"), ["established", "shutdown-ack-sent", "closed"]);
    let route = &of_client(&records, "route", Some(0))[0];
    assert_eq!(route.value, format!("{} -> {}", address(CLIENT, 0), address(SERVER, 0)));
    assert_eq!(of_client(&records, "state", Some(0)).last().unwrap().value, "removed");
}

/// Whoever looks on changes nothing, and what has not changed is not told again.
#[test]
fn records_change_nothing_and_do_not_repeat_themselves() {
    let mut silent = bottleneck();
    silent.run(2);
    let mut pair = bottleneck();
    let trace = traced(&mut pair);
    pair.run(2);
    assert_eq!(pair.world.trace_hash(), silent.world.trace_hash());
    let records = records(&trace);
    for host in ["client", "server"] {
        for name in [
            "route",
            "state",
            "in_use",
            "cwnd",
            "ssthresh",
            "rto",
            "srtt",
            "flight_size",
            "phase",
            "error_count",
        ] {
            let of_path = |line: &&Line| line.host == host && line.name == name && line.path == Some(0);
            let values: Vec<&str> = records.iter().filter(of_path).map(|line| &*line.value).collect();
            assert!(values.windows(2).all(|pair| pair[0] != pair[1]), "{host} {name}");
            // A server that sends no data measures nothing.
            assert!(!values.is_empty() || (host, name) == ("server", "srtt"), "{host} {name}");
        }
    }
}
