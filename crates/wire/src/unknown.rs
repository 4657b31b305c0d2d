//! What the two highest bits of an unrecognised type ask for.

/// What to do with a chunk or parameter that is not recognised, as its sender asked for by the two highest bits of
/// the type (RFC 9260 §3.2 for chunks, §3.2.1 for parameters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownAction {
    /// `00`: stop here. A chunk discards the rest of the packet, a parameter the rest of its chunk.
    Stop,
    /// `01`: stop here and report it.
    StopReport,
    /// `10`: skip it and go on.
    Skip,
    /// `11`: skip it, go on and report it.
    SkipReport,
}

impl UnknownAction {
    /// The action a chunk type, or the first byte of a parameter type, asks for.
    #[must_use]
    pub const fn from_high_bits(byte: u8) -> Self {
        match byte >> 6 {
            0 => Self::Stop,
            1 => Self::StopReport,
            2 => Self::Skip,
            _ => Self::SkipReport,
        }
    }

    /// Whether what follows must not be processed.
    #[must_use]
    pub const fn stops(self) -> bool {
        matches!(self, Self::Stop | Self::StopReport)
    }

    /// Whether the sender is to be told.
    #[must_use]
    pub const fn reports(self) -> bool {
        matches!(self, Self::StopReport | Self::SkipReport)
    }
}
