//! The users of the hosts: each sends as much as its end lets it, or nothing, and reads at once what comes. The correspondent node talks to
//! the first who calls.

use core::net::SocketAddr;

use whimbrel_machine::Instant;
use whimbrel_testbed::traffic::{Greedy, Traffic};
use whimbrel_testbed::{User, numbered};

/// User data of a full packet.
const MESSAGE: usize = 1452;
/// Bytes that wait or are under way at any time: more than a window.
const AHEAD: usize = 128 * 1024;

/// A user.
pub(crate) type Talker = User<()>;

/// Who connects to `peer`. Equal ports let addresses alone tell associations apart.
pub(crate) fn calling(peer: SocketAddr, sends: bool) -> Talker {
    talking(Talker::opener(Instant::ZERO, vec![peer]).from_its_port(), sends)
}

/// Who waits to be called.
pub(crate) fn called(sends: bool) -> Talker {
    talking(Talker::reader(), sends)
}

fn talking(user: Talker, sends: bool) -> Talker {
    let traffic = || -> Box<dyn Traffic> { Box::new(Greedy::new(MESSAGE, AHEAD)) };
    user.saying(|_, bytes| numbered(0, bytes)).sending(sends.then(traffic))
}
