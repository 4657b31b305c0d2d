use bytes::Bytes;
use whimbrel_wire::StreamId;

use super::*;
use crate::protection::testing::ToyExchanges;

const NOW: Instant = Instant::ZERO;

struct Ends {
    client: Protection,
    server: Protection,
}

fn ends() -> Ends {
    let exchanges: Arc<dyn KeyExchanges> = Arc::new(ToyExchanges::default());
    let context = KeyContext { client: b"client".to_vec(), server: b"server".to_vec() };
    let end = |role| Protection::new(&exchanges, role, context.clone(), [7; 32]);
    Ends { client: end(KeyRole::Client), server: end(KeyRole::Server) }
}

fn received((ppid, payload): (PayloadProtocolId, Vec<u8>)) -> Received {
    Received {
        stream: StreamId(0),
        ppid,
        delivery: Delivery::Ordered,
        part: Part::Whole,
        payload: payload.into(),
    }
}

/// Everything that there is to say is said; what of it has changed something.
fn talk(ends: &mut Ends) -> Vec<(KeyRole, Progress)> {
    let mut changes = Vec::new();
    loop {
        let (to_server, to_client) = (ends.client.give(), ends.server.give());
        if to_server.is_none() && to_client.is_none() {
            return changes;
        }
        if let Some(message) = to_server {
            changes.push((KeyRole::Server, ends.server.take(NOW, &received(message)).expect("fine")));
        }
        if let Some(message) = to_client {
            if ends.server.seals() {
                ends.client.note_opened();
            }
            changes.push((KeyRole::Client, ends.client.take(NOW, &received(message)).expect("fine")));
        }
    }
}

#[test]
fn both_ends_are_up_after_they_have_read_the_hello() {
    let mut ends = ends();
    assert!(ends.client.is_pending() && !ends.client.is_enforced());
    let changes = talk(&mut ends);
    let of =
        |end: KeyRole| changes.iter().filter(move |(role, _)| *role == end).map(|(_, progress)| *progress);
    for role in [KeyRole::Client, KeyRole::Server] {
        assert_eq!(of(role).filter(|progress| progress.enforced).count(), 1, "{role:?}");
        assert_eq!(of(role).filter(|progress| progress.up).count(), 1, "{role:?}");
        let enforced = of(role).position(|progress| progress.enforced);
        assert!(enforced < of(role).position(|progress| progress.up), "{role:?}");
    }
    assert!(!ends.client.is_pending() && !ends.server.is_pending());
    assert!(ends.client.seals() && ends.server.seals());
    assert_eq!(ends.client.peer(), Some(&PeerKey(Bytes::from_static(b"toy"))));
}

#[test]
fn either_end_can_have_the_keys_renewed() {
    for asks in [KeyRole::Client, KeyRole::Server] {
        let mut ends = ends();
        talk(&mut ends);
        match asks {
            KeyRole::Client => ends.client.renew(),
            KeyRole::Server => ends.server.renew(),
        }
        let changes = talk(&mut ends);
        let renewed = changes.iter().filter(|(_, progress)| progress.renewed).count();
        assert_eq!(renewed, 2, "asked by {asks:?}");
        assert!(changes.iter().all(|(_, progress)| !progress.enforced && !progress.up));
    }
}

#[test]
fn a_handshake_that_was_read_differently_is_noticed() {
    let mut ends = ends();
    ends.server.digest = [8; 32];
    let mut noticed = 0;
    for _ in 0..10 {
        if let Some(message) = ends.client.give() {
            noticed += i32::from(ends.server.take(NOW, &received(message)) == Err(CloseReason::Tampered));
        }
        if let Some(message) = ends.server.give() {
            if ends.server.seals() {
                ends.client.note_opened();
            }
            noticed += i32::from(ends.client.take(NOW, &received(message)) == Err(CloseReason::Tampered));
        }
    }
    assert_eq!(noticed, 2);
    assert!(ends.client.is_pending() && ends.server.is_pending());
}

#[test]
fn nothing_else_is_taken_before() {
    let data = |ppid: u32| received((PayloadProtocolId(ppid), b"data".to_vec()));
    assert!(ends().server.take(NOW, &data(0)).is_err());
    let hello = received((PPID_HELLO, hello::write(&[7; 32])));
    assert!(ends().client.take(NOW, &hello).is_err(), "in clear");
    let installed = received((PPID_KEY_CONTROL, vec![READ_KEY_INSTALLED]));
    assert!(ends().client.take(NOW, &installed).is_err());
    assert!(ends().server.take(NOW, &installed).is_err());
    let mut ends = ends();
    let first = received(ends.client.give().expect("the client begins"));
    let (unordered, elsewhere, part) = (
        Received { delivery: Delivery::Unordered, ..first.clone() },
        Received { stream: StreamId(1), ..first.clone() },
        Received { part: Part::First, ..first.clone() },
    );
    for bent in [unordered, elsewhere, part] {
        assert!(ends.server.take(NOW, &bent).is_err(), "{bent:?}");
    }
    assert!(ends.server.take(NOW, &first).is_ok());
}

#[test]
fn what_is_acknowledged_of_its_own_is_no_news() {
    let mut ends = ends();
    let said = ends.client.give().expect("the client begins").1.len();
    assert_eq!(ends.client.of_user(said - 1), 0);
    assert_eq!(ends.client.of_user(11), 10);
    assert_eq!(ends.client.of_user(5), 5);
}

/// The server says it sealed; whoever says it in clear is somebody else.
#[test]
fn a_client_believes_no_word_in_clear_that_the_server_reads() {
    let mut client = ends().client;
    let word = || received((PPID_KEY_CONTROL, vec![READ_KEY_INSTALLED]));
    assert_eq!(client.take(NOW, &word()), Err(CloseReason::Tampered));
}
