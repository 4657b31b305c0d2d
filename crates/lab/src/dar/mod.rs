//! The rules of dynamic address reconfiguration (b08 sections 3.2, 3.3 and 4.2.1.2), each tried on two real hosts in a network and
//! judged by somebody who watches the links.
//!
//! `bed` is the network, `log` and `seen` what is watched, `keys` and `rewrite` what an attacker needs; `one_interface`, `two_interfaces` and `validity` have for
//! each rule a run and a judge. A judge looks at packets alone. Where a request must be ignored, the run also has the same request
//! without its fault, which must be obeyed: else nothing would have been shown.

mod bed;
mod judge;
mod keys;
mod log;
mod one_interface;
mod rewrite;
mod seen;
mod talker;
mod two_interfaces;
mod validity;

use whimbrel_handover::{FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::Instant;
use whimbrel_proto::{Config, PathPairing};

use self::bed::Shape;
use self::seen::{Kind, Seen};
use crate::experiment::Watch;
use crate::profile;

/// What came of a case.
pub(crate) struct Found {
    /// Whether the rule holds.
    pub(crate) ok: bool,
    /// Where in the order of things and when each of the seven steps of scenarios C and D was seen.
    pub(crate) steps: Option<[Option<(usize, Instant)>; 7]>,
    /// Parts of a rule by themselves: name, and whether it holds.
    pub(crate) parts: Vec<(&'static str, bool)>,
    pub(crate) fingerprint: u64,
}

/// The same configuration, with address reconfiguration, and with every pair of addresses a path: a mobile node with two interfaces
/// can then use both towards a correspondent node with one address (b08 section 3.3.3, step 4).
pub(crate) fn with_moving_addresses(config: Config) -> Config {
    Config { pairing: PathPairing::Mesh, ..profile::with_requests(config) }
}

/// A policy that carries out every wish at once, as papers have it.
trait AtOnce {
    fn policy() -> Box<dyn Policy>;
}

impl AtOnce for Seamless {
    fn policy() -> Box<dyn Policy> {
        Box::new(Self::policy(Pace::AT_ONCE))
    }
}

impl AtOnce for FastestNetwork {
    fn policy() -> Box<dyn Policy> {
        Box::new(Self::policy(Pace::AT_ONCE))
    }
}

fn at_once<P: AtOnce>() -> Box<dyn Policy> {
    P::policy()
}

fn judged((seen, fingerprint): (Vec<Seen>, u64), obeyed: impl Fn(&[Seen]) -> bool) -> Found {
    Found { ok: obeyed(&seen), steps: None, parts: Vec::new(), fingerprint }
}

/// Tries the rule of a case; `None` if there is no such case.
pub(crate) fn try_rule(case: &str, config: &Config, seed: u64, watch: Watch) -> Option<Found> {
    Some(match case {
        "A" => judged(one_interface::stays(config, seed, watch), one_interface::nothing_moves),
        "C" => stepwise(two_interfaces::hands_over(config, seed, Shape::TwoInterfaces, watch), |_| true),
        "D" => {
            // Two of the four pairs of addresses are not connected. With one HEARTBEAT per RTO (RFC 9260 section 5.4) the mobile node
            // would still be probing those when the time has come to move.
            let mut config = config.clone();
            config.heartbeat.max_burst = 8;
            let run = two_interfaces::hands_over(&config, seed, Shape::TwoPaths, watch);
            stepwise(run, two_interfaces::both_ways_have_two_paths)
        }
        "C-old-path-until-setprimary" => judged(
            two_interfaces::hands_over(config, seed, Shape::TwoInterfaces, watch),
            two_interfaces::switches_at_set_primary,
        ),
        "fast-bundle" => {
            judged(two_interfaces::speeds_up(config, seed, watch), two_interfaces::adds_and_changes_at_once)
        }
        "C-data-before-ack" => {
            judged(validity::has_only_new(config, seed, watch), validity::waits_for_answer)
        }
        "C-delete-valid-until-ack" => {
            judged(validity::deletes_late(config, seed, watch), validity::receives_until_answer)
        }
        "C-setprimary-unknown" => {
            judged(validity::asks_for_nobody(config, seed, watch), validity::drops_unknown_primary)
        }
        "C-delete-last" => judged(validity::deletes_last(config, seed, watch), validity::refuses_last),
        "C-dup-asconf" => judged(validity::asks_again(config, seed, watch), validity::answers_alike),
        _ => return renumbering(case, config, seed, watch),
    })
}

/// Scenario B.
fn renumbering(case: &str, config: &Config, seed: u64, watch: Watch) -> Option<Found> {
    use one_interface::{
        are_mistagged, are_unprotected, crossed, drops_at_the_tag, drops_early_set_primary, end,
        finds_by_source, ignores_first, keeps_last_address, misnamed, mistagged, moves, moves_by_one_request,
        reordered, unprotected,
    };
    let run = |meddle, spoiled, watch| moves(config, seed, meddle, end(spoiled), watch);
    Some(match case {
        "B" => judged(run(rewrite::nothing(), 0, watch), moves_by_one_request),
        "B-noauth" => {
            judged(run(unprotected(), 3, watch), |seen| are_unprotected(seen, 3) && ignores_first(seen, 3))
        }
        "B-wrongvtag" => {
            judged(run(mistagged(), 2, watch), |seen| are_mistagged(seen, 2) && ignores_first(seen, 2))
        }
        "B-lookup" => {
            let mut found = judged(run(misnamed(), 2, watch), |seen| ignores_first(seen, 2));
            let crossed = crossed(config, seed);
            found.parts = vec![
                ("by_parameter", found.ok),
                ("by_source", finds_by_source(&crossed)),
                ("by_source_alone", drops_at_the_tag(&crossed)),
            ];
            found.ok = found.parts.iter().all(|&(_, holds)| holds);
            found
        }
        "B-wrongorder" => {
            let early = reordered([Kind::SetPrimary, Kind::Add, Kind::Delete]);
            let last = reordered([Kind::Delete, Kind::Add, Kind::SetPrimary]);
            let mut found = judged(run(early, 0, watch), drops_early_set_primary);
            found.ok &= keeps_last_address(&run(last, 0, Watch::default()).0)
                && validity::adds_without_change(&validity::asks_too_early(config, seed));
            found
        }
        _ => return None,
    })
}

/// A run of scenario C or D.
fn stepwise((seen, fingerprint): (Vec<Seen>, u64), besides: impl Fn(&[Seen]) -> bool) -> Found {
    let steps = two_interfaces::steps(&seen);
    let in_order = two_interfaces::are_in_order(&seen);
    let switched = two_interfaces::switches_at_set_primary(&seen);
    Found { ok: in_order && switched && besides(&seen), steps: Some(steps), parts: Vec::new(), fingerprint }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod rules_tests;
