//! Which congestion controller a connection has.

use std::sync::Arc;

use whimbrel::Config;
use whimbrel::proto::path::congestion::{BbrParameters, CubicParameters, HyStartParameters, RenoParameters};

/// Congestion controllers by name.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ControllerName {
    /// What the library has without this option: BBR.
    #[default]
    Default,
    /// RFC 9260's, with HyStart++.
    Reno,
    /// RFC 9438's, with HyStart++.
    Cubic,
    /// BBR, version 3.
    Bbr,
}

impl ControllerName {
    /// Has every path get one of these.
    pub(crate) fn apply(self, config: &mut Config) {
        config.congestion.controller = match self {
            Self::Default => return,
            Self::Reno => Arc::new(HyStartParameters::around(RenoParameters::default())),
            Self::Cubic => Arc::new(HyStartParameters::around(CubicParameters::default())),
            Self::Bbr => Arc::new(BbrParameters::default()),
        };
    }
}
