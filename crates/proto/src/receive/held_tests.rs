use super::*;

const STREAM: StreamId = StreamId(3);

/// The chunk with `flags` ("B", "E", "BE", "") and one byte.
fn insert(held: &mut Held, position: u64, ssn: u16, flags: &str) -> Result<Option<u64>, &'static str> {
    let data = Data {
        immediate: false,
        unordered: false,
        beginning: flags.contains('B'),
        ending: flags.contains('E'),
        tsn: whimbrel_wire::Tsn(position as u32),
        stream: STREAM,
        ssn: Ssn(ssn),
        ppid: PayloadProtocolId(0),
        payload: &[position as u8],
    };
    let header = Header::of(&data);
    let first = held.insert(position, header, &data)?;
    if let Some(first) = first {
        held.wait(first, &header)?;
    }
    held.invariants(1);
    Ok(first)
}

#[test]
fn fragments_join_in_any_order() {
    let flags = ["B", "", "", "E"];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut held = Held::default();
        for (n, &i) in order.iter().enumerate() {
            let whole = insert(&mut held, 10 + i as u64, 5, flags[i]).expect("consistent");
            assert_eq!(whole, (n == 3).then_some(10), "{order:?}");
        }
        assert!(held.take_waiting(STREAM, Ssn(4)).is_none());
        let run = held.take_waiting(STREAM, Ssn(5)).expect("waiting");
        assert_eq!(run.into_payload()[..], [10, 11, 12, 13]);
        assert!(held.is_empty());
        held.invariants(1);
    }
}

#[test]
fn neighbours_must_agree() {
    let mut held = Held::default();
    insert(&mut held, 10, 5, "B").expect("first");
    insert(&mut held, 20, 6, "E").expect("second");
    assert_eq!(insert(&mut held, 11, 6, "B"), Err(BEGUN_WITHIN));
    assert_eq!(insert(&mut held, 11, 6, ""), Err(INCONSISTENT));
    assert_eq!(insert(&mut held, 9, 5, ""), Err(BEGUN_WITHIN));
    assert_eq!(insert(&mut held, 21, 6, ""), Err(NO_BEGINNING));
    assert_eq!(insert(&mut held, 19, 6, "E"), Err(NO_BEGINNING));
    assert_eq!(insert(&mut held, 19, 7, ""), Err(INCONSISTENT));
    held.invariants(1);
}

#[test]
fn an_ssn_is_used_once() {
    let mut held = Held::default();
    insert(&mut held, 10, 5, "BE").expect("first");
    assert_eq!(insert(&mut held, 12, 5, "BE"), Err(SSN_REUSED));
}

#[test]
fn the_highest_is_dropped_first() {
    let mut held = Held::default();
    for (position, ssn, flags) in [(5, 1, "BE"), (10, 2, "B"), (11, 2, "E"), (20, 3, "BE")] {
        insert(&mut held, position, ssn, flags).expect("consistent");
    }
    for dropped in [20, 11, 10] {
        assert_eq!(held.drop_highest(5), Some((dropped, 1)));
        held.invariants(1);
    }
    assert_eq!(held.drop_highest(5), None, "nothing is beyond");
    assert!(held.take_waiting(STREAM, Ssn(2)).is_none() && held.take_waiting(STREAM, Ssn(1)).is_some());
    assert_eq!((held.fragments(), held.bytes()), (0, 0));
}
