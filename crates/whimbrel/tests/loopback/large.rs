//! Messages that are larger than the receive buffer.

use whimbrel::{CloseReason, Config, Endpoint, LargeMessages, Part, RecvError};

use crate::support::{PORT, connect, content, endpoint_with, local, message, soon};

const BUFFER: usize = 100_000;

fn config() -> Config {
    let mut config = Config::mobile();
    config.limits.receive_buffer = BUFFER;
    config
}

#[tokio::test]
async fn a_message_that_can_never_be_whole_ends_the_association_and_both_sides_know_why() {
    let (client, server) = (endpoint_with(config()).await, endpoint_with(config()).await);
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    let fits = content(1, BUFFER * 3 / 4);
    near.send(message(0, fits.clone())).await.unwrap();
    let received = soon(far.recv()).await.unwrap().unwrap();
    assert_eq!((received.part, received.payload), (Part::Whole, fits));
    near.send(message(0, content(2, 3 * BUFFER))).await.unwrap();
    let error = soon(far.recv()).await.unwrap_err();
    assert_eq!(error, RecvError::Closed(CloseReason::MessageTooLarge { limit: BUFFER }));
    let CloseReason::AbortedByPeer { reason, .. } = soon(near.closed()).await else { panic!("aborted") };
    assert!(String::from_utf8_lossy(&reason).contains("larger than my receive buffer"), "{reason:?}");
}

#[tokio::test]
async fn who_asks_for_parts_gets_them() {
    let client = endpoint_with(config()).await;
    let builder = Endpoint::builder().addresses([local("127.0.0.1:0")]).config(config());
    let server = builder.large_messages(LargeMessages::InParts).bind().await.unwrap();
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    let sent = content(3, 3 * BUFFER);
    near.send(message(0, sent.clone())).await.unwrap();
    let (mut arrived, mut parts) = (Vec::new(), Vec::new());
    while parts.last() != Some(&Part::Last) {
        let received = soon(far.recv()).await.unwrap().unwrap();
        arrived.extend_from_slice(&received.payload);
        parts.push(received.part);
    }
    assert!(parts[0] == Part::First && arrived == sent);
}
