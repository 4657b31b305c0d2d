use super::*;

fn message(buffers: &Buffers, len: usize) -> Bytes {
    let mut buffer = buffers.take(len);
    buffer.resize(len, 7);
    buffers.lend(buffer)
}

fn unused(buffers: &Buffers) -> usize {
    buffers.lock().bytes
}

#[test]
fn a_buffer_comes_back_with_the_last_reference() {
    let buffers = Buffers::default();
    let first = message(&buffers, 65_536);
    let place = first.as_ptr();
    let part = first.slice(1000..2000);
    drop(first);
    assert_eq!(unused(&buffers), 0);
    assert_eq!(part[..], [7; 1000]);
    drop(part);
    assert_eq!(unused(&buffers), 65_536);
    // A little smaller fits as well; much smaller would waste it.
    let second = message(&buffers, 40_000);
    assert_eq!((second.as_ptr(), second.len()), (place, 40_000));
    drop(second);
    assert_ne!(message(&buffers, 20_000).as_ptr(), place);
}

#[test]
fn small_and_huge_messages_are_left_to_the_allocator() {
    let buffers = Buffers::default();
    drop(message(&buffers, 1000));
    drop(message(&buffers, SMALLEST - 1));
    drop(message(&buffers, 2 * LARGEST));
    assert_eq!(unused(&buffers), 0);
}

/// A user that drops everything at once does not make the endpoint keep it.
#[test]
fn what_is_kept_is_bounded() {
    let buffers = Buffers::default();
    let messages: Vec<_> = (0..200).map(|n| message(&buffers, SMALLEST + n * 1000)).collect();
    assert!(messages.iter().map(Bytes::len).sum::<usize>() > 3 * KEPT);
    drop(messages);
    assert!((KEPT - LARGEST..=KEPT).contains(&unused(&buffers)));
}

/// Capacity never exceeds twice the message, however the buffer came to be.
#[test]
fn a_message_does_not_keep_much_more_than_it_needs() {
    let buffers = Buffers::default();
    drop(message(&buffers, 1 << 20));
    let mut buffer = buffers.take(1 << 20);
    buffer.extend_from_slice(&[1; 100_000]);
    drop(buffers.lend(buffer));
    assert!((100_000..=200_000).contains(&unused(&buffers)));
}
