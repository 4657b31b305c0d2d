//! Which prefixes the answers of a resolver were made with (RFC 7050 §3).

use core::net::{Ipv4Addr, Ipv6Addr};

use super::Nat64Prefix;

/// A name that has these two IPv4 addresses and no IPv6 address: what is answered for that, somebody has made of them (RFC 7050 §8.1, §8.2).
pub(super) const NAME: &str = "ipv4only.arpa";
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 0, 0, 170), Ipv4Addr::new(192, 0, 0, 171)];

/// Answers looked at, at most.
const ANSWERS_MAX: usize = 32;

/// The prefixes that all of `answers` can have been made with, in their order. Where the well-known addresses may be seen in several
/// places of an answer, it is the one where both have been made with the same prefix.
pub(super) fn prefixes(answers: &[Ipv6Addr]) -> Vec<Nat64Prefix> {
    let answers = &answers[..answers.len().min(ANSWERS_MAX)];
    let mut prefixes = Vec::new();
    for answer in answers {
        let candidates: Vec<Nat64Prefix> = candidates(*answer).collect();
        let both =
            |prefix: &Nat64Prefix| ADDRESSES.iter().all(|own| answers.contains(&prefix.synthesise(*own)));
        let prefix = match candidates[..] {
            [only] => Some(only),
            _ => candidates.iter().copied().find(both),
        };
        prefixes.extend(prefix.filter(|prefix| !prefixes.contains(prefix)));
    }
    prefixes
}

/// The prefixes with which an answer may be one of the well-known addresses.
fn candidates(answer: Ipv6Addr) -> impl Iterator<Item = Nat64Prefix> {
    // An IPv4 address in the notation of IPv6 was made by nobody (RFC 4291 §2.5.5).
    let prefix = move |length| Nat64Prefix::new(answer, length).ok().filter(|_| answer.to_ipv4().is_none());
    let made = move |prefix: &Nat64Prefix| prefix.extract(answer).is_some_and(|v4| ADDRESSES.contains(&v4));
    Nat64Prefix::LENGTHS.into_iter().filter_map(prefix).filter(made)
}

#[cfg(test)]
#[path = "synthesised_answers_tests.rs"]
mod tests;
