use super::*;
use crate::path::testing::{mesh, set};

fn new_data(paths: &Paths) -> Option<u32> {
    control_path(paths).map(PathId::number)
}

/// RFC 9260 §6.4.
#[test]
fn new_data_goes_to_the_primary() {
    let mut paths = mesh();
    assert_eq!(new_data(&paths), Some(0));
    paths.set_primary(PathId(2));
    assert_eq!(new_data(&paths), Some(2));
}

/// RFC 9260 §6.4.1: the most divergent pair; RFC 7829 §3.2: already when potentially failed.
#[test]
fn new_data_leaves_a_failed_primary_for_the_most_divergent_path() {
    for state in [PathState::PotentiallyFailed, PathState::Inactive] {
        let mut paths = mesh();
        set(&mut paths, PathId(0), state, 6);
        assert_eq!(new_data(&paths), Some(3));
        set(&mut paths, PathId(3), PathState::Inactive, 6);
        assert_eq!(new_data(&paths), Some(1));
    }
}

/// RFC 7829 §3.2 rule 4 and §4.1: without an active path a potentially failed one, the one with the fewest errors;
/// only then an inactive one.
#[test]
fn new_data_takes_the_least_bad_path() {
    let mut paths = mesh();
    set(&mut paths, PathId(0), PathState::PotentiallyFailed, 3);
    set(&mut paths, PathId(1), PathState::PotentiallyFailed, 2);
    set(&mut paths, PathId(2), PathState::Inactive, 1);
    set(&mut paths, PathId(3), PathState::PotentiallyFailed, 4);
    assert_eq!(new_data(&paths), Some(1));
    (0..4).for_each(|id| set(&mut paths, PathId(id), PathState::Inactive, 9 - id));
    assert_eq!(new_data(&paths), Some(3));
    // With equal errors the primary.
    (0..4).for_each(|id| set(&mut paths, PathId(id), PathState::Inactive, 6));
    paths.set_primary(PathId(0));
    assert_eq!(new_data(&paths).map(|id| id == 0 || id == 3), Some(true));
}

/// RFC 9260 §5.4: no data to an unconfirmed address, whatever else has failed.
#[test]
fn unconfirmed_paths_carry_nothing() {
    let mut paths = mesh();
    set(&mut paths, PathId(0), PathState::Inactive, 6);
    (1..4).for_each(|id| set(&mut paths, PathId(id), PathState::Unconfirmed, 0));
    assert_eq!(new_data(&paths), Some(0));
    set(&mut paths, PathId(0), PathState::Unconfirmed, 0);
    assert_eq!(new_data(&paths), None);
}
