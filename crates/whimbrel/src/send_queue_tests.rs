use super::*;

const LIMIT: usize = 64_000;

fn memory(total: usize) -> Arc<SendMemory> {
    let limits = whimbrel_proto::LimitConfig { send_buffer: LIMIT, ..whimbrel_proto::Config::rfc().limits };
    Arc::new(SendMemory::new(&limits, total))
}

fn filled(bytes: usize) -> SendQueue {
    filled_from(&memory(usize::MAX), bytes)
}

fn filled_from(memory: &Arc<SendMemory>, bytes: usize) -> SendQueue {
    let mut queue = SendQueue::new(Arc::clone(memory));
    while queue.has_room(bytes) {
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
    assert!(!queue.is_roomy());
    queue.credit(249);
    assert!(!queue.is_roomy() && queue.has_room(1));
    queue.credit(1);
    assert!(queue.is_roomy());
    queue.credit(10_000);
    assert_eq!((queue.bytes, queue.messages), (0, 0));
}

/// However many peers acknowledge nothing, there is something left for whoever comes next, and no message is lost by that.
#[test]
fn the_memory_of_the_endpoint_is_shared() {
    let total = LIMIT * 10;
    let memory = memory(total);
    let mut queues: Vec<_> = (0..30).map(|_| filled_from(&memory, 1000)).collect();
    // A message each is what those have that came when nothing was left.
    assert!(memory.used() <= total + 30 * (1000 + OVERHEAD), "{}", memory.used());
    assert_eq!(queues[0].bytes, LIMIT, "the first met no competition");
    assert!(queues.iter().all(|queue| queue.bytes > 0));
    assert!(!queues[29].has_room(1000) && !queues[0].is_roomy());
    // Bookkeeping counts: of tiny messages fewer bytes are held.
    let crumbs = (filled_from(&self::memory(LIMIT * 4), 1), filled_from(&self::memory(LIMIT * 4), 1000));
    assert!(crumbs.0.cost() <= LIMIT * 2 && crumbs.1.cost() <= LIMIT * 2);
    // What is given back is there for the others.
    queues.truncate(20);
    queues[0].clear();
    assert!(queues[19].has_room(1000));
    drop(queues);
    assert_eq!(memory.used(), 0);
}

/// What the path needs decides when the next message waits, and the send buffer how large one may be.
#[test]
fn messages_wait_once_the_path_has_what_it_needs() {
    let mut queue = SendQueue::new(memory(usize::MAX));
    queue.set_room(10_000);
    queue.add(9_999);
    assert!(queue.has_room(50_000) && !queue.has_room(60_000), "it is the send buffer that bounds messages");
    queue.add(1);
    assert!(!queue.has_room(1) && !queue.is_roomy());
    queue.credit(2_500);
    assert!(queue.has_room(1) && queue.is_roomy());
}
