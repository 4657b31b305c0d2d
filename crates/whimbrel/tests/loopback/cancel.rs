use std::net::UdpSocket;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::support::*;

/// A future that is dropped while it waits takes no message with it.
#[tokio::test]
async fn a_dropped_recv_loses_nothing() {
    const COUNT: usize = 300;
    let Pair { near, far, .. } = pair().await;
    let sender = tokio::spawn(async move {
        for number in 0..COUNT {
            near.send(message(0, content(number, 500))).await.unwrap();
            if number % 3 == 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
        near
    });
    let mut next = 0;
    let mut cancelled = 0;
    while next < COUNT {
        match timeout(Duration::from_micros(300), far.recv()).await {
            Ok(received) => {
                assert_eq!(received.unwrap().unwrap().payload, content(next, 500));
                next += 1;
            }
            Err(_) => cancelled += 1,
        }
    }
    assert!(cancelled > 0, "the test must have cancelled something");
    sender.await.unwrap();
}

/// A dropped connect leaves nothing behind: neither an association nor anything that keeps the endpoint open.
#[tokio::test]
async fn a_dropped_connect_is_given_up() {
    // Someone who never answers.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let heard = || silent.recv(&mut [0; 2000]).is_ok();
    let endpoint = endpoint().await;
    let peer = [silent.local_addr().unwrap()];
    let init = async {
        while !heard() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        outcome = endpoint.connect(&peer, PORT) => panic!("nobody answers, but {outcome:?}"),
        () = soon(init) => {}
    }
    // Time for the endpoint to take note. On a slow machine more than one INIT may have been sent by now.
    sleep(Duration::from_millis(100)).await;
    while heard() {}
    // RTO.Initial is half a second.
    sleep(Duration::from_millis(1200)).await;
    assert!(!heard(), "no INIT is sent again");
    // Nothing is left to wait for.
    soon(endpoint.close()).await;
}

/// Cancelled at whatever moment of the handshake, the peer is not left with an association that nobody has.
#[tokio::test]
async fn a_connect_dropped_at_any_moment_leaves_no_association() {
    let server = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let client = endpoint().await;
    let remote = server.local_addresses();
    for microseconds in (0..2000).step_by(50) {
        let attempt = client.connect(&remote, PORT);
        if let Ok(Ok(association)) = timeout(Duration::from_micros(microseconds), attempt).await {
            drop(association);
        }
    }
    // A fresh one works, and comes after all those that were dropped; each of them ends.
    let ending = tokio::spawn(async move {
        while let Ok(association) = listener.accept().await {
            if let Ok(Some(received)) = soon(association.recv()).await {
                return (received.payload, listener);
            }
        }
        panic!("the listener has ended");
    });
    let association = soon(client.connect(&server.local_addresses(), PORT)).await.unwrap();
    association.send(message(0, "here".into())).await.unwrap();
    let (payload, _listener) = soon(ending).await.unwrap();
    assert_eq!(payload, "here");
    drop(association);
    soon(client.close()).await;
    soon(server.close()).await;
}

/// A shutdown whose future is dropped goes on.
#[tokio::test]
async fn a_dropped_shutdown_goes_on() {
    let Pair { near, far, .. } = pair().await;
    near.send(message(0, "last words".into())).await.unwrap();
    let _ = timeout(Duration::ZERO, near.shutdown()).await;
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "last words");
    assert_eq!(soon(far.recv()).await.unwrap(), None);
    soon(near.closed()).await;
}

/// Batches too: what is left in the queue was not sent, what is gone was.
#[tokio::test]
async fn a_dropped_send_many_keeps_what_was_not_sent() {
    let Pair { near, far, .. } = pair().await;
    // More than any buffer holds.
    let mut batch: std::collections::VecDeque<_> =
        (0..1_000).map(|number| message(0, content(number, 65_536))).collect();
    timeout(Duration::from_millis(200), near.send_many(&mut batch)).await.expect_err("nobody reads");
    assert!(!batch.is_empty());
    let sent = 1_000 - batch.len();
    drop(batch);
    let closing = tokio::spawn(async move { near.shutdown().await });
    for number in 0..sent {
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(number, 65_536));
    }
    assert_eq!(soon(far.recv()).await.unwrap(), None);
    soon(closing).await.unwrap().unwrap();
}
