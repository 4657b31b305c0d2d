use super::*;

const NOW: Duration = Duration::from_secs(1000);

fn nonce(milliseconds: u64) -> NonceName {
    NonceName { made: NOW + Duration::from_millis(milliseconds), number: 1 }
}

/// An INVITE that comes again after the next request of the same nonce is still that INVITE; with other contents it is nothing.
#[test]
fn several_requests_of_a_nonce_may_come_again_as_they_were() {
    let mut uses = Uses::default();
    let mut allow = |now, count, print| uses.allow(now, "alice", nonce(0), count, [print; 32]);
    assert!(allow(NOW, 1, 1) && allow(NOW, 2, 2) && allow(NOW, 3, 3));
    assert!(allow(NOW, 1, 1) && allow(NOW, 3, 3) && allow(NOW, 2, 2));
    for print in [2, 4] {
        assert!(!allow(NOW, 1, print), "other contents");
    }
    assert!(allow(NOW + REPEATS, 2, 2));
    assert!(!allow(NOW + REPEATS * 2, 2, 2), "no request comes again after so long: its transaction is over");
}

#[test]
fn a_count_goes_up() {
    let mut uses = Uses::default();
    let mut allow = |count| uses.allow(NOW, "alice", nonce(0), count, [count as u8; 32]);
    assert!(allow(5) && !allow(4));
    for count in 6..6 + USES_PER_NONCE as u32 {
        assert!(allow(count));
    }
    assert!(!allow(5), "what is not remembered any more is not new");
}

#[test]
fn nonces_grow_old() {
    let mut uses = Uses::default();
    assert!(uses.allow(NOW + NONCE_LIVES, "alice", nonce(0), 1, [1; 32]));
    assert!(!uses.allow(NOW + NONCE_LIVES + REPEATS / 2, "alice", nonce(0), 2, [2; 32]));
    assert!(
        uses.allow(NOW + NONCE_LIVES + REPEATS, "alice", nonce(0), 1, [1; 32]),
        "what was in time may come again"
    );
    let later = NOW + NONCE_LIVES * 3;
    assert!(uses.allow(later, "alice", NonceName { made: later, number: 2 }, 1, [3; 32]));
    assert_eq!(uses.remembered("alice"), 1);
}

/// A user that uses many is remembered by its last ones, and loses by it itself alone: what is forgotten counts for nothing.
#[test]
fn who_uses_much_takes_from_nobody_else() {
    let mut uses = Uses::default();
    let many = NONCES_PER_USER as u64 * 2;
    for n in 0..many {
        assert!(uses.allow(NOW, "alice", nonce(n), 1, [1; 32]), "{n}");
    }
    assert_eq!(uses.remembered("alice"), NONCES_PER_USER);
    for n in [0, many / 2 - 1] {
        assert!(!uses.allow(NOW, "alice", nonce(n), 1, [1; 32]), "the same again");
        assert!(!uses.allow(NOW, "alice", nonce(n), 2, [2; 32]), "and another one");
    }
    assert!(uses.allow(NOW, "alice", nonce(many / 2), 1, [1; 32]), "what is remembered comes again");
    assert!(uses.allow(NOW, "bob", nonce(0), 1, [1; 32]));
}
