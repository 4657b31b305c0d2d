//! What a sender learns of one path, whatever the transport: how long to wait for an answer ([`Rto`]), how large packets may be
//! ([`PathMtu`]), how much may be in flight ([`congestion`]) and how fast it leaves ([`Pacer`]), what the path
//! is worth beside others ([`Quality`], [`LossRate`]), and how much it can carry ([`Capacity`]) and carries ([`Westwood`]).
//!
//! Each part is told what has happened and says what follows. None of them knows packets, timers or the other parts.
#![forbid(unsafe_code)]

pub mod congestion;
mod delivery;
mod estimate;
mod loss_rate;
mod pacing;
mod packet_pair;
mod packet_sizes;
mod pmtu;
mod quality;
mod rate_reduction;
mod rto;
mod westwood;

pub use delivery::{DeliveryRate, LossSample, RateSample};
pub use estimate::Estimate;
pub use loss_rate::LossRate;
pub use pacing::{Pacer, Pacing};
pub use packet_pair::{Capacity, PacketTrain, TrainNews};
pub use packet_sizes::PacketSizes;
pub use pmtu::{PathMtu, PmtuConfig, PmtuSearch};
pub use quality::{Arrival, Delay, PathQuality, Quality};
pub use rate_reduction::RateReduction;
pub use rto::{FirstMeasurement, Rto, RtoConfig};
pub use westwood::Westwood;
