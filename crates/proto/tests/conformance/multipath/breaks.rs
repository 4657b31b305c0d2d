//! A path of several breaks without a word, comes back, or loses packets.

use whimbrel_machine::Instant;
use whimbrel_netsim::{LinkConfig, QueueLimit};
use whimbrel_proto::{Config, Message, StreamId, Urgency};
use whimbrel_testbed::bulk::{Bulk, Place};
use whimbrel_testbed::{CLIENT, Pair, SERVER, User, at, link, message, millis, remotes, uplink_address};

use super::{Name, combining};
use core::time::Duration;

/// What is sent when the path breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Load {
    /// A record of 1,000 bytes every 5 ms.
    Records,
    /// As much as both paths carry.
    Bulk,
}

fn networks() -> [LinkConfig; 2] {
    let queue = QueueLimit::bytes(Place::capacity(20, 20));
    [LinkConfig { queue, jitter: Duration::from_micros(500), ..link(20, 10) }; 2]
}

/// One of two networks with a round trip of 20 ms breaks: the longest time without a message at the receiver.
fn broken(config: Config, load: Load, which: usize, seed: u64) -> Duration {
    let mut client = User::client(&remotes(2));
    match load {
        Load::Records => client.tick(millis(5), 1000, 1000),
        Load::Bulk => client = client.queueing(10_000, 6000),
    }
    let mut pair = Pair::new(seed, config, &networks(), client, User::server());
    pair.cut(which, Instant::from_nanos(3_000_000_000 + seed * 700_000));
    pair.run(5);
    pair.server().longest_gap(at(2900), pair.world.now()).0
}

/// Those of every `step`-th of 40 breaks, the shortest first.
fn gaps(config: &Config, load: Load, which: usize, step: usize) -> Vec<Duration> {
    let mut gaps: Vec<Duration> =
        (0..40).step_by(step).map(|seed| broken(config.clone(), load, which, seed)).collect();
    gaps.sort_unstable();
    gaps
}

/// What is in flight on the path goes out again on the other as soon as the path is suspect: after PTO and the answer to the probe. In front of that is the
/// queue of the other path, which bulk data has filled.
#[test]
fn a_silent_break() {
    let mut told = String::new();
    let mut good = true;
    for name in [Name::Reno, Name::Bbr] {
        for load in [Load::Records, Load::Bulk] {
            for which in [0, 1] {
                let gaps = gaps(&name.mobile().combining_paths(), load, which, 4);
                let (median, worst) = (gaps[5], gaps[9]);
                good &= median <= millis(95) && worst <= millis(115);
                told += &format!("{name:?} {load:?} {which}: median {median:?}, {worst:?} at most\n");
            }
        }
    }
    assert!(good, "{told}");
}

/// When a path breaks, records that are urgent come by the other one: in time where nothing else is sent, and behind the queue in front of that path
/// where bulk data has filled it.
#[test]
fn urgent_records_are_not_late() {
    for which in [0, 1] {
        for (bulk, most) in [(0, millis(8)), (3000, millis(52))] {
            let gaps = |urgency| {
                let gap = |seed| gap_between_records(urgency, bulk, which, seed);
                let mut gaps: Vec<Duration> = (0..10).map(gap).collect();
                gaps.sort_unstable();
                gaps
            };
            let (usual, urgent) = (gaps(Urgency::Usual), gaps(Urgency::Urgent));
            // One in ten loses its copy, too, or waits behind what is lost.
            let good = urgent[5] < most
                && urgent[8] < most + millis(10)
                && urgent[9] < most + millis(40)
                && usual[5] > millis(40);
            assert!(good, "path {which}, {bulk} messages beside: {usual:?}, urgent {urgent:?}");
        }
    }
}

/// A small record every 5 ms, beside so many large messages, until one of two networks breaks: the longest time without a record at the receiver.
fn gap_between_records(urgency: Urgency, bulk: usize, which: usize, seed: u64) -> Duration {
    let mut client = User::client(&remotes(2)).saying(match urgency {
        Urgency::Usual => |_, _| record(Urgency::Usual),
        Urgency::Urgent => |_, _| record(Urgency::Urgent),
    });
    client.tick(millis(5), 100, 1000);
    let mut client = client.queueing(bulk, 10_000);
    client.limit = 1 << 18;
    let mut pair = Pair::new(seed, Name::Bbr.mobile().combining_paths(), &networks(), client, User::server());
    pair.cut(which, Instant::from_nanos(3_000_000_000 + seed * 700_000));
    pair.run(5);
    let records = pair
        .server()
        .received
        .iter()
        .filter(|(at, one)| one.stream == StreamId(1) && *at >= Instant::from_nanos(2_900_000_000));
    let times: Vec<Instant> = records.map(|(at, _)| *at).collect();
    times.windows(2).map(|two| two[1] - two[0]).max().expect("records")
}

fn record(urgency: Urgency) -> Message {
    Message { urgency, ..message(1, 0, 100) }
}

/// A network that is there only from the fourth second on carries its part from then on, and one that is gone is no loss to the other.
#[test]
fn a_path_that_appears_and_one_that_goes() {
    for name in [Name::Reno, Name::Bbr] {
        for appears in [true, false] {
            let places = [0; 2].map(|_| super::place(20, 20, 4 << 20));
            let mut bulk = Bulk::over(&places, name.mobile().combining_paths(), 16);
            bulk.pair.cut(1, if appears { Instant::ZERO } else { at(8000) });
            if appears {
                bulk.pair.heal(1, at(4000));
            }
            bulk.pass(millis(1000));
            let mut rates = Vec::new();
            for _ in 0..7 {
                let before = bulk.totals();
                bulk.pass(millis(2000));
                rates.push(bulk.totals().mbit(before, millis(2000)));
            }
            // Seconds 1 to 3, and 13 to 15.
            let [first, last] = if appears { [rates[0], rates[6]] } else { [rates[6], rates[0]] };
            let told = format!("{name:?}, appears: {appears}: {rates:.1?}");
            println!("{told}");
            assert!(first > 17.0 && first < 20.0 && last > 0.95 * 2.0 * 18.2, "{told}");
        }
    }
}

/// A server with one address, and a host with two networks: paths are pairs of addresses, and both carry data, up and down.
#[test]
fn a_server_with_one_address() {
    for down in [false, true] {
        let (mut client, mut server) = (User::client(&[uplink_address(SERVER, 0)]), User::server());
        let messages = || (0..4000).map(|n| message(0, n, 10_000)).collect();
        let sender = if down { &mut server } else { &mut client };
        (sender.outbox, sender.limit) = (messages(), 1 << 20);
        let networks = networks();
        let fast = [link(1000, 0)];
        let uplinks: [(usize, &[LinkConfig]); 2] = [(2, &networks), (1, &fast)];
        let config = Name::Reno.mobile().combining_paths();
        let mut pair = Pair::around_router(1, config, uplinks, [client, server], |_, node| node);
        pair.run(8);
        let (from, to) = if down { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
        let paths = pair.paths(from);
        let sent: Vec<u64> = paths.iter().map(|path| path.counters.data_sent).collect();
        assert!(paths.len() == 2 && paths.iter().all(|path| path.in_use), "{paths:?}");
        let bytes = pair.user(to).received.len() as u64 * 10_000;
        assert!(bytes * 8 > 7 * 2 * 17_500_000, "{bytes} bytes, down: {down}");
        assert!(sent[0].min(sent[1]) * 3 > sent[0].max(sent[1]), "{sent:?}");
    }
}

#[test]
#[ignore = "prints a table; CONTRIBUTING.md has the command"]
fn table() {
    for name in [Name::Reno, Name::Bbr] {
        for scheduler in super::SCHEDULERS {
            for load in [Load::Records, Load::Bulk] {
                for which in [0, 1] {
                    let gaps = gaps(&combining(name.mobile(), scheduler), load, which, 1);
                    println!(
                        "{name:?} {scheduler:?} {load:?} {which}: median {:?}, {:?} and {:?} at most",
                        gaps[20], gaps[37], gaps[39]
                    );
                }
            }
        }
    }
}
