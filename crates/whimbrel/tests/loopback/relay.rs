use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// A network between a client and a server that can be cut.
///
/// It has the same IP address as both ends, so the addresses they tell each other stay true; only ports differ.
pub(crate) struct Relay {
    up: Arc<AtomicBool>,
    pub(crate) forwarded: Arc<AtomicU64>,
    tasks: [JoinHandle<()>; 2],
}

impl Relay {
    /// `entry` faces the client, `exit` the server.
    pub(crate) fn start(entry: UdpSocket, exit: UdpSocket, client: SocketAddr, server: SocketAddr) -> Self {
        let up = Arc::new(AtomicBool::new(true));
        let forwarded = Arc::new(AtomicU64::new(0));
        let (entry, exit) = (Arc::new(entry), Arc::new(exit));
        let there = forward(entry.clone(), exit.clone(), server, up.clone(), forwarded.clone());
        let back = forward(exit, entry, client, up.clone(), forwarded.clone());
        Self { up, forwarded, tasks: [tokio::spawn(there), tokio::spawn(back)] }
    }

    pub(crate) fn cut(&self) {
        self.up.store(false, Ordering::Relaxed);
    }

    pub(crate) fn repair(&self) {
        self.up.store(true, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn forward(
    from: Arc<UdpSocket>,
    to: Arc<UdpSocket>,
    destination: SocketAddr,
    up: Arc<AtomicBool>,
    forwarded: Arc<AtomicU64>,
) {
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok((length, _)) = from.recv_from(&mut buffer).await else { continue };
        if up.load(Ordering::Relaxed) {
            forwarded.fetch_add(1, Ordering::Relaxed);
            let _ = to.send_to(&buffer[..length], destination).await;
        }
    }
}
