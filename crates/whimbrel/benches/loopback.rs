//! Goodput, messages per second and CPU time of one association over the loopback interface, both ends together.
//!
//! `cargo bench -p whimbrel --bench loopback [-- [seconds] [size]...]`. Each end has a thread of its own, as two
//! processes would; there is no warm-up beyond the handshake.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "measures real time")]

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{Bytes, Endpoint, Message, StreamId};

const PORT: u16 = 5001;
/// Messages handed over at once when they are small.
const BATCH_BYTES: usize = 64 << 10;

fn main() {
    let arguments: Vec<usize> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    let seconds = *arguments.first().unwrap_or(&3);
    let sizes = if arguments.len() > 1 { &arguments[1..] } else { &[65_536, 16_384, 1200, 64][..] };
    println!("{:>8} {:>10} {:>12} {:>12}", "bytes", "MB/s", "messages/s", "CPU s/GB");
    for &size in sizes {
        measure(size, Duration::from_secs(seconds as u64));
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn endpoint() -> Endpoint {
    Endpoint::bind(["127.0.0.1:0".parse().expect("an address")]).await.expect("loopback can be bound")
}

fn measure(size: usize, time: Duration) {
    let (tell, told) = mpsc::channel();
    let server = thread::spawn(move || runtime().block_on(receive(tell)));
    let address = told.recv().expect("the server listens");
    let before = cpu_seconds();
    let start = Instant::now();
    runtime().block_on(send(address, size, time));
    let (messages, bytes) = server.join().expect("the server ends well");
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - before;
    println!(
        "{size:>8} {:>10.0} {:>12.0} {:>12.2}",
        bytes as f64 / seconds / 1e6,
        messages as f64 / seconds,
        cpu / (bytes as f64 / 1e9)
    );
}

async fn receive(tell: mpsc::Sender<SocketAddr>) -> (usize, usize) {
    let endpoint = endpoint().await;
    let listener = endpoint.listen(PORT).expect("the port is free");
    tell.send(endpoint.local_addresses()[0]).expect("the client waits");
    let association = listener.accept().await.expect("a client");
    let mut received = Vec::new();
    let (mut messages, mut bytes) = (0, 0);
    while association.recv_many(&mut received, 1024).await.expect("a graceful end") > 0 {
        for message in received.drain(..) {
            messages += 1;
            bytes += message.payload.len();
        }
    }
    (messages, bytes)
}

async fn send(address: SocketAddr, size: usize, time: Duration) {
    let endpoint = endpoint().await;
    let association = endpoint.connect(&[address], PORT).await.expect("the server answers");
    let payload = Bytes::from(vec![7; size]);
    let start = Instant::now();
    let mut batch = VecDeque::new();
    while start.elapsed() < time {
        batch.extend((0..(BATCH_BYTES / size).max(1)).map(|_| Message::new(StreamId(0), payload.clone())));
        association.send_many(&mut batch).await.expect("the association lives");
    }
    association.shutdown().await.expect("a graceful end");
}

/// CPU seconds of this process, from the process table; 0 where there is none.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}
