//! The Stream Sequence Number each inbound stream expects (RFC 9260 §6.5).

use whimbrel_wire::{Ssn, StreamId};

const PAGE: usize = 64;

/// Next SSN per stream. Memory is taken per page of 64 streams when one of them is first used: at most 8 KiB of
/// page pointers and 128 bytes per page.
#[derive(Debug, Default)]
pub(super) struct NextSsns {
    pages: Vec<Option<Box<[Ssn; PAGE]>>>,
}

impl NextSsns {
    /// The SSN of the next message of `stream`; the first is 0.
    #[inline]
    pub(super) fn next(&self, stream: StreamId) -> Ssn {
        let index = usize::from(stream.0);
        match self.pages.get(index / PAGE) {
            Some(Some(page)) => page[index % PAGE],
            _ => Ssn(0),
        }
    }

    /// Passes on to the SSN after the next.
    #[inline]
    pub(super) fn advance(&mut self, stream: StreamId) {
        let index = usize::from(stream.0);
        let page = index / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let ssns = self.pages[page].get_or_insert_with(|| Box::new([Ssn(0); PAGE]));
        ssns[index % PAGE] = ssns[index % PAGE].next();
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
