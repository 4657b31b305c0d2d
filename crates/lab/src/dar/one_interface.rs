//! Scenarios A and B: one interface, which leaves one access point before it has another (b08 sections 3.3.1 and 3.3.2).

use whimbrel_machine::{InterfaceFact, InterfaceKind, LinkFact};
use whimbrel_proto::{AddressChange, Config};
use whimbrel_wire::cause_code;

use super::bed::{Bed, CN, NEW, NOBODY, OLD, OTHER, Plan, Shape, socket};
use super::judge::{Exchange, downlink, exchange, is_cn, requests_at_cn, speaks_to};
use super::log::Meddle;
use super::rewrite::{Draft, Protection, each_asconf};
use super::seen::{Kind, Seen};
use crate::experiment::Watch;

/// When the old access point is lost and the new one found, ms.
const LOST: u64 = 2000;
const FOUND: u64 = 2500;
/// Longer than it takes until a request is repeated once.
const REPEATED: u64 = 5000;
/// Long enough for several repetitions of a request.
const PATIENCE: u64 = 60_000;

/// What scenario B has the mobile node ask for.
const MOVE: [AddressChange; 3] =
    [AddressChange::Add(socket(NEW)), AddressChange::Delete(OLD), AddressChange::SetPrimary(NEW)];
/// The same as it is to be seen.
const MOVED: [(Kind, core::net::IpAddr); 3] =
    [(Kind::Add, NEW), (Kind::Delete, OLD), (Kind::SetPrimary, NEW)];

/// Scenario A: another access point in the same subnet. The policy is told all there is to tell, and no address is among it.
pub(crate) fn stays(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let mut plan = Plan::new(Shape::OneInterface);
    plan.policy = Some(super::at_once::<whimbrel_handover::Seamless>);
    let mut bed = Bed::new(config, seed, plan, watch);
    bed.introduce(0, InterfaceKind::WirelessLan, OLD);
    bed.until(LOST);
    bed.disconnect(0);
    bed.until(FOUND);
    bed.attach_anew();
    bed.tell_about(0, InterfaceFact::HandoverComplete);
    bed.finish(8000)
}

/// Nothing about addresses is said, none but the first pair is used, and data goes on after the gap.
pub(crate) fn nothing_moves(seen: &[Seen]) -> bool {
    let ends = [(CN, OLD), (OLD, CN)];
    let signalled = seen.iter().any(|packet| packet.asconf().is_some() || packet.asconf_ack().is_some());
    let set_up_again = seen.iter().any(|packet| packet.is_init() && packet.at > super::bed::at(LOST));
    let data = |from: u64, to: u64| {
        let (from, to) = (super::bed::at(from), super::bed::at(to));
        seen.iter().filter(move |packet| {
            packet.arrived() && packet.to == OLD && packet.has_data() && packet.at > from && packet.at < to
        })
    };
    let carried_on = data(0, LOST).count() > 100 && data(FOUND, 8000).count() > 100;
    let through_the_gap = data(LOST, FOUND).count() == 0;
    let same_ends = seen.iter().all(|packet| ends.contains(&(packet.from, packet.to)));
    !signalled && !set_up_again && same_ends && carried_on && through_the_gap
}

/// Scenario B, with somebody on the way: break before make, then one request from the new address.
pub(crate) fn moves(config: &Config, seed: u64, meddle: Meddle, end: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let mut bed = Bed::new(config, seed, Plan { meddle, ..Plan::new(Shape::OneInterface) }, watch);
    bed.until(LOST);
    bed.disconnect(0);
    bed.leave_behind();
    bed.tell(LinkFact::AddressDown(socket(OLD)));
    bed.until(FOUND);
    bed.attach_anew();
    bed.assign(0, NEW);
    bed.tell(LinkFact::AddressUp(socket(NEW)));
    bed.ask(&MOVE);
    bed.finish(end)
}

/// One authenticated ASCONF from the new address with the right tag, the old address as Address Parameter and the three requests in
/// this order; the answer and all data from then on go to the new address alone.
pub(crate) fn moves_by_one_request(seen: &[Seen]) -> bool {
    let from_mn = || seen.iter().filter(|packet| packet.left() && !is_cn(packet.from));
    let Some(tag) = from_mn().rfind(|packet| packet.from == OLD).map(|packet| packet.tag) else {
        return false;
    };
    let requests: Vec<_> = from_mn().filter_map(|packet| Some((packet, packet.asconf()?))).collect();
    let Some((_, first)) = requests.first() else { return false };
    let as_told = requests.iter().all(|(packet, asked)| {
        let told = asked.lookup == OLD && asked.authenticated && asked.wishes() == MOVED;
        packet.from == NEW && packet.tag == tag && told && asked.serial == first.serial
    });
    let Some((exchange, (place, to, _))) =
        exchange(seen, 0).and_then(|exchange| Some((exchange, exchange.answer?)))
    else {
        return false;
    };
    let after = &seen[place..];
    as_told
        && exchange.is_granted()
        && to == NEW
        && !speaks_to(after, OLD)
        && downlink(after, NEW).count() > 100
}

/// Somebody on the way takes the authentication away, each time in another way, then lets the request be.
pub(crate) fn unprotected() -> Meddle {
    const WAYS: [Protection; 3] = [Protection::None, Protection::Forged, Protection::Behind];
    each_asconf(|number, draft| draft.protection = WAYS.get(number).copied().unwrap_or(Protection::Genuine))
}

/// Somebody on the way alters the verification tag of the first two.
pub(crate) fn mistagged() -> Meddle {
    each_asconf(|number, draft| {
        if number < 2 {
            draft.header.verification_tag ^= 1;
        }
    })
}

/// The first `spoiled` requests change nothing: they are not answered, and nothing goes to the address that they bring. The next,
/// which is as it should be, is granted: so it was nothing else that was wrong with them.
pub(crate) fn ignores_first(seen: &[Seen], spoiled: usize) -> bool {
    let Some(good) = exchange(seen, spoiled).filter(Exchange::is_granted) else { return false };
    let Some(&(first, _)) = requests_at_cn(seen).first() else { return false };
    let ignored = (0..spoiled).all(|number| exchange(seen, number).is_some_and(|bad| bad.answer.is_none()));
    let meanwhile = &seen[first..good.place];
    let unchanged = !speaks_to(meanwhile, NEW) && downlink(meanwhile, OLD).next().is_some();
    ignored && unchanged && downlink(&seen[good.place..], NEW).count() > 100
}

/// What is wrong with the requests of [`unprotected`]: none is authenticated, and the next one is.
pub(crate) fn are_unprotected(seen: &[Seen], spoiled: usize) -> bool {
    let genuine: Vec<bool> = requests_at_cn(seen).iter().map(|(_, asked)| asked.authenticated).collect();
    genuine.len() > spoiled && genuine[..spoiled].iter().all(|genuine| !genuine) && genuine[spoiled]
}

/// What is wrong with the requests of [`mistagged`]: the tag alone. The HMAC does not cover it.
pub(crate) fn are_mistagged(seen: &[Seen], spoiled: usize) -> bool {
    let requests = requests_at_cn(seen);
    let tags: Vec<u32> = requests.iter().map(|&(place, _)| seen[place].tag).collect();
    let matching = requests.iter().all(|(_, asked)| asked.lookup == OLD);
    matching && tags.len() > spoiled && tags[..spoiled].iter().all(|tag| *tag != tags[spoiled])
}

/// Somebody on the way puts the requests into another order.
pub(crate) fn reordered(order: [Kind; 3]) -> Meddle {
    each_asconf(move |_, draft| {
        draft.requests.sort_by_key(|request| order.iter().position(|kind| *kind == request.kind));
    })
}

/// Set Primary before the address is there: refused, and that alone.
pub(crate) fn drops_early_set_primary(seen: &[Seen]) -> bool {
    let Some(exchange) = exchange(seen, 0).filter(|exchange| exchange.asked.authenticated) else {
        return false;
    };
    let Some((_, _, answered)) = exchange.answer else { return false };
    let order: Vec<Kind> = exchange.asked.requests.iter().map(|request| request.kind).collect();
    order == [Kind::SetPrimary, Kind::Add, Kind::Delete]
        && answered.refused.len() == 1
        && exchange.cause(Kind::SetPrimary).is_some()
}

/// Delete before the new address is there: it is the last one and stays; Set Primary for an address that did not come is refused, too,
/// and no data goes there.
pub(crate) fn keeps_last_address(seen: &[Seen]) -> bool {
    let Some(exchange) = exchange(seen, 0).filter(|exchange| exchange.asked.authenticated) else {
        return false;
    };
    let order: Vec<Kind> = exchange.asked.requests.iter().map(|request| request.kind).collect();
    let still_old = downlink(&seen[exchange.place..], OLD).next().is_some();
    order == [Kind::Delete, Kind::Add, Kind::SetPrimary]
        && exchange.cause(Kind::Delete) == Some(cause_code::DELETE_LAST_ADDRESS)
        && exchange.cause(Kind::SetPrimary).is_some()
        && still_old
        && downlink(seen, NEW).next().is_none()
}

/// Scenario B, where the first requests name an address that is nobody's.
pub(crate) fn misnamed() -> Meddle {
    each_asconf(|number, draft| {
        if number < 2 {
            draft.lookup = NOBODY;
        }
    })
}

/// Two mobile nodes with an association each. The first one's request names the other's address; the other's request comes with
/// the first one's source address. Its repetition comes as it was sent.
pub(crate) fn crossed(config: &Config, seed: u64) -> Vec<Seen> {
    let mut forged = false;
    let meddle: Meddle = Box::new(move |seen, bytes, sessions| {
        let Some(mut draft) = seen.asconf().and_then(|_| Draft::of(bytes)) else { return Vec::new() };
        if seen.from == OLD {
            draft.lookup = OTHER;
            *bytes = draft.packet(sessions);
            return Vec::new();
        }
        if core::mem::replace(&mut forged, true) {
            return Vec::new();
        }
        let route = whimbrel_machine::Route { local: socket(OLD), remote: socket(seen.to) };
        let forged = draft.packet(sessions);
        bytes.clear();
        vec![(route, forged)]
    });
    let mut bed = Bed::new(config, seed, Plan { meddle, ..Plan::new(Shape::TwoMobiles) }, Watch::default());
    bed.until(LOST);
    bed.ask(&[AddressChange::SetPrimary(OLD)]);
    bed.until(FOUND);
    bed.ask_other(&[AddressChange::SetPrimary(OTHER)]);
    bed.finish(FOUND + REPEATED).0
}

/// Half of what [`crossed`] shows: a request whose source address belongs to an association is that association's, whatever its
/// Address Parameter says.
pub(crate) fn finds_by_source(seen: &[Seen]) -> bool {
    exchange(seen, 0).is_some_and(|mine| mine.asked.lookup == OTHER && mine.is_granted())
}

/// The other half: a request with the source address of one association and everything else of another is taken for the first
/// one's, and dropped for its verification tag. The same request from where that tag belongs is granted: so it was nothing else
/// that was wrong with it.
pub(crate) fn drops_at_the_tag(seen: &[Seen]) -> bool {
    let (Some(crossed), Some(genuine)) = (exchange(seen, 1), exchange(seen, 2)) else { return false };
    let (at_fault, repaired) = (&seen[crossed.place], &seen[genuine.place]);
    let same = crossed.asked == genuine.asked && at_fault.tag == repaired.tag;
    let dropped = at_fault.from == OLD && crossed.asked.lookup == OTHER && crossed.answer.is_none();
    let control = repaired.from == OTHER && genuine.asked.authenticated && genuine.is_granted();
    same && dropped && control
}

/// When a run of scenario B ends: soon, if the first request is granted, else after several repetitions of it.
pub(crate) const fn end(spoiled: usize) -> u64 {
    if spoiled == 0 { 8000 } else { PATIENCE }
}
