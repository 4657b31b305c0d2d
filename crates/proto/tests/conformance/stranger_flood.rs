//! Many associations that each claim somebody else's addresses (RFC 9260 §5.4, RFC 5062 §5, §6): HB.Max.Burst limits what one
//! of them can make the node send, and one budget limits what all of them can.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{Config, PathPairing};
use whimbrel_wire::Parameter;

use whimbrel_testbed::peer::{Bench, Peer, UDP, ip, node_address, quiet, route};

/// Associations, each with fifteen claims.
const ATTACKERS: u16 = 1000;

/// Probes to strangers per second, and as many at once: what `proto/src/path/amplification.rs` states.
const PER_SECOND: usize = 1000;

fn config() -> Config {
    let mut config = quiet();
    config.heartbeat.max_burst = 8;
    config
}

/// Sets up an association from `from`, whose peer claims `addresses`.
fn connect(bench: &mut Bench, from: IpAddr, tag: u32, addresses: &[IpAddr]) {
    let mut peer = Peer { tag, ..Peer::new() };
    let mut route = route();
    route.remote = SocketAddr::new(from, UDP);
    let listed: Vec<Parameter<'_>> = addresses.iter().map(|&address| address.into()).collect();
    bench.take();
    bench.deliver_on(route, &peer.init(&listed));
    peer.learn_init_ack(&bench.take_only());
    let ups = bench.ups();
    bench.deliver_on(route, &peer.cookie_echo());
    assert_eq!(bench.ups(), ups + 1);
}

fn victim(n: u16, claim: u8) -> IpAddr {
    let [high, low] = n.to_be_bytes();
    IpAddr::from([198, 50 + high, low, claim])
}

fn is_victim(remote: SocketAddr) -> bool {
    matches!(remote.ip(), IpAddr::V4(ip) if ip.octets()[0] == 198)
}

#[test]
fn many_associations_share_one_budget_for_strangers() {
    let mut bench = Bench::new(config());
    let begun = bench.now;
    let mut probes = 0;
    let mut count = |bench: &mut Bench| {
        probes += bench.take().iter().filter(|sent| is_victim(sent.route.remote)).count();
        probes
    };
    for n in 0..ATTACKERS {
        let [high, low] = n.to_be_bytes();
        let claims: Vec<IpAddr> = (1..=15).map(|claim| victim(n, claim)).collect();
        connect(&mut bench, IpAddr::from([10, 9, high, low]), u32::from(n) + 1, &claims);
    }
    for _ in 0..40 {
        bench.pass(Duration::from_millis(250));
        let seconds = bench.now.saturating_since(begun).as_secs_f64();
        let most = PER_SECOND + (seconds * PER_SECOND as f64) as usize + 1;
        let probes = count(&mut bench);
        assert!(probes <= most, "{probes} probes in {seconds} s");
    }
    let probes = count(&mut bench);
    assert!(probes >= 5 * PER_SECOND, "the budget is used: {probes}");

    // Who comes later with a second address of his own gets his turn.
    let second = ip("203.0.113.99");
    connect(&mut bench, ip("10.8.0.1"), 70_000, &[second]);
    let mut probed = false;
    for _ in 0..300 {
        bench.pass(Duration::from_secs(1));
        probed |= bench.take().iter().any(|sent| sent.route.remote.ip() == second);
    }
    assert!(probed, "the others do not use it up for ever");
}

/// The peer's own address, over another address of ours, is no stranger: a flood does not keep an association from moving.
#[test]
fn a_flood_does_not_delay_paths_to_addresses_that_are_known() {
    let mut mesh = config();
    mesh.pairing = PathPairing::Mesh;
    let mut bench = Bench::with_addresses(mesh, 2);
    for n in 0..ATTACKERS {
        let [high, low] = n.to_be_bytes();
        let claims: Vec<IpAddr> = (1..=15).map(|claim| victim(n, claim)).collect();
        connect(&mut bench, IpAddr::from([10, 9, high, low]), u32::from(n) + 1, &claims);
    }
    let honest = ip("10.8.0.1");
    connect(&mut bench, honest, 70_000, &[]);
    bench.take();
    bench.pass(Duration::from_secs(1));
    assert_eq!(bench.paths().len(), 2);
    let second = |route: Route| route.remote.ip() == honest && route.local == node_address(2);
    assert!(
        bench.take().iter().any(|sent| second(sent.route)),
        "the second way to the peer is probed at once"
    );
}
