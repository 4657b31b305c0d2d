//! How long what is lost takes to be repaired, and what is sent again for nothing (RFC 8985).
//!
//! The time to recover is by how much later the receiver has a message than in the same world without the loss.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, Loss, QueueLimit, Side};
use whimbrel_proto::Config;

use crate::lost_again::Swallower;
use whimbrel_testbed::{Pair, User, at, link, millis, remotes};

/// Of each row of the table.
const SEEDS: u64 = 8;

/// A message every so often: the round trip is known when the last one is sent.
const MESSAGES: usize = 20;

/// Packets of a message.
const PACKETS: usize = 10;

/// Bytes of a message in a packet, and in how many chunks: they fit smaller packets, too.
const PACKET: usize = 1392;
const CHUNKS: u32 = 3;

/// What has become of a run.
#[derive(Debug)]
struct Outcome {
    /// When the last message came.
    last: Instant,
    /// The longest time between two messages, after the first second.
    gap: Duration,
    /// Chunks sent for the first time.
    chunks: u32,
    /// Chunks that came twice.
    twice: u64,
    moves: usize,
}

/// Networks with a round trip of so many milliseconds; up to a millisecond more by chance.
#[derive(Clone, Copy, Debug)]
struct Place {
    rtt: u64,
    networks: usize,
    seed: u64,
}

impl Place {
    fn links(self) -> Vec<LinkConfig> {
        let one = LinkConfig { jitter: Duration::from_micros(500), ..link(100, self.rtt / 2) };
        vec![one; self.networks]
    }

    /// Sends messages of so many bytes, with `trouble`.
    fn run(self, interval: Duration, bytes: usize, count: usize, trouble: impl FnOnce(&mut Pair)) -> Outcome {
        let mut client = User::client(&remotes(self.networks));
        client.tick(interval, bytes, count);
        let mut pair = Pair::new(self.seed, Config::mobile(), &self.links(), client, User::server());
        trouble(&mut pair);
        pair.run(8);
        let (sender, receiver) = (pair.client().association().unwrap(), pair.server().association().unwrap());
        let sent = pair.world.machine(pair.client).stats(sender).expect("it is up");
        let received = pair.world.machine(pair.server).stats(receiver).expect("it is up");
        assert_eq!(pair.server().received.len(), count, "{self:?}");
        Outcome {
            last: pair.server().received.last().expect("all came").0,
            gap: pair.server().longest_gap(at(1000), pair.world.now()).0,
            chunks: u32::try_from(sent.data_sent).expect("not so many"),
            twice: received.duplicates_received,
            moves: pair.client().moves().len(),
        }
    }

    fn messages(self, trouble: impl FnOnce(&mut Pair)) -> Outcome {
        self.run(millis(150), PACKET * PACKETS, MESSAGES, trouble)
    }

    /// A record every 5 ms.
    fn records(self, trouble: impl FnOnce(&mut Pair)) -> Outcome {
        self.run(millis(5), 1000, 600, trouble)
    }
}

fn swallow(pair: &mut Pair, chosen: impl Fn(u32) -> bool + Send + 'static, times: u32) {
    pair.world.set_intruder(Some(Box::new(Swallower::of(chosen, times))));
}

/// The places of one row of the table.
fn places(rtt: u64, networks: usize) -> impl Iterator<Item = Place> {
    (0..SEEDS).map(move |seed| Place { rtt, networks, seed })
}

/// The last 1, 3 or 10 packets of the last message are lost.
#[test]
fn a_lost_tail() {
    let mut told = String::new();
    let mut good = true;
    for (networks, rtt, packets) in rows() {
        let (mut late, mut twice) = (Vec::new(), 0);
        for place in places(rtt, networks) {
            let whole = place.messages(|_| ());
            let first = whole.chunks - CHUNKS * packets;
            let lossy = place.messages(|pair| swallow(pair, move |number| number >= first, 1));
            late.push(lossy.last.saturating_since(whole.last));
            twice = twice.max(lossy.twice);
            assert_eq!((whole.twice, whole.moves + lossy.moves), (0, 0), "{place:?}");
        }
        late.sort_unstable();
        let (median, worst) = (late[late.len() / 2], late[late.len() - 1]);
        // The peer keeps back a SACK for 20 ms where an odd number of packets arrives, or one is in flight.
        let kept_back = if packets == 10 { 0 } else { 20 };
        // The probe is a chunk of three. By one network half of the window leaves at first that has lost ten packets.
        let again = match (networks, packets) {
            (1, 3) => rtt,
            (1, 10) => 2 * rtt,
            _ => 0,
        };
        // The jitter and what ten packets take.
        let bound = 2 * rtt + 10 + 4 + kept_back + again;
        good &= median <= millis(bound) && worst <= millis(bound + 5);
        // The packet that is probed for has arrived, and its SACK is kept back; two networks carry a copy of a chunk each time.
        good &= twice <= if networks == 1 { 1 } else { 3 };
        told += &format!(
            "{networks} networks, {rtt} ms, {packets} packets: {median:?}, {worst:?} at most, {twice} twice\n"
        );
    }
    assert!(good, "{told}");
}

/// How many networks, their round trip, ms, and how many packets are lost.
fn rows() -> impl Iterator<Item = (usize, u64, u32)> {
    let of = |(networks, rtt)| [1, 3, 10].map(|packets| (networks, rtt, packets));
    [1, 2].into_iter().flat_map(|networks| [20, 50, 100].map(|rtt| (networks, rtt))).flat_map(of)
}

/// A chunk is lost, and so is its retransmission: what was sent after each of them tells.
#[test]
fn a_lost_retransmission() {
    let mut told = String::new();
    let mut good = true;
    for networks in [1, 2] {
        for rtt in [20, 50, 100] {
            let (mut worst, mut twice) = (Duration::ZERO, 0);
            for place in places(rtt, networks) {
                let lossy = place.records(|pair| swallow(pair, |number| number == 400, 2));
                worst = worst.max(lossy.gap);
                twice = twice.max(lossy.twice);
                assert_eq!(lossy.moves, 0, "{place:?}");
            }
            // Each time a round trip, a quarter of it to be out of order, and two records, for which the peer sends a SACK.
            good &= worst <= millis(rtt * 5 / 2 + 2 * 10 + 5) && twice == 0;
            told += &format!("{networks} networks, {rtt} ms: {worst:?}, {twice} twice\n");
        }
    }
    assert!(good, "{told}");
}

/// For 300 ms no SACK comes through by the network in use.
#[test]
fn sacks_that_are_lost_for_300_ms() {
    let mut told = String::new();
    let mut good = true;
    for networks in [1, 2] {
        for rtt in [20, 50, 100] {
            let (mut worst, mut twice, mut moves) = (Duration::ZERO, 0, 0);
            for place in places(rtt, networks) {
                let deaf = place.records(|pair| {
                    let begin = at(2000 + 3 * place.seed);
                    pair.change(0, Side::BtoA, begin, Change::Loss(Loss::Bernoulli(1.0)));
                    pair.change(0, Side::BtoA, begin + millis(300), Change::Loss(Loss::None));
                });
                worst = worst.max(deaf.gap);
                twice = twice.max(deaf.twice);
                moves = moves.max(deaf.moves);
            }
            // Everything arrives, but by one network no more than a window until T3-rtx is answered: it expires after 200 ms and 400 ms more.
            // By the other one the probe is answered, after PTO. There is one at a time, each for a round trip; what its answer calls lost
            // is a chunk or two more in all.
            let most = if networks == 1 { 200 + 400 + rtt } else { rtt + 10 };
            good &= worst <= millis(most) && twice <= 300 / rtt + 3 && moves == 0;
            told += &format!("{networks} networks, {rtt} ms: {worst:?}, {twice} twice, {moves} moves\n");
        }
    }
    assert!(good, "{told}");
}

/// The network in use, of two, breaks without a word while there is a record every 5 ms, or as much as the network carries: the longest time
/// without a message. The other one has a round trip of `other` ms.
fn broken(bulk: bool, other: u64, seed: u64) -> Duration {
    let place = Place { rtt: 20, networks: 2, seed };
    let mut client = User::client(&remotes(2));
    if bulk {
        client = client.queueing(60_000, 1000);
    } else {
        client.tick(millis(5), 1000, 1000);
    }
    let queue = QueueLimit::bytes(whimbrel_testbed::bulk::Place::capacity(20, 20));
    let slow = |one| LinkConfig { rate_bps: Some(20_000_000), queue, ..one };
    let mut links: Vec<_> = place.links().into_iter().map(slow).collect();
    links[1].delay = millis(other) / 2;
    let mut pair = Pair::new(seed, Config::mobile(), &links, client, User::server());
    pair.cut(0, Instant::from_nanos(3_000_000_000 + seed * 700_000));
    pair.run(5);
    pair.server().longest_gap(at(2900), pair.world.now()).0
}

#[test]
fn a_silent_break() {
    let mut told = String::new();
    let mut good = true;
    for bulk in [false, true] {
        let mut gaps: Vec<Duration> = (0..40).map(|seed| broken(bulk, 20, seed)).collect();
        gaps.sort_unstable();
        let (median, worst) = (gaps[20], gaps[39]);
        // With the jitter a round trip is 21 ms. What is probed for has arrived, its SACK has not: PTO, the answer by the other network, and for
        // records two intervals, as the SACK comes with the second. The queue is a round trip more, and what was sent within the last
        // one is not overdue by the first answer.
        let most = if bulk { 2 * (2 * 21 + 10 + 21) } else { 21 + 10 + 21 + 2 * 5 + 1 };
        good &= median <= millis(60) && worst <= millis(most);
        told += &format!("bulk {bulk}: median {median:?}, {worst:?} at most\n");
    }
    assert!(good, "{told}");
}

/// The answer to the probe takes longer by the other network than by the one in use: that the copy of the probe is not answered there in time tells sooner.
#[test]
fn a_silent_break_beside_a_slow_network() {
    let mut told = String::new();
    let mut good = true;
    for other in [60, 80, 100] {
        let mut gaps: Vec<Duration> = (0..40).map(|seed| broken(false, other, seed)).collect();
        gaps.sort_unstable();
        let (median, worst) = (gaps[20], gaps[39]);
        // PTO for the probe and for its copy, half a round trip of the other network, and two records.
        let most = 2 * (21 + 10) + other / 2 + 2 * 5;
        good &= worst <= millis(most);
        told += &format!("{other} ms: median {median:?}, {worst:?} at most\n");
    }
    assert!(good, "{told}");
}
