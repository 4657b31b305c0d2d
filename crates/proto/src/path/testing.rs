//! Paths for tests and fuzz targets.

use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route};

use super::{Path, Paths};
use crate::config::Config;
use crate::interface::{PathId, PathState};

/// Path n of four: (1, 1), (1, 2), (2, 1), (2, 2) as (local, remote) address numbers. All confirmed and active.
pub(crate) fn mesh() -> Paths {
    let mut paths = Paths::new(1);
    for (local, remote) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        add(&mut paths, local, remote, &Config::rfc());
    }
    paths
}

/// Adds the path between two addresses, confirmed and active.
pub(crate) fn add(paths: &mut Paths, local: u8, remote: u8, config: &Config) -> PathId {
    let id = paths.next_id();
    let route = Route { local: SocketAddr::from(([10, 0, 0, local], 9899)), ..route(remote) };
    paths.push(Path::new(id, route, true, config, Instant::ZERO));
    id
}

/// The route to the peer's address `remote` from our first one.
pub(crate) fn route(remote: u8) -> Route {
    Route {
        local: SocketAddr::from(([10, 0, 0, 1], 9899)),
        remote: SocketAddr::from(([10, 0, 1, remote], 9899)),
    }
}

/// Changes the state of path `id`.
pub(crate) fn set(paths: &mut Paths, id: PathId, state: PathState, errors: u32) {
    let path = paths.get_mut(id).expect("a path");
    path.state = state;
    path.confirmed = state != PathState::Unconfirmed;
    path.error_count = errors;
}
