use whimbrel_proto::StaticReason;

use super::*;

fn delete(last: u8) -> AddressChange {
    AddressChange::Delete([192, 0, 2, last].into())
}

#[tokio::test]
async fn answers_find_whoever_asked_first() {
    let changes = Changes::new(Mobility::Dynamic);
    let mut commands = 0;
    let first = changes.expect(&[delete(1), delete(2)], || commands += 1);
    let second = changes.expect(&[delete(1)], || commands += 1);
    assert_eq!(commands, 2);
    // A policy's, which nobody awaits.
    changes.answered(&delete(9), Ok(()));
    changes.answered(&delete(1), Ok(()));
    changes.answered(&delete(1), Err(AddressChangeError::LastAddress));
    let mut first = first.into_iter();
    assert_eq!(first.next().unwrap().await, Ok(Ok(())));
    for one in second {
        assert_eq!(one.await, Ok(Err(AddressChangeError::LastAddress)));
    }
    changes.close();
    assert!(first.next().unwrap().await.is_err(), "closed");
    for late in changes.expect(&[delete(1)], || commands += 1) {
        assert!(late.await.is_err());
    }
    assert_eq!(commands, 2, "no command to an association that is gone");
}

#[test]
fn mobility_can_end() {
    let changes = Changes::new(Mobility::Dynamic);
    changes.set_mobility(Mobility::Static(StaticReason::PeerLacksAsconf));
    assert_eq!(changes.mobility(), Mobility::Static(StaticReason::PeerLacksAsconf));
}
