use whimbrel_machine::Instant;

/// A rate that was estimated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Bit/s of IP packets.
    pub rate: u64,
    /// When it was last measured.
    pub at: Instant,
}
