//! The set-ups of the papers, made of what the crate `testbed` has: which hosts and networks there are, who uses them, and who watches.

mod arrivals;
mod failover;
pub mod gateways;
mod guests;
pub(crate) mod overlap;
mod shared_bottleneck;
mod stations;
pub(crate) mod three_links;
pub mod two_cells;
mod two_paths;

pub use arrivals::Arrivals;
pub use failover::{FAILOVER, fail_over};
pub use guests::{BIN, Guest};
pub use shared_bottleneck::{Bottleneck, SecondPath, SharedBottleneck, Video, WayBack};
pub use stations::{Access, Air, Arrival, Stations};
pub use two_paths::{AccessNetwork, Hosts, TwoPaths, mn_address};

use whimbrel_netsim::Loss;
use whimbrel_testbed::Tally;
pub use whimbrel_testbed::{NUMBERED, Silence, TransferTimes, traffic};

/// The user of a host, who keeps sums of what happens.
pub type User = whimbrel_testbed::User<Tally>;

/// Each packet lost with this probability; no draws where that is 0.
pub fn random(probability: f64) -> Loss {
    if probability > 0.0 { Loss::Bernoulli(probability) } else { Loss::None }
}
