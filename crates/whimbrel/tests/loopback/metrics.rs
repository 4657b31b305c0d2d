//! What an endpoint counts, and what recorders are told.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use whimbrel::proto::AssociationState;
use whimbrel::{AssociationEvent, AssociationId, Endpoint, Metrics, Record, RecordValue, Recorder};

use crate::support::*;

fn established(metrics: &Metrics) -> u64 {
    metrics.associations().find(|(state, _)| *state == AssociationState::Established).unwrap().1
}

/// Over two shards, and with associations that are gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_counts_over_all_shards_and_forgets_nobody() {
    const COUNT: u64 = 6;
    let server = Endpoint::builder().addresses([local("127.0.0.1:0")]).shards(2).bind().await.unwrap();
    let listener = server.listen(PORT).unwrap();
    let client = endpoint().await;
    let mut kept = Vec::new();
    for number in 0..COUNT {
        let (near, far) = connect(&client, &server, &listener).await;
        near.send(message(0, content(1, 5000))).await.unwrap();
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload.len(), 5000);
        match number {
            0 => soon(near.shutdown()).await.unwrap(),
            1 => near.abort("enough"),
            _ => kept.push((near, far)),
        }
    }
    let metrics = loop {
        let metrics = server.metrics().await;
        if established(&metrics) == COUNT - 2 {
            break metrics;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let stats = metrics.totals.stats;
    assert_eq!((metrics.established, stats.messages_received, stats.bytes_received), (6, 6, 30_000));
    assert_eq!((metrics.ended.shutdown, metrics.ended.aborted_by_peer), (1, 1));
    let sender = client.metrics().await;
    assert_eq!((sender.totals.stats.messages_sent, sender.totals.stats.data_retransmitted), (6, 0));
    assert!(sender.bytes_sent > 30_000 && metrics.bytes_received > 30_000, "{sender:?} {metrics:?}");
    assert!(sender.totals.round_trips.count() >= COUNT, "each has measured one");
    assert!(metrics.packets_sent >= 2 * COUNT && sender.packets_received >= 2 * COUNT);

    server.abort("the end");
    soon(server.close()).await;
    assert_eq!(server.metrics().await.established, 0, "nobody counts any more");
}

#[tokio::test]
async fn what_is_no_packet_and_what_is_nobodys_is_told_apart() {
    let server = endpoint().await;
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(server.local_addresses()[0]).await.unwrap();
    // A packet with a SHUTDOWN ACK in it; its checksum is not zero.
    let shutdown_ack: [u8; 16] = [0, 9, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 8, 0, 0, 4];
    socket.send(b"no packet").await.unwrap();
    socket.send(&shutdown_ack).await.unwrap();
    let metrics = soon(async {
        loop {
            let metrics = server.metrics().await;
            if metrics.packets_received == 2 {
                return metrics;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!((metrics.endpoint.malformed, metrics.endpoint.wrong_checksum), (1, 1));
    assert_eq!(metrics.endpoint.packets_dropped, 2);
}

/// Passes on all it is told.
struct Told(Sender<News>);

type News = (Option<Record>, Option<(AssociationId, AssociationEvent)>);

impl Recorder for Told {
    fn record(&mut self, _: Duration, record: Record) {
        let _ = self.0.send((Some(record), None));
    }

    fn event(&mut self, _: Duration, association: AssociationId, event: &AssociationEvent) {
        let _ = self.0.send((None, Some((association, event.clone()))));
    }
}

#[tokio::test]
async fn a_recorder_is_told_of_traffic_and_of_the_end() {
    let (sender, told) = channel();
    let client =
        Endpoint::builder().addresses([local("127.0.0.1:0")]).recorder(Told(sender)).bind().await.unwrap();
    let server = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    near.send(message(0, content(1, 50_000))).await.unwrap();
    soon(far.recv()).await.unwrap().unwrap();
    soon(near.shutdown()).await.unwrap();
    soon(client.close()).await;
    let (records, events): (Vec<_>, Vec<_>) = told.try_iter().unzip();
    let sent = records.iter().flatten().filter_map(|record| match record.value {
        RecordValue::Amount(bytes) if record.name == "bytes_sent" => Some(bytes),
        _ => None,
    });
    assert!(sent.max().unwrap() > 50_000);
    let events: Vec<_> = events.into_iter().flatten().collect();
    assert!(events.iter().all(|(id, _)| *id == near.id()));
    assert!(matches!(events.last(), Some((_, AssociationEvent::Closed { .. }))), "{events:?}");
}
