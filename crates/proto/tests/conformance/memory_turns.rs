//! Messages that are larger than what an association may take of the endpoint's memory while others want it, too.

use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Action, Change, HostId, InFlight, LinkId, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{CloseReason, Config, Event, LargeMessages};
use whimbrel_wire::{Chunk, Data, Tsn, cause_code};

use whimbrel_testbed::peer::crowd::{connected, from};
use whimbrel_testbed::peer::{Bench, Peer, Sent, cause_codes, data, quiet};
use whimbrel_testbed::{UDP_PORT, User, link};

const BUFFER: usize = 1 << 20;

fn config(buffer: usize, memory: usize) -> Config {
    let mut config = Config::mobile();
    config.limits.receive_buffer = buffer;
    config.limits.receive_memory = memory;
    config.limits.large_messages = LargeMessages::Refuse;
    config
}

/// A server, and clients that each send some messages to it.
struct Crowd {
    world: World<Node, User>,
    server: HostId,
    clients: Vec<(HostId, LinkId)>,
}

impl Crowd {
    fn new(seed: u64, config: &Config, clients: usize, messages: usize, bytes: usize) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        world.forgo_trace_hash();
        let router = world.add_router();
        let mut add = |n: usize, user: User, mbit: u64| {
            let [.., high, low] = n.to_be_bytes();
            let address = SocketAddr::from(([10, 1, high, low], UDP_PORT));
            let seed = world.seed().child("host", n as u64);
            let node = Node::new(Arc::new(config.clone()), seed, vec![address]);
            let host = world.add_host("host", node, user);
            let interface = world.add_interface(host, [address.ip()]);
            (host, world.add_link(interface, router, link(mbit, 10), link(mbit, 10)), address)
        };
        let (server, _, address) = add(1, User::server(), 1000);
        let clients = (0..clients).map(|n| {
            let mut user = User::client(&[address]);
            user.limit = usize::MAX;
            let (host, link, _) = add(n + 2, user.queueing(messages, bytes), 100);
            (host, link)
        });
        let clients = clients.collect();
        Self { world, server, clients }
    }

    fn run(&mut self, seconds: u64) {
        self.world.run_until(Instant::ZERO + Duration::from_secs(seconds));
    }

    fn arrived(&self) -> usize {
        self.world.app(self.server).received.len()
    }
}

/// Each gets half of its message, and then nothing, until one of them may finish, and the next.
#[test]
fn messages_that_fill_the_memory_together_arrive_one_after_another() {
    for seed in 1..=3 {
        let mut crowd = Crowd::new(seed, &config(BUFFER, 6 * BUFFER), 12, 3, 900_000);
        crowd.run(60);
        assert_eq!(crowd.arrived(), 36);
    }
}

/// Clients that have gone for good, with their messages half here, hold up the others for some seconds.
#[test]
fn who_goes_silent_is_passed_over() {
    let mut crowd = Crowd::new(7, &config(BUFFER, 16 * BUFFER), 40, 1, 900_000);
    for (n, &(_, link)) in crowd.clients.iter().enumerate().take(10) {
        let cut = Instant::ZERO + Duration::from_millis(650 + 50 * n as u64);
        crowd.world.schedule(cut, Action::Link(link, Side::Both, Change::Down(InFlight::Lost)));
    }
    crowd.run(25);
    assert!((30..40).contains(&crowd.arrived()), "{}", crowd.arrived());
}

/// Somebody who sends one message, byte by byte if need be, and never its end.
struct Sender {
    n: usize,
    peer: Peer,
    sent: u32,
    sacked: u32,
    a_rwnd: u32,
    /// Who else has been sent a SACK because of what it has sent last.
    told: Vec<usize>,
}

impl Sender {
    fn new(bench: &mut Bench, n: usize) -> Self {
        Self { n, peer: connected(bench, n), sent: 0, sacked: 0, a_rwnd: 0, told: Vec::new() }
    }

    /// Sends what comes next, 1400 bytes of it; true if that was taken.
    fn send(&mut self, bench: &mut Bench, ending: bool) -> bool {
        let tsn = self.peer.initial_tsn.plus(self.sent);
        let chunk =
            Data { beginning: self.sent == 0, ending, immediate: true, ..data(tsn, 0, 0, &[7; 1400]) };
        bench.take();
        bench.deliver_on(from(self.n), &self.peer.packet(&[&chunk]));
        let sent = bench.take();
        self.told = acknowledged(&sent).into_iter().filter(|&n| n != self.n).collect();
        self.hear(&sent);
        let taken = self.sacked > self.sent;
        self.sent += u32::from(taken);
        taken
    }

    fn hear(&mut self, sent: &[Sent]) {
        let sacks = sent.iter().filter(|sent| sent.route == from(self.n)).flat_map(Sent::chunks);
        for chunk in sacks {
            if let Chunk::Sack(sack) = chunk {
                let Tsn(ahead) = sack.cumulative_tsn_ack;
                self.sacked = ahead.wrapping_sub(self.peer.initial_tsn.0).wrapping_add(1);
                self.a_rwnd = sack.a_rwnd;
            }
        }
    }

    /// Sends until nothing is taken any more, `most` chunks at most.
    fn fill(&mut self, bench: &mut Bench, most: u32) {
        for _ in 0..most {
            if !self.send(bench, false) {
                return;
            }
        }
    }
}

const MEMORY: usize = 5 * BUFFER;

/// Nine that have filled their shares, and each wait for the turn.
fn nine() -> (Bench, Vec<Sender>) {
    let mut config = quiet();
    config.limits.receive_buffer = BUFFER;
    config.limits.receive_memory = MEMORY;
    config.limits.large_messages = LargeMessages::Refuse;
    let mut bench = Bench::new(config);
    let mut senders: Vec<Sender> = (0..9).map(|n| Sender::new(&mut bench, n)).collect();
    for _ in 0..400 {
        senders.iter_mut().for_each(|sender| sender.fill(&mut bench, 1));
    }
    bench.now += Duration::from_secs(1);
    (bench, senders)
}

/// Who is sent a SACK.
fn acknowledged(sent: &[Sent]) -> Vec<usize> {
    let to = |n: usize| {
        let mut chunks = sent.iter().filter(|sent| sent.route == from(n)).flat_map(Sent::chunks);
        chunks.any(|chunk| matches!(chunk, Chunk::Sack(_)))
    };
    (0..9).filter(|&n| to(n)).collect()
}

fn endings(bench: &Bench) -> Vec<CloseReason> {
    let closed = |event: &Event| match event {
        Event::Closed { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    bench.events.iter().filter_map(closed).collect()
}

fn held(senders: &[Sender]) -> usize {
    senders.iter().map(|sender| sender.sent as usize * 1400).sum()
}

/// One has the turn, and no other gets anything in meantime. What it does not use passes on after some seconds, and the next one is told.
#[test]
fn the_turn_passes_on_from_who_does_not_use_it() {
    let (mut bench, mut senders) = nine();
    let took = |bench: &mut Bench, senders: &mut [Sender]| -> Vec<usize> {
        let took = senders.iter_mut().filter_map(|sender| sender.send(bench, false).then_some(sender.n));
        took.collect()
    };
    let first = took(&mut bench, &mut senders);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(took(&mut bench, &mut senders), first);
    bench.now += Duration::from_secs(4);
    bench.take();
    bench.deliver_on(from(20), b"anything");
    let told = bench.take();
    let next = acknowledged(&told);
    assert_eq!(next.len(), 1);
    assert_ne!(next, first);
    let next = &mut senders[next[0]];
    next.hear(&told);
    assert!(next.a_rwnd > 100_000, "{}", next.a_rwnd);
    // It finishes, and somebody else is next.
    for _ in 0..100 {
        assert!(next.send(&mut bench, false));
    }
    assert!(next.send(&mut bench, true));
    assert_eq!(bench.received().len(), 1);
    assert!(endings(&bench).is_empty());
}

/// They use their turns to fill what they can get, and never finish. They get no more than the reserve for it; then those that have
/// it end, one after another, and whoever is honest comes to its turn.
#[test]
fn who_never_finishes_does_not_keep_the_memory() {
    let (mut bench, mut senders) = nine();
    let mut honest = senders.pop().expect("the last");
    let mut ends = Vec::new();
    for second in 0..200 {
        bench.now += Duration::from_secs(1);
        if bench.received().is_empty() {
            honest.fill(&mut bench, (700 - honest.sent).min(100));
            if honest.sent == 700 && honest.send(&mut bench, true) {
                ends.push(second);
            }
        }
        for sender in &mut senders {
            let most = 740 - sender.sent;
            sender.fill(&mut bench, most);
        }
        if endings(&bench).is_empty() {
            let all = held(&senders) + honest.sent as usize * 1400;
            assert!(all <= MEMORY, "{all} bytes");
        }
    }
    assert_eq!((bench.received().len(), ends.len()), (1, 1), "{}", honest.sent);
    assert!(ends[0] < 30, "after {} s, and not when silent peers are given up", ends[0]);
    let ended = endings(&bench);
    assert!((1..=8).contains(&ended.len()), "{}", ended.len());
    assert!(ended.iter().all(|why| *why == CloseReason::OutOfResource), "{ended:?}");
    assert!(!cause_codes(&bench.take()).contains(&cause_code::PROTOCOL_VIOLATION));
}

/// Who has been told that there is no room is silent because of that, and not given up for it.
#[test]
fn who_waits_for_its_turn_may_be_silent() {
    let (mut bench, mut senders) = nine();
    bench.now += Duration::from_secs(40);
    bench.take();
    bench.deliver_on(from(20), b"anything");
    let mut told = acknowledged(&bench.take());
    for left in (0..8).rev() {
        assert_eq!(told.len(), 1, "{left} are left");
        let next = &mut senders[told[0]];
        assert!(next.send(&mut bench, true), "{}", next.n);
        told = next.told.clone();
    }
    assert_eq!(bench.received().len(), 8);
}
