use super::*;
use crate::event_log::CAPACITY;

fn error(code: u16) -> AssociationEvent {
    AssociationEvent::PeerError { causes: vec![code] }
}

#[tokio::test]
async fn oldest_events_are_dropped_and_counted() {
    let subscriber = Arc::new(Subscriber::default());
    let mut events = Events::new(subscriber.clone());
    for code in 0..CAPACITY as u16 + 3 {
        subscriber.tell(error(code));
    }
    assert_eq!(events.missed(), 3);
    assert_eq!(events.recv().await, Some(error(3)));
}

#[tokio::test]
async fn closed_is_the_last_event() {
    let subscriber = Arc::new(Subscriber::default());
    let mut events = Events::new(subscriber.clone());
    assert_eq!(events.try_recv(), None);
    subscriber.tell(error(1));
    subscriber.tell(AssociationEvent::Closed { reason: CloseReason::Shutdown, undelivered: 0 });
    assert_eq!(events.recv().await, Some(error(1)));
    assert!(matches!(events.recv().await, Some(AssociationEvent::Closed { .. })));
    assert_eq!(events.recv().await, None);
    assert_eq!(events.recv().await, None);
}
