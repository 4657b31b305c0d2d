//! What the network says of addresses that do not answer.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;

/// How long a router or the host itself may take to complain.
const COMPLAINT: Duration = Duration::from_millis(500);
/// Addresses that are asked about.
const ASKED_MAX: usize = 8;

/// Why nothing comes from these addresses, as far as this host, a router or the other host says so. None of them may: a firewall that drops
/// packets is silent.
pub(super) async fn complaints(peers: &[SocketAddr]) -> Option<String> {
    let asked = peers.iter().take(ASKED_MAX).map(|&peer| async move {
        let error = ask(peer).await.err()?;
        explain(peer, &error)
    });
    let heard: Vec<String> = futures_util::future::join_all(asked).await.into_iter().flatten().collect();
    (!heard.is_empty()).then(|| heard.join("; "))
}

/// Sends a datagram of no bytes, which SCTP ignores, from a socket of its own, and waits for what is said of it: a connected socket is told of
/// routes that are missing and of ICMP errors. Silence is no error.
async fn ask(peer: SocketAddr) -> io::Result<()> {
    let any = match peer {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(peer).await?;
    socket.send(&[]).await?;
    match tokio::time::timeout(COMPLAINT, socket.recv(&mut [0])).await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

fn explain(peer: SocketAddr, error: &io::Error) -> Option<String> {
    let (ip, port) = (peer.ip(), peer.port());
    Some(match error.kind() {
        ErrorKind::NetworkUnreachable => format!("this host has no route to {ip}"),
        ErrorKind::HostUnreachable => {
            format!("{ip} cannot be reached: a router says so, or this host has a route that forbids it")
        }
        ErrorKind::ConnectionRefused => {
            format!(
                "{ip} is there, but no program listens on its UDP port {port}, or its firewall rejects it"
            )
        }
        ErrorKind::PermissionDenied => {
            format!("this host may not send to {ip} (a firewall on this host, or a broadcast address)")
        }
        _ => return None,
    })
}

#[cfg(test)]
#[path = "diagnosis_tests.rs"]
mod tests;
