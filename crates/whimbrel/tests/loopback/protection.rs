//! Encrypted associations on real sockets, with keys by TLS.

use std::time::Duration;

use whimbrel::secure::{Identity, PublicKey, Trust, required};
use whimbrel::{CloseReason, Config, ConnectError, Endpoint, KeyExchangeError, Message, StreamId};

use crate::support::{PORT, soon};

async fn endpoint(identity: &Identity, trust: Trust) -> Endpoint {
    let builder = Endpoint::builder().addresses(["127.0.0.1:0".parse().unwrap()]);
    builder.security(required(identity, trust)).bind().await.unwrap()
}

fn identities() -> [Identity; 2] {
    [Identity::from_seed(&[1; 32]), Identity::from_seed(&[2; 32])]
}

#[tokio::test]
async fn both_ends_know_each_other_and_talk() {
    let [client, server] = identities();
    let listening = endpoint(&server, Trust::keys([client.public_key()])).await;
    let listener = listening.listen(PORT).unwrap();
    let connecting = endpoint(&client, Trust::keys([server.public_key()])).await;
    let to = listening.local_addresses();
    let (connected, accepted) = tokio::join!(connecting.connect(&to, PORT), listener.accept());
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    assert_eq!(connected.peer_key(), Some(server.public_key()));
    assert_eq!(accepted.peer_key(), Some(client.public_key()));
    // More than a window each way.
    let message = vec![7; 100_000];
    let send = async |association: &whimbrel::Association| {
        for _ in 0..400 {
            association.send(Message::new(StreamId(0), message.clone())).await.unwrap();
        }
    };
    let receive = async |association: &whimbrel::Association| {
        for _ in 0..400 {
            assert!(association.recv().await.unwrap().unwrap().payload == message[..]);
        }
    };
    tokio::join!(send(&connected), send(&accepted), receive(&connected), receive(&accepted));
    let shutdown = tokio::time::timeout(Duration::from_secs(10), connected.shutdown());
    shutdown.await.unwrap().unwrap();
    assert!(accepted.recv().await.unwrap().is_none());
}

#[tokio::test]
async fn who_is_not_trusted_is_named_or_refused() {
    let [client, server] = identities();
    let other = Identity::from_seed(&[3; 32]);
    let listening = endpoint(&server, Trust::keys([client.public_key()])).await;
    let _listener = listening.listen(PORT).unwrap();
    let to = listening.local_addresses();
    // The server is somebody else than the client thinks.
    let connecting = endpoint(&client, Trust::keys([other.public_key()])).await;
    let error = connecting.connect(&to, PORT).await.unwrap_err();
    let ConnectError::Failed(CloseReason::KeyExchange(KeyExchangeError::UnknownPeer(key))) = error else {
        panic!("{error}");
    };
    assert_eq!(PublicKey::try_from(&key), Ok(server.public_key()));
    // The client is nobody the server knows.
    let connecting = endpoint(&other, Trust::keys([server.public_key()])).await;
    let error = connecting.connect(&to, PORT).await.unwrap_err();
    assert_eq!(error, ConnectError::Failed(CloseReason::KeyExchange(KeyExchangeError::Refused)));
}

#[tokio::test]
async fn who_does_not_encrypt_is_refused() {
    let [client, server] = identities();
    let clear = Endpoint::bind(["127.0.0.1:0".parse().unwrap()]).await.unwrap();
    let listening = endpoint(&server, Trust::Anyone).await;
    let _protected = listening.listen(PORT).unwrap();
    let _clear = clear.listen(PORT).unwrap();
    let error = clear.connect(&listening.local_addresses(), PORT).await.unwrap_err();
    assert!(error.to_string().contains("encryption"), "{error}");
    let connecting = endpoint(&client, Trust::Anyone).await;
    let error = connecting.connect(&clear.local_addresses(), PORT).await.unwrap_err();
    assert_eq!(error, ConnectError::Failed(CloseReason::PeerUnprotected));
}

/// As an attacker would: packets that are none, to the port of an encrypted endpoint.
#[tokio::test]
async fn an_association_survives_noise() {
    let [client, server] = identities();
    let listening = endpoint(&server, Trust::Anyone).await;
    let listener = listening.listen(PORT).unwrap();
    let connecting = endpoint(&client, Trust::Anyone).await;
    let to = listening.local_addresses();
    let (connected, accepted) = tokio::join!(connecting.connect(&to, PORT), listener.accept());
    let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
    let noise = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for n in 0..200_u8 {
        noise.send_to(&[n; 60], to[0]).unwrap();
    }
    connected.send(Message::new(StreamId(0), "still here")).await.unwrap();
    assert_eq!(&accepted.recv().await.unwrap().unwrap().payload[..], b"still here");
}

/// After a server's restart all its clients come back at once: of those without keys it takes half as many as of all.
#[tokio::test]
async fn a_crowd_that_comes_at_once_is_served() {
    const CROWD: usize = 60;
    let [client, server] = identities();
    let mut config = Config::mobile();
    config.limits.associations = 64;
    let security = required(&server, Trust::keys([client.public_key()]));
    let builder = Endpoint::builder().addresses(["127.0.0.1:0".parse().unwrap()]);
    let listening = builder.config(config).security(security).bind().await.unwrap();
    let _listener = listening.listen(PORT).unwrap();
    let connecting = endpoint(&client, Trust::keys([server.public_key()])).await;
    let to = listening.local_addresses();
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..CROWD {
        let (connecting, to) = (connecting.clone(), to.clone());
        attempts.spawn(async move { connecting.connect(&to, PORT).await });
    }
    let mut connected = Vec::new();
    while let Some(outcome) = soon(attempts.join_next()).await {
        connected.push(outcome.unwrap().unwrap());
    }
    assert_eq!(connected.len(), CROWD);
}
