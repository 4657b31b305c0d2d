use super::*;

async fn endpoint() -> Endpoint {
    Endpoint::bind(["127.0.0.1:0".parse().unwrap()]).await.unwrap()
}

#[tokio::test]
async fn unusable_peers_are_refused_at_once() {
    let endpoint = endpoint().await;
    let peer = |text: &str| vec![text.parse::<SocketAddr>().unwrap()];
    assert_eq!(endpoint.connect(&[], 1).await.unwrap_err(), ConnectError::NoAddress);
    assert_eq!(endpoint.connect(&peer("127.0.0.1:9"), 0).await.unwrap_err(), ConnectError::PortZero);
    assert_eq!(endpoint.connect(&peer("[::1]:9"), 1).await.unwrap_err(), ConnectError::NoCommonFamily);
    for nobody in ["0.0.0.0:9", "224.0.0.1:9"] {
        let error = endpoint.connect(&peer(nobody), 1).await.unwrap_err();
        assert!(matches!(error, ConnectError::NotAHost(_)), "{error}");
    }
}

#[tokio::test]
async fn a_port_has_one_listener() {
    let endpoint = endpoint().await;
    assert_eq!(endpoint.listen(0).unwrap_err(), ListenError::PortZero);
    let listener = endpoint.listen(7).unwrap();
    assert_eq!(listener.port(), 7);
    assert_eq!(endpoint.listen(7).unwrap_err(), ListenError::AlreadyListening(7));
    drop(listener);
    endpoint.listen(7).unwrap();
}

#[tokio::test]
async fn a_closed_endpoint_says_so() {
    let endpoint = endpoint().await;
    let listener = endpoint.listen(7).unwrap();
    endpoint.close().await;
    assert_eq!(listener.accept().await.unwrap_err(), EndpointClosed);
    assert_eq!(endpoint.listen(8).unwrap_err(), ListenError::Closed(EndpointClosed));
    let peer = ["127.0.0.1:9".parse().unwrap()];
    assert_eq!(endpoint.connect(&peer, 1).await.unwrap_err(), ConnectError::Closed(EndpointClosed));
    endpoint.close().await;
}

#[test]
fn handles_outlive_the_runtime_without_hanging() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let (endpoint, listener) = first.block_on(async {
        let endpoint = endpoint().await;
        let listener = endpoint.listen(7).unwrap();
        (endpoint, listener)
    });
    drop(first);
    runtime().block_on(async {
        assert_eq!(listener.accept().await.unwrap_err(), EndpointClosed);
        let peer = ["127.0.0.1:9".parse().unwrap()];
        assert_eq!(endpoint.connect(&peer, 1).await.unwrap_err(), ConnectError::Closed(EndpointClosed));
        endpoint.close().await;
    });
}
