use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route};

use super::*;
use crate::config::Config;

/// Path n of four: (1, 1), (1, 2), (2, 1), (2, 2) as (local, remote) address numbers. All confirmed and active.
fn mesh() -> Paths {
    let mut paths = Paths::new(1);
    for (local, remote) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let route = Route {
            local: SocketAddr::from(([10, 0, 0, local], 9899)),
            remote: SocketAddr::from(([10, 0, 1, remote], 9899)),
        };
        let id = paths.next_id();
        paths.push(Path::new(id, route, true, &Config::rfc(), Instant::ZERO));
    }
    paths
}

fn set(paths: &mut Paths, id: u32, state: PathState, errors: u32) {
    let path = paths.get_mut(PathId(id)).unwrap();
    path.state = state;
    path.confirmed = state != PathState::Unconfirmed;
    path.error_count = errors;
}

fn new_data(paths: &Paths) -> Option<u32> {
    PrimaryPath.for_new_data(paths).map(PathId::number)
}

fn again(paths: &Paths, lost_on: u32) -> Option<u32> {
    AlternatePath.for_retransmission(paths, PathId(lost_on)).map(PathId::number)
}

/// What a path lost goes out on it again, unless new data has left it (RFC 9260 §7.2.4 leaves the choice to the sender).
#[test]
fn fast_retransmissions_follow_new_data() {
    let again = |paths: &Paths, lost_on| {
        AlternatePath.for_fast_retransmission(paths, PathId(lost_on)).map(PathId::number)
    };
    let mut paths = mesh();
    assert_eq!(again(&paths, 0), Some(0));
    paths.set_primary(PathId(3));
    assert_eq!(again(&paths, 0), Some(3));
    set(&mut paths, 0, PathState::Inactive, 6);
    assert_eq!(again(&paths, 0), Some(3));
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
        set(&mut paths, 0, state, 6);
        assert_eq!(new_data(&paths), Some(3));
        set(&mut paths, 3, PathState::Inactive, 6);
        assert_eq!(new_data(&paths), Some(1));
    }
}

/// RFC 7829 §3.2 rule 4 and §4.1: without an active path a potentially failed one, the one with the fewest errors;
/// only then an inactive one.
#[test]
fn new_data_takes_the_least_bad_path() {
    let mut paths = mesh();
    set(&mut paths, 0, PathState::PotentiallyFailed, 3);
    set(&mut paths, 1, PathState::PotentiallyFailed, 2);
    set(&mut paths, 2, PathState::Inactive, 1);
    set(&mut paths, 3, PathState::PotentiallyFailed, 4);
    assert_eq!(new_data(&paths), Some(1));
    (0..4).for_each(|id| set(&mut paths, id, PathState::Inactive, 9 - id));
    assert_eq!(new_data(&paths), Some(3));
    // With equal errors the primary.
    (0..4).for_each(|id| set(&mut paths, id, PathState::Inactive, 6));
    paths.set_primary(PathId(0));
    assert_eq!(new_data(&paths).map(|id| id == 0 || id == 3), Some(true));
}

/// RFC 9260 §5.4: no data to an unconfirmed address, whatever else has failed.
#[test]
fn unconfirmed_paths_carry_nothing() {
    let mut paths = mesh();
    set(&mut paths, 0, PathState::Inactive, 6);
    (1..4).for_each(|id| set(&mut paths, id, PathState::Unconfirmed, 0));
    assert_eq!(new_data(&paths), Some(0));
    assert_eq!(again(&paths, 0), Some(0));
    set(&mut paths, 0, PathState::Unconfirmed, 0);
    assert_eq!((new_data(&paths), again(&paths, 0)), (None, None));
}

/// RFC 9260 §6.4: retransmit to an active address different from the last.
#[test]
fn timed_out_data_goes_another_way() {
    let mut paths = mesh();
    assert_eq!(again(&paths, 0), Some(3));
    assert_eq!(again(&paths, 3), Some(0));
    set(&mut paths, 3, PathState::PotentiallyFailed, 1);
    assert_eq!(again(&paths, 0), Some(1));
}

/// With no other active path the same one, if that is active.
#[test]
fn timed_out_data_stays_when_there_is_no_other_way() {
    let mut paths = mesh();
    (1..4).for_each(|id| set(&mut paths, id, PathState::Inactive, 6));
    set(&mut paths, 0, PathState::Active, 3);
    assert_eq!(again(&paths, 0), Some(0));
    set(&mut paths, 0, PathState::PotentiallyFailed, 3);
    set(&mut paths, 2, PathState::PotentiallyFailed, 1);
    assert_eq!(again(&paths, 0), Some(2));
}

/// The path may be gone by the time its data is retransmitted.
#[test]
fn timed_out_data_of_a_path_that_is_gone() {
    let paths = mesh();
    assert_eq!(again(&paths, 77), Some(0));
}
