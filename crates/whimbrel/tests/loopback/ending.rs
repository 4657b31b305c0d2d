use whimbrel::{AssociationEvent, CloseReason, RecvError, SendError};

use crate::support::*;

#[tokio::test]
async fn an_abort_carries_its_reason() {
    let Pair { near, far, .. } = pair().await;
    let mut events = far.events();
    near.abort("lunch");
    assert_eq!(soon(near.closed()).await, CloseReason::Aborted);
    let reason = soon(far.closed()).await;
    let CloseReason::AbortedByPeer { reason: text, .. } = &reason else { panic!("{reason:?}") };
    assert_eq!(text, "lunch");
    assert_eq!(soon(far.recv()).await, Err(RecvError::Closed(reason.clone())));
    assert_eq!(far.send(message(0, "x".into())).await, Err(SendError::Closed));
    assert_eq!(soon(far.shutdown()).await, Err(reason));
    while let Some(event) = soon(events.recv()).await {
        if let AssociationEvent::Closed { reason, .. } = event {
            assert!(matches!(reason, CloseReason::AbortedByPeer { .. }));
            assert_eq!(events.recv().await, None);
            return;
        }
    }
    panic!("the end is an event");
}

#[tokio::test]
async fn both_may_shut_down_at_once() {
    let Pair { near, far, .. } = pair().await;
    near.send(message(0, "from near".into())).await.unwrap();
    far.send(message(0, "from far".into())).await.unwrap();
    let (one, other) = soon(async { tokio::join!(near.shutdown(), far.shutdown()) }).await;
    assert_eq!((one, other), (Ok(()), Ok(())));
    // What had arrived can be read after the end.
    assert_eq!(near.recv().await.unwrap().unwrap().payload, "from far");
    assert_eq!(far.recv().await.unwrap().unwrap().payload, "from near");
    assert_eq!(near.recv().await.unwrap(), None);
    assert_eq!(near.try_recv().unwrap(), None);
}

#[tokio::test]
async fn after_shutdown_nothing_can_be_sent() {
    let Pair { near, far, .. } = pair().await;
    let mut events = far.events();
    let shutdown = tokio::spawn({
        let near = near.clone();
        async move { near.shutdown().await }
    });
    tokio::task::yield_now().await;
    let error = near.send(message(0, "late".into())).await.unwrap_err();
    assert!(matches!(error, SendError::ShuttingDown | SendError::Closed), "{error}");
    assert_eq!(soon(far.recv()).await.unwrap(), None);
    soon(shutdown).await.unwrap().unwrap();
    assert!(matches!(soon(events.recv()).await, Some(AssociationEvent::PeerShutdown)));
}

#[tokio::test]
async fn closing_an_endpoint_shuts_its_associations_down() {
    let Pair { near, far, client, listener, .. } = pair().await;
    near.send(message(0, "before the end".into())).await.unwrap();
    soon(client.close()).await;
    assert_eq!(near.close_reason(), Some(CloseReason::Shutdown));
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "before the end");
    assert_eq!(soon(far.recv()).await.unwrap(), None);
    drop(listener);
}

#[tokio::test]
async fn aborting_an_endpoint_waits_for_nobody() {
    let Pair { near, far, client, .. } = pair().await;
    client.abort("power failure");
    assert_eq!(soon(near.closed()).await, CloseReason::Aborted);
    assert!(matches!(soon(far.closed()).await, CloseReason::AbortedByPeer { .. }));
    soon(client.close()).await;
}
