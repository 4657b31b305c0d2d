use super::*;
use crate::event_log::CAPACITY;

fn event(number: usize) -> EndpointEvent {
    EndpointEvent::LinkSource { source: "test".into(), text: number.to_string() }
}

#[test]
fn the_first_receiver_gets_the_beginning_and_others_what_follows() {
    let subscribers = Subscribers::default();
    subscribers.publish(&event(1));
    let mut first = subscribers.subscribe();
    let mut second = subscribers.subscribe();
    subscribers.publish(&event(2));
    assert_eq!([first.try_recv(), first.try_recv()], [Some(event(1)), Some(event(2))]);
    assert_eq!([second.try_recv(), second.try_recv()], [Some(event(2)), None]);
}

#[tokio::test]
async fn a_reader_that_does_not_read_misses_the_oldest() {
    for early in [false, true] {
        let subscribers = Subscribers::default();
        let before = (!early).then(|| subscribers.subscribe());
        for number in 0..CAPACITY + 3 {
            subscribers.publish(&event(number));
        }
        subscribers.end();
        let mut events = before.unwrap_or_else(|| subscribers.subscribe());
        assert_eq!(events.missed(), 3);
        for number in 3..CAPACITY + 3 {
            assert_eq!(events.recv().await, Some(event(number)));
        }
        assert_eq!(events.recv().await, None);
        assert_eq!(subscribers.subscribe().recv().await, None);
    }
}
