//! A peer lists the addresses of others, and does not answer (RFC 9260 §5.4, RFC 5062 §5).

use core::time::Duration;

use whimbrel_proto::Config;
use whimbrel_wire::{CookieEcho, Heartbeat, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// What an ASCONF may do at addresses that nobody has confirmed is what HEARTBEATs may: Path.Max.Retrans + 1 each, then one in a heartbeat interval.
#[test]
fn asconf_is_not_repeated_without_end_to_whom_a_peer_has_listed() {
    let config = Config::mobile();
    let victims = [21, 22, 23];
    let first = victims.len() * (config.failure.path_max_retrans as usize + 1);
    let interval = config.heartbeat.interval.unwrap().as_secs() as usize;
    let mut bench = Bench::with_addresses(config, 9);
    let mut mobile = Mobile::new();
    mobile.begin(&mut bench, &[1, 21, 22, 23]);
    bench.deliver(&mobile.packet(&[&CookieEcho { cookie: &mobile.cookie }]));
    bench.take();
    let mut packets = 0;
    for minute in 1..=60 {
        bench.pass(Duration::from_secs(60));
        let sent = bench.take();
        let to_victims = sent.iter().filter(|sent| sent.route.remote.ip() != peer_address(1).ip());
        packets += to_victims.filter(|sent| holds(core::slice::from_ref(*sent), chunk_type::ASCONF)).count();
        let most = first + minute * 60 / interval;
        assert!(packets <= most, "{packets} packets in {minute} minutes");
        bench.deliver(&mobile.packet(&[&Heartbeat { info: b"still here" }]));
    }
    assert!(packets > 0, "the peer may have moved to where it has not proved to be");
}
