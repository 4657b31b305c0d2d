use super::*;
use crate::config::Config;
use crate::path::testing::{add, mesh, set};
use whimbrel_machine::Instant;

fn together(paths: &Paths) -> Vec<u32> {
    data_paths(paths).into_iter().map(PathId::number).collect()
}

/// Between two addresses on each side two paths that share none.
#[test]
fn no_link_is_used_twice() {
    let mut paths = mesh();
    assert_eq!(together(&paths), [0, 3]);
    paths.set_primary(PathId(2));
    assert_eq!(together(&paths), [2, 1]);
}

/// A server with one address, a host with two, and the other way round.
#[test]
fn one_address_on_one_side_is_shared() {
    for (locals, remotes) in [(2, 1), (1, 2), (3, 2)] {
        let mut paths = Paths::new(1);
        for local in 1..=locals {
            for remote in 1..=remotes {
                add(&mut paths, local, remote, &Config::rfc());
            }
        }
        assert_eq!(together(&paths).len(), usize::from(locals.max(remotes)), "{locals} and {remotes}");
    }
}

/// Local address 2 is metered: it carries data where it is chosen, or where nothing else works.
#[test]
fn metered_networks_do_not_take_part() {
    let mut paths = mesh();
    let metered = paths.get(PathId(2)).expect("a path").route.local.ip();
    paths.spare(vec![metered]);
    assert_eq!(together(&paths), [0, 1]);
    paths.set_primary(PathId(3));
    assert_eq!(together(&paths), [3, 0]);
    paths.set_primary(PathId(0));
    (0..2).for_each(|id| set(&mut paths, PathId(id), PathState::Inactive, 9));
    assert_eq!(together(&paths).len(), 1);
    assert!(together(&paths)[0] >= 2, "nothing else works");
    paths.spare(Vec::new());
    assert_eq!(together(&paths).len(), 2);
}

/// RFC 7829 §3.2: no data to a potentially failed path while another works; the least bad one if none does.
#[test]
fn failed_and_doubted_paths_are_left_out() {
    let mut paths = mesh();
    set(&mut paths, PathId(3), PathState::PotentiallyFailed, 1);
    assert_eq!(together(&paths), [0, 1, 2], "each has an address of its own");
    paths.get_mut(PathId(0)).expect("a path").doubt.suspect(Instant::ZERO, None);
    assert_eq!(together(&paths), [1, 2]);
    for (id, errors) in [(0, 2), (1, 2), (2, 1), (3, 2)] {
        set(&mut paths, PathId(id), PathState::PotentiallyFailed, errors);
    }
    assert_eq!(together(&paths), [2]);
    (0..4).for_each(|id| set(&mut paths, PathId(id), PathState::Unconfirmed, 0));
    assert_eq!(together(&paths), [0_u32; 0]);
}
