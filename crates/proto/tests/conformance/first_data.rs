//! What goes with COOKIE ECHO where packets are to be protected, and what a set-up over a slow network costs.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, Side};
use whimbrel_proto::Config;
use whimbrel_wire::chunk_type::{COOKIE_ECHO, DATA, INIT};

use whimbrel_testbed::{CLIENT, Memory, Pair, SeededExchanges, User, at, link, remotes};

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

/// COOKIE ECHO has gone out several times: when what went with it is acknowledged tells no round trip (RFC 9260 §6.3.1 C5).
#[test]
fn what_went_again_with_cookie_echo_is_no_round_trip() {
    let client = User::client(&remotes(1)).queueing(1, 100);
    let mut pair = Pair::with_configs(1, protected(), &[[link(20, 10); 2]], client, User::server());
    pair.change(0, Side::AtoB, at(15), Change::Down(InFlight::Delivered));
    pair.change(0, Side::AtoB, at(800), Change::Up);
    let mut longest = Duration::ZERO;
    for millisecond in 0..3_000 {
        pair.world.run_until(at(millisecond));
        let measured = pair.paths(CLIENT).first().and_then(|path| path.srtt);
        longest = longest.max(measured.unwrap_or_default());
    }
    assert_eq!(pair.server().record.received.len(), 1);
    assert!((20..40).contains(&longest.as_millis()), "{longest:?}");
}

/// INITs that a network has held back arrive together: their answers say nothing of how long a round trip takes, and COOKIE ECHO that is lost then is not missed for long.
#[test]
fn answers_that_come_together_tell_nothing() {
    let client = User::client(&remotes(1)).queueing(1, 100);
    let links = [link(20, 5_020), link(20, 10)];
    let mut pair = Pair::with_configs(1, protected(), &[links], client, User::server());
    for (from, init) in [(400, 500), (900, 1_000), (1_400, 1_500), (1_900, 2_000), (2_900, 3_000)] {
        let held = link(20, 5_020 - init);
        pair.change(0, Side::AtoB, at(from), Change::Config(held));
    }
    pair.change(0, Side::AtoB, at(4_900), Change::Config(link(20, 10)));
    // COOKIE ECHO is under way.
    pair.change(0, Side::AtoB, at(5_035), Change::Down(InFlight::Lost));
    pair.change(0, Side::AtoB, at(5_060), Change::Up);
    pair.run(30);
    let (first, _) = *pair.server().record.received.first().expect("it comes about");
    assert!(first < at(5_400), "{first}");
}
