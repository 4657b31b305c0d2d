use super::*;

fn context() -> KeyContext {
    KeyContext { client: b"client's parameter".to_vec(), server: b"server's parameter".to_vec() }
}

fn exchanges(seed: u8, trust: Trust) -> TlsExchanges {
    TlsExchanges::new(&Identity::from_seed(&[seed; 32]), trust)
}

fn key(seed: u8) -> PublicKey {
    Identity::from_seed(&[seed; 32]).public_key()
}

/// Lets the two talk until both have nothing more to say, or one fails.
fn talk(
    client: &mut dyn KeyExchange,
    server: &mut dyn KeyExchange,
) -> (Result<(), KeyExchangeError>, Result<(), KeyExchangeError>, usize) {
    let mut messages = 0;
    loop {
        let (mut idle, mut failed) = (true, (Ok(()), Ok(())));
        while let Some(message) = client.give() {
            (idle, messages) = (false, messages + 1);
            failed.1 = failed.1.and(server.take(&message));
        }
        while let Some(message) = server.give() {
            (idle, messages) = (false, messages + 1);
            failed.0 = failed.0.and(client.take(&message));
        }
        if idle || failed.0.is_err() || failed.1.is_err() {
            return (failed.0, failed.1, messages);
        }
    }
}

#[test]
fn both_ends_have_the_same_keys_and_know_each_other() {
    let (client, server) = (exchanges(1, Trust::keys([key(2)])), exchanges(2, Trust::keys([key(1)])));
    let mut client = client.begin(KeyRole::Client, &context(), None);
    let mut server = server.begin(KeyRole::Server, &context(), None);
    assert!(client.finish().is_none() && server.finish().is_none());
    let (of_client, of_server, messages) = talk(&mut *client, &mut *server);
    assert_eq!((of_client, of_server), (Ok(()), Ok(())));
    assert_eq!(messages, 3, "ClientHello; ServerHello to Finished; Certificate to Finished");
    let (client, server) = (client.finish().expect("keys"), server.finish().expect("keys"));
    assert_eq!(PublicKey::try_from(&client.peer), Ok(key(2)));
    assert_eq!(PublicKey::try_from(&server.peer), Ok(key(1)));
    for (from, to) in [(&client.send, &server.receive), (&server.send, &client.receive)] {
        let mut content = b"some chunks of a packet".to_vec();
        let tag = from.seal(77, b"hdr", &mut content);
        content.extend_from_slice(&tag);
        assert_eq!(from.mask(&[5; 16]), to.mask(&[5; 16]));
        let mut other = content.clone();
        assert!(!to.open(78, b"hdr", &mut other), "another number");
        let mut other = content.clone();
        assert!(!to.open(77, b"hdx", &mut other), "another header");
        assert!(to.open(77, b"hdr", &mut content));
        assert_eq!(&content[..23], b"some chunks of a packet");
    }
    let mut content = b"some chunks".to_vec();
    let tag = client.send.seal(1, b"", &mut content);
    content.extend_from_slice(&tag);
    assert!(!client.receive.open(1, b"", &mut content), "each direction has its own keys");
}

#[test]
fn keys_depend_on_what_was_said_in_clear() {
    let (client, server) = (exchanges(1, Trust::Anyone), exchanges(2, Trust::Anyone));
    let mut client = client.begin(KeyRole::Client, &context(), None);
    let bent = KeyContext { server: b"server's pbrameter".to_vec(), ..context() };
    let mut server = server.begin(KeyRole::Server, &bent, None);
    _ = talk(&mut *client, &mut *server);
    let (client, server) = (client.finish().expect("keys"), server.finish().expect("keys"));
    let mut content = b"some chunks".to_vec();
    let tag = client.send.seal(1, b"", &mut content);
    content.extend_from_slice(&tag);
    assert!(!server.receive.open(1, b"", &mut content));
}

#[test]
fn a_key_that_is_not_trusted_is_named() {
    let (client, server) = (exchanges(1, Trust::keys([key(3)])), exchanges(2, Trust::Anyone));
    let mut client = client.begin(KeyRole::Client, &context(), None);
    let mut server = server.begin(KeyRole::Server, &context(), None);
    let (of_client, _, _) = talk(&mut *client, &mut *server);
    assert_eq!(of_client, Err(KeyExchangeError::UnknownPeer(key(2).to_peer_key())));
    assert!(client.finish().is_none());
    // The alert reaches the server.
    let alert = client.give().expect("an alert");
    assert!(server.take(&alert).is_err() && server.finish().is_none());

    let (client, server) = (exchanges(1, Trust::Anyone), exchanges(2, Trust::keys([key(3)])));
    let mut client = client.begin(KeyRole::Client, &context(), None);
    let mut server = server.begin(KeyRole::Server, &context(), None);
    let (_, of_server, _) = talk(&mut *client, &mut *server);
    assert_eq!(of_server, Err(KeyExchangeError::UnknownPeer(key(1).to_peer_key())));
    assert!(server.finish().is_none());
}

/// New keys of an association are agreed on with the same peer, whoever else is trusted.
#[test]
fn the_peer_stays_the_same() {
    let (client, server) = (exchanges(1, Trust::Anyone), exchanges(2, Trust::Anyone));
    let mut client = client.begin(KeyRole::Client, &context(), Some(&key(9).to_peer_key()));
    let mut server = server.begin(KeyRole::Server, &context(), Some(&key(1).to_peer_key()));
    let (of_client, _, _) = talk(&mut *client, &mut *server);
    assert_eq!(of_client, Err(KeyExchangeError::UnknownPeer(key(2).to_peer_key())));
}

#[test]
fn garbage_is_an_error() {
    let long = vec![22; LONGEST_HANDSHAKE + 1];
    for garbage in [&b""[..], b"garbage", &[22, 3, 3, 0xff, 0xff], &[21, 3, 3, 0, 2, 2, 40], &long] {
        for role in [KeyRole::Client, KeyRole::Server] {
            let mut end = exchanges(1, Trust::Anyone).begin(role, &context(), None);
            end.give();
            // What may be the beginning of a record is waited for.
            let taken = end.take(garbage);
            assert!(taken.is_err() || garbage.len() <= 5, "{role:?} {garbage:?}");
            assert!(end.finish().is_none());
        }
    }
}

#[test]
fn pieces_of_records_make_no_difference() {
    let (client, server) = (exchanges(1, Trust::Anyone), exchanges(2, Trust::Anyone));
    let mut client = client.begin(KeyRole::Client, &context(), None);
    let mut server = server.begin(KeyRole::Server, &context(), None);
    for byte in client.give().expect("ClientHello") {
        server.take(&[byte]).expect("fine");
    }
    client.take(&server.give().expect("ServerHello")).expect("fine");
    server.take(&client.give().expect("Finished")).expect("fine");
    assert!(client.finish().is_some() && server.finish().is_some());
    assert!(client.finish().is_none(), "once");
    assert!(server.take(b"more").is_err());
}
