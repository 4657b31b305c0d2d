use crate::config::{NewRoute, OutOfOrder, SackConfig};

/// What is acknowledged at once besides what RFC 9260 §6.2 has, and what SACKs tell in exchange for being kept back.
#[derive(Debug)]
pub(super) struct Prompt {
    new_route: NewRoute,
    out_of_order: OutOfOrder,
}

impl Prompt {
    pub(super) fn new(sack: &SackConfig) -> Self {
        Self { new_route: sack.new_route, out_of_order: sack.out_of_order }
    }

    /// Whether DATA that has come by another route than before is acknowledged at once.
    pub(super) fn by_new_route(&self) -> bool {
        self.new_route == NewRoute::AcknowledgeAtOnce
    }

    /// Whether each packet is, as long as anything is missing (RFC 9260 §6.7).
    #[inline]
    pub(super) fn beside_gaps(&self) -> bool {
        self.out_of_order == OutOfOrder::AcknowledgeAtOnce
    }

    /// How many packets a SACK says that it is for, of those that have come since the last one; 0 if it does not say.
    pub(super) fn count(&self, packets: u32) -> u8 {
        match self.out_of_order {
            OutOfOrder::AcknowledgeAtOnce => 0,
            OutOfOrder::Delay => u8::try_from(packets).unwrap_or(u8::MAX),
        }
    }
}
