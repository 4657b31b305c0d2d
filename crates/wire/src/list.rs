//! Lists of fixed-size numbers.

use core::fmt;

use crate::serial::{StreamId, Tsn};

/// An item of fixed size, in network byte order on the wire.
pub trait WireItem: Copy + PartialEq + fmt::Debug {
    /// Bytes one item takes.
    const LEN: usize;
    /// Reads an item from `bytes`, which holds exactly [`LEN`](Self::LEN) bytes (missing ones count as zero).
    fn read(bytes: &[u8]) -> Self;
    /// Appends the item.
    fn write(self, out: &mut Vec<u8>);
}

/// The first `N` bytes of `bytes`, zero where it is shorter: keeps readers free of panics without a `Result`.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk::<N>().copied().unwrap_or([0; N])
}

impl WireItem for u16 {
    const LEN: usize = 2;
    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Self::from_be_bytes(array(bytes))
    }
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }
}

impl WireItem for StreamId {
    const LEN: usize = 2;
    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Self(u16::read(bytes))
    }
    fn write(self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
}

impl WireItem for Tsn {
    const LEN: usize = 4;
    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Self(u32::from_be_bytes(array(bytes)))
    }
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_be_bytes());
    }
}

/// A list of fixed-size items: bytes of a received packet, or a slice of values about to be sent
/// (`List::from(&values[..])`). Both read the same.
#[derive(Clone, Copy)]
pub struct List<'a, T>(Source<'a, T>);

#[derive(Clone, Copy)]
enum Source<'a, T> {
    Wire(&'a [u8]),
    Values(&'a [T]),
}

impl<'a, T: WireItem> List<'a, T> {
    /// The list these bytes hold, or `None` if they end within an item.
    #[must_use]
    pub fn from_wire(bytes: &'a [u8]) -> Option<Self> {
        bytes.len().is_multiple_of(T::LEN).then_some(Self(Source::Wire(bytes)))
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {
            Source::Wire(bytes) => bytes.len() / T::LEN,
            Source::Values(values) => values.len(),
        }
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes the items take on the wire.
    pub(crate) fn wire_len(&self) -> usize {
        self.len() * T::LEN
    }

    /// The items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + Clone + use<'a, T> {
        let source = self.0;
        (0..self.len()).map(move |index| match source {
            Source::Wire(bytes) => T::read(bytes.get(index * T::LEN..).unwrap_or_default()),
            Source::Values(values) => values[index],
        })
    }

    /// Whether `item` is in the list.
    #[must_use]
    pub fn contains(&self, item: T) -> bool {
        self.iter().any(|other| other == item)
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        match self.0 {
            Source::Wire(bytes) => out.extend_from_slice(bytes),
            Source::Values(values) => values.iter().for_each(|value| value.write(out)),
        }
    }
}

impl<'a, T> From<&'a [T]> for List<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self(Source::Values(values))
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for List<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        Self(Source::Values(values))
    }
}

impl<T: WireItem> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: WireItem + Eq> Eq for List<'_, T> {}

impl<T: WireItem> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
