use std::collections::VecDeque;

use whimbrel::{Association, Bytes, Delivery, PayloadProtocolId, SendError, StreamId};

use crate::support::*;

async fn echo(association: Association) {
    while let Ok(Some(received)) = association.recv().await {
        let stream = association.stream(received.stream.0).unwrap();
        let stream = stream.with_ppid(received.ppid.0).with_delivery(received.delivery);
        stream.send(received.payload).await.unwrap();
    }
}

#[tokio::test]
async fn messages_come_back_as_they_were() {
    let Pair { near, far, .. } = pair().await;
    let server = tokio::spawn(echo(far));
    for (number, length) in [1, 64, 1200, 1452, 5000, 65_536, 300_000].into_iter().enumerate() {
        let stream = near.stream(number as u16 % 4).unwrap().with_ppid(7000 + number as u32);
        stream.send(content(number, length)).await.unwrap();
        let received = soon(near.recv()).await.unwrap().unwrap();
        assert_eq!(received.stream, StreamId(number as u16 % 4));
        assert_eq!(received.ppid, PayloadProtocolId(7000 + number as u32));
        assert_eq!(received.delivery, Delivery::Ordered);
        assert_eq!(received.payload, content(number, length));
    }
    soon(near.shutdown()).await.unwrap();
    soon(server).await.unwrap();
}

#[tokio::test]
async fn unordered_messages_say_so() {
    let Pair { near, far, .. } = pair().await;
    let stream = near.stream(1).unwrap().with_delivery(Delivery::Unordered);
    stream.send("now").await.unwrap();
    let received = soon(far.recv()).await.unwrap().unwrap();
    assert_eq!(received.delivery, Delivery::Unordered);
    assert_eq!(received.payload, "now");
}

#[tokio::test]
async fn each_stream_is_in_order() {
    let Pair { near, far, .. } = pair().await;
    let sender = tokio::spawn(async move {
        for number in 0..2000_usize {
            near.send(message((number % 8) as u16, content(number, 100 + number))).await.unwrap();
        }
        soon(near.shutdown()).await.unwrap();
    });
    let mut next = [0, 1, 2, 3, 4, 5, 6, 7];
    while let Some(received) = soon(far.recv()).await.unwrap() {
        let stream = usize::from(received.stream.0);
        assert_eq!(received.payload, content(next[stream], 100 + next[stream]), "stream {stream}");
        next[stream] += 8;
    }
    assert_eq!(next, [2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007]);
    sender.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_small_messages_in_batches() {
    const COUNT: usize = 200_000;
    let Pair { near, far, .. } = pair().await;
    let sender = tokio::spawn(async move {
        let mut batch = VecDeque::new();
        for number in 0..COUNT {
            batch.push_back(message(0, Bytes::copy_from_slice(&number.to_be_bytes())));
            if batch.len() == 100 {
                near.send_many(&mut batch).await.unwrap();
                assert!(batch.is_empty());
            }
        }
        soon(near.shutdown()).await.unwrap();
    });
    let mut received = Vec::new();
    let mut count = 0_usize;
    while soon(far.recv_many(&mut received, 64)).await.unwrap() > 0 {
        assert!(received.len() <= 64);
        for message in received.drain(..) {
            assert_eq!(message.payload, &count.to_be_bytes()[..]);
            count += 1;
        }
    }
    assert_eq!(count, COUNT);
    sender.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_transfer_arrives_whole() {
    const COUNT: usize = 1000;
    const LENGTH: usize = 65_536;
    let Pair { near, far, .. } = pair().await;
    let sender = tokio::spawn(async move {
        for number in 0..COUNT {
            near.send(message(0, content(number, LENGTH))).await.unwrap();
        }
        soon(near.shutdown()).await.unwrap();
        assert_eq!(near.send_queued(), 0);
    });
    for number in 0..COUNT {
        let received = soon(far.recv()).await.unwrap().unwrap();
        assert_eq!(received.payload, content(number, LENGTH), "message {number}");
    }
    assert_eq!(soon(far.recv()).await.unwrap(), None);
    sender.await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_sent_comes_back() {
    let Pair { near, .. } = pair().await;
    assert_eq!(near.send(message(0, Bytes::new())).await, Err(SendError::Empty));
    let beyond = near.outbound_streams();
    assert_eq!(near.send(message(beyond, "x".into())).await, Err(SendError::NoSuchStream));
    assert!(near.stream(beyond).is_none());
    let refused = near.try_send(message(beyond, "x".into())).unwrap_err();
    assert_eq!(refused.message.payload, "x");
}
