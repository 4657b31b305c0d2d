use super::*;

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

async fn refusal(addresses: &[&str]) -> String {
    let addresses: Vec<_> = addresses.iter().map(|text| address(text)).collect();
    Endpoint::bind(addresses).await.expect_err("these addresses are unusable").to_string()
}

#[tokio::test]
async fn unusable_addresses_are_explained() {
    assert!(refusal(&[]).await.contains("at least one local address"));
    assert!(refusal(&["127.0.0.1:0", "127.0.0.1:0"]).await.contains("given twice"));
    assert!(refusal(&["127.0.0.1:1000", "[::1]:2000"]).await.contains("different UDP ports"));
    assert_eq!(
        refusal(&["192.0.2.77:0"]).await,
        "address 192.0.2.77 is not on this machine; `ip address` shows those that are"
    );
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let first = Endpoint::bind([address("127.0.0.1:0")]).await.unwrap();
    let port = first.local_addresses()[0].port();
    let text = refusal(&[&format!("127.0.0.1:{port}")]).await;
    assert!(text.contains(&format!("UDP port {port} of 127.0.0.1 is in use")), "{text}");
    // Closing releases it at once.
    first.close().await;
    Endpoint::bind([address(&format!("127.0.0.1:{port}"))]).await.unwrap();
}

#[tokio::test]
async fn port_zero_is_one_port_for_all_addresses() {
    let endpoint = Endpoint::bind([address("127.0.0.1:0"), address("[::1]:0")]).await.unwrap();
    let ports: Vec<_> = endpoint.local_addresses().iter().map(SocketAddr::port).collect();
    assert_eq!(ports.len(), 2);
    assert_eq!(ports[0], ports[1]);
    assert_ne!(ports[0], 0);
}

#[test]
fn without_a_runtime_there_is_an_error_and_no_panic() {
    let mut bind = core::pin::pin!(Endpoint::bind([address("127.0.0.1:0")]));
    let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
    let core::task::Poll::Ready(outcome) = bind.as_mut().poll(&mut cx) else { panic!("should not wait") };
    assert!(matches!(outcome, Err(BindError::NoRuntime)));
}

#[tokio::test]
async fn a_window_is_both_buffers_and_is_checked() {
    let builder = |bytes| Endpoint::builder().addresses([address("127.0.0.1:0")]).window(bytes);
    for nonsense in [0, 4095, (1 << 30) + 1] {
        let text = builder(nonsense).bind().await.expect_err("no window").to_string();
        assert!(text.contains("buffer must be at"), "{nonsense}: {text}");
    }
    // Whatever comes first: the window goes before the configuration.
    builder(1 << 20).config(Config::rfc()).bind().await.unwrap();
}
