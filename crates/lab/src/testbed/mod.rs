//! What experiments are made of: hosts with users, access networks, and somebody who watches what arrives.

mod arrivals;
pub mod traffic;
mod two_paths;
mod user;

pub use arrivals::{Arrivals, ArrivalsWatch};
pub use two_paths::{AccessNetwork, Hosts, TwoPaths, mn_address};
pub use user::{PathUse, User};
