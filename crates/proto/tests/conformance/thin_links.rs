//! Round trips longer than the timers take for granted, and links so thin that a window takes seconds to pass.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, QueueLimit, Side};
use whimbrel_proto::Config;
use whimbrel_wire::chunk_type;

use whimbrel_testbed::{CLIENT, Memory, Pair, SeededExchanges, User, at, link, millis, remotes};

/// A link of so many bit/s, and its round trip, ms.
#[derive(Clone, Copy, Debug)]
struct Thin {
    bps: u64,
    rtt_ms: u64,
    /// Packets that wait for it at most.
    queue: u32,
    protected: bool,
}

/// What became of 10 kB, sent at once.
#[derive(Debug)]
struct Sent {
    /// After which time the peer's user had all.
    took: Duration,
    /// Packets with a HEARTBEAT or an answer to one, up and down; where they are protected all packets that are as small.
    heartbeats: [usize; 2],
    /// Bytes that went to the peer.
    bytes: u64,
    /// Chunks sent again.
    retransmitted: u64,
}

/// Two minutes from the beginning of an association, which is shut down when all has arrived.
fn ten_kilobytes(thin: Thin, seed: u64) -> Sent {
    const SIZE: usize = 1000;
    // Timers and answers meet in another way with each seed.
    let delay = millis(thin.rtt_ms / 2) + Duration::from_micros(seed * 2_700);
    let queue = QueueLimit::packets(thin.queue);
    let link = LinkConfig { rate_bps: Some(thin.bps), delay, queue, ..LinkConfig::default() };
    let mut client = User::client(&remotes(1)).queueing(10_000 / SIZE, SIZE);
    client.shutdown_when_done = true;
    let configs = [&b"client"[..], b"server"].map(|name| {
        let mobile = Config::mobile();
        if thin.protected { SeededExchanges::new(7, name).protect(mobile) } else { mobile }
    });
    let mut pair = Pair::with_configs(seed, configs, &[[link; 2]], client, User::server());
    let capture = Memory::default();
    pair.world.capture(&[(pair.link(0), "thin")], capture.clone()).unwrap();
    let mut retransmitted = 0;
    for step in 1..1_200 {
        pair.world.run_until(Instant::ZERO + millis(step * 100));
        retransmitted =
            pair.paths(CLIENT).first().map_or(retransmitted, |path| path.counters.data_retransmitted);
    }
    let received = &pair.server().record.received;
    assert_eq!(received.len() * SIZE, 10_000, "{thin:?} {seed}");
    let took = received[received.len() - 1].0.saturating_since(Instant::ZERO);
    let bytes = pair.world.stats(pair.link(0), Side::AtoB).offered_bytes;
    Sent { took, heartbeats: heartbeats(thin, &capture), bytes, retransmitted }
}

fn heartbeats(thin: Thin, capture: &Memory) -> [usize; 2] {
    let supervises = |kinds: &Vec<u8>| {
        kinds.iter().any(|kind| matches!(*kind, chunk_type::HEARTBEAT | chunk_type::HEARTBEAT_ACK))
    };
    let kinds = if thin.protected { Vec::new() } else { capture.sctp_packets() };
    let packets = capture.packets();
    let is_one = |n: usize| kinds.get(n).map_or(packets[n].bytes.len() < 100, supervises);
    [false, true]
        .map(|inbound| (0..packets.len()).filter(|&n| packets[n].inbound == inbound && is_one(n)).count())
}

/// A network of 20 Mbit/s and 20 ms becomes one of 9.6 kbit/s and 600 ms while records of 1,000 bytes flow, of which so many are yet to come: how many are sent again, and what
/// the last one took.
fn grown_thin(records: usize, seed: u64) -> (u64, u128) {
    let before = 50;
    let mut client = User::client(&remotes(1));
    client.tick(millis(20), 1000, before + records);
    let mut pair = Pair::new(seed, Config::mobile(), &[link(20, 10)], client, User::server());
    let thin = LinkConfig { rate_bps: Some(9_600), ..link(20, 300) };
    pair.change(0, Side::Both, at(1_040 + seed * 3), Change::Config(thin));
    pair.run(120);
    let received = &pair.server().record.received;
    assert_eq!(received.len(), before + records, "{seed}");
    let last = received[received.len() - 1].0.saturating_since(at(1_040 + seed * 3));
    (pair.paths(CLIENT)[0].counters.data_retransmitted, last.as_millis())
}

const SEEDS: core::ops::Range<u64> = 0..8;

fn thin(bps: u64, rtt_ms: u64, queue: u32) -> Thin {
    Thin { bps, rtt_ms, queue, protected: true }
}

/// Until an answer may be there, one more question tells nothing. At the same pause all the time there were 22 and more packets of them up.
#[test]
fn what_cannot_be_answered_yet_is_asked_seldom() {
    let clear = Thin { protected: false, ..thin(20_000_000, 2_000, 100) };
    for (thin, most) in [
        (clear, 17),
        (thin(20_000_000, 2_000, 100), 24),
        (thin(9_600, 600, 100), 60),
        (thin(9_600, 2_000, 100), 36),
    ] {
        for seed in SEEDS {
            let sent = ten_kilobytes(thin, seed);
            assert!(sent.heartbeats[0] <= most, "{thin:?} {seed}: {sent:?}");
        }
    }
}

/// The peer is heard all the time, by what it had sent before, and nothing works in time: the whole flight went out for each of these signs, 49,000 bytes.
#[test]
fn who_is_heard_late_is_not_sent_everything_again_and_again() {
    for (thin, bytes, again) in [(thin(9_600, 400, 100), 38_000, 40), (thin(9_600, 2_000, 100), 19_000, 0)] {
        for seed in SEEDS {
            let sent = ten_kilobytes(thin, seed);
            assert!(sent.bytes <= bytes && sent.retransmitted <= again, "{thin:?} {seed}: {sent:?}");
        }
    }
}

/// What had been measured before holds no more, and nothing new can be measured by what is sent again: each late answer to a first copy was taken for one to a
/// probe, and what was behind it was lost, 95 and 550 times and more.
#[test]
fn a_network_that_grows_thin_is_not_filled_with_copies() {
    for (records, most) in [(10, 60), (20, 150)] {
        for seed in SEEDS {
            let (again, last) = grown_thin(records, seed);
            assert!(again <= most && last < 34_000, "{records} {seed}: {again}, {last} ms");
        }
    }
}

/// The tail overflows the queue, and T3-rtx is ten seconds long. What a later HEARTBEAT brings back says sooner that it is lost; by T3-rtx it takes 21 and 12 s.
#[test]
fn a_heartbeat_that_has_overtaken_the_tail_tells_of_its_loss() {
    for (thin, seconds) in [(thin(14_400, 1_000, 10), 18), (thin(28_800, 300, 10), 9)] {
        for seed in SEEDS {
            let sent = ten_kilobytes(thin, seed);
            let soon = sent.took < Duration::from_secs(seconds);
            assert!(soon && sent.bytes < 25_000, "{thin:?} {seed}: {sent:?}");
        }
    }
}

/// The set-up has measured some milliseconds, and a full packet takes more than 150. The tail was probed for, the answer to its first transmission was taken for one to the
/// probe, and all of the window went out again, and once more for T3-rtx, which took it for a black hole: 548 bytes a packet for seconds, and 70 chunks twice.
#[test]
fn a_first_flight_that_takes_long_is_not_called_lost() {
    for (up, rtt_ms) in [(53_000, 4), (53_000, 14), (60_000, 10), (80_000, 10)] {
        for seed in SEEDS {
            let queue = QueueLimit::packets(300);
            let way = |bps| {
                let delay = millis(rtt_ms / 2) + Duration::from_micros(seed * 100);
                LinkConfig { rate_bps: Some(bps), delay, queue, ..LinkConfig::default() }
            };
            let configs = [&b"client"[..], b"server"]
                .map(|name| SeededExchanges::new(7, name).protect(Config::mobile()));
            let client = User::client(&remotes(1)).queueing(5, 20_000);
            let links = [[way(up), way(1_000_000)]];
            let mut pair = Pair::with_configs(seed, configs, &links, client, User::server());
            for second in 1..=10 {
                pair.world.run_until(Instant::ZERO + Duration::from_secs(second));
                let size = pair.paths(CLIENT)[0].packet_size;
                assert!(size >= 1200, "{up} {rtt_ms} {seed}: {size} bytes after {second} s");
            }
            let again = pair.paths(CLIENT)[0].counters.data_retransmitted;
            assert!(again <= 26, "{up} {rtt_ms} {seed}: {again}");
        }
    }
}

/// `cargo test --release -p whimbrel-proto --test conformance -- --ignored --nocapture thin_links`
#[test]
#[ignore = "prints a table; the command is above"]
fn table() {
    for (bps, rtt_ms, queue) in [
        (20_000_000, 2_000, 100),
        (20_000_000, 1_000, 100),
        (20_000_000, 600, 100),
        (9_600, 600, 100),
        (9_600, 600, 10),
        (9_600, 2_000, 100),
        (9_600, 2_000, 10),
        (28_800, 600, 100),
    ] {
        for protected in [false, true] {
            let thin = Thin { bps, rtt_ms, queue, protected };
            for seed in SEEDS {
                let Sent { took, heartbeats, bytes, retransmitted } = ten_kilobytes(thin, seed);
                println!(
                    "{thin:?} {seed}: {took:?}, heartbeats {heartbeats:?}, {bytes} bytes, {retransmitted} again"
                );
            }
        }
    }
    for records in [5, 10, 20] {
        for seed in SEEDS {
            println!("grown thin, {records} records, {seed}: {:?}", grown_thin(records, seed));
        }
    }
}
