//! Two nodes that move, in the network in virtual time: nothing is lost, whatever the packets meet on the way.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, LinkFact, Seed};
use whimbrel_netsim::{Action, LinkConfig, Loss, World};
use whimbrel_node::Node;
use whimbrel_proto::AddressChange::{self, Add, Delete, SetPrimary};
use whimbrel_proto::{Command, Config, Event, PathState};
use whimbrel_testbed::{CLIENT, Pair, SERVER, UDP_PORT, Uplink, User, link, message, uplink_address as at};

/// A mobile host with two access networks, and a host that may have two, with a router between. The first address of each
/// is up from the beginning.
struct Roaming(Pair);

impl Roaming {
    fn new(seed: u64, config: &Config, access: LinkConfig, messages: usize) -> Self {
        let mut client = User::client(&[at(SERVER, 0)]);
        client.outbox = (0..messages).map(|n| message((n % 4) as u16, n, 1000)).collect();
        let (links, users) = ([access; 2], [client, User::server()]);
        let mut pair = Pair::around_router(seed, config.clone(), [(1, &links[..]); 2], users, |_, node| node);
        let hosts = [pair.client, pair.server];
        pair.world.run_until_or(Instant::from_nanos(60_000_000_000), |world| {
            hosts.iter().all(|&host| world.app(host).association().is_some())
        });
        Self(pair)
    }

    fn run(&mut self, milliseconds: u64) {
        self.0.world.run_for(Duration::from_millis(milliseconds));
    }

    fn user(&self, host: usize) -> &User {
        self.0.user(host)
    }

    fn fact(&mut self, host: usize, fact: LinkFact) {
        self.0.world.act(Action::Fact(self.0.uplinks[host][0].host, fact));
    }

    fn change(&mut self, host: usize, changes: &[AddressChange]) {
        let association = self.user(host).association().expect("up");
        let command = Command::ChangeAddresses { association, changes: changes.to_vec() };
        self.0.world.act(Action::Command(self.0.uplinks[host][0].host, command));
    }

    /// Something happens to an uplink, now.
    fn now(&mut self, host: usize, n: usize, happens: fn(Uplink, &mut World<Node, User>, Instant)) {
        let now = self.0.world.now();
        happens(self.0.uplinks[host][n], &mut self.0.world, now);
        self.run(0);
    }

    /// Makes before breaking: both addresses for `overlap` milliseconds.
    fn move_softly(&mut self, host: usize, from: usize, to: usize, overlap: u64) {
        self.now(host, to, Uplink::enter);
        self.change(host, &[Add(at(host, to))]);
        self.run(overlap / 2);
        self.change(host, &[SetPrimary(at(host, to).ip())]);
        self.prefer(host, to);
        self.run(overlap / 2);
        self.change(host, &[Delete(at(host, from).ip())]);
        self.run(overlap / 2);
        self.now(host, from, Uplink::leave);
    }

    /// Breaks before making: no address for `gap` milliseconds.
    fn move_hard(&mut self, host: usize, from: usize, to: usize, gap: u64) {
        self.now(host, from, Uplink::leave);
        self.run(gap);
        self.now(host, to, Uplink::enter);
        let (old, new) = (at(host, from), at(host, to));
        self.change(host, &[Add(new), Delete(old.ip()), SetPrimary(new.ip())]);
    }

    /// Makes the best path from address `n` the primary one.
    fn prefer(&mut self, host: usize, n: usize) {
        let association = self.user(host).association().expect("up");
        let paths = self.0.paths(host).into_iter().filter(|path| path.state == PathState::Active);
        if let Some(path) =
            paths.map(|path| (path.id, path.route.local.ip())).find(|(_, ip)| *ip == at(host, n).ip())
        {
            let command = Command::SetPrimary { association, path: path.0 };
            self.0.world.act(Action::Command(self.0.uplinks[host][0].host, command));
        }
    }

    /// Everything arrives, once and in order of its stream.
    #[track_caller]
    fn assert_all_arrives(&mut self, messages: usize, seconds: u64) {
        let limit = self.0.world.now() + Duration::from_secs(seconds);
        let server = self.0.server;
        self.0.world.run_until_or(limit, |world| world.app(server).received.len() == messages);
        let events = |host: usize| self.user(host).events.iter().rev().take(12).collect::<Vec<_>>();
        assert_eq!(
            self.user(SERVER).received.len(),
            messages,
            "{:#?}\n{:#?}",
            events(CLIENT),
            events(SERVER)
        );
        for stream in 0..4_u16 {
            let wanted = (0..messages)
                .filter(|n| n % 4 == usize::from(stream))
                .map(|n| message(stream, n, 1000).payload);
            let got = self
                .user(SERVER)
                .received
                .iter()
                .filter(|(_, r)| r.stream.0 == stream)
                .map(|(_, r)| &r.payload);
            assert!(wanted.eq(got.cloned()), "stream {stream}");
        }
        assert!(!self.user(CLIENT).closed() && !self.user(SERVER).closed());
    }

    fn timeouts(&self, host: usize) -> u64 {
        self.0.paths(host).iter().map(|path| path.counters.timeouts).sum()
    }

    fn paths(&self, host: usize) -> usize {
        self.0.paths(host).len()
    }
}

fn refused(user: &User) -> Vec<&Event> {
    let refused = |event: &&Event| matches!(event, Event::AddressChanged { outcome: Err(_), .. });
    user.events.iter().map(|(_, event)| event).filter(refused).collect()
}

/// Two interfaces, both up for a while: bulk data moves without a timeout. (New data may overtake old on the way, and be taken
/// for evidence of loss: a path that goes takes its counters with it, so that is not looked at.)
#[test]
fn make_before_break_loses_nothing() {
    let mut roaming = Roaming::new(1, &Config::mobile(), link(20, 10), 3000);
    roaming.run(300);
    roaming.move_softly(CLIENT, 0, 1, 400);
    roaming.assert_all_arrives(3000, 30);
    assert_eq!(roaming.timeouts(CLIENT), 0);
    assert_eq!(refused(roaming.user(CLIENT)), Vec::<&Event>::new());
    assert_eq!((roaming.paths(CLIENT), roaming.paths(SERVER)), (1, 1));
}

/// One address at a time, with nothing in between: data goes on one round trip after the new address is up.
#[test]
fn break_before_make_goes_on_after_one_round_trip() {
    let mut roaming = Roaming::new(2, &Config::mobile(), link(20, 10), 3000);
    roaming.run(300);
    roaming.move_hard(CLIENT, 0, 1, 500);
    let up = roaming.0.world.now();
    let before = roaming.user(SERVER).received.len();
    // There is ASCONF (20 ms), ASCONF-ACK (20 ms), DATA (20 ms), and what is in the queue of the link.
    let server = roaming.0.server;
    roaming
        .0
        .world
        .run_until_or(up + Duration::from_secs(5), |world| world.app(server).received.len() > before);
    let gap = roaming.0.world.now().saturating_since(up);
    assert!(gap <= Duration::from_millis(75), "{gap:?}");
    roaming.assert_all_arrives(3000, 30);
    assert_eq!(refused(roaming.user(CLIENT)), Vec::<&Event>::new());
}

/// Twenty moves back and forth under load, hard and soft, over links that lose packets, ASCONF and ASCONF-ACK among them.
#[test]
fn twenty_moves_over_lossy_links() {
    for seed in 0..5 {
        let lossy =
            LinkConfig { loss: Loss::Bernoulli(0.03), jitter: Duration::from_millis(3), ..link(20, 10) };
        let mut roaming = Roaming::new(seed, &Config::mobile(), lossy, 12_000);
        roaming.run(500);
        for n in 0..20 {
            let (from, to) = (n % 2, 1 - n % 2);
            if n % 3 == 0 {
                roaming.move_hard(CLIENT, from, to, 100);
            } else {
                roaming.move_softly(CLIENT, from, to, 600);
            }
            roaming.run(300);
        }
        roaming.assert_all_arrives(12_000, 120);
        assert!(roaming.paths(CLIENT) <= 2 && roaming.paths(SERVER) <= 2);
    }
}

/// Both ends move at the same moment, each while the other can still be reached at its old address.
#[test]
fn both_ends_move_at_once() {
    for seed in 0..5 {
        let lossy = LinkConfig { loss: Loss::Bernoulli(0.02), ..link(20, 10) };
        let mut roaming = Roaming::new(seed, &Config::mobile(), lossy, 4000);
        roaming.run(300);
        for host in [CLIENT, SERVER] {
            roaming.fact(host, LinkFact::AddressUp(at(host, 1)));
            roaming.change(host, &[Add(at(host, 1)), SetPrimary(at(host, 1).ip())]);
        }
        roaming.run(600);
        for host in [CLIENT, SERVER] {
            roaming.change(host, &[Delete(at(host, 0).ip())]);
        }
        roaming.run(1500);
        for host in [CLIENT, SERVER] {
            roaming.now(host, 0, Uplink::leave);
        }
        roaming.assert_all_arrives(4000, 60);
        assert_eq!((roaming.paths(CLIENT), roaming.paths(SERVER)), (1, 1));
    }
}

/// Both ends change their only address at once, and each has gone from where the other looks for it. No request can
/// arrive: RFC 5061 has no answer to that. When one of them finds its old network again, everything goes on.
#[test]
fn both_ends_break_at_once_and_one_comes_back() {
    let mut config = Config::mobile();
    config.failure.association = whimbrel_proto::AssociationFailure::Errors(60);
    let mut roaming = Roaming::new(3, &config, link(20, 10), 2000);
    roaming.run(300);
    roaming.now(SERVER, 0, Uplink::cut);
    roaming.move_hard(CLIENT, 0, 1, 10);
    roaming.run(3000);
    assert!(roaming.user(SERVER).received.len() < 2000);
    roaming.now(SERVER, 0, Uplink::heal);
    roaming.assert_all_arrives(2000, 60);
}

/// The link that fails without a word: the repetition of ASCONF takes the other one, which is not acknowledged yet.
#[test]
fn a_silent_break_while_the_new_address_is_being_added() {
    let mut roaming = Roaming::new(4, &Config::mobile(), link(20, 10), 2000);
    roaming.run(300);
    roaming.now(CLIENT, 0, Uplink::cut);
    roaming.fact(CLIENT, LinkFact::AddressUp(at(CLIENT, 1)));
    roaming.change(CLIENT, &[Add(at(CLIENT, 1)), SetPrimary(at(CLIENT, 1).ip())]);
    roaming.assert_all_arrives(2000, 30);
}

/// The address itself changes on one interface, as with a new lease.
#[test]
fn an_interface_gets_another_address() {
    let mut roaming = Roaming::new(5, &Config::mobile(), link(20, 10), 2000);
    roaming.run(300);
    let (old, new) = (at(CLIENT, 0), SocketAddr::from(([10, 1, 0, 77], UDP_PORT)));
    roaming.0.world.act(Action::RemoveAddress(roaming.0.uplinks[CLIENT][0].interface, old.ip()));
    roaming.0.world.act(Action::AddAddress(roaming.0.uplinks[CLIENT][0].interface, new.ip()));
    roaming.fact(CLIENT, LinkFact::AddressDown(old));
    roaming.fact(CLIENT, LinkFact::AddressUp(new));
    roaming.change(CLIENT, &[Add(new), Delete(old.ip()), SetPrimary(new.ip())]);
    roaming.assert_all_arrives(2000, 30);
}

/// Random wishes and facts in any order: addresses, paths and answers agree afterwards, nothing panics, nothing grows.
#[test]
fn random_changes_leave_both_ends_agreeing() {
    for seed in 0..30 {
        let mut rng = Seed::from_u64(seed).stream("changes", 0);
        let lossy = LinkConfig { loss: Loss::Bernoulli(0.05), ..link(20, 5) };
        let mut roaming = Roaming::new(seed, &Config::mobile(), lossy, 3000);
        roaming.run(500);
        for _ in 0..60 {
            let (host, n) = (rng.below(2) as usize, rng.below(2) as usize);
            let local = at(host, n);
            match rng.below(8) {
                0 | 1 => roaming.fact(host, LinkFact::AddressUp(local)),
                2 => roaming.fact(host, LinkFact::AddressDown(local)),
                3 | 4 => roaming.change(host, &[Add(local)]),
                5 => roaming.change(host, &[Delete(local.ip())]),
                6 => roaming.change(host, &[SetPrimary(local.ip()), Add(at(host, 1 - n))]),
                _ => {
                    roaming.change(host, &[Add(local), Delete(at(host, 1 - n).ip()), SetPrimary(local.ip())])
                }
            }
            roaming.run(rng.below(200));
            for host in [CLIENT, SERVER] {
                assert!((1..=4).contains(&roaming.paths(host)));
            }
        }
        // Everything up again, and every address part of the association.
        for host in [CLIENT, SERVER] {
            for n in [0, 1] {
                roaming.fact(host, LinkFact::AddressUp(at(host, n)));
            }
        }
        // Twice, as the first time they may share a chunk with an older change that is refused (F11).
        for _ in 0..2 {
            for host in [CLIENT, SERVER] {
                roaming.change(host, &[Add(at(host, 0)), Add(at(host, 1))]);
            }
            roaming.run(20_000);
        }
        roaming.assert_all_arrives(3000, 120);
        for host in [CLIENT, SERVER] {
            assert_eq!(roaming.paths(host), 4, "seed {seed}: {:#?}", refused(roaming.user(host)));
            let asked =
                roaming.user(host).events.iter().filter(|(_, e)| matches!(e, Event::AddressChanged { .. }));
            assert!(asked.count() > 0);
        }
    }
}
