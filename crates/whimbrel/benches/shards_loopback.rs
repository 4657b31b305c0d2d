//! Goodput and CPU time of a server with shards over the loopback interface, all ends together.
//!
//! `cargo bench -p whimbrel --bench shards_loopback [-- [shards] [clients] [associations per client] [MB per client] [bytes per message]]`. The server has
//! as many threads as shards, each client a thread, an endpoint and a UDP port of its own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "measures real time")]

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use tokio::task::JoinSet;
use whimbrel::{Association, Bytes, Endpoint, HandOvers, Message, StreamId};

const PORT: u16 = 5001;
/// Messages handed over at once when they are small.
const BATCH_BYTES: usize = 64 << 10;

#[derive(Clone, Copy)]
struct Load {
    shards: u32,
    clients: usize,
    associations: usize,
    bytes: usize,
    size: usize,
}

fn main() {
    let arguments: Vec<usize> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    let argument = |place: usize, usual| arguments.get(place).copied().unwrap_or(usual);
    let load = Load {
        shards: argument(0, 2) as u32,
        clients: argument(1, 4),
        associations: argument(2, 4),
        bytes: argument(3, 500) * 1_000_000,
        size: argument(4, 65_536),
    };
    let (tell, told) = mpsc::channel();
    let server = thread::spawn(move || serve(load, &tell));
    let address = told.recv().expect("the server listens");
    let (before, start) = (cpu_seconds(), Instant::now());
    let clients: Vec<_> = (0..load.clients).map(|_| thread::spawn(move || send(address, load))).collect();
    for client in clients {
        client.join().expect("a client ends well");
    }
    let (bytes, hand_overs) = server.join().expect("the server ends well");
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!(
        "{} shards: {:.0} MB/s, {:.2} CPU s/GB, {} handed over, {} of them dropped",
        load.shards,
        bytes as f64 / seconds / 1e6,
        cpu / (bytes as f64 / 1e9),
        hand_overs.total,
        hand_overs.dropped
    );
}

fn serve(load: Load, tell: &mpsc::Sender<SocketAddr>) -> (usize, HandOvers) {
    let threads = load.shards.max(1) as usize;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(threads).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let address = "127.0.0.1:0".parse().expect("an address");
        let builder = Endpoint::builder().addresses([address]).shards(load.shards);
        let endpoint = builder.bind().await.expect("loopback can be bound");
        let listener = endpoint.listen(PORT).expect("the port is free");
        tell.send(endpoint.local_addresses()[0]).expect("the clients wait");
        let mut tasks = JoinSet::new();
        for _ in 0..load.clients * load.associations {
            let association = listener.accept().await.expect("a client");
            tasks.spawn(receive(association));
        }
        let mut bytes = 0;
        while let Some(received) = tasks.join_next().await {
            bytes += received.expect("it ends well");
        }
        let hand_overs = endpoint.hand_overs();
        endpoint.close().await;
        (bytes, hand_overs)
    })
}

async fn receive(association: Association) -> usize {
    let (mut bytes, mut received) = (0, Vec::new());
    while association.recv_many(&mut received, 1024).await.is_ok_and(|count| count > 0) {
        bytes += received.drain(..).map(|message| message.payload.len()).sum::<usize>();
    }
    bytes
}

fn send(address: SocketAddr, load: Load) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let local = "127.0.0.1:0".parse().expect("an address");
        let endpoint = Endpoint::bind([local]).await.expect("loopback can be bound");
        let mut tasks = JoinSet::new();
        for _ in 0..load.associations {
            let association = endpoint.connect(&[address], PORT).await.expect("the server listens");
            tasks.spawn(async move {
                let payload = Bytes::from(vec![7; load.size]);
                let (mut left, mut batch) = (load.bytes / load.associations, VecDeque::new());
                while left >= load.size {
                    while left >= load.size && batch.len() * load.size < BATCH_BYTES {
                        left -= load.size;
                        batch.push_back(Message::new(StreamId(0), payload.clone()));
                    }
                    association.send_many(&mut batch).await.expect("it is up");
                }
                association.shutdown().await.expect("it ends well");
            });
        }
        tasks.join_all().await;
    });
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}
