//! `[radio.NAME]`: what is heard by one radio.

use serde::Deserialize;
use whimbrel_netsim::LayerTwo;

/// A radio that several cells are heard by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Radio {
    #[serde(default)]
    pub(super) handover: Handover,
}

/// What a radio does about a second cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Handover {
    /// It leaves the first when its layer-2 handover to the second is complete.
    #[default]
    Hard,
    /// It is attached to both.
    Soft,
}

impl Handover {
    pub(super) const fn layer_two(self) -> LayerTwo {
        match self {
            Self::Hard => LayerTwo::Hard,
            Self::Soft => LayerTwo::Soft,
        }
    }
}
