//! The tasks of a relay: one reads what clients send, one per client reads what the server answers, one keeps time.
use std::sync::Arc;

use tokio::net::UdpSocket;
use whimbrel_machine::Instant;

use crate::client::Client;
use crate::shared::Shared;

/// Datagrams read in one go, before other tasks get a turn.
const BATCH: usize = 64;

/// The longest datagram UDP carries.
const DATAGRAM_MAX: usize = 65_535;

/// Reads what clients send.
pub(crate) async fn serve_clients(shared: Arc<Shared>, socket: UdpSocket) {
    let mut buffer = vec![0; DATAGRAM_MAX];
    while socket.readable().await.is_ok() {
        let mut state = shared.lock();
        for _ in 0..BATCH {
            match socket.try_recv_from(&mut buffer) {
                Ok((length, from)) => shared.take_uplink(&mut state, from, &buffer[..length]),
                Err(_) => break,
            }
        }
        shared.pump(&mut state);
    }
}

/// Reads what the server sends to one client.
pub(crate) async fn serve_client(shared: Arc<Shared>, client: Arc<Client>, socket: UdpSocket) {
    let mut buffer = vec![0; DATAGRAM_MAX];
    while socket.readable().await.is_ok() {
        let mut state = shared.lock();
        for _ in 0..BATCH {
            match socket.try_recv_from(&mut buffer) {
                Ok((length, from)) if shared.is_server(from) => {
                    shared.take_downlink(&mut state, &client, &buffer[..length]);
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        shared.pump(&mut state);
    }
}

/// Sends what is due when it is due. The runtime's timers are good to a millisecond.
pub(crate) async fn keep_time(shared: Arc<Shared>) {
    loop {
        let next = {
            let mut state = shared.lock();
            state.armed_at = Instant::ZERO;
            shared.pump(&mut state);
            state.armed_at = state.next_due();
            state.armed_at
        };
        match shared.system_time(next) {
            Some(at) => {
                let moved = shared.timer_moved.notified();
                let _ = tokio::time::timeout_at(at.into(), moved).await;
            }
            None => shared.timer_moved.notified().await,
        }
    }
}
