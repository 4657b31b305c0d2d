use core::net::SocketAddr;
use core::num::NonZeroU32;
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_proto::{Config, Endpoint, Shard};

use super::*;

/// What the first of two shards hands over when it gets a packet of so many bytes with a tag of the second.
fn handed_over(bytes: usize) -> HandOver {
    let local = SocketAddr::from(([127, 0, 0, 1], 9899));
    let shard = Shard::all(NonZeroU32::new(2).unwrap()).next().unwrap();
    let mut first = Endpoint::shard(Arc::new(Config::rfc()), Seed::from_u64(1), vec![local], shard);
    let mut packet = vec![0; bytes];
    packet[..8].copy_from_slice(&[0, 1, 0, 1, 0, 0, 0, 1]);
    first.handle_datagrams(Instant::ZERO, Route { local, remote: local }, &packet, bytes);
    first.poll_hand_over().unwrap()
}

#[test]
fn an_overflowing_inbox_drops_what_is_handed_over_and_nothing_else() {
    let inbox = Inbox::default();
    let bytes = 40_000;
    let room = HANDED_OVER_MAX / handed_over(bytes).size();
    let taken = (0..room + 10).filter(|_| inbox.hand_over(handed_over(bytes))).count();
    assert_eq!(taken, room);
    inbox.request(Request::HandlesGone);
    let mut wishes = Wishes::default();
    assert!(inbox.take_wishes(&mut wishes));
    assert_eq!((wishes.handed_over.len(), wishes.requests.len()), (room, 1));
    assert!(inbox.hand_over(handed_over(bytes)), "there is room again");
}

#[test]
fn a_small_packet_takes_more_room_than_its_bytes() {
    let inbox = Inbox::default();
    let taken = (0..HANDED_OVER_MAX).take_while(|_| inbox.hand_over(handed_over(40))).count();
    assert!(taken < HANDED_OVER_MAX / 80, "{taken}");
}

#[test]
fn what_is_handed_over_wakes_the_driver() {
    struct Counter(std::sync::atomic::AtomicUsize);
    impl std::task::Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let inbox = Inbox::default();
    let counter = Arc::new(Counter(0.into()));
    assert!(inbox.park(&Arc::clone(&counter).into()));
    assert!(inbox.hand_over(handed_over(40)) && inbox.hand_over(handed_over(40)));
    assert_eq!(counter.0.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert!(!inbox.park(&Arc::clone(&counter).into()), "there is something to do");
}

#[test]
fn a_shard_that_has_ended_takes_nothing() {
    let inbox = Inbox::default();
    inbox.finish();
    assert!(!inbox.hand_over(handed_over(40)));
}
