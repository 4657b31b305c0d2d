use std::time::Duration;

use tokio::time::{sleep, timeout};
use whimbrel::{Association, Bytes, Config, SendError};

use crate::support::*;

const SEND_BUFFER: usize = 256 << 10;
const RECEIVE_BUFFER: usize = 128 << 10;
const LENGTH: usize = 4096;
const LARGE: usize = 32 << 10;

fn small_buffers() -> Config {
    let mut config = Config::mobile();
    config.limits.send_buffer = SEND_BUFFER;
    config.limits.receive_buffer = RECEIVE_BUFFER;
    config
}

/// Sends until neither our buffer nor the peer's takes more, for a second, so that even a packet lost on a busy machine
/// has been sent again; returns how many messages that were.
async fn fill(association: &Association) -> usize {
    let mut sent = 0_usize;
    let mut idle = 0;
    while idle < 100 {
        match association.try_send(message(0, content(sent, LENGTH))) {
            Ok(()) => {
                sent += 1;
                idle = 0;
            }
            Err(refused) => {
                assert_eq!(refused.error, SendError::BufferFull);
                idle += 1;
                sleep(Duration::from_millis(10)).await;
            }
        }
    }
    sent
}

/// A receiver that does not read bounds the sender: by the peer's receive window and our own send buffer.
#[tokio::test]
async fn a_receiver_that_does_not_read_holds_up_the_sender() {
    let Pair { near, far, .. } = pair_with(small_buffers()).await;
    let sent = fill(&near).await;
    assert!(sent * LENGTH >= SEND_BUFFER, "the buffer itself is usable: {sent}");
    // RFC 9260 §6.1 A: a zero window still gets one packet.
    assert!(sent * LENGTH <= SEND_BUFFER + RECEIVE_BUFFER + 2 * LENGTH, "{sent}");
    assert!(near.send_queued() <= SEND_BUFFER);

    // A waiting sender goes on as soon as the receiver reads.
    let waiting = tokio::spawn({
        let near = near.clone();
        async move { near.send(message(0, content(sent, LENGTH))).await }
    });
    sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    for number in 0..=sent {
        let received = soon(far.recv()).await.unwrap().unwrap();
        assert_eq!(received.payload, content(number, LENGTH), "message {number}");
    }
    soon(waiting).await.unwrap().unwrap();
}

/// Large buffers that follow the path are small for a receiver that does not read, on both sides, and as large as they need to be when it does.
#[tokio::test]
async fn what_follows_the_path_is_small_while_nobody_reads() {
    const LEAST: usize = 64 << 10;
    let mut config = Config::mobile();
    config.limits.sizing = whimbrel::BufferSizing::Measured { least: LEAST };
    let Pair { near, far, .. } = pair_with(config).await;
    let sent = fill(&near).await;
    // What goes out while the receive buffer fills is acknowledged, so that the congestion window grows, and what may wait with it.
    assert!(sent * LENGTH >= 2 * LEAST && sent * LENGTH <= 16 * LEAST, "{sent}");

    let sending = tokio::spawn(async move {
        for number in sent..sent + 16_384 {
            near.send(message(0, content(number, LENGTH))).await.unwrap();
        }
        near
    });
    for number in 0..sent + 16_384 {
        let received = soon(far.recv()).await.unwrap().unwrap();
        assert_eq!(received.payload, content(number, LENGTH), "message {number}");
    }
    sending.await.unwrap();
}

/// Peers that acknowledge nothing make an endpoint hold no more by being many, and nothing is lost by that.
#[tokio::test]
async fn many_receivers_that_do_not_read_share_a_memory() {
    const PEERS: usize = 12;
    let memory = 4 * SEND_BUFFER;
    let builder = whimbrel::Endpoint::builder().addresses([local("127.0.0.1:0")]).config(small_buffers());
    let server = builder.send_memory(memory).bind().await.unwrap();
    let client = endpoint_with(small_buffers()).await;
    let listener = server.listen(PORT).unwrap();
    let mut pairs = Vec::new();
    for _ in 0..PEERS {
        pairs.push(connect(&client, &server, &listener).await);
    }
    let filling: Vec<_> = pairs
        .iter()
        .map(|(_, far)| {
            let far = far.clone();
            tokio::spawn(async move { fill(&far).await })
        })
        .collect();
    let mut sent = Vec::new();
    for task in filling {
        sent.push(soon(task).await.unwrap());
    }
    let held: Vec<usize> = pairs.iter().map(|(_, far)| far.send_queued()).collect();
    assert!(held.iter().sum::<usize>() <= memory + PEERS * LENGTH, "{held:?}");
    assert!(held.iter().all(|&bytes| bytes > 0) && held[PEERS - 1] < SEND_BUFFER / 2, "{held:?}");
    for ((near, _), sent) in pairs.iter().zip(sent) {
        for number in 0..sent {
            assert_eq!(soon(near.recv()).await.unwrap().unwrap().payload, content(number, LENGTH));
        }
    }
}

/// Waiting senders go in the order they came, and small messages do not overtake a large one for ever.
#[tokio::test]
async fn senders_take_turns() {
    let Pair { near, far, .. } = pair_with(small_buffers()).await;
    fill(&near).await;
    let mut senders = Vec::new();
    for number in 0..8_u16 {
        let near = near.clone();
        let length = if number == 0 { LARGE } else { 10 };
        senders
            .push(tokio::spawn(async move { near.send(message(1, content(number.into(), length))).await }));
        tokio::task::yield_now().await;
    }
    assert_eq!(near.try_send(message(0, "impatient".into())).unwrap_err().error, SendError::BufferFull);
    let mut order = Vec::new();
    while order.len() < 8 {
        let received = soon(far.recv()).await.unwrap().unwrap();
        if received.stream.0 == 1 {
            order.push(received.payload.len());
        }
    }
    assert_eq!(order[0], LARGE);
    for sender in senders {
        soon(sender).await.unwrap().unwrap();
    }
}

/// A sender that gives up waiting leaves no trace: nothing sent, nobody held up.
#[tokio::test]
async fn an_abandoned_wait_is_forgotten() {
    let Pair { near, far, .. } = pair_with(small_buffers()).await;
    let sent = fill(&near).await;
    for _ in 0..10 {
        let waiting = near.send(message(1, Bytes::from_static(b"never mind")));
        timeout(Duration::from_millis(5), waiting).await.expect_err("there is no room");
    }
    for number in 0..sent {
        let received = soon(far.recv()).await.unwrap().unwrap();
        assert_eq!((received.stream.0, received.payload), (0, content(number, LENGTH)));
    }
    soon(near.send(message(2, "last".into()))).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "last");
}
