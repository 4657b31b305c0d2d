use std::time::Duration;

use whimbrel::{CloseReason, Config, RecvError};

use crate::support::*;

/// Dropping the last handle is a graceful shutdown: what was sent arrives.
#[tokio::test]
async fn a_dropped_association_delivers_what_was_sent() {
    let Pair { near, far, .. } = pair().await;
    for number in 0..100 {
        near.send(message(0, content(number, 10_000))).await.unwrap();
    }
    drop(near);
    for number in 0..100 {
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(number, 10_000));
    }
    assert_eq!(soon(far.recv()).await.unwrap(), None);
    assert_eq!(soon(far.closed()).await, CloseReason::Shutdown);
}

/// A stream handle is a handle of the association.
#[tokio::test]
async fn a_stream_keeps_its_association() {
    let Pair { near, far, .. } = pair().await;
    let stream = near.stream(3).unwrap();
    drop(near);
    stream.send("still here").await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "still here");
    drop(stream);
    assert_eq!(soon(far.recv()).await.unwrap(), None);
}

/// What arrives for a dropped association is thrown away, and does not hold up the peer's shutdown.
#[tokio::test]
async fn a_dropped_association_reads_to_the_end() {
    let mut config = Config::mobile();
    config.limits.receive_buffer = 64 << 10;
    let Pair { near, far, .. } = pair_with(config).await;
    // Many times what the receive window holds.
    for number in 0..60 {
        far.try_send(message(0, content(number, 50_000))).unwrap();
    }
    drop(near);
    soon(far.shutdown()).await.unwrap();
    assert_eq!(far.send_queued(), 0);
}

/// Associations do not need their endpoint's handle.
#[tokio::test]
async fn associations_outlive_the_endpoint_handle() {
    let Pair { near, far, client, server, listener } = pair().await;
    drop((client, server, listener));
    near.send(message(0, "on its own".into())).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "on its own");
    soon(near.shutdown()).await.unwrap();
}

/// When all handles are gone and all associations ended, the sockets are closed.
#[tokio::test]
async fn the_last_handle_closes_the_sockets() {
    let Pair { near, far, client, server, listener } = pair().await;
    let address = client.local_addresses()[0];
    drop((near, far, client, server, listener));
    let rebound = async {
        while std::net::UdpSocket::bind(address).is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(rebound).await;
}

/// Associations that nobody accepted end with the listener.
#[tokio::test]
async fn a_dropped_listener_turns_away() {
    let server = endpoint().await;
    let client = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let near = soon(client.connect(&server.local_addresses(), PORT)).await.unwrap();
    drop(listener);
    soon(near.closed()).await;
    // Listening again works at once.
    let listener = server.listen(PORT).unwrap();
    connect(&client, &server, &listener).await;
}

/// The runtime's end is the association's end, for handles that live on elsewhere.
#[test]
fn the_end_of_the_runtime_ends_associations() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let Pair { near, .. } = first.block_on(pair());
    drop(first);
    runtime().block_on(async {
        let outcome = soon(near.recv()).await;
        assert!(matches!(outcome, Err(RecvError::Closed(CloseReason::Refused(_)))), "{outcome:?}");
        assert!(near.send(message(0, "x".into())).await.is_err());
        assert!(near.paths().await.is_empty());
        assert!(near.stats().await.is_none());
        assert!(near.shutdown().await.is_err());
    });
}
