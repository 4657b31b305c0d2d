use super::*;

const A: PathId = PathId(0);
const B: PathId = PathId(1);

/// RFC 9260 §7.2.4: the windows of all paths with losses shrink once, and no window grows until the exit point is acknowledged.
#[test]
fn recovery_of_the_association_covers_every_path() {
    let mut recovery = RecoveryOfAssociation::default();
    assert_eq!(recovery.begin(&[A], Tsn(20))[..], [A]);
    assert!(recovery.is_active() && recovery.covers(A) && recovery.covers(B));
    assert!(recovery.begin(&[A, B], Tsn(30)).is_empty(), "it has begun already");
    recovery.on_cumulative_ack(Tsn(19));
    assert!(recovery.covers(B));
    recovery.on_cumulative_ack(Tsn(20));
    assert!(!recovery.is_active() && !recovery.covers(A));
    assert_eq!(recovery.begin(&[A, B], Tsn(30))[..], [A, B]);
    recovery.end(B);
    assert!(!recovery.is_active(), "given up for the whole association");
}

/// A loss on one path leaves the others alone.
#[test]
fn recovery_of_a_path_covers_that_path() {
    let mut recovery = RecoveryOfPath::default();
    assert_eq!(recovery.begin(&[A], Tsn(20))[..], [A]);
    assert!(recovery.is_active() && recovery.covers(A) && !recovery.covers(B));
    assert_eq!(recovery.begin(&[A, B], Tsn(30))[..], [B]);
    recovery.on_cumulative_ack(Tsn(25));
    assert!(!recovery.covers(A) && recovery.covers(B));
    recovery.begin(&[A], Tsn(40));
    recovery.end(B);
    assert!(recovery.covers(A) && !recovery.covers(B));
    recovery.remove_path(A);
    assert!(!recovery.is_active());
}

/// Fast Recovery of a path is over with what that path had outstanding; where it is by the Cumulative TSN Ack Point, it lasts as long as a slower path.
#[test]
fn a_path_alone_does_not_wait_for_others() {
    let (path, other) = (PathId(0), PathId(1));
    let rules: [(Box<dyn FastRecovery>, bool); 2] =
        [(Box::<RecoveryOfPathAlone>::default(), false), (Box::<RecoveryOfPath>::default(), true)];
    for (mut rule, goes_on) in rules {
        assert_eq!(rule.begin(&[path, other], Tsn(20))[..], [path, other]);
        rule.on_cumulative_ack(Tsn(3));
        rule.on_path_point(path, Some(Tsn(20)));
        assert!(rule.covers(path), "{rule:?}: its own last chunk is in flight");
        rule.on_path_point(path, Some(Tsn(21)));
        assert_eq!((rule.covers(path), rule.covers(other)), (goes_on, true), "{rule:?}");
        rule.on_path_point(other, None);
        rule.on_cumulative_ack(Tsn(20));
        assert!(!rule.is_active(), "{rule:?}");
    }
}
