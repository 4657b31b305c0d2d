use super::*;

fn typed(text: &str) -> Vec<Address> {
    text.split(',').map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn loopback_stands_for_all_that_this_host_has() {
    let ours: Vec<SocketAddr> = addresses::of_this_host()
        .unwrap()
        .into_iter()
        .filter(|ip| !ip.is_loopback())
        .take(HERE_MAX)
        .map(|ip| SocketAddr::new(ip, 7))
        .collect();
    for text in ["127.0.0.1:7", "127.0.1.1:7", "[::1]:7", "localhost:7"] {
        let peer = Peer::resolve(&typed(text)).await.unwrap();
        assert!(peer.named.iter().all(|address| address.ip().is_loopback()), "{text}: {peer:?}");
        assert_eq!(peer.here, ours, "{text}");
        assert!(peer.all().starts_with(&peer.named) && peer.all().ends_with(&ours));
    }
    for text in ["192.0.2.200:7", "127.0.0.1:7,192.0.2.200:7"] {
        assert!(Peer::resolve(&typed(text)).await.unwrap().here.is_empty(), "who names others means those");
    }
}
