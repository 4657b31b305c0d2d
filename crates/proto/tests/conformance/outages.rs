//! Everything is silent for a while, on both networks, and no link event tells: the association goes on afterwards, however long
//! that was, and soon.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{CloseReason, Config, Event, PathState};

use whimbrel_testbed::peer::Peer;
use whimbrel_testbed::{Pair, User, link, remotes};

/// When the networks fall silent.
const CUT: Duration = Duration::from_secs(5);
const RTT: Duration = Duration::from_millis(40);
/// How far apart two probes of a path are at most: in the first ten minutes, and later.
const SOON: Duration = Duration::from_secs(5);
const LATER: Duration = Duration::from_secs(30);

/// Sends all the time.
fn busy(mut user: User, seconds: u64) -> User {
    user.tick(Duration::from_millis(500), 300, (seconds * 2) as usize);
    user.discard = true;
    user
}

/// Two networks that are both silent for `outage`, or one, while both ends send or neither does; how long after it each end has
/// heard that its data arrived.
fn recovery(seed: u64, networks: usize, outage: Duration, sends: bool) -> [Duration; 2] {
    let seconds = CUT.as_secs() + 60;
    let (mut client, mut server) = (User::client(&remotes(networks)), User::server());
    if sends {
        (client, server) = (busy(client, seconds), busy(server, seconds));
    }
    let back = Instant::ZERO + CUT + outage;
    let mut pair = Pair::new(seed, Config::mobile(), &vec![link(10, 20); networks], client, server);
    for network in 0..networks {
        pair.cut(network, Instant::ZERO + CUT);
        pair.heal(network, back);
    }
    pair.world.run_until(back + LATER * 4);
    [pair.client(), pair.server()].map(|user| {
        assert!(
            !user.closed(),
            "seed {seed}, {outage:?}, {networks} networks, sends {sends}: {:?}",
            user.events.last()
        );
        let first = |told: &dyn Fn(&Event) -> bool| {
            let event = user.events.iter().find(|(at, event)| *at >= back && told(event));
            event.map_or(Duration::MAX, |(at, _)| at.saturating_since(back))
        };
        if sends {
            return first(&|event| matches!(event, Event::Sent { .. }));
        }
        // A path that has not been missed does not come back.
        let missed = user.path_states().iter().any(|(at, _)| (Instant::ZERO + CUT..back).contains(at));
        if missed {
            first(&|event| matches!(event, Event::Path { state: PathState::Active, .. }))
        } else {
            Duration::ZERO
        }
    })
}

#[test]
fn of_any_length_are_survived() {
    for networks in [1, 2, 4] {
        for outage in [1, 3, 8, 10, 12, 15, 20, 40, 180, 900, 6000] {
            for sends in [true, false] {
                for seed in 0..4 {
                    let outage = Duration::from_secs(outage);
                    let spacing = if outage < Duration::from_secs(600) { SOON } else { LATER };
                    let took = recovery(seed * 1000 + outage.as_secs(), networks, outage, sends);
                    // The probe that finds out, and the data behind it.
                    let most = spacing + RTT * 2 + Duration::from_millis(100);
                    assert!(
                        took.iter().all(|took| *took <= most),
                        "seed {seed}, {outage:?}, {networks} networks, sends {sends}: {took:?}"
                    );
                }
            }
        }
    }
}

/// Data is tried on every path meanwhile; but that is no move of which a user or a policy could make anything.
#[test]
fn nobody_is_told_of_moves_while_no_path_works() {
    let outage = Duration::from_secs(120);
    let (client, server) = (busy(User::client(&remotes(2)), 200), busy(User::server(), 200));
    let mut pair = Pair::new(1, Config::mobile(), &[link(10, 20), link(10, 20)], client, server);
    for network in 0..2 {
        pair.cut(network, Instant::ZERO + CUT);
        pair.heal(network, Instant::ZERO + CUT + outage);
    }
    pair.world.run_until(Instant::ZERO + CUT + outage + LATER);
    // By then every path has failed.
    let silent = Instant::ZERO + CUT + Duration::from_secs(2)..Instant::ZERO + CUT + outage;
    for user in [pair.client(), pair.server()] {
        let moves = user.events.iter().filter(|(_, event)| matches!(event, Event::PathInUse { .. }));
        let meanwhile = moves.filter(|(at, _)| silent.contains(at)).count();
        assert_eq!((user.closed(), meanwhile), (false, 0));
    }
}

/// A host that has slept for longer than its patience has not tried in that time: it gets as many tries as a path does, and then it is over.
#[test]
fn a_host_that_fell_asleep_in_an_outage_tries_when_it_wakes() {
    let (mut bench, _peer) = Peer::connected(Config::mobile());
    bench.send(0, b"on its way");
    bench.pass(Duration::from_secs(60));
    assert_eq!(bench.closed(), None);
    bench.take();
    bench.now += Duration::from_secs(3 * 3600);
    bench.step(vec![whimbrel_machine::Input::Timeout]);
    assert_eq!(bench.closed(), None, "given up as it wakes");
    bench.pass(Duration::from_secs(300));
    // One HEARTBEAT for each try; T3-rtx falls in with some of them.
    assert!(bench.take().len() > Config::mobile().failure.path_max_retrans as usize);
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
}
