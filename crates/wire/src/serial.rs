//! Numbers that wrap, and the identifiers that travel with them.
//!
//! A serial number has no total order (RFC 1982), so these types deliberately lack `Ord`: sort by
//! `distance_from` a base instead.

use core::fmt;

macro_rules! serial_number {
    ($(#[$meta:meta])* $name:ident, $int:ty, $half:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub $int);

        impl $name {
            /// The number after this one, wrapping.
            #[inline]
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.wrapping_add(1))
            }

            /// The number before this one, wrapping.
            #[inline]
            #[must_use]
            pub const fn prev(self) -> Self {
                Self(self.0.wrapping_sub(1))
            }

            /// The number `count` steps on, wrapping.
            #[inline]
            #[must_use]
            pub const fn plus(self, count: $int) -> Self {
                Self(self.0.wrapping_add(count))
            }

            /// How many steps lead from `base` to this number, wrapping.
            #[inline]
            #[must_use]
            pub const fn distance_from(self, base: Self) -> $int {
                self.0.wrapping_sub(base.0)
            }

            /// Whether this number comes before `other` in serial arithmetic (RFC 1982 §3.2).
            ///
            /// Two numbers exactly half the space apart have no order: neither precedes the other.
            #[inline]
            #[must_use]
            pub const fn precedes(self, other: Self) -> bool {
                let ahead = other.distance_from(self);
                ahead != 0 && ahead < $half
            }

            /// Whether this number equals `other` or comes before it.
            #[inline]
            #[must_use]
            pub const fn at_or_before(self, other: Self) -> bool {
                other.distance_from(self) < $half
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

serial_number! {
    /// Transmission Sequence Number: numbers every DATA chunk of one direction (RFC 9260 §1.6, §3.3.1).
    Tsn, u32, 0x8000_0000
}
serial_number! {
    /// Stream Sequence Number: numbers the ordered messages of one stream (RFC 9260 §1.6, §3.3.1).
    Ssn, u16, 0x8000
}
serial_number! {
    /// Message Identifier: what I-DATA has in place of the Stream Sequence Number (RFC 8260 §2.1).
    MessageId, u32, 0x8000_0000
}

/// Stream Identifier (RFC 9260 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StreamId(pub u16);

/// Payload Protocol Identifier: carried for the application, not used by SCTP (RFC 9260 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PayloadProtocolId(pub u32);

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for PayloadProtocolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
