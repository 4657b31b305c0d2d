use super::*;

#[test]
fn ssns_wrap_at_65535() {
    let mut ssns = NextSsns::default();
    let stream = StreamId(7);
    for n in 0..=u16::MAX {
        assert_eq!(ssns.next(stream), Ssn(n));
        ssns.advance(stream);
    }
    assert_eq!(ssns.next(stream), Ssn(0));
    assert_eq!(ssns.next(StreamId(8)), Ssn(0));
}

#[test]
fn memory_is_taken_where_it_is_used() {
    let mut ssns = NextSsns::default();
    assert_eq!(ssns.next(StreamId(u16::MAX)), Ssn(0));
    assert_eq!(ssns.pages.capacity(), 0, "looking takes none");
    ssns.advance(StreamId(u16::MAX));
    ssns.advance(StreamId(0));
    assert_eq!((ssns.next(StreamId(u16::MAX)), ssns.next(StreamId(0))), (Ssn(1), Ssn(1)));
    assert_eq!(ssns.next(StreamId(64)), Ssn(0));
    assert_eq!(ssns.pages.len(), 1024);
    assert_eq!(ssns.pages.iter().flatten().count(), 2);
}
