use super::*;

const KEPT: Duration = Duration::from_secs(300);
const PORTS: Lookup = Lookup { local: 1, remote: 2 };

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

#[test]
fn only_the_tag_with_its_ports_is_known_and_only_for_a_while() {
    let mut departed = Departed::default();
    departed.note(at(0), 7, PORTS, KEPT);
    assert!(departed.knows(at(300), 7, PORTS));
    assert!(!departed.knows(at(300), 8, PORTS));
    assert!(!departed.knows(at(300), 7, Lookup { local: 1, remote: 3 }));
    assert!(!departed.knows(at(301), 7, PORTS));
    assert!(departed.order.is_empty() && departed.ports.is_empty());
}

/// A peer that sets up and ends associations without pause takes no more than this.
#[test]
fn what_is_remembered_is_bounded() {
    let mut departed = Departed::default();
    for tag in 0..MAX_DEPARTED as u32 + 10 {
        departed.note(at(0), tag, PORTS, KEPT);
    }
    assert_eq!((departed.order.len(), departed.ports.len()), (MAX_DEPARTED, MAX_DEPARTED));
    assert!(!departed.knows(at(0), 9, PORTS));
    assert!(departed.knows(at(0), 10, PORTS));
}
