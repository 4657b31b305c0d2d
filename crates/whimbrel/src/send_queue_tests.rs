use super::*;

const LIMIT: usize = 64_000;

fn filled(bytes: usize) -> SendQueue {
    let mut queue = SendQueue::default();
    while queue.has_room(bytes, LIMIT) {
        queue.add(bytes);
    }
    queue
}

#[test]
fn bytes_are_bounded_and_so_are_messages() {
    assert_eq!((filled(1000).bytes, filled(1000).messages), (64_000, 64));
    assert_eq!((filled(1).bytes, filled(1).messages), (1000, 1000));
    let alone = filled(1_000_000);
    assert_eq!((alone.bytes, alone.messages), (1_000_000, 1));
}

#[test]
fn acknowledged_bytes_make_room_for_messages() {
    let mut queue = filled(1);
    assert!(!queue.is_roomy(LIMIT));
    queue.credit(249);
    assert!(!queue.is_roomy(LIMIT) && queue.has_room(1, LIMIT));
    queue.credit(1);
    assert!(queue.is_roomy(LIMIT));
    queue.credit(10_000);
    assert_eq!((queue.bytes, queue.messages), (0, 0));
}
