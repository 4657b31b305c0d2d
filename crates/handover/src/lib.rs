//! When and where to move: facts about links and paths go in, actions come out.
//!
//! A [`Policy`] watches one association. It is told every [`Fact`] together with a [`View`] of what is there, and answers with
//! [`Decision`]s: what to do, and why. It does nothing itself, and knows neither sockets nor time.
//!
//! Most policies are a [`Judge`], which only says what it would like, inside a [`Governed`], which sees to it that wishes are
//! carried out safely and in measure: hysteresis, dwell time and limits are the same for all.
#![forbid(unsafe_code)]

mod action;
mod blemish;
mod bucket;
mod fact;
mod governed;
mod governor;
mod judge;
mod level;
mod pace;
mod past;
mod policies;
mod refusals;
mod trend;
mod view;

#[cfg(test)]
mod testing;

pub use action::{Action, Decision, Reason};
pub use blemish::Blemish;
pub use fact::Fact;
pub use governed::Governed;
pub use judge::{Judge, Need, Want, Wish};
pub use level::Hysteresis;
pub use pace::Pace;
pub use policies::aisle::{Aisle, AisleParameters};
pub use policies::concurrent::Concurrent;
pub use policies::failover::Failover;
pub use policies::fastest_network::FastestNetwork;
pub use policies::seamless::Seamless;
pub use policies::signal_strength::{
    AddressManagement, Change, LayerTwoHandover, Level, Row, Signal, SignalStrength, Thresholds, Trigger,
    primary_threshold,
};
pub use trend::Trend;
pub use view::{LocalAddress, Standing, View};
/// What a [`View`] and a [`Fact`] are made of.
pub use whimbrel_machine::{
    Cost, Instant, Interface, InterfaceFact, InterfaceId, InterfaceKind, InterfaceProperties, LinkFact,
};

/// Decides when and where one association moves.
pub trait Policy: core::fmt::Debug + Send {
    /// Takes in a fact. `view` already shows it.
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision>;

    /// When it wants to be told [`Fact::Deadline`]; always later than the last call of [`Self::observe`].
    fn next_deadline(&self) -> Option<Instant>;
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        (**self).observe(now, fact, view)
    }

    fn next_deadline(&self) -> Option<Instant> {
        (**self).next_deadline()
    }
}
