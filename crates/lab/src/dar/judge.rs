//! What several rules look at: requests, their answers, and where data goes.

use core::net::IpAddr;
use std::collections::BTreeSet;

use super::bed::{CN, CN_SECOND};
use super::seen::{Answered, Asked, Kind, Seen};

/// Whether an address is the correspondent node's.
pub(crate) fn is_cn(ip: IpAddr) -> bool {
    [CN, CN_SECOND].contains(&ip)
}

/// The requests that reach the correspondent node, and where they stand in the log.
pub(crate) fn requests_at_cn(seen: &[Seen]) -> Vec<(usize, &Asked)> {
    let at_cn = seen.iter().enumerate().filter(|(_, packet)| packet.arrived() && is_cn(packet.to));
    at_cn.filter_map(|(place, packet)| Some((place, packet.asconf()?))).collect()
}

/// The request among those that reach the correspondent node, by its number from 0, and the answer that it sends before the next
/// one comes, if it does.
pub(crate) fn exchange(seen: &[Seen], number: usize) -> Option<Exchange<'_>> {
    let requests = requests_at_cn(seen);
    let &(place, asked) = requests.get(number)?;
    let end = requests.get(number + 1).map_or(seen.len(), |&(next, _)| next);
    let answer = seen[place..end].iter().enumerate().find_map(|(after, packet)| {
        let answered = packet.asconf_ack().filter(|_| packet.left() && is_cn(packet.from))?;
        Some((place + after, packet.to, answered))
    });
    Some(Exchange { place, asked, answer })
}

/// A request and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange<'a> {
    /// Where in the log it reaches the correspondent node.
    pub(crate) place: usize,
    pub(crate) asked: &'a Asked,
    /// Where in the log the answer leaves, where to, and what it says.
    pub(crate) answer: Option<(usize, IpAddr, &'a Answered)>,
}

impl Exchange<'_> {
    /// Whether it was answered, and nothing in it refused.
    pub(crate) fn is_granted(&self) -> bool {
        self.answer.is_some_and(|(_, _, answered)| {
            answered.serial == self.asked.serial && answered.refused.is_empty()
        })
    }

    /// The error cause with which the first request of a kind was refused.
    pub(crate) fn cause(&self, kind: Kind) -> Option<u16> {
        let (_, _, answered) = self.answer?;
        answered.cause(self.asked.id(kind)?)
    }
}

/// The first exchange whose request asks for this.
pub(crate) fn exchange_about(seen: &[Seen], kind: Kind, address: IpAddr) -> Option<Exchange<'_>> {
    let number = requests_at_cn(seen).iter().position(|(_, asked)| asked.asks(kind, address))?;
    exchange(seen, number)
}

/// Packets with data that leave the correspondent node for an address.
pub(crate) fn downlink(seen: &[Seen], to: IpAddr) -> impl Iterator<Item = &Seen> {
    seen.iter()
        .filter(move |packet| packet.left() && is_cn(packet.from) && packet.to == to && packet.has_data())
}

/// Whether anything leaves the correspondent node for an address.
pub(crate) fn speaks_to(seen: &[Seen], to: IpAddr) -> bool {
    seen.iter().any(|packet| packet.left() && is_cn(packet.from) && packet.to == to)
}

/// The TSNs that the correspondent node has sent.
pub(crate) fn sent_tsns(seen: &[Seen]) -> BTreeSet<u32> {
    seen.iter().filter(|packet| packet.left() && is_cn(packet.from)).flat_map(Seen::data).collect()
}
