//! Bytes read as a sequence of decisions, so that a fuzzer can steer operations. Used by tests and fuzz targets only.

/// What is left of the decisions; once used up, every further one is zero.
#[derive(Clone, Debug)]
pub(crate) struct Script<'a>(&'a [u8]);

#[allow(dead_code, reason = "each user takes what it needs")]
impl<'a> Script<'a> {
    /// At most `limit` decisions: the time a run takes is bounded.
    pub(crate) fn new(bytes: &'a [u8], limit: usize) -> Self {
        Self(&bytes[..bytes.len().min(limit)])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    /// One of `0..bound`, at most 256 of them.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    /// True for one byte in `of`.
    pub(crate) fn one_in(&mut self, of: u8) -> bool {
        self.byte() % of == of - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
