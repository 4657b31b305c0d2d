use tokio::task::yield_now;
use whimbrel_machine::Route;
use whimbrel_proto::{Config, Delivery as Order, Event, Mobility, Part, PeerKey};
use whimbrel_wire::{PayloadProtocolId, StreamId};

use super::*;
use crate::{Bytes, Encapsulation, Endpoint};

/// Only a machine names associations, so one is set up for its name.
async fn name() -> AssociationId {
    let address = ["127.0.0.1:0".parse().unwrap()];
    let endpoint = Endpoint::bind(address).await.unwrap();
    let _listener = endpoint.listen(1).unwrap();
    endpoint.connect(&endpoint.local_addresses(), 1).await.unwrap().id()
}

/// A mailbox without a driver, so that nothing happens but what the test does.
struct Bench {
    mailbox: Mailbox,
    shared: Shared,
}

const SEND_LIMIT: usize = 100_000;
const RECEIVE_BUFFER: usize = 80_000;

async fn bench() -> Bench {
    bench_with(None).await
}

async fn bench_with(peer_key: Option<PeerKey>) -> Bench {
    let mut config = Config::mobile();
    config.limits.send_buffer = SEND_LIMIT;
    config.limits.receive_buffer = RECEIVE_BUFFER;
    let shared = Shared::new(Encapsulation::Udp, None, &config, SEND_LIMIT * 4, core::num::NonZeroU32::MIN);
    let route = Route { local: "127.0.0.1:1".parse().unwrap(), remote: "127.0.0.1:2".parse().unwrap() };
    let setup = Setup {
        inbound_streams: 4,
        local_port: 1,
        remote_port: 1,
        primary: route,
        mobility: Mobility::Dynamic,
        peer_adaptation: None,
        peer_key,
    };
    let memory = Arc::clone(&shared.send_memory);
    Bench { mailbox: Mailbox::new(name().await, 4, setup, memory), shared }
}

impl Bench {
    fn offer(&self, bytes: usize, in_turn: bool) -> Result<(), SendError> {
        let message = Message::new(StreamId(0), vec![0; bytes]);
        self.mailbox.offer(&self.shared, message, in_turn).map_err(|refused| refused.error)
    }

    fn deliver(&self, events: impl IntoIterator<Item = Event>) -> (usize, bool) {
        let mut delivery = self.mailbox.deliver();
        events.into_iter().for_each(|event| delivery.event(event));
        delivery.finish()
    }

    fn sent(&self, bytes: usize) {
        self.deliver([Event::Sent { association: self.mailbox.id, bytes, room: SEND_LIMIT }]);
    }

    fn message(&self, bytes: usize) -> Event {
        let received = Received {
            stream: StreamId(0),
            ppid: PayloadProtocolId(0),
            delivery: Order::Ordered,
            part: Part::Whole,
            payload: Bytes::from(vec![0; bytes]),
        };
        Event::Message { association: self.mailbox.id, received }
    }

    fn restarted(&self, undelivered: usize) -> Event {
        Event::Restarted { association: self.mailbox.id, outbound_streams: 2, undelivered }
    }

    /// Bytes given back to the receive window through the queue.
    fn released(&self) -> usize {
        let mut wishes = crate::inbox::Wishes::default();
        self.shared.inboxes()[0].take_wishes(&mut wishes);
        let bytes = |command: &Command| match command {
            Command::Release { bytes, .. } => *bytes,
            _ => 0,
        };
        wishes.commands.iter().map(bytes).sum()
    }

    fn take(&self) -> Taken {
        self.mailbox.take(&self.shared)
    }
}

#[tokio::test]
async fn room_is_what_is_not_acknowledged() {
    let bench = bench().await;
    assert_eq!(bench.offer(SEND_LIMIT, false), Ok(()));
    assert_eq!(bench.offer(1, false), Err(SendError::BufferFull));
    bench.sent(10);
    assert_eq!(bench.offer(11, false), Err(SendError::BufferFull));
    assert_eq!(bench.offer(10, false), Ok(()));
    bench.sent(SEND_LIMIT);
    assert_eq!(bench.offer(SEND_LIMIT * 2, false), Ok(()), "a message larger than the buffer goes alone");
    assert_eq!(bench.offer(1, false), Err(SendError::BufferFull));
}

/// What would be taken for a word about keys is refused at once, where there are keys, and takes no room.
#[tokio::test]
async fn reserved_identifiers_are_refused_where_packets_are_protected() {
    let reserved =
        || Message { ppid: PayloadProtocolId(4242), ..Message::new(StreamId(1), vec![0; SEND_LIMIT]) };
    let bench = bench_with(Some(PeerKey(Bytes::new()))).await;
    let refused = bench.mailbox.offer(&bench.shared, reserved(), false).unwrap_err();
    assert_eq!(refused.error, SendError::ReservedIdentifier);
    let mut many = VecDeque::from([Message::new(StreamId(0), "fine"), reserved()]);
    let outcome = bench.mailbox.offer_many(&bench.shared, &mut many, false);
    assert_eq!(outcome, Err(SendError::ReservedIdentifier));
    assert_eq!(many, [reserved()], "the one at fault is the first");
    let clear = self::bench().await;
    assert_eq!(clear.mailbox.offer(&clear.shared, reserved(), false), Ok(()));
}

#[tokio::test]
async fn nobody_overtakes_a_waiting_sender() {
    let bench = bench().await;
    bench.offer(SEND_LIMIT, false).unwrap();
    let waiting = bench.mailbox.wait_for_room();
    bench.sent(1000);
    assert_eq!(bench.offer(1, false), Err(SendError::BufferFull), "there is room, but not for latecomers");
    assert_eq!(bench.offer(1, true), Ok(()));
    drop(waiting);
    assert_eq!(bench.offer(1, false), Ok(()));
}

#[tokio::test]
async fn waiting_senders_are_woken_when_it_is_worth_it() {
    let bench = bench().await;
    bench.offer(SEND_LIMIT, false).unwrap();
    let _waiting = bench.mailbox.wait_for_room();
    let mut room = core::pin::pin!(bench.mailbox.writable.notified());
    room.as_mut().enable();
    bench.sent(SEND_LIMIT / 10);
    yield_now().await;
    let is_woken = |room: core::pin::Pin<&mut tokio::sync::futures::Notified<'_>>| {
        room.poll(&mut core::task::Context::from_waker(core::task::Waker::noop())).is_ready()
    };
    assert!(!is_woken(room.as_mut()), "a tenth of the buffer is not worth a wake-up");
    bench.sent(SEND_LIMIT / 5);
    assert!(is_woken(room.as_mut()));
}

#[tokio::test]
async fn taken_bytes_are_given_back_in_lumps() {
    let bench = bench().await;
    bench.deliver((0..12).map(|_| bench.message(1000)));
    for _ in 0..9 {
        bench.take();
    }
    assert_eq!(bench.released(), 0, "below the threshold");
    bench.take();
    assert_eq!(bench.released(), RECEIVE_BUFFER / 8);
    bench.take();
    assert_eq!(bench.deliver([bench.message(1)]), (1000, false), "the driver takes the rest when it passes");
    assert_eq!(bench.deliver([]), (0, false), "and only once");
}

#[tokio::test]
async fn an_abandoned_mailbox_gives_everything_back() {
    let bench = bench().await;
    bench.deliver([bench.message(1000), bench.message(500)]);
    bench.mailbox.abandon(&bench.shared);
    assert_eq!(bench.released(), 1500);
    assert_eq!(bench.deliver([bench.message(700)]), (700, true), "what still comes, at once");
}

#[tokio::test]
async fn a_restart_stands_between_two_lives() {
    let bench = bench().await;
    bench.offer(SEND_LIMIT, false).unwrap();
    bench.deliver([bench.message(1), bench.restarted(SEND_LIMIT), bench.restarted(0), bench.message(2)]);
    assert_eq!(bench.mailbox.queued(), 0, "what was given up makes room");
    let length = |taken: Taken| taken.unwrap().unwrap().unwrap().payload.len();
    assert_eq!(length(bench.take()), 1);
    assert_eq!(bench.take(), Some(Err(RecvError::Restarted)));
    assert_eq!(length(bench.take()), 2, "two restarts in a row are one");
    assert_eq!(bench.take(), None);
    assert_eq!(bench.mailbox.outbound_streams(), 2);

    bench.deliver([bench.message(3), bench.restarted(0), bench.message(4)]);
    let mut into = Vec::new();
    let mut take_many = || bench.mailbox.take_many(&bench.shared, &mut into, 10);
    assert_eq!(take_many(), Some(Ok(1)), "a batch ends before a restart");
    assert_eq!(take_many(), Some(Err(RecvError::Restarted)));
    assert_eq!(take_many(), Some(Ok(1)));
    assert_eq!(take_many(), None);
}

/// 0 means the end, and nothing else.
#[tokio::test]
async fn a_limit_of_nothing_is_not_taken_for_the_end() {
    let bench = bench().await;
    let mut into = Vec::new();
    assert_eq!(bench.mailbox.take_many(&bench.shared, &mut into, 0), None);
    bench.deliver([bench.message(1), bench.message(2)]);
    assert_eq!(bench.mailbox.take_many(&bench.shared, &mut into, 0), Some(Ok(1)));
    assert_eq!(into.len(), 1);
}

/// A peer that restarts for ever, and each time fills the window that a restart opens, fills no memory.
#[tokio::test]
async fn restarts_do_not_pile_up_what_was_received() {
    let bench = bench().await;
    bench.deliver([bench.message(RECEIVE_BUFFER)]);
    for _ in 0..1000 {
        bench.deliver([bench.restarted(0), bench.message(RECEIVE_BUFFER)]);
    }
    let held = bench.mailbox.state().received.len();
    assert!(held <= 3, "{held} items: the first life, a restart, the last life");
    assert!(matches!(bench.take(), Some(Ok(Some(_)))));
    assert_eq!(bench.released(), 0, "the window of the former life is gone");
    assert_eq!(bench.take(), Some(Err(RecvError::Restarted)));
    assert!(matches!(bench.take(), Some(Ok(Some(_)))));
    assert_eq!(bench.released(), RECEIVE_BUFFER);
    assert_eq!(bench.take(), None);
}

#[tokio::test]
async fn the_end_comes_after_what_was_received() {
    let bench = bench().await;
    let closed =
        Event::Closed { association: bench.mailbox.id, reason: CloseReason::Unreachable, undelivered: 7 };
    bench.deliver([bench.message(1), closed]);
    assert!(matches!(bench.take(), Some(Ok(Some(_)))));
    assert_eq!(bench.take(), Some(Err(RecvError::Closed(CloseReason::Unreachable))));
    assert_eq!(bench.offer(1, false), Err(SendError::Closed));
    assert!(matches!(
        bench.mailbox.subscribe_and_read(),
        Some(AssociationEvent::Closed { undelivered: 7, .. })
    ));
}

#[tokio::test]
async fn who_asks_after_the_end_hears_of_it_and_of_nothing_more() {
    let bench = bench().await;
    bench.deliver([Event::Closed {
        association: bench.mailbox.id,
        reason: CloseReason::Shutdown,
        undelivered: 0,
    }]);
    let mut events = crate::Events::new(bench.mailbox.subscribe());
    assert!(matches!(events.recv().await, Some(AssociationEvent::Closed { .. })));
    tokio::select! {
        biased;
        event = events.recv() => assert_eq!(event, None),
        () = yield_now() => panic!("still waiting for events of an association that is gone"),
    }
}

impl Mailbox {
    fn subscribe_and_read(&self) -> Option<AssociationEvent> {
        crate::Events::new(self.subscribe()).try_recv()
    }
}
