//! Scenarios C and D, and the fastest-network policy: two interfaces (b08 sections 3.3.3, 3.3.4 and 4.2.1.2).

use whimbrel_handover::{FastestNetwork, Seamless};
use whimbrel_machine::{Instant, InterfaceFact, InterfaceKind, LinkFact};
use whimbrel_proto::Config;

use super::bed::{Bed, CN, CN_SECOND, NEW, OLD, Plan, Shape, at, socket};
use super::judge::{downlink, exchange_about, is_cn, sent_tsns};
use super::seen::{Kind, Seen};
use crate::experiment::Watch;

/// When the new network has given an address, the stack is told of it, the old network is about to be lost, and is, ms.
const ASSIGNED: u64 = 2000;
const TOLD: u64 = 2100;
const WARNED: u64 = 4000;
const LOST: u64 = 5000;

/// Scenarios C and D: everything that the networks do; what the mobile node does about it is its policy's.
pub(crate) fn hands_over(config: &Config, seed: u64, shape: Shape, watch: Watch) -> (Vec<Seen>, u64) {
    let mut plan = Plan::new(shape);
    plan.uplink = true;
    plan.policy = Some(super::at_once::<Seamless>);
    let mut bed = Bed::new(config, seed, plan, watch);
    bed.introduce(0, InterfaceKind::WirelessLan, OLD);
    gain(&mut bed, InterfaceKind::Cellular);
    bed.until(WARNED);
    bed.tell_about(0, InterfaceFact::GoingDown);
    bed.until(LOST);
    bed.disconnect(0);
    bed.tell(LinkFact::AddressDown(socket(OLD)));
    bed.tell_about(0, InterfaceFact::Down);
    bed.finish(8000)
}

fn gain(bed: &mut Bed, kind: InterfaceKind) {
    bed.until(ASSIGNED);
    bed.assign(1, NEW);
    bed.until(TOLD);
    bed.introduce(1, kind, NEW);
    bed.tell(LinkFact::AddressUp(socket(NEW)));
}

/// When each of the seven steps was first seen, as a place in the log (odd: that of a packet; even: just before one) and as a time. The
/// first two are the network's and the driver's: they are known.
pub(crate) fn steps(seen: &[Seen]) -> [Option<(usize, Instant)>; 7] {
    let place_of = |time: Instant| (2 * seen.partition_point(|packet| packet.at < time), time);
    let find = |is_it: &dyn Fn(&Seen) -> bool| {
        seen.iter().position(is_it).map(|place| (2 * place + 1, seen[place].at))
    };
    let asks = |kind, address| {
        find(&|packet| {
            let asked = packet.asconf().filter(|asked| asked.authenticated && asked.asks(kind, address));
            packet.left() && !is_cn(packet.from) && asked.is_some()
        })
    };
    let confirms = |kind, address| {
        let exchange = exchange_about(seen, kind, address).filter(|exchange| exchange.is_granted())?;
        find(&|packet| {
            let answer = packet.asconf_ack().filter(|answer| answer.serial == exchange.asked.serial);
            packet.arrived() && !is_cn(packet.to) && answer.is_some()
        })
    };
    [
        Some(place_of(at(ASSIGNED))),
        Some(place_of(at(TOLD))),
        asks(Kind::Add, NEW),
        confirms(Kind::Add, NEW),
        asks(Kind::SetPrimary, NEW),
        confirms(Kind::SetPrimary, NEW),
        asks(Kind::Delete, OLD),
    ]
}

/// Whether all steps are there, one after the other, the last one as soon as the old access point is lost and answered at last.
pub(crate) fn are_in_order(seen: &[Seen]) -> bool {
    let steps = steps(seen);
    let Some(places) = steps.into_iter().collect::<Option<Vec<_>>>() else { return false };
    let ordered = places.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let deleted = exchange_about(seen, Kind::Delete, OLD).is_some_and(|exchange| exchange.is_granted());
    let in_time = (at(LOST)..at(LOST + 500)).contains(&places[6].1);
    ordered && deleted && in_time
}

/// Steps 4 and 6: data to the mobile node takes the old path until Set Primary has come, though the new one could be used, and the
/// new path alone from then on, but for what had been sent before.
pub(crate) fn switches_at_set_primary(seen: &[Seen]) -> bool {
    let Some(added) = exchange_about(seen, Kind::Add, NEW).and_then(|exchange| exchange.answer) else {
        return false;
    };
    let Some(switch) =
        exchange_about(seen, Kind::SetPrimary, NEW).filter(|exchange| exchange.asked.authenticated)
    else {
        return false;
    };
    let (before, after) = seen.split_at(switch.place);
    let known = sent_tsns(before);
    let old_alone = downlink(before, NEW).next().is_none() && downlink(&before[added.0..], OLD).count() > 100;
    let is_new = |packet: &Seen| packet.data().any(|tsn| !known.contains(&tsn));
    let new_alone = !downlink(after, OLD).any(is_new)
        && downlink(after, NEW).filter(|packet| is_new(packet)).count() > 100;
    old_alone && new_alone
}

/// Scenario D's own: in both directions data arrives on two paths that share no address.
pub(crate) fn both_ways_have_two_paths(seen: &[Seen]) -> bool {
    let count = |from, to| {
        seen.iter()
            .filter(|packet| packet.arrived() && (packet.from, packet.to) == (from, to) && packet.has_data())
            .count()
    };
    let pairs = [(CN, OLD), (CN_SECOND, NEW), (OLD, CN), (NEW, CN_SECOND)];
    pairs.into_iter().all(|(from, to)| count(from, to) > 100)
}

/// To a faster network.
pub(crate) fn speeds_up(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let mut plan = Plan::new(Shape::TwoInterfaces);
    plan.policy = Some(super::at_once::<FastestNetwork>);
    let mut bed = Bed::new(config, seed, plan, watch);
    bed.introduce(0, InterfaceKind::Cellular, OLD);
    gain(&mut bed, InterfaceKind::WirelessLan);
    bed.finish(5000)
}

/// The first request leaves as soon as there is an address, and adds it and makes it primary; data follows.
pub(crate) fn adds_and_changes_at_once(seen: &[Seen]) -> bool {
    let first = seen.iter().find(|packet| packet.left() && !is_cn(packet.from) && packet.asconf().is_some());
    let Some((packet, asked)) = first.and_then(|packet| Some((packet, packet.asconf()?))) else {
        return false;
    };
    let bundled = asked.wishes() == [(Kind::Add, NEW), (Kind::SetPrimary, NEW)];
    let at_once = (at(TOLD)..at(TOLD + 1)).contains(&packet.at);
    let granted = exchange_about(seen, Kind::SetPrimary, NEW).is_some_and(|exchange| exchange.is_granted());
    bundled && at_once && asked.authenticated && granted && downlink(seen, NEW).count() > 100
}
