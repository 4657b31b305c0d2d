use core::net::SocketAddr;
use core::num::NonZeroU32;
use std::sync::Arc;

use bytes::Bytes;
use whimbrel_machine::{Instant, Route, Seed, Unreachable};
use whimbrel_wire::{AbortBuilder, CommonHeader};

use super::*;
use crate::association::single_chunk;
use crate::{AssociationId, CloseReason, Command, Config, ConnectToken, Event, Message, Shard, StreamId};

const PORT: u16 = 5001;
const NOW: Instant = Instant::ZERO;

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 9899))
}

/// How packets find the shards of a host.
#[derive(Clone, Copy)]
enum Steering {
    /// By the tag, an INIT to this shard.
    ByTag(usize),
    /// All to the first.
    None,
}

struct Host {
    address: SocketAddr,
    shards: Vec<Endpoint>,
    steering: Steering,
    events: Vec<(usize, Event)>,
    handed_over: usize,
    /// Copies of what has arrived.
    arrived: Vec<(Route, Vec<u8>)>,
}

impl Host {
    fn new(number: u8, seed: u64, shards: u32, config: &Config) -> Self {
        let one = |shard| {
            let config = Arc::new(config.clone());
            Endpoint::shard(config, Seed::from_u64(seed), vec![address(number)], shard)
        };
        let shards = Shard::all(NonZeroU32::new(shards).expect("some")).map(one).collect();
        let steering = Steering::ByTag(0);
        let (events, arrived) = (Vec::new(), Vec::new());
        Self { address: address(number), shards, steering, events, handed_over: 0, arrived }
    }

    fn server(shards: u32) -> Self {
        let mut server = Self::new(1, 1, shards, &Config::rfc());
        for shard in &mut server.shards {
            shard.handle_command(NOW, Command::Listen { port: PORT });
        }
        server
    }

    fn client(seed: u64) -> Self {
        Self::new(2, seed, 1, &Config::rfc())
    }

    fn connect(&mut self, shard: usize, to: &Self, local_port: u16) {
        self.shards[shard].handle_command(
            NOW,
            Command::Connect {
                token: ConnectToken(u64::from(local_port)),
                remote: vec![to.address],
                remote_port: PORT,
                local_port: Some(local_port),
            },
        );
    }

    fn receive(&mut self, route: Route, packet: &[u8]) {
        self.arrived.push((route, packet.to_vec()));
        let tag = u32::from_be_bytes(*packet[4..].first_chunk().expect("a header"));
        let shard = match self.steering {
            Steering::ByTag(first) if tag == 0 => first,
            Steering::ByTag(_) => tag as usize % self.shards.len(),
            Steering::None => 0,
        };
        self.shards[shard].handle_datagrams(NOW, route, packet, packet.len());
    }

    /// What it has to send, once everything is where it belongs.
    fn drain(&mut self) -> Vec<(Route, Vec<u8>)> {
        let (mut packets, mut handed_over) = (Vec::new(), Vec::new());
        loop {
            for (number, shard) in self.shards.iter_mut().enumerate() {
                shard.handle_timeout(NOW);
                let mut packet = Vec::new();
                while let Some(transmit) = shard.poll_transmit(NOW, 1, &mut packet) {
                    packets.push((transmit.route, core::mem::take(&mut packet)));
                }
                self.events.extend(core::iter::from_fn(|| shard.poll_event()).map(|event| (number, event)));
                handed_over.extend(core::iter::from_fn(|| shard.poll_hand_over()));
            }
            if handed_over.is_empty() {
                return packets;
            }
            self.handed_over += handed_over.len();
            for one in handed_over.drain(..) {
                self.shards[one.to() as usize].handle_hand_over(NOW, &one);
            }
        }
    }

    /// The associations that have come up, and in which shard.
    fn up(&self) -> Vec<(usize, AssociationId)> {
        let up = |(shard, event): &(usize, Event)| match event {
            Event::Up { association, .. } => Some((*shard, *association)),
            _ => None,
        };
        self.events.iter().filter_map(up).collect()
    }

    fn has(&self, wanted: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(|(_, event)| wanted(event))
    }

    fn associations(&self) -> usize {
        self.shards.iter().map(Endpoint::association_count).sum()
    }
}

/// Carries packets at once until nobody has more to say.
fn settle(one: &mut Host, other: &mut Host) {
    loop {
        let (there, back) = (one.drain(), other.drain());
        if there.is_empty() && back.is_empty() {
            return;
        }
        for (route, packet) in there {
            if route.remote == other.address {
                other.receive(route.reversed(), &packet);
            }
        }
        for (route, packet) in back {
            if route.remote == one.address {
                one.receive(route.reversed(), &packet);
            }
        }
    }
}

#[test]
fn shards_own_associations_in_turn_and_hand_nothing_over() {
    let (mut server, mut client) = (Host::server(3), Host::client(2));
    for port in 0..12 {
        client.connect(0, &server, 6000 + port);
    }
    settle(&mut server, &mut client);
    let up = server.up();
    assert_eq!(server.handed_over, 0);
    for shard in 0..3 {
        assert_eq!(up.iter().filter(|(owner, _)| *owner == shard).count(), 4, "{up:?}");
    }
    let names: std::collections::BTreeSet<_> = up.iter().map(|(_, id)| *id).collect();
    assert_eq!(names.len(), 12, "names are the endpoint's");
    for (shard, id) in up {
        assert_eq!(id.shard(NonZeroU32::new(3).expect("some")), shard as u32);
        let message = Message::new(StreamId(0), Bytes::from_static(b"to you"));
        server.shards[shard].handle_command(NOW, Command::Send { association: id, message });
    }
    settle(&mut server, &mut client);
    let messages = client.events.iter().filter(|(_, event)| matches!(event, Event::Message { .. })).count();
    assert_eq!((messages, server.handed_over), (12, 0));
}

#[test]
fn without_steering_everything_is_handed_over_once() {
    let (mut server, mut client) = (Host::server(2), Host::client(2));
    server.steering = Steering::None;
    client.connect(0, &server, 6000);
    client.connect(0, &server, 6001);
    settle(&mut server, &mut client);
    let up = server.up();
    assert_eq!(up.iter().map(|(shard, _)| *shard).collect::<Vec<_>>(), [0, 1]);
    assert!(server.handed_over > 0);
    let of_second = |(_, packet): &&(Route, Vec<u8>)| packet[7] % 2 == 1;
    assert_eq!(server.handed_over, server.arrived.iter().filter(of_second).count());
}

/// RFC 9260 §5.2.2: an INIT has no tag, and the association that it meets may be another shard's.
#[test]
fn the_restart_of_a_peer_is_handled_where_its_association_is() {
    for owner in [0, 1] {
        let (mut server, mut client) = (Host::server(2), Host::client(2));
        server.steering = Steering::ByTag(owner);
        client.connect(0, &server, 6000);
        settle(&mut server, &mut client);
        let mut again = Host::client(3);
        server.steering = Steering::ByTag(1 - owner);
        again.connect(0, &server, 6000);
        settle(&mut server, &mut again);
        assert!(server.has(|event| matches!(event, Event::Restarted { .. })), "{:?}", server.events);
        assert_eq!((server.associations(), server.handed_over), (1, 1));
        assert_eq!(again.up().len(), 1);
    }
}

/// RFC 9260 §5.2.1.
#[test]
fn a_collision_of_two_handshakes_is_handled_where_ours_began() {
    for shard in [0, 1] {
        let (mut server, mut client) = (Host::server(2), Host::client(2));
        client.shards[0].handle_command(NOW, Command::Listen { port: PORT });
        server.steering = Steering::ByTag(1 - shard);
        server.connect(shard, &client, PORT);
        client.connect(0, &server, PORT);
        settle(&mut server, &mut client);
        assert_eq!((server.associations(), client.associations()), (1, 1));
        assert_eq!(server.up()[0].0, shard);
        assert!(server.handed_over > 0);
    }
}

/// RFC 9260 §8.5.1 B: the tag is the peer's own, and says nothing about our shards.
#[test]
fn a_reflected_tag_leads_to_the_association() {
    let mut elsewhere = 0;
    for seed in 2..10 {
        let (mut server, mut client) = (Host::server(2), Host::client(seed));
        client.connect(0, &server, 6000);
        settle(&mut server, &mut client);
        let (shard, id) = server.up()[0];
        let (route, _) = server.arrived[0];
        server.shards[shard].handle_command(NOW, Command::Shutdown { association: id });
        let sent = server.drain();
        let tag = u32::from_be_bytes(*sent[0].1[4..].first_chunk().expect("a header"));
        let back = CommonHeader { source_port: 6000, destination_port: PORT, verification_tag: tag };
        server.receive(route, &single_chunk(back, &AbortBuilder { tag_reflected: true, causes: &[] }));
        server.drain();
        assert_eq!(server.handed_over, usize::from(tag as usize % 2 != shard));
        elsewhere += server.handed_over;
        let aborted =
            |event: &Event| matches!(event, Event::Closed { reason: CloseReason::AbortedByPeer { .. }, .. });
        assert!(server.has(aborted), "{:?}", server.events);
    }
    assert!((1..8).contains(&elsewhere), "{elsewhere} of 8");
}

/// RFC 9260 §10: the system has not the tag of this side to choose a shard by.
#[test]
fn an_error_of_the_network_leads_to_the_association() {
    for shard in [0, 1] {
        let (mut server, client) = (Host::server(2), Host::client(2));
        server.connect(shard, &client, PORT);
        let (route, init) = server.drain().remove(0);
        let reason = Unreachable::Protocol;
        server.shards[1 - shard].handle_unreachable(NOW, route, reason, &init[..28.min(init.len())]);
        server.drain();
        assert_eq!(server.handed_over, 1);
        assert!(server.has(|event| matches!(event, Event::ConnectFailed { .. })), "{:?}", server.events);
    }
}

/// A cookie of a handshake that came to nothing, of another shard than the association of the one that followed.
#[test]
fn an_old_cookie_makes_no_second_association() {
    let (mut server, mut first, mut second) = (Host::server(2), Host::client(2), Host::client(3));
    first.connect(0, &server, 6000);
    // INIT and INIT ACK; the COOKIE ECHO is kept back.
    for (route, packet) in first.drain() {
        server.receive(route.reversed(), &packet);
    }
    for (route, packet) in server.drain() {
        first.receive(route.reversed(), &packet);
    }
    let late = first.drain();
    second.connect(0, &server, 6000);
    settle(&mut server, &mut second);
    assert_eq!(server.up().iter().map(|(shard, _)| *shard).collect::<Vec<_>>(), [1]);
    for (route, packet) in &late {
        server.receive(route.reversed(), packet);
    }
    settle(&mut server, &mut second);
    assert_eq!(server.up().len(), 1, "RFC 9260 §5.2.4 C");
    // Nor once that association is gone, if the cookie was used by then.
    let id = second.up()[0].1;
    let used = server.arrived.clone();
    second.shards[0].handle_command(NOW, Command::Shutdown { association: id });
    settle(&mut server, &mut second);
    assert_eq!(server.associations(), 0);
    for (route, packet) in
        used.iter().filter(|(_, packet)| packet[12] == whimbrel_wire::chunk_type::COOKIE_ECHO)
    {
        server.steering = Steering::None;
        if packet[7] % 2 == 1 {
            server.receive(*route, packet);
        }
    }
    settle(&mut server, &mut second);
    assert_eq!((server.up().len(), server.associations()), (1, 0));
}

#[test]
fn a_packet_of_nobody_is_answered_once() {
    let mut server = Host::server(2);
    for tag in [7, 8] {
        let header = CommonHeader { source_port: 6000, destination_port: PORT, verification_tag: tag };
        let packet = single_chunk(header, &whimbrel_wire::CookieAck);
        let shutdown_ack = single_chunk(header, &whimbrel_wire::ShutdownAck);
        let route = Route { local: address(1), remote: address(2) };
        server.steering = Steering::None;
        server.receive(route, &packet);
        assert!(server.drain().is_empty(), "RFC 9260 §8.4 rule 7");
        server.receive(route, &shutdown_ack);
        assert_eq!(server.drain().len(), 1, "RFC 9260 §8.4 rule 5");
    }
}

#[test]
fn shards_divide_the_limit_of_associations() {
    let mut config = Config::rfc();
    config.limits.associations = 4;
    let mut server = Host::new(1, 1, 2, &config);
    for shard in &mut server.shards {
        shard.handle_command(NOW, Command::Listen { port: PORT });
    }
    let mut client = Host::client(2);
    for port in 0..6 {
        client.connect(0, &server, 6000 + port);
    }
    settle(&mut server, &mut client);
    assert_eq!(server.associations(), 4);
    assert!(server.shards.iter().all(|shard| shard.association_count() == 2));
}

#[test]
fn two_shards_never_have_the_same_ports_towards_a_peer() {
    let (mut server, client) = (Host::server(2), Host::client(2));
    server.connect(0, &client, 6000);
    server.connect(1, &client, 6000);
    server.drain();
    assert_eq!(server.associations(), 1);
    assert!(server.has(|event| matches!(event, Event::ConnectFailed { .. })));
}
