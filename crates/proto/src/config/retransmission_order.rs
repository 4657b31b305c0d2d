/// Whether new data may pass lost data that waits for the congestion window of another path (RFC 9260 §6.1 C: marked chunks
/// first, "limited by the current cwnd").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RetransmissionOrder {
    /// Each path's window limits what belongs on that path: lost data waits for its path, and new data leaves where there
    /// is room.
    #[default]
    PerPath,
    /// No new data leaves, on any path, before all lost data has. After a timeout the window that was in flight must first
    /// drain over the alternate path (paper b08 section 4.1; ns-2).
    LostFirst,
}

impl RetransmissionOrder {
    /// Whether new data may leave although lost data still waits.
    pub(crate) const fn lets_new_data_pass(self) -> bool {
        matches!(self, Self::PerPath)
    }
}
