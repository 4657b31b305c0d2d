//! Two associations that are one: INIT collisions and restarts (RFC 9260 §5.2).

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::{Instant, Seed};
use whimbrel_proto::{AssociationId, Command, Config, ConnectToken, Event};
use whimbrel_wire::{Cause, Chunk, CookieAck, CookieEcho, Parameter, cause_code};

use whimbrel_testbed::peer::{
    self, Bench, Peer, Sent, assert_alive, cause_codes, ip, node_address, peer_address, quiet,
};

const PORTS: [u16; 2] = [5001, 5002];

fn addresses() -> [SocketAddr; 2] {
    [node_address(1), peer_address(1)]
}

/// Two nodes and the packets between them, delivered in any order one likes.
struct Collision {
    nodes: [Bench; 2],
    /// To node 0 and to node 1.
    wires: [VecDeque<Sent>; 2],
}

impl Collision {
    fn new(seed: u64) -> Self {
        let bench = |n: usize| {
            Bench::seeded(Seed::from_u64(seed).child("node", n as u64), quiet(), vec![addresses()[n]])
        };
        Self { nodes: [bench(0), bench(1)], wires: [VecDeque::new(), VecDeque::new()] }
    }

    /// Puts what a node has sent on its way.
    fn collect(&mut self, n: usize) {
        self.wires[1 - n].extend(self.nodes[n].take());
    }

    fn command(&mut self, n: usize, command: Command) {
        self.nodes[n].command(command);
        self.collect(n);
    }

    fn connect(&mut self, n: usize) {
        self.command(n, Command::Listen { port: PORTS[n] });
        let connect = Command::Connect {
            token: ConnectToken(n as u64),
            remote: vec![addresses()[1 - n]],
            remote_port: PORTS[1 - n],
            local_port: Some(PORTS[n]),
        };
        self.command(n, connect);
    }

    /// Delivers the next packet to node `n`; false if there is none.
    fn deliver(&mut self, n: usize) -> bool {
        let Some(sent) = self.wires[n].pop_front() else { return false };
        self.nodes[n].deliver_on(sent.route.reversed(), &sent.bytes);
        self.collect(n);
        true
    }

    /// Delivers so many packets, each to the node that its bit of `order` says, or to the other one if there is none for that.
    fn deliver_in(&mut self, order: u32, packets: usize) {
        for packet in 0..packets {
            let n = (order >> packet & 1) as usize;
            if !self.deliver(n) {
                self.deliver(1 - n);
            }
        }
    }

    fn settle(&mut self) {
        for _ in 0..200 {
            if self.deliver(0) || self.deliver(1) {
                continue;
            }
            let next = self.nodes.iter().filter_map(Bench::deadline).min();
            let Some(at) = next.filter(|&at| at < Instant::from_nanos(20_000_000_000)) else { break };
            for n in 0..2 {
                self.nodes[n].pass(at.saturating_since(self.nodes[n].now));
                self.collect(n);
            }
        }
    }

    fn association(&self, n: usize) -> AssociationId {
        assert_eq!(self.nodes[n].ups(), 1, "node {n}: {:?}", self.nodes[n].events);
        self.nodes[n].association()
    }

    /// There is one association, both know it, and data passes both ways.
    fn assert_one_association(&mut self, what: &str) {
        for n in 0..2 {
            assert_eq!(self.nodes[n].node.association_count(), 1, "{what}");
            self.association(n);
            self.nodes[n].send(0, &[n as u8; 100]);
            self.collect(n);
        }
        self.settle();
        for n in 0..2 {
            assert_eq!(self.nodes[n].received(), [[1 - n as u8; 100]], "{what}");
            assert_eq!((self.nodes[n].closed(), self.nodes[n].restarts()), (None, 0), "{what}");
        }
    }
}

/// RFC 9260 §5.2.1, §5.2.4 B, D: both connect at once. Every order in which the first ten packets can be delivered ends in
/// one association on both sides.
#[test]
fn inits_collide_in_every_order() {
    for order in 0..1024_u32 {
        let mut pair = Collision::new(u64::from(order));
        pair.connect(0);
        pair.connect(1);
        pair.deliver_in(order, 10);
        pair.settle();
        pair.assert_one_association(&format!("order {order:010b}"));
    }
}

/// RFC 9260 §5.2.1, §5.2.4: as above, but one of the first packets is lost, so that timers take part.
#[test]
fn inits_collide_with_a_loss() {
    for order in 0..256_u32 {
        for lost in 0..8 {
            let mut pair = Collision::new(u64::from(order) << 8 | lost);
            pair.connect(0);
            pair.connect(1);
            for step in 0..8 {
                let mut n = (order >> step & 1) as usize;
                if pair.wires[n].is_empty() {
                    n = 1 - n;
                }
                if u64::from(step as u32) == lost {
                    pair.wires[n].pop_front();
                } else {
                    pair.deliver(n);
                }
            }
            pair.settle();
            pair.assert_one_association(&format!("order {order:08b}, packet {lost} lost"));
        }
    }
}

/// RFC 9260 §5.2.1: one connects after it has already answered the other's INIT, so that it has two tags in the air.
#[test]
fn a_connect_after_the_answer_to_an_init() {
    for order in 0..256_u32 {
        let mut pair = Collision::new(u64::from(order));
        pair.command(1, Command::Listen { port: PORTS[1] });
        pair.connect(0);
        pair.deliver(1);
        pair.connect(1);
        pair.deliver_in(order, 8);
        pair.settle();
        pair.assert_one_association(&format!("order {order:08b}"));
    }
}

/// RFC 9260 §5.2.4 C, §5.3.1: both have begun at once, so that there are two cookies. That of which the association was not made
/// arrives when it is over, and makes no second one, which only one side would know. Who begins anew, and so with another tag, may.
#[test]
fn the_other_cookie_that_comes_after_the_end_makes_no_association() {
    let mut pair = Collision::new(1);
    pair.command(1, Command::Listen { port: PORTS[1] });
    pair.connect(0);
    pair.deliver(1);
    pair.connect(1);
    // INIT ACK to the first, whose COOKIE ECHO is late.
    pair.deliver(0);
    let late = pair.wires[1].pop_front().unwrap();
    pair.settle();
    let association = pair.association(1);
    pair.command(1, Command::Shutdown { association });
    pair.settle();
    assert_eq!([0, 1].map(|n: usize| pair.nodes[n].node.association_count()), [0, 0]);
    pair.wires[1].push_back(late);
    pair.settle();
    assert_eq!([0, 1].map(|n: usize| pair.nodes[n].node.association_count()), [0, 0]);
    pair.association(1);
    pair.connect(0);
    pair.settle();
    assert_eq!([0, 1].map(|n: usize| pair.nodes[n].node.association_count()), [1, 1]);
}

// ---- restarts

/// RFC 9260 §5.2.2, §5.2.4 A: the peer has restarted. Until its cookie comes nothing changes; then the user is told,
/// the name stays, and everything begins anew.
#[test]
fn a_restart_is_recognised_by_its_tie_tags() {
    let (mut bench, peer) = Peer::connected(quiet());
    let association = bench.association();
    bench.send(0, b"lost with the old life");
    bench.take();
    let mut again = Peer { tag: 0x9999, ..Peer::with_initial_tsn(5) };
    again.begin(&mut bench, &[]);
    assert_ne!(again.node_tag, peer.node_tag);
    assert_alive(&mut bench, &peer);
    assert_eq!(bench.restarts(), 0);
    let sent = bench.ask(&again.cookie_echo());
    assert_eq!(sent[0].chunks()[0], Chunk::CookieAck);
    assert_eq!(sent[0].tag(), 0x9999);
    let restarted = bench.events.iter().find_map(|event| match event {
        Event::Restarted { association, undelivered, .. } => Some((*association, *undelivered)),
        _ => None,
    });
    assert_eq!(restarted, Some((association, 22)));
    assert_eq!((bench.ups(), bench.node.association_count()), (1, 1));
    let hello = again.data(0, 0, b"hello again");
    bench.deliver(&again.packet(&[&hello]));
    assert_eq!(bench.received(), [b"hello again"]);
    assert_alive(&mut bench, &again);
    // The old life's tag is nothing any more.
    assert!(bench.ask(&peer.packet(&[&whimbrel_wire::Heartbeat { info: b"x" }])).is_empty());
}

/// What was counted stays counted, whatever becomes of the association.
#[test]
fn totals_outlive_restarts_and_the_end() {
    let (mut bench, _) = Peer::connected(quiet());
    let association = bench.association();
    bench.send(0, b"lost with the old life");
    bench.take();
    let totals = |bench: &Bench| {
        let stats = bench.node.totals().stats;
        (stats.messages_sent, stats.data_sent, stats.messages_received, stats.send_queued)
    };
    assert_eq!(totals(&bench), (1, 1, 0, 22));
    let mut again = Peer { tag: 0x9999, ..Peer::with_initial_tsn(5) };
    again.begin(&mut bench, &[]);
    bench.ask(&again.cookie_echo());
    assert_eq!(bench.restarts(), 1);
    assert_eq!(bench.node.stats(association).unwrap().messages_sent, 0, "it begins anew");
    assert_eq!(totals(&bench), (1, 1, 0, 0));
    let hello = again.data(0, 0, b"hello again");
    bench.deliver(&again.packet(&[&hello]));
    assert_eq!(totals(&bench), (1, 1, 1, 0));
    bench.command(Command::Abort { association, reason: b"enough"[..].into() });
    assert_eq!(bench.node.association_count(), 0);
    assert_eq!(totals(&bench), (1, 1, 1, 0));
}

/// RFC 9260 §5.2.2, RFC 5062 §4: a restart that brings new addresses would hand the association to a stranger; it is
/// aborted, and the ABORT names them.
#[test]
fn a_restart_with_added_addresses_is_aborted() {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[ip("10.0.2.2")]);
    bench.take();
    let again = Peer { tag: 0x9999, ..Peer::new() };
    let listed = ["10.0.2.2", "10.0.3.2"].map(|text| Parameter::from(ip(text)));
    let sent = bench.ask(&again.init(&listed));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].tag(), 0x9999);
    let Chunk::Abort(abort) = sent[0].only() else { panic!("{sent:?}") };
    let Some(Ok(Cause::RestartWithNewAddresses(bytes))) = { abort.causes }.next() else { panic!() };
    assert_eq!(bytes[..8], [0, 5, 0, 8, 10, 0, 3, 2]);
    assert_alive(&mut bench, &peer);
    // From a new address that lists an old one: the same (§5.1.2 D).
    let mut stranger = peer::route();
    stranger.remote.set_ip(ip("203.0.113.5"));
    bench.take();
    bench.deliver_on(stranger, &again.init(&[Parameter::from(ip("10.0.1.2"))]));
    assert_eq!(cause_codes(&bench.take()), [cause_code::RESTART_WITH_NEW_ADDRESSES]);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §5.2.1: the same in COOKIE-ECHOED, where the INIT ACK has said which addresses there are. The handshake goes on.
#[test]
fn an_init_with_added_addresses_in_cookie_echoed_is_aborted() {
    let (mut bench, peer) = Peer::called(quiet());
    bench.deliver(&peer.init_ack(&[Parameter::StateCookie(b"cookie")]));
    bench.take();
    let sent = bench.ask(&peer.init(&[Parameter::from(ip("10.0.3.2"))]));
    assert_eq!(cause_codes(&sent), [cause_code::RESTART_WITH_NEW_ADDRESSES]);
    assert!(
        matches!(bench.ask(&peer.init(&[]))[0].only(), Chunk::InitAck(_)),
        "without it there is an answer"
    );
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
}

/// RFC 9260 §5.2.4 A: a restart with fewer addresses is none of anybody's business; the dropped one is no path any more.
#[test]
fn a_restart_with_fewer_addresses_is_fine() {
    let mut bench = Bench::with_addresses(quiet(), 2);
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[ip("10.0.2.2")]);
    assert_eq!(bench.paths().len(), 2);
    let mut again = Peer { tag: 0x9999, ..Peer::new() };
    again.begin(&mut bench, &[]);
    bench.deliver(&again.cookie_echo());
    assert_eq!((bench.restarts(), bench.paths().len()), (1, 1));
}

/// RFC 9260 §5.2.4: the cookie of a restart does it once. Replayed, it is the current association's own (D).
#[test]
fn a_replayed_restart_restarts_nothing() {
    let (mut bench, peer) = Peer::connected(quiet());
    let old_echo = peer.cookie_echo();
    let mut again = Peer { tag: 0x9999, ..Peer::new() };
    again.begin(&mut bench, &[]);
    bench.deliver(&again.cookie_echo());
    bench.deliver(&again.cookie_echo());
    assert_eq!(bench.restarts(), 1);
    // The first life's cookie: neither tags nor tie-tags are right, discarded (§5.2.4, not in the table).
    assert!(bench.ask(&old_echo).is_empty());
    assert_eq!(bench.restarts(), 1);
    assert_alive(&mut bench, &again);
}

/// RFC 9260 §5.2.4 C: the cookie of an INIT that came before the association there is; tags and tie-tags say nothing
/// about a restart.
#[test]
fn a_late_cookie_from_before_the_association_is_discarded() {
    let mut bench = Bench::new(quiet());
    let mut early = Peer { tag: 0x5555, ..Peer::new() };
    early.begin(&mut bench, &[]);
    let mut peer = Peer::new();
    peer.connect(&mut bench);
    assert!(bench.ask(&early.cookie_echo()).is_empty());
    // The same tag of the peer, another of ours.
    let mut same = Bench::new(quiet());
    let mut first = Peer::new();
    first.begin(&mut same, &[]);
    let mut second = Peer::new();
    second.connect(&mut same);
    assert!(same.ask(&first.cookie_echo()).is_empty());
    for (bench, peer) in [(&mut bench, &peer), (&mut same, &second)] {
        assert_eq!((bench.ups(), bench.restarts()), (1, 0));
        assert_alive(bench, peer);
    }
}

/// RFC 9260 §5.2.4 step 3: a restart cookie may be stale as well.
#[test]
fn a_stale_restart_is_reported() {
    let (mut bench, peer) = Peer::connected(quiet());
    let mut again = Peer { tag: 0x9999, ..Peer::new() };
    again.begin(&mut bench, &[]);
    for _ in 0..13 {
        bench.pass(Duration::from_secs(5));
        assert_alive(&mut bench, &peer);
    }
    let sent = bench.ask(&again.packet(&[&CookieEcho { cookie: &again.cookie.clone() }]));
    assert_eq!(cause_codes(&sent), [cause_code::STALE_COOKIE]);
    assert_eq!(bench.restarts(), 0);
    assert_alive(&mut bench, &peer);
}

/// RFC 9260 §5.2.1: an INIT that meets COOKIE-WAIT from an address the user did not name is not answered.
#[test]
fn an_init_from_an_unnamed_address_in_cookie_wait_is_not_answered() {
    let mut bench = Bench::new(Config::rfc());
    bench.connect(&[peer_address(1)]);
    bench.take();
    let mut stranger = peer::route();
    stranger.remote.set_ip(ip("203.0.113.5"));
    let peer = Peer::new();
    bench.deliver_on(stranger, &peer.init(&[Parameter::from(ip("10.0.1.2"))]));
    assert!(bench.take().is_empty());
    assert!(matches!(bench.ask(&peer.init(&[]))[0].only(), Chunk::InitAck(_)));
}
