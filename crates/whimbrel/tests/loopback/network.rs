use whimbrel::{CloseReason, ConnectError};

use crate::support::*;

/// Nothing on the UDP port: ICMP tells at once (RFC 6951 §5.5, RFC 9260 §10).
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_host_without_sctp_is_told_at_once() {
    // An address of its own, or the next socket of another test could get the port.
    let nobody = std::net::UdpSocket::bind("127.0.0.91:0").unwrap().local_addr().unwrap();
    let endpoint = endpoint().await;
    // Without the ICMP error the reason would be that nobody answered.
    let outcome = soon(endpoint.connect(&[nobody], PORT)).await;
    assert_eq!(outcome.unwrap_err(), ConnectError::Failed(CloseReason::NoSctp));
}

/// A stack, but nobody on the SCTP port.
#[tokio::test]
async fn a_port_without_listener_refuses() {
    let server = endpoint().await;
    let client = endpoint().await;
    let error = soon(client.connect(&server.local_addresses(), PORT)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Failed(CloseReason::AbortedByPeer { .. })), "{error}");
}

/// Datagrams that are no packets do no harm.
#[tokio::test]
async fn garbage_does_no_harm() {
    let Pair { near, far, server, .. } = pair().await;
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for length in [0, 1, 11, 12, 13, 100, 1452, 9000, 65_000] {
        let garbage: Vec<u8> = (0..length).map(|i: u32| (i * 31) as u8).collect();
        stranger.send_to(&garbage, server.local_addresses()[0]).unwrap();
    }
    near.send(message(0, "fine".into())).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "fine");
}
