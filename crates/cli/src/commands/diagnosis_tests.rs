use super::*;

#[tokio::test]
async fn a_port_without_a_program_is_named() {
    let free = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let text = complaints(&[free]).await.unwrap();
    assert!(text.contains(&format!("UDP port {}", free.port())), "{text}");
}

#[tokio::test]
async fn silence_says_nothing() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    assert_eq!(complaints(&[silent.local_addr().unwrap()]).await, None);
}

#[test]
fn what_the_system_says_is_in_words() {
    let peer = "192.0.2.1:9899".parse().unwrap();
    for (kind, word) in [
        (ErrorKind::NetworkUnreachable, "no route"),
        (ErrorKind::HostUnreachable, "router"),
        (ErrorKind::PermissionDenied, "firewall"),
    ] {
        let text = explain(peer, &kind.into()).unwrap();
        assert!(text.contains(word) && text.contains("192.0.2.1"), "{text}");
    }
    assert_eq!(explain(peer, &ErrorKind::OutOfMemory.into()), None);
}
