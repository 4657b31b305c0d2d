//! The endpoint's own addresses, and which of them an INIT ACK names.

use core::net::{IpAddr, SocketAddr};
use std::collections::VecDeque;

use whimbrel_machine::Instant;

use crate::association::Translators;

/// The endpoint's addresses in the order in which they came up.
#[derive(Debug)]
pub(super) struct OwnAddresses {
    list: Vec<SocketAddr>,
    /// In the order of `list`.
    marks: Vec<Mark>,
    next: Serial,
    /// Those that have gone down lately, the last one first.
    gone: VecDeque<Gone>,
    translators: Translators,
}

/// So many addresses that have gone are remembered: those that went in the life of a cookie, as a rule.
const GONE: usize = 16;

/// An address that has gone down.
#[derive(Clone, Copy, Debug)]
struct Gone {
    address: SocketAddr,
    mark: Mark,
    at: Instant,
}

/// The number of an address. One that goes down and comes up again gets another.
pub(crate) type Serial = u32;

#[derive(Clone, Copy, Debug)]
struct Mark {
    serial: Serial,
    up_since: Instant,
}

/// What the sender of an INIT has been told by the INIT ACK, seen when the cookie comes back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Addresses that the INIT ACK named, or would have named if the peer could use them.
    pub(super) named: Vec<SocketAddr>,
    /// Those that it omitted because there are so many.
    pub(super) omitted: Vec<SocketAddr>,
    /// Those that came up later.
    pub(super) later: Vec<SocketAddr>,
    /// Those that are among `named`, and have gone down since.
    pub(super) gone: Vec<SocketAddr>,
}

impl OwnAddresses {
    pub(super) fn new(addresses: Vec<SocketAddr>) -> Self {
        let mut own = Self {
            list: Vec::new(),
            marks: Vec::new(),
            next: 0,
            gone: VecDeque::new(),
            translators: Translators::default(),
        };
        addresses.into_iter().for_each(|address| own.handle_up(Instant::ZERO, address));
        own
    }

    // ---- inputs

    pub(super) fn handle_up(&mut self, now: Instant, address: SocketAddr) {
        if let Some(known) = self.list.iter_mut().find(|known| known.ip() == address.ip()) {
            *known = address;
            return;
        }
        self.list.push(address);
        self.marks.push(Mark { serial: self.next, up_since: now });
        self.next = self.next.wrapping_add(1);
    }

    pub(super) fn handle_down(&mut self, now: Instant, address: IpAddr) {
        if let Some(at) = self.list.iter().position(|known| known.ip() == address) {
            let gone = Gone { address: self.list.remove(at), mark: self.marks.remove(at), at: now };
            self.gone.truncate(GONE - 1);
            self.gone.push_front(gone);
        }
    }

    pub(super) fn set_translators(&mut self, translators: Translators) {
        self.translators = translators;
    }

    // ---- views

    /// What IPv4 addresses are called in the networks of these addresses.
    pub(super) fn translators(&self) -> &Translators {
        &self.translators
    }

    pub(super) fn all(&self) -> &[SocketAddr] {
        &self.list
    }

    /// The first addresses that are fit, at most `most` of them, and if there are more the serial number of the next.
    pub(super) fn first(
        &self,
        most: usize,
        fit: impl Fn(SocketAddr) -> bool,
    ) -> (Vec<SocketAddr>, Option<Serial>) {
        let mut fitting = self.list.iter().zip(&self.marks).filter(|(address, _)| fit(**address));
        let named = fitting.by_ref().take(most).map(|(address, _)| *address).collect();
        (named, fitting.next().map(|(_, mark)| mark.serial))
    }

    /// What an INIT ACK of the time `created` has told that named addresses with serial numbers below `end`, or all, and left from
    /// `source`.
    pub(super) fn told(&self, created: Instant, end: Option<Serial>, source: IpAddr) -> Told {
        let mut told = Told { named: Vec::new(), omitted: Vec::new(), later: Vec::new(), gone: Vec::new() };
        let was_named = |address: SocketAddr, mark: Mark| {
            end.is_none_or(|end| mark.serial < end) || address.ip() == source
        };
        for (&address, &mark) in self.list.iter().zip(&self.marks) {
            let kind = if mark.up_since > created {
                &mut told.later
            } else if was_named(address, mark) {
                &mut told.named
            } else {
                &mut told.omitted
            };
            kind.push(address);
        }
        let is_here = |ip: IpAddr| self.list.iter().any(|address| address.ip() == ip);
        for &Gone { address, mark, at } in &self.gone {
            let since = mark.up_since <= created && at > created;
            if since && was_named(address, mark) && !is_here(address.ip()) {
                told.named.push(address);
                told.gone.push(address);
            }
        }
        told
    }
}

#[cfg(test)]
#[path = "own_addresses_tests.rs"]
mod tests;
