//! What associations, paths and attempts to connect are called.

/// Names an association within its endpoint; never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AssociationId(pub(crate) u64);

impl AssociationId {
    /// The association with this number, for whoever models an endpoint instead of running one.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The number, for display and logs.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Names a path within its association; never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(pub(crate) u32);

impl PathId {
    /// The path with this number, for whoever models an association instead of running one.
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number, for display and logs.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Chosen by whoever gives [`Command::Connect`](crate::Command::Connect), to recognise the answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectToken(pub u64);
