use super::*;

async fn resolved(text: &str) -> Vec<SocketAddr> {
    resolve(&[text.parse().unwrap()]).await.unwrap()
}

#[tokio::test]
async fn addresses_are_read_with_and_without_port() {
    assert_eq!(resolved("10.0.0.1").await, ["10.0.0.1:9899".parse().unwrap()]);
    assert_eq!(resolved("10.0.0.1:7").await, ["10.0.0.1:7".parse().unwrap()]);
    assert_eq!(resolved("::1").await, ["[::1]:9899".parse().unwrap()]);
    assert_eq!(resolved("[::1]").await, ["[::1]:9899".parse().unwrap()]);
    assert_eq!(resolved("[::1]:7").await, ["[::1]:7".parse().unwrap()]);
    assert!(
        resolved("localhost:7").await.iter().all(|address| address.ip().is_loopback() && address.port() == 7)
    );
}

#[test]
fn nonsense_is_refused() {
    for text in ["", ":7", "1.2.3", "1.2.3.4.5", "10.0.0.1:70000", "host:x", "a b", "300.1.1.1"] {
        assert!(text.parse::<Address>().is_err(), "{text:?}");
    }
}

#[tokio::test]
async fn local_addresses_share_a_port() {
    let list = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Address>>();
    let two = local(&list(&["127.0.0.1", "[::1]:5", "127.0.0.1"]), 9).await.unwrap();
    assert_eq!(two, ["127.0.0.1:5".parse().unwrap(), "[::1]:5".parse().unwrap()]);
    assert!(local(&list(&["127.0.0.1:4", "[::1]:5"]), 9).await.is_err());
    let any: Vec<SocketAddr> = vec!["0.0.0.0:9".parse().unwrap(), "[::]:9".parse().unwrap()];
    for typed in [&[][..], &["any"], &["0.0.0.0", "::"], &["any", "0.0.0.0"]] {
        let all = local(&list(typed), 9).await.unwrap();
        assert_eq!(all[..2], any, "{typed:?}");
        // On a host with nothing but itself, that too.
        assert!(all[2..].iter().all(|address| address.ip().is_loopback() && address.port() == 9));
    }
    assert_eq!(local(&list(&["any:7"]), 9).await.unwrap()[0].port(), 7);
    assert!(resolve(&list(&["any"])).await.unwrap_err().to_string().contains("name the peer's"));
}

#[test]
fn loopback_is_reached_from_loopback() {
    assert_eq!(towards(&["127.0.0.1:9".parse().unwrap()]).unwrap(), ["127.0.0.1:0".parse().unwrap()]);
}

#[test]
fn others_are_reached_from_wherever_the_host_is() {
    let from = towards(&["192.0.2.200:9".parse().unwrap(), "192.0.2.201:9".parse().unwrap()]).unwrap();
    // First the address that the system would use, if it has a route.
    let any = ["0.0.0.0:0", "[::]:0"].map(|any| any.parse::<SocketAddr>().unwrap());
    assert!(from.ends_with(&any) && from.len() <= 3, "of both IP versions: {from:?}");
}
