//! What goes with COOKIE ECHO where packets are to be protected, and what a set-up over a slow network costs.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::Config;
use whimbrel_wire::chunk_type::{COOKIE_ECHO, DATA, INIT};

use whimbrel_testbed::{Memory, Pair, SeededExchanges, User, link, remotes};

/// What the client sends until the first of its messages is with the server's user, and when that is.
fn set_up(seed: u64, configs: [Config; 2], delay_ms: u64) -> (Vec<Vec<u8>>, Duration) {
    let client = User::client(&remotes(1)).queueing(1, 100);
    let mut pair = Pair::with_configs(seed, configs, &[[link(20, delay_ms); 2]], client, User::server());
    let capture = Memory::default();
    pair.world.capture(&[(pair.link(0), "capture")], capture.clone()).unwrap();
    pair.run(30);
    let kinds = capture.sctp_packets().into_iter().zip(capture.packets());
    let sent = kinds.filter(|(_, packet)| !packet.inbound).map(|(kinds, _)| kinds).collect();
    let (at, _) = pair.server().record.received[0];
    (sent, at.saturating_since(Instant::ZERO))
}

fn protected() -> [Config; 2] {
    [&b"client"[..], b"server"].map(|name| SeededExchanges::new(7, name).protect(Config::mobile()))
}

/// INIT, the exchange of keys beside COOKIE ECHO, and the word that shows that both ends have the same: the user's data leaves after three round trips, as with TCP and TLS 1.3
/// and one more. Without DATA beside COOKIE ECHO there is another one.
#[test]
fn keys_are_agreed_on_beside_cookie_echo() {
    let (sent, took) = set_up(1, protected(), 10);
    assert_eq!(sent[..2], [vec![INIT], vec![COOKIE_ECHO, DATA]]);
    assert!(took < Duration::from_millis(75), "{took:?}");
}

/// In clear users hear of the association first.
#[test]
fn nothing_goes_with_cookie_echo_in_clear() {
    let (sent, _) = set_up(1, [(); 2].map(|()| Config::mobile()), 10);
    assert_eq!(sent[..2], [vec![INIT], vec![COOKIE_ECHO]]);
}

/// INIT is repeated every half second as long as nothing is known, and each one is answered. From the second answer on it is known how long a round trip takes: until
/// then COOKIE ECHO goes out twice at most; it went out four times where a round trip takes two seconds. (An answer that comes as soon as INIT
/// has been repeated is taken for one to that first, so that some more go out in the half second until the next one.)
#[test]
fn the_second_answer_tells_how_slow_the_network_is() {
    for rtt_ms in [600, 800, 1_100, 2_100] {
        for seed in 0..4 {
            let (sent, took) = set_up(seed, protected(), rtt_ms / 2 + seed * 7);
            let echoes = sent.iter().filter(|kinds| kinds.starts_with(&[COOKIE_ECHO])).count();
            assert!(echoes <= 2, "{rtt_ms} {seed}: {echoes}");
            let round_trip = Duration::from_millis(rtt_ms + seed * 14);
            assert!(took < round_trip * 15 / 4, "{rtt_ms} {seed}: {took:?}");
        }
    }
}
