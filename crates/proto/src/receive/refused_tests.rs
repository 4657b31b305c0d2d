use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::{Data, PayloadProtocolId, Ssn, StreamId, Tsn};

use super::super::memory::Share;
use super::super::window::{OVERHEAD, PACKET};
use super::super::{Buffers, Memory};
use super::*;
use crate::config::{Config, LargeMessages, LimitConfig, SackConfig};
use crate::path::testing::route;

const BUFFER: usize = 10_000;
const NOW: Instant = Instant::ZERO;

/// Of a program that takes whole messages.
fn receive(memory: &Memory) -> Receive {
    let large_messages = LargeMessages::Refuse;
    let limits = LimitConfig { receive_buffer: BUFFER, large_messages, ..Config::rfc().limits };
    let sack = SackConfig { delay: Duration::from_millis(20), ..Config::rfc().sack };
    Receive::new(Tsn(1), 4, &limits, Buffers::new(memory.clone()), &sack, route(1))
}

fn fragment(tsn: u32, bits: (bool, bool), payload: &[u8]) -> Data<'_> {
    Data {
        immediate: false,
        unordered: true,
        beginning: bits.0,
        ending: bits.1,
        tsn: Tsn(tsn),
        stream: StreamId(0),
        ssn: Ssn(0),
        ppid: PayloadProtocolId(0),
        payload,
    }
}

const WHOLE: (bool, bool) = (true, true);
const FIRST: (bool, bool) = (true, false);
const MIDDLE: (bool, bool) = (false, false);
const LAST: (bool, bool) = (false, true);

/// Memory that is left for others closes the window before the chunk that comes next has no room. The message is not too large for that.
#[test]
fn a_message_is_not_too_large_because_others_have_the_memory() {
    let memory = Memory::new(100_000, 0);
    let mut receive = receive(&memory);
    assert_eq!(receive.on_data(&fragment(1, FIRST, &[1; 4000])), DataOutcome::New);
    let mut others = Share::new(memory.clone());
    let left_to_it = 2 * (PACKET - 200) + 4000 + OVERHEAD;
    let most = 100_000 - 4000 - OVERHEAD;
    others.set(most);
    receive.write_sack(100);
    others.set(most - left_to_it);
    assert_eq!(receive.a_rwnd(), 0);
    assert_eq!(receive.on_data(&fragment(2, MIDDLE, &[2; 1000])), DataOutcome::NoRoom);
    assert!(memory.is_waited_for(), "there is less than a packet");
    drop(others);
    receive.write_sack(100);
    assert_eq!(receive.on_data(&fragment(2, MIDDLE, &[2; 1000])), DataOutcome::New);
    assert!(!memory.is_waited_for());
    assert_eq!(receive.on_data(&fragment(3, LAST, &[3; 5000])), DataOutcome::New);
    assert_eq!(receive.pop().map(|received| received.payload.len()), Some(10_000));
}

/// RFC 1122 §4.2.3.3 has a window stay closed until it can open by a packet. Here it never could.
#[test]
fn the_end_of_a_message_that_nearly_fills_the_buffer_is_taken() {
    let mut receive = receive(&Memory::default());
    assert_eq!(receive.on_data(&fragment(1, WHOLE, &[1; 600])), DataOutcome::New);
    assert!(receive.pop().is_some());
    assert_eq!(receive.on_data(&fragment(2, FIRST, &[2; 9400])), DataOutcome::New);
    receive.write_sack(100);
    assert_eq!((receive.a_rwnd(), receive.on_data(&fragment(3, LAST, &[3; 600]))), (0, DataOutcome::NoRoom));
    receive.release(NOW, 600, || None);
    assert!(receive.ack_due(NOW), "the peer is told");
    receive.write_sack(100);
    assert_eq!(receive.on_data(&fragment(3, LAST, &[3; 600])), DataOutcome::New);
    assert_eq!(receive.pop().map(|received| received.payload.len()), Some(10_000));
}

/// It is too large even while the user holds something else.
#[test]
fn a_message_is_too_large_by_itself_alone() {
    let mut receive = receive(&Memory::default());
    assert_eq!(receive.on_data(&fragment(1, WHOLE, &[1; 100])), DataOutcome::New);
    assert_eq!(receive.on_data(&fragment(2, FIRST, &[2; 9000])), DataOutcome::New);
    assert_eq!(receive.on_data(&fragment(3, LAST, &[3; 1000])), DataOutcome::NoRoom, "10,000 bytes, and 100");
    assert_eq!(receive.on_data(&fragment(3, LAST, &[3; 1001])), DataOutcome::TooLarge { limit: BUFFER });
}
