//! Shared keys change while associations live (RFC 6458 §8.1.18, §8.3).

use whimbrel_proto::{AuthKeyChange, AuthKeyError, AuthKeyNews, AuthScope, Command, Event, SharedSecret};
use whimbrel_wire::{Chunk, chunk_type};

use crate::auth_peer::{AuthPeer, with_key};
use whimbrel_testbed::peer::Bench;

const DATA: [u8; 1] = [chunk_type::DATA];

fn connected() -> (Bench, AuthPeer) {
    let mut bench = Bench::new(with_key(&DATA, b"secret"));
    let mut peer = AuthPeer::with_key(&DATA, b"secret");
    peer.connect(&mut bench);
    (bench, peer)
}

fn change(bench: &mut Bench, scope: AuthScope, change: AuthKeyChange) {
    bench.command(Command::ChangeAuthKey { scope, change });
}

fn news(bench: &mut Bench) -> Vec<(u16, AuthKeyNews)> {
    let events = core::mem::take(&mut bench.events);
    let news = |event: &Event| match event {
        Event::AuthKey { key, news, .. } => Some((*key, *news)),
        _ => None,
    };
    events.iter().filter_map(news).collect()
}

/// The key the node authenticates with.
#[track_caller]
fn key_of(bench: &mut Bench, peer: &AuthPeer) -> u16 {
    bench.take();
    bench.send(0, b"x");
    let sent = bench.take_only();
    peer.opened(&sent);
    let auth = sent.chunks().into_iter().find_map(|chunk| match chunk {
        Chunk::Auth(auth) => Some(auth),
        _ => None,
    });
    let auth = auth.expect("DATA must be authenticated");
    bench.deliver(&peer.sack(sent.data()[0].tsn, 100_000));
    auth.shared_key_id
}

/// Add everywhere, activate one after the other, delete: nothing is lost on the way.
#[test]
fn a_key_is_rolled_over() {
    let (mut bench, mut peer) = connected();
    let association = AuthScope::Association(bench.association());
    let mut peer_with_new = peer.clone();
    peer_with_new.key = (8, b"new".to_vec());
    let data: Vec<_> = [b"1", b"2", b"3", b"4"].iter().zip(0..).map(|(p, n)| peer.data(0, n, *p)).collect();

    bench.deliver(&peer_with_new.signed(&[&data[0]]));
    assert_eq!(bench.received().len(), 0, "not known yet");
    change(&mut bench, association, AuthKeyChange::Set(8, SharedSecret::new(*b"new")));
    assert_eq!(key_of(&mut bench, &peer), 7, "not active yet");
    news(&mut bench);
    bench.deliver(&peer.signed(&[&data[0]]));
    bench.deliver(&peer_with_new.signed(&[&data[1]]));
    assert_eq!(bench.received(), [b"1", b"2"]);
    assert_eq!(news(&mut bench), [(7, AuthKeyNews::InUse), (8, AuthKeyNews::InUse)]);

    change(&mut bench, association, AuthKeyChange::Activate(8));
    assert_eq!(key_of(&mut bench, &peer_with_new), 8);
    bench.deliver(&peer.signed(&[&data[2]]));
    assert_eq!(bench.received(), [b"3"], "the old one is still good");
    change(&mut bench, association, AuthKeyChange::Delete(7));
    bench.events.clear();
    bench.deliver(&peer.signed(&[&data[3]]));
    assert!(bench.received().is_empty());
    assert_eq!(news(&mut bench), [(7, AuthKeyNews::Unknown)]);
    bench.deliver(&peer_with_new.signed(&[&data[3]]));
    assert_eq!(bench.received(), [b"4"]);
}

/// RFC 6458 §8.3.3: a key with the same identifier replaces the old one, in use or not.
#[test]
fn the_active_key_can_be_replaced() {
    let (mut bench, mut peer) = connected();
    change(&mut bench, AuthScope::All, AuthKeyChange::Set(7, SharedSecret::new(*b"other")));
    let data = peer.data(0, 0, b"x");
    bench.deliver(&peer.signed(&[&data]));
    assert!(bench.received().is_empty());
    peer.key.1 = b"other".to_vec();
    bench.deliver(&peer.signed(&[&data]));
    assert_eq!(bench.received(), [b"x"]);
    assert_eq!(key_of(&mut bench, &peer), 7);
}

/// RFC 6458 §8.3.5 and more: what cannot be done is refused, and nothing changes.
#[test]
fn impossible_changes_are_refused() {
    let (mut bench, peer) = connected();
    let id = bench.association();
    for scope in [AuthScope::Association(id), AuthScope::Future] {
        let association = (scope != AuthScope::Future).then_some(id);
        for (impossible, error) in [
            (AuthKeyChange::Delete(7), AuthKeyError::Active),
            (AuthKeyChange::Delete(9), AuthKeyError::Unknown),
            (AuthKeyChange::Activate(9), AuthKeyError::Unknown),
        ] {
            bench.events.clear();
            let key = impossible.key();
            change(&mut bench, scope, impossible);
            let refused = Event::AuthKey { association, key, news: AuthKeyNews::Refused(error) };
            assert_eq!(bench.events, [refused]);
        }
    }
    assert_eq!(key_of(&mut bench, &peer), 7);
}

/// RFC 6458 §8.3.3: keys of one association, of those to come, of all.
#[test]
fn changes_reach_the_associations_they_are_for() {
    let (mut bench, first) = connected();
    change(&mut bench, AuthScope::Future, AuthKeyChange::Set(8, SharedSecret::new(*b"new")));
    change(&mut bench, AuthScope::Future, AuthKeyChange::Activate(8));
    assert_eq!(key_of(&mut bench, &first), 7);

    let mut second = AuthPeer::with_key(&DATA, b"new");
    second.key.0 = 8;
    (second.peer.port, second.peer.tag) = (7001, 99);
    second.connect(&mut bench);
    assert_eq!(key_of(&mut bench, &second), 8);

    change(&mut bench, AuthScope::All, AuthKeyChange::Set(9, SharedSecret::new(*b"newest")));
    change(&mut bench, AuthScope::All, AuthKeyChange::Activate(9));
    second.key = (9, b"newest".to_vec());
    assert_eq!(key_of(&mut bench, &second), 9);
}
