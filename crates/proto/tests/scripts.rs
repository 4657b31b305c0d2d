//! Runs the bodies of the fuzz targets over their corpora and some pseudo-random scripts.

#[path = "support/corpus.rs"]
mod corpus;
mod support;

use self::support::{hostile_peer, lossy_pair, protected_peer};

/// RFC 9260 §5.1, §8, §9; RFC 5062: whatever the peer does, nothing panics, loops, grows or floods anybody.
#[test]
fn a_hostile_peer_gets_nowhere() {
    corpus::run_all("hostile_peer", 1500, 2500, hostile_peer::run);
}

/// A peer that is trusted gets no further than one that is not: what it says under the seal is as bad as what it could say in clear.
#[test]
fn a_hostile_peer_with_keys_gets_nowhere() {
    corpus::run_all("protected_peer", 1500, 2500, protected_peer::run);
}

/// RFC 9260 §6: whatever the network does, messages arrive once, whole and in order.
#[test]
fn two_endpoints_agree_over_a_lossy_network() {
    corpus::run_all("lossy_pair", 400, 1500, lossy_pair::run);
}
