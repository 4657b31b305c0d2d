//! The verdict over both ledgers.

use core::time::Duration;
use std::collections::BTreeMap;

use whimbrel_machine::Instant;
use whimbrel_proto::{CloseReason, Delivery};

use crate::kind::{Guard, Movement, Packets};
use crate::ledger::{End, Incarnation, Ledger};
use crate::scenario::Scenario;

/// Time for the news of an end to reach the other side, when looking for what caused what.
const SLACK: Duration = Duration::from_secs(1);

/// A handshake that began before everything came to rest, and with addresses from then, may be over so long after it.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(120);

/// Sentences of a verdict, at most.
const MAX_SENTENCES: usize = 20;

/// Everything that is wrong, in words.
pub(crate) fn verdict(scenario: &Scenario, ledgers: [&Ledger; 2]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (host, ledger) in ledgers.iter().enumerate() {
        let name = ["client", "server"][host];
        wrong.extend(ledger.complaints.iter().map(|(at, what)| format!("{at} {name}: {what}")));
        for incarnation in &ledger.incarnations {
            let violent = scenario.is_violent();
            wrong.extend(incarnation.imbalance().map(|what| format!("{name}: {what}")));
            if !scenario.keeps_everything(incarnation.began) {
                continue;
            }
            let lost = lost_each_other(scenario, incarnation)
                || never_heard(scenario, incarnation, &ledgers[1 - host].incarnations);
            let excuse = |reason: &CloseReason, at| {
                if scenario.kind.movement == Movement::Rough {
                    return *reason == CloseReason::Shutdown
                        || ended_well(scenario, ledgers, host, incarnation);
                }
                lost && *reason == CloseReason::Unreachable
                    || excused(scenario, ledgers[1 - host], violent, reason, at)
            };
            if let Some((at, End::Closed(reason))) = &incarnation.end
                && !excuse(reason, *at)
            {
                wrong.push(format!("{at} {name}: association {} ended: {reason}", incarnation.number));
            }
        }
        delivery(scenario, host, ledgers, &mut wrong);
    }
    if !ledgers[0].done {
        wrong.push("the client never closed gracefully".to_owned());
    }
    if ledgers.iter().any(|ledger| ledger.any_live()) {
        wrong.push("an association is still up".to_owned());
    }
    if !wrong.is_empty() {
        wrong.truncate(MAX_SENTENCES);
        wrong.push(format!("{:?}", scenario.kind));
        let lives = |ledger: &Ledger| {
            let end = |i: &Incarnation| i.end.as_ref().map(|(at, end)| format!("{at} {end:?}"));
            ledger.incarnations.iter().take(4).map(end).collect::<Vec<_>>()
        };
        wrong.push(format!("ends at the client {:?}", lives(ledgers[0])));
        wrong.push(format!("ends at the server {:?}", lives(ledgers[1])));
    }
    wrong
}

/// Whether it does no harm that an association of a rough world was not closed gracefully: it never came to be, or its user closed it in
/// the middle of trouble, and everything had been delivered.
fn ended_well(scenario: &Scenario, ledgers: [&Ledger; 2], host: usize, incarnation: &Incarnation) -> bool {
    if ledgers[0].connects_failed > 0 {
        return true;
    }
    let peers = &ledgers[1 - host].incarnations;
    let receiver = peers.iter().find(|peer| peer.peer == Some(incarnation.number));
    let sender = peers.iter().find(|peer| Some(peer.number) == incarnation.peer);
    let delivered = receiver.map_or(0, |receiver| receiver.received.len()) == incarnation.accepted.len();
    let received = sender.is_none_or(|sender| sender.accepted.len() == incarnation.received.len());
    scenario.hosts[host].user.hold_until.is_none() && delivered && received
}

/// Whether an association may have ended so, at that time.
fn excused(scenario: &Scenario, peer: &Ledger, violent: bool, reason: &CloseReason, at: Instant) -> bool {
    if scenario.motion.as_ref().is_some_and(|motion| motion.gentle) && scenario.kind.on_path().is_none() {
        // Nothing has happened that would justify another end, but for one: SHUTDOWN COMPLETE is said once. Who has missed it
        // and has no address left that the peer would know asks in vain, with everything delivered.
        let peer_left = |i: &Incarnation| matches!(&i.end, Some((_, End::Closed(CloseReason::Shutdown))));
        let waits = *reason == CloseReason::Unreachable && peer.incarnations.iter().any(peer_left);
        return *reason == CloseReason::Shutdown || waits;
    }
    let rto = scenario.hosts.iter().map(|host| host.config.rto.max).max().unwrap_or_default();
    match reason {
        CloseReason::Shutdown => true,
        // The last timer that ran when the network healed may have been the last straw.
        CloseReason::Unreachable => {
            violent || at <= scenario.networks.heal_at + rto + SLACK || ignored(scenario, peer, at)
        }
        CloseReason::Aborted => true,
        // Who has been given up on, or never was accepted, learns so when it speaks next.
        CloseReason::AbortedByPeer { .. } => {
            violent
                || peer.connects_failed > 0
                || peer.incarnations.iter().any(|i| matches!(&i.end, Some((ended, _)) if *ended <= at))
        }
        CloseReason::ProtocolViolation(_)
        | CloseReason::NoSctp
        | CloseReason::OutOfResource
        | CloseReason::PeerUnprotected
        | CloseReason::KeyExchange(_)
        | CloseReason::Tampered
        | CloseReason::MessageTooLarge { .. }
        | CloseReason::Refused(_) => false,
    }
}

/// Hosts that move anyhow may have gone where their peers cannot find them. Who begins to set up an association after that
/// knows where everybody is.
fn lost_each_other(scenario: &Scenario, incarnation: &Incarnation) -> bool {
    scenario.kind.movement == Movement::Wild
        && incarnation.began <= scenario.networks.heal_at + LONGEST_HANDSHAKE
}

/// One end of a protected association hears of it first. If the other end gives up before it does, in the midst of trouble, it tells
/// nobody.
fn never_heard(scenario: &Scenario, incarnation: &Incarnation, peers: &[Incarnation]) -> bool {
    scenario.kind.packets == Packets::Protected
        && incarnation.began <= scenario.networks.heal_at
        && peers.iter().all(|peer| peer.peer != Some(incarnation.number))
}

/// Directly on IP a host does not answer packets for ports that are not in use, as other stacks may share its address.
/// Who has missed the end of an association then hears nothing. Nor does who takes ABORT only authenticated: the answer of a
/// host that has forgotten the association, and the key, is not believed.
fn ignored(scenario: &Scenario, peer: &Ledger, at: Instant) -> bool {
    let ended = |i: &Incarnation| matches!(&i.end, Some((ended, _)) if *ended < at);
    let unheard = scenario.udp_port == 0
        || scenario.kind.on_path() == Some(Guard::Everything)
        || scenario.kind.packets == Packets::Protected;
    unheard && (peer.connects_failed > 0 || peer.incarnations.iter().any(ended))
}

/// What `host` received against what the other side was promised.
fn delivery(scenario: &Scenario, host: usize, ledgers: [&Ledger; 2], wrong: &mut Vec<String>) {
    let name = ["client", "server"][host];
    let mut carriers: BTreeMap<u8, u32> = BTreeMap::new();
    let received = ledgers[host].incarnations.iter();
    for receiver in received.filter(|receiver| scenario.keeps_integrity(host, receiver.began)) {
        let Some(number) = receiver.peer else { continue };
        *carriers.entry(number).or_default() += u32::from(scenario.keeps_everything(receiver.began));
        let Some(sender) = ledgers[1 - host].incarnations.iter().find(|i| i.number == number) else {
            wrong.push(format!("{name} received from association {number}, which never was"));
            continue;
        };
        order(scenario, host, sender, receiver, wrong);
    }
    for (number, count) in carriers {
        if count > 1 {
            wrong.push(format!("{name} received from association {number} in {count} associations"));
        }
    }
    // Closed gracefully: everything was delivered, wherever it was received.
    let sent = ledgers[1 - host].incarnations.iter();
    for sender in sent.filter(|sender| scenario.keeps_everything(sender.began)) {
        let clean = matches!(&sender.end, Some((_, End::Closed(CloseReason::Shutdown))));
        // Who was lied to may have taken a message for that of another association.
        let unharmed = |i: &&Incarnation| scenario.keeps_integrity(host, i.began);
        let mut receivers = ledgers[host].incarnations.iter().filter(unharmed);
        let receiver = receivers.find(|i| i.peer == Some(sender.number));
        let clean = clean
            || receiver.is_some_and(|r| matches!(&r.end, Some((_, End::Closed(CloseReason::Shutdown)))));
        let got = receiver.map_or(0, |receiver| receiver.received.len());
        if clean && got != sender.accepted.len() {
            let sent = sender.accepted.len();
            wrong.push(format!("{name} received {got} of {sent} messages of association {}", sender.number));
        }
    }
}

/// Ordered messages came in the order of their stream, without a gap; everything that came had been accepted.
fn order(
    scenario: &Scenario,
    host: usize,
    sender: &Incarnation,
    receiver: &Incarnation,
    wrong: &mut Vec<String>,
) {
    let name = ["client", "server"][host];
    let traffic = &scenario.hosts[1 - host].traffic;
    let mut streams: BTreeMap<u16, (Vec<u32>, usize)> = BTreeMap::new();
    let mut accepted = sender.accepted.clone();
    accepted.sort_unstable();
    for &number in &sender.accepted {
        if traffic.delivery(number) == Delivery::Ordered {
            let stream = traffic.stream(number, sender.outbound_streams);
            streams.entry(stream.0).or_default().0.push(number);
        }
    }
    for &number in &receiver.received {
        if accepted.binary_search(&number).is_err() {
            wrong.push(format!("{name} received message {number}, which was refused"));
        }
        if traffic.delivery(number) == Delivery::Unordered {
            continue;
        }
        let stream = traffic.stream(number, sender.outbound_streams);
        let (expected, next) = streams.entry(stream.0).or_default();
        if expected.get(*next) != Some(&number) {
            let wanted = expected.get(*next);
            wrong.push(format!("{name} received message {number} in stream {stream:?}, not {wanted:?}"));
            return;
        }
        *next += 1;
    }
}
