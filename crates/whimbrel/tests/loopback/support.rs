use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;
use whimbrel::{Association, Bytes, Config, Endpoint, Listener, Message, StreamId};

/// The SCTP port that the tests listen on.
pub(crate) const PORT: u16 = 5001;

/// Nothing here takes that long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Fails instead of hanging.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("takes too long")
}

pub(crate) fn local(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub(crate) async fn endpoint() -> Endpoint {
    Endpoint::bind([local("127.0.0.1:0")]).await.unwrap()
}

pub(crate) async fn endpoint_with(config: Config) -> Endpoint {
    Endpoint::builder().addresses([local("127.0.0.1:0")]).config(config).bind().await.unwrap()
}

/// Two endpoints and an association between them.
pub(crate) struct Pair {
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) listener: Listener,
    pub(crate) near: Association,
    pub(crate) far: Association,
}

pub(crate) async fn pair() -> Pair {
    pair_with(Config::mobile()).await
}

pub(crate) async fn pair_with(config: Config) -> Pair {
    let client = endpoint_with(config.clone()).await;
    let server = endpoint_with(config).await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    Pair { client, server, listener, near, far }
}

pub(crate) async fn connect(
    client: &Endpoint,
    server: &Endpoint,
    listener: &Listener,
) -> (Association, Association) {
    let remote = server.local_addresses();
    let (near, far) = soon(async { tokio::join!(client.connect(&remote, PORT), listener.accept()) }).await;
    (near.unwrap(), far.unwrap())
}

/// Content that differs from message to message and place to place.
pub(crate) fn content(number: usize, length: usize) -> Bytes {
    (0..length).map(|place| (number * 131 + place * 7 + place / 256) as u8).collect()
}

pub(crate) fn message(stream: u16, payload: Bytes) -> Message {
    Message::new(StreamId(stream), payload)
}
