//! Every judge finds a rule broken when what has been seen is other than it was.

use core::net::IpAddr;

use whimbrel_proto::{Config, PmtuConfig, PmtuSearch};

use super::bed::{CN, CN_SECOND, NEW, NOBODY, OLD, at};
use super::judge::is_cn;
use super::one_interface::*;
use super::seen::{Kind, Moment, Noted, Seen};
use super::two_interfaces::*;
use super::validity::*;
use super::*;

fn config() -> Config {
    let pmtu = PmtuConfig { base: 1480, max: 1480, search: PmtuSearch::Off, cut_for: None };
    with_moving_addresses(Config { pmtu, ..Config::rfc() })
}

fn scenario_b(meddle: super::log::Meddle, spoiled: usize) -> Vec<Seen> {
    moves(&config(), 1, meddle, end(spoiled), Watch::default()).0
}

fn scenario_c() -> Vec<Seen> {
    hands_over(&config(), 1, Shape::TwoInterfaces, Watch::default()).0
}

type Judge = fn(&[Seen]) -> bool;
/// A way in which a log is spoilt, and its name.
type Way<'a> = (&'static str, &'a dyn Fn(&mut Vec<Seen>));

/// The log as it is obeys the rule, and each way of breaking it is found.
#[track_caller]
fn finds(judge: Judge, seen: &[Seen], ways: &[Way<'_>]) {
    assert!(judge(seen), "obeyed");
    for (name, spoil) in ways {
        let mut spoilt = seen.to_vec();
        spoil(&mut spoilt);
        assert_ne!(spoilt, seen, "{name} changes something");
        assert!(!judge(&spoilt), "{name} is found");
    }
}

/// Changes every request.
fn requests(seen: &mut [Seen], change: impl Fn(&mut super::seen::Asked)) {
    for chunk in seen.iter_mut().flat_map(|packet| packet.chunks.iter_mut()) {
        if let Noted::Asconf(asked) = chunk {
            change(asked);
        }
    }
}

/// Changes every answer.
fn answers(seen: &mut [Seen], change: impl Fn(&mut super::seen::Answered)) {
    for chunk in seen.iter_mut().flat_map(|packet| packet.chunks.iter_mut()) {
        if let Noted::AsconfAck(answered) = chunk {
            change(answered);
        }
    }
}

fn refuse_nothing(seen: &mut [Seen]) {
    answers(seen, |answered| answered.refused.clear());
}

/// Puts a packet with DATA in, before the first packet that is so or at the end.
fn insert_data(seen: &mut Vec<Seen>, ends: [IpAddr; 2], tsn: u32, before: impl Fn(&Seen) -> bool) {
    let place = seen.iter().position(before).unwrap_or(seen.len());
    let time = seen[place.min(seen.len() - 1)].at;
    let [from, to] = ends;
    let chunks = vec![Noted::Data(tsn)];
    seen.insert(place, Seen { at: time, moment: Moment::Left, from, to, tag: 0, chunks });
}

/// A TSN that nobody has sent.
const UNSENT: u32 = 0x1234_5678;

fn is_request_at_cn(packet: &Seen) -> bool {
    packet.arrived() && is_cn(packet.to) && packet.asconf().is_some()
}

fn is_answer_at_mn(packet: &Seen) -> bool {
    packet.arrived() && !is_cn(packet.to) && packet.asconf_ack().is_some()
}

/// Has the first request answered as a later one is.
fn answer_first(seen: &mut Vec<Seen>) {
    let first = seen.iter().position(is_request_at_cn).unwrap();
    let answer = seen.iter().find(|packet| packet.left() && packet.asconf_ack().is_some()).unwrap().clone();
    seen.insert(first + 1, answer);
}

#[test]
fn scenario_a_is_judged() {
    let seen = stays(&config(), 1, Watch::default()).0;
    let request = scenario_b(rewrite::nothing(), 0).into_iter().find(is_request_at_cn).unwrap();
    finds(
        nothing_moves,
        &seen,
        &[
            ("a request", &|seen| seen.push(Seen { from: OLD, ..request.clone() })),
            ("another address", &|seen| seen[100].from = NEW),
            ("no data afterwards", &|seen| seen.retain(|packet| packet.at < at(2500))),
            ("another association", &|seen| seen.last_mut().unwrap().chunks.push(Noted::Init)),
        ],
    );
}

#[test]
fn scenario_b_is_judged() {
    finds(
        moves_by_one_request,
        &scenario_b(rewrite::nothing(), 0),
        &[
            ("another order", &|seen| requests(seen, |asked| asked.requests.swap(0, 1))),
            ("another Address Parameter", &|seen| requests(seen, |asked| asked.lookup = NEW)),
            ("no authentication", &|seen| requests(seen, |asked| asked.authenticated = false)),
            ("a refusal", &|seen| answers(seen, |answered| answered.refused.push((0, 5)))),
            ("an answer to the old address", &|seen| {
                seen.iter_mut()
                    .filter(|packet| packet.asconf_ack().is_some())
                    .for_each(|packet| packet.to = OLD);
            }),
            ("data to the old address", &|seen| insert_data(seen, [CN, OLD], UNSENT, |_| false)),
            ("another tag", &|seen| {
                seen.iter_mut().filter(|packet| packet.asconf().is_some()).for_each(|packet| packet.tag ^= 1);
            }),
            ("two requests", &|seen| {
                let mut other =
                    seen.iter().find(|packet| packet.left() && packet.asconf().is_some()).unwrap().clone();
                requests(core::slice::from_mut(&mut other), |asked| asked.serial += 1);
                seen.push(other);
            }),
        ],
    );
}

#[test]
fn requests_that_must_be_ignored_are_judged() {
    let three = |seen: &[Seen]| are_unprotected(seen, 3) && ignores_first(seen, 3);
    let two = |seen: &[Seen]| are_mistagged(seen, 2) && ignores_first(seen, 2);
    let data: &dyn Fn(&mut Vec<Seen>) =
        &|seen| insert_data(seen, [CN, NEW], UNSENT, |packet| packet.at > at(3000));
    let forgotten: &dyn Fn(&mut Vec<Seen>) = &|seen| {
        seen.retain(|packet| packet.to != OLD || packet.at < at(2000));
    };
    let never: &dyn Fn(&mut Vec<Seen>) = &|seen| seen.retain(|packet| packet.asconf_ack().is_none());
    let ways: [Way<'_>; 4] = [
        ("an answer", &answer_first),
        ("data to the new address", data),
        ("nothing for the old address", forgotten),
        ("no answer to the good one", never),
    ];
    finds(three, &scenario_b(unprotected(), 3), &ways);
    finds(two, &scenario_b(mistagged(), 2), &ways);
    finds(|seen| ignores_first(seen, 2), &scenario_b(misnamed(), 2), &ways);
    // Nothing is wrong with these.
    let good = scenario_b(rewrite::nothing(), 0);
    assert!(!three(&good) && !two(&good) && !ignores_first(&good, 2));
}

#[test]
fn wrong_orders_are_judged() {
    let early = scenario_b(reordered([Kind::SetPrimary, Kind::Add, Kind::Delete]), 0);
    let last = scenario_b(reordered([Kind::Delete, Kind::Add, Kind::SetPrimary]), 0);
    let unprotected: &dyn Fn(&mut Vec<Seen>) = &|seen| requests(seen, |asked| asked.authenticated = false);
    let obeyed: Way<'_> = ("all is done", &|seen| refuse_nothing(seen));
    finds(drops_early_set_primary, &early, &[obeyed, ("no authentication", unprotected)]);
    finds(
        keeps_last_address,
        &last,
        &[
            obeyed,
            ("no authentication", unprotected),
            ("data to the new address", &|seen| insert_data(seen, [CN, NEW], UNSENT, |_| false)),
            ("another cause", &|seen| {
                answers(seen, |answered| answered.refused.iter_mut().for_each(|cause| cause.1 = 5))
            }),
        ],
    );
    finds(
        adds_without_change,
        &asks_too_early(&config(), 1),
        &[obeyed, ("data to the new address", &|seen| insert_data(seen, [CN, NEW], UNSENT, |_| false))],
    );
    let good = scenario_b(rewrite::nothing(), 0);
    assert!(!drops_early_set_primary(&good) && !keeps_last_address(&good));
}

#[test]
fn crossed_requests_are_judged() {
    let seen = crossed(&config(), 1);
    finds(
        finds_by_source,
        &seen,
        &[
            ("a refusal", &|seen| answers(seen, |answered| answered.refused.push((0, 5)))),
            ("no answer", &|seen| seen.retain(|packet| packet.asconf_ack().is_none())),
        ],
    );
    finds(
        drops_at_the_tag,
        &seen,
        &[
            ("an answer", &|seen| {
                let answer = seen.iter().find(|packet| packet.asconf_ack().is_some()).unwrap().clone();
                let mut requests = (0..seen.len()).filter(|&place| is_request_at_cn(&seen[place]));
                let dropped = requests.nth(1).unwrap();
                seen.insert(dropped + 1, answer);
            }),
            ("no repetition", &|seen| {
                seen.remove(seen.iter().rposition(is_request_at_cn).unwrap());
            }),
            ("silence about the repetition, too", &|seen| {
                let place = seen.iter().rposition(is_request_at_cn).unwrap();
                let mut number = 0;
                seen.retain(|packet| {
                    number += 1;
                    number <= place || packet.asconf_ack().is_none()
                });
            }),
            ("a repetition that is refused", &|seen| {
                let answer = seen.iter_mut().rfind(|packet| packet.left() && packet.asconf_ack().is_some());
                answers(core::slice::from_mut(answer.unwrap()), |answered| answered.refused.push((0, 5)));
            }),
            ("a repetition that comes the same way", &|seen| {
                seen.iter_mut().rfind(|packet| is_request_at_cn(packet)).unwrap().from = OLD;
            }),
            ("another tag", &|seen| {
                seen.iter_mut().rfind(|packet| is_request_at_cn(packet)).unwrap().tag ^= 1;
            }),
            ("a request without authentication", &|seen| requests(seen, |asked| asked.authenticated = false)),
            ("a request that names the first one's address", &|seen| {
                requests(seen, |asked| asked.lookup = OLD)
            }),
        ],
    );
}

#[test]
fn steps_are_judged() {
    let seen = scenario_c();
    let exchange_kinds = |one: Kind, other: Kind| {
        move |seen: &mut Vec<Seen>| {
            requests(seen, |asked| {
                for request in &mut asked.requests {
                    request.kind = if request.kind == one {
                        other
                    } else if request.kind == other {
                        one
                    } else {
                        request.kind
                    };
                }
            });
        }
    };
    finds(
        are_in_order,
        &seen,
        &[
            ("Set Primary before Add", &exchange_kinds(Kind::SetPrimary, Kind::Add)),
            ("no Delete", &|seen| seen.retain(|packet| packet.at < at(5000))),
            ("a refusal", &|seen| answers(seen, |answered| answered.refused.push((1, 5)))),
            ("a late Delete", &|seen| {
                for packet in seen.iter_mut().filter(|packet| packet.at >= at(5000)) {
                    packet.at += core::time::Duration::from_secs(1);
                }
            }),
        ],
    );
    finds(
        switches_at_set_primary,
        &seen,
        &[
            ("data too early", &|seen| insert_data(seen, [CN, NEW], UNSENT, |packet| packet.at > at(3000))),
            ("new data on the old path", &|seen| insert_data(seen, [CN, OLD], UNSENT, |_| false)),
            ("no data on the new path", &|seen| seen.retain(|packet| packet.to != NEW || !packet.has_data())),
        ],
    );
    let known = seen.iter().find(|packet| packet.left() && packet.from == CN && packet.has_data()).unwrap();
    let known = known.data().next().unwrap();
    let mut repeated = seen.clone();
    insert_data(&mut repeated, [CN, OLD], known, |_| false);
    assert!(switches_at_set_primary(&repeated), "what was sent before may be sent again");
    assert!(!both_ways_have_two_paths(&seen), "scenario C is not D");
    assert!(!adds_and_changes_at_once(&seen), "nor the fastest network");
}

#[test]
fn scenario_d_and_the_fastest_network_are_judged() {
    let mut config = config();
    config.heartbeat.max_burst = 8;
    let seen = hands_over(&config, 1, Shape::TwoPaths, Watch::default()).0;
    let without = |from: IpAddr| move |seen: &mut Vec<Seen>| seen.retain(|packet| packet.from != from);
    finds(
        both_ways_have_two_paths,
        &seen,
        &[
            ("one path down", &without(CN_SECOND)),
            ("one path up", &|seen| seen.retain(|packet| packet.from != NEW || !packet.has_data())),
        ],
    );
    finds(
        adds_and_changes_at_once,
        &speeds_up(&config, 1, Watch::default()).0,
        &[
            ("another order", &|seen| requests(seen, |asked| asked.requests.reverse())),
            ("Add alone", &|seen| requests(seen, |asked| asked.requests.truncate(1))),
            ("a delay", &|seen| {
                seen.iter_mut().for_each(|packet| packet.at += core::time::Duration::from_millis(2))
            }),
            ("a refusal", &|seen| answers(seen, |answered| answered.refused.push((1, 5)))),
        ],
    );
}

#[test]
fn validity_is_judged() {
    finds(
        waits_for_answer,
        &has_only_new(&config(), 1, Watch::default()).0,
        &[
            ("data before the answer", &|seen| insert_data(seen, [NEW, CN], UNSENT, is_answer_at_mn)),
            ("no answer", &|seen| seen.retain(|packet| !is_answer_at_mn(packet))),
            ("no data", &|seen| seen.retain(|packet| packet.from != NEW || !packet.has_data())),
        ],
    );
    finds(
        receives_until_answer,
        &deletes_late(&config(), 1, Watch::default()).0,
        &[
            ("nothing acknowledged", &|seen| {
                seen.retain(|packet| {
                    packet.at < at(3000)
                        || !packet.chunks.iter().any(|chunk| matches!(chunk, Noted::Sack(..)))
                });
            }),
            ("nothing arrives", &|seen| {
                seen.retain(|packet| !(packet.arrived() && packet.to == OLD && packet.at > at(3000)))
            }),
        ],
    );
}

#[test]
fn requests_that_must_be_refused_are_judged() {
    let obeyed: Way<'_> = ("all is done", &|seen| refuse_nothing(seen));
    finds(
        drops_unknown_primary,
        &asks_for_nobody(&config(), 1, Watch::default()).0,
        &[
            obeyed,
            ("data to nobody", &|seen| insert_data(seen, [CN, NOBODY], UNSENT, |_| false)),
            ("data on the new path", &|seen| {
                insert_data(seen, [CN, NEW], UNSENT, |packet| packet.at > at(4000))
            }),
            ("nothing is ever obeyed", &|seen| seen.retain(|packet| packet.at < at(6000))),
        ],
    );
    finds(
        refuses_last,
        &deletes_last(&config(), 1, Watch::default()).0,
        &[
            obeyed,
            ("no more data", &|seen| seen.retain(|packet| packet.at < at(4000))),
            ("another cause", &|seen| {
                answers(seen, |answered| answered.refused.iter_mut().for_each(|cause| cause.1 = 5))
            }),
        ],
    );
    finds(
        answers_alike,
        &asks_again(&config(), 1, Watch::default()).0,
        &[
            obeyed,
            ("different answers", &|seen| {
                let answer = seen.iter_mut().rfind(|packet| {
                    packet.left() && packet.asconf_ack().is_some_and(|a| a.refused.is_empty())
                });
                answers(core::slice::from_mut(answer.unwrap()), |answered| answered.bytes.push(0));
            }),
            ("one left unanswered", &|seen| {
                let place = seen.iter().rposition(|packet| {
                    packet.left() && packet.asconf_ack().is_some_and(|a| a.refused.is_empty())
                });
                seen.remove(place.unwrap());
            }),
            ("no copies", &|seen| {
                let mut first = true;
                seen.retain(|packet| !is_request_at_cn(packet) || core::mem::take(&mut first));
            }),
        ],
    );
}

#[test]
fn there_is_no_other_case() {
    assert!(try_rule("no-such-case", &config(), 1, Watch::default()).is_none());
}
