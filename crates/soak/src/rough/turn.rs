use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, Side};

/// A change of a link, or the end of all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Turn {
    To(Change),
    /// As it was in the beginning.
    Back,
}

impl Turn {
    /// The changes that this is to a link that began as `begins`.
    pub(super) fn on(
        self,
        at: Instant,
        side: Side,
        begins: &[LinkConfig; 2],
    ) -> Vec<(Instant, Side, Change)> {
        match self {
            Self::To(change) => vec![(at, side, change)],
            Self::Back => vec![
                (at, Side::AtoB, Change::Config(begins[0])),
                (at, Side::BtoA, Change::Config(begins[1])),
                (at, Side::Both, Change::Up),
            ],
        }
    }
}
