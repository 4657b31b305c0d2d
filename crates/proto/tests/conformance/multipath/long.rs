//! A network that carries more than the quick one, and takes much longer: both together are no worse than the better one alone.

use core::time::Duration;

use whimbrel_netsim::{LinkConfig, QueueLimit};
use whimbrel_proto::{BufferSizing, Config};
use whimbrel_testbed::{CLIENT, Pair, SERVER, User, remotes};

/// Mbit/s, and the round trip in ms; a queue of one bandwidth-delay product.
type Network = (u64, u64);

const SECONDS: u64 = 20;

/// Mbit/s that arrive from a program that has as much in the transport as that has room for, as `whimbrel send` does.
fn goodput(config: &Config, networks: &[Network], sender: usize, seed: u64) -> f64 {
    let link = |&(mbit, rtt_ms): &Network| LinkConfig {
        rate_bps: Some(mbit * 1_000_000),
        delay: Duration::from_micros(rtt_ms * 500),
        queue: QueueLimit::bytes((mbit * 125 * rtt_ms).max(15_000)),
        ..LinkConfig::default()
    };
    let links: Vec<_> = networks.iter().map(link).collect();
    let mut users = [User::client(&remotes(links.len())), User::server()];
    let messages = networks.iter().map(|(mbit, _)| mbit).sum::<u64>() * SECONDS * 2;
    users.iter_mut().for_each(|user| user.discard = true);
    let bulk = |host, user: User| {
        if host == sender { user.queueing(messages as usize, 65_536).heeding_room() } else { user }
    };
    let [client, server] = users;
    let (client, server) = (bulk(CLIENT, client), bulk(SERVER, server));
    let mut pair = Pair::new(seed, config.clone(), &links, client, server);
    pair.run(SECONDS);
    let receiver = if sender == CLIENT { pair.server } else { pair.client };
    let association = pair.world.app(receiver).association().expect("it is up");
    let received = pair.world.machine(receiver).stats(association).expect("it is up").bytes_received;
    received as f64 * 8e-6 / SECONDS as f64
}

fn mobile() -> Config {
    let mut config = Config::mobile();
    config.limits.sizing = BufferSizing::Measured { least: 256 << 10 };
    config
}

/// What was sent on the long one went out again by the quick one before it could be acknowledged, so that nobody learnt what it carries.
#[test]
fn a_long_path_that_carries_more_is_used() {
    for (networks, least) in [
        ([(10, 20), (40, 200)], 1.1),
        ([(40, 200), (10, 20)], 1.1),
        ([(5, 20), (20, 400)], 1.1),
        ([(5, 40), (20, 600)], 1.0),
        ([(20, 20), (20, 200)], 1.5),
    ] {
        for sender in [CLIENT, SERVER] {
            let seed = 7 + sender as u64;
            let alone = networks.map(|network| goodput(&mobile(), &[network], sender, seed));
            let together = goodput(&mobile().combining_paths(), &networks, sender, seed);
            let told = format!("{networks:?}, sender {sender}: {alone:.1?} alone, {together:.1} together");
            println!("{told}");
            assert!(together >= least * alone[0].max(alone[1]), "{told}");
        }
    }
}
