//! When addresses are valid, and requests that a host must not obey (b08 section 3.2; RFC 5061 sections 4.2, 5.2 and 5.3), with two interfaces.

use core::net::IpAddr;

use whimbrel_machine::{InterfaceKind, LinkFact, Route};
use whimbrel_proto::{AddressChange, Config};
use whimbrel_wire::cause_code;

use super::bed::{Bed, NEW, NOBODY, OLD, Plan, Shape, at, socket};
use super::judge::{downlink, exchange, exchange_about, is_cn, requests_at_cn, speaks_to};
use super::log::Meddle;
use super::rewrite::{each_asconf, losing_first};
use super::seen::{Kind, Noted, Seen};
use crate::experiment::Watch;

/// When the second address is there, and when something is asked for, and asked for again, ms.
const GAINED: u64 = 2000;
const FIRST: u64 = 3000;
const SECOND: u64 = 6000;
const END: u64 = 9000;

fn bed(config: &Config, seed: u64, meddle: Meddle, watch: Watch) -> Bed {
    let plan = Plan { meddle, uplink: true, ..Plan::new(Shape::TwoInterfaces) };
    let mut bed = Bed::new(config, seed, plan, watch);
    bed.introduce(0, InterfaceKind::Other, OLD);
    bed
}

fn gain(bed: &mut Bed) {
    bed.until(GAINED);
    bed.assign(1, NEW);
    bed.introduce(1, InterfaceKind::Other, NEW);
    bed.tell(LinkFact::AddressUp(socket(NEW)));
}

/// With both addresses in the association, asks for `first` and, later, for `second`.
fn asking(
    config: &Config,
    seed: u64,
    meddle: Meddle,
    [first, second]: [&[AddressChange]; 2],
    watch: Watch,
) -> (Vec<Seen>, u64) {
    let mut bed = bed(config, seed, meddle, watch);
    gain(&mut bed);
    bed.ask(&[AddressChange::Add(socket(NEW))]);
    bed.until(FIRST);
    bed.ask(first);
    bed.until(SECOND);
    bed.ask(second);
    bed.finish(END)
}

/// The old network is lost at the moment the new address is there, so that only the new address is left to send from; the first
/// answer to the request that adds it is lost.
pub(crate) fn has_only_new(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let meddle = losing_first(|packet| packet.asconf_ack().is_some());
    let mut bed = bed(config, seed, meddle, watch);
    gain(&mut bed);
    bed.disconnect(0);
    bed.tell(LinkFact::AddressDown(socket(OLD)));
    bed.ask(&[AddressChange::Add(socket(NEW)), AddressChange::SetPrimary(NEW)]);
    bed.finish(12_000)
}

/// No data leaves from the new address before the answer is there, which takes a while; afterwards it does.
pub(crate) fn waits_for_answer(seen: &[Seen]) -> bool {
    let data_from = |packets: &[Seen], from: IpAddr| {
        packets.iter().filter(|packet| packet.left() && packet.from == from && packet.has_data()).count()
    };
    let asked = seen
        .iter()
        .position(|packet| packet.left() && packet.asconf().is_some_and(|asked| asked.asks(Kind::Add, NEW)));
    let answered =
        seen.iter().position(|packet| packet.arrived() && !is_cn(packet.to) && packet.asconf_ack().is_some());
    let (Some(asked), Some(answered)) = (asked, answered) else { return false };
    let waited = (seen[answered].at - seen[asked].at).as_millis() > 500;
    asked < answered
        && waited
        && data_from(&seen[..answered], NEW) == 0
        && data_from(&seen[answered..], NEW) > 0
}

/// The address in use is to be deleted, and the request is lost the first time.
pub(crate) fn deletes_late(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let meddle = losing_first(|packet| packet.asconf().is_some_and(|asked| asked.asks(Kind::Delete, OLD)));
    asking(config, seed, meddle, [&[AddressChange::SetPrimary(NEW), AddressChange::Delete(OLD)], &[]], watch)
}

/// What arrives at the address while its deletion has not been answered is taken: acknowledged though it comes nowhere else, some of
/// it before the answer.
pub(crate) fn receives_until_answer(seen: &[Seen]) -> bool {
    let asked = seen.iter().position(|packet| {
        packet.left() && packet.asconf().is_some_and(|asked| asked.asks(Kind::Delete, OLD))
    });
    let Some(asked) = asked else { return false };
    let answered = seen[asked..]
        .iter()
        .position(|packet| packet.arrived() && !is_cn(packet.to) && packet.asconf_ack().is_some());
    let Some(answered) = answered.map(|after| asked + after) else { return false };
    let arrivals = |packets: &[Seen]| -> Vec<(IpAddr, u32)> {
        let at_mn = packets.iter().filter(|packet| packet.arrived() && !is_cn(packet.to));
        at_mn.flat_map(|packet| packet.data().map(|tsn| (packet.to, tsn))).collect()
    };
    let all = arrivals(seen);
    let once = |tsn: u32| all.iter().filter(|(_, known)| *known == tsn).count() == 1;
    let within = arrivals(&seen[asked..answered]);
    let late: Vec<u32> =
        within.iter().filter(|&&(to, tsn)| to == OLD && once(tsn)).map(|&(_, tsn)| tsn).collect();
    let acknowledged = |packets: &[Seen], tsn: u32| {
        packets.iter().any(|packet| packet.left() && !is_cn(packet.from) && packet.acknowledges(tsn))
    };
    let before = late.iter().filter(|&&tsn| acknowledged(&seen[asked..answered], tsn)).count();
    late.len() > 10 && before > 10 && late.iter().all(|&tsn| acknowledged(&seen[asked..], tsn))
}

/// Set Primary comes before the addition, in one request.
pub(crate) fn asks_too_early(config: &Config, seed: u64) -> Vec<Seen> {
    let mut bed = bed(config, seed, each_asconf(|_, draft| draft.requests.reverse()), Watch::default());
    gain(&mut bed);
    bed.ask(&[AddressChange::Add(socket(NEW)), AddressChange::SetPrimary(NEW)]);
    bed.finish(FIRST + 2000).0
}

/// The address is added, Set Primary refused, and data stays where it was.
pub(crate) fn adds_without_change(seen: &[Seen]) -> bool {
    let Some(exchange) = exchange(seen, 0).filter(|exchange| exchange.asked.authenticated) else {
        return false;
    };
    let early = exchange.asked.wishes() == [(Kind::SetPrimary, NEW), (Kind::Add, NEW)];
    let refused = exchange.cause(Kind::SetPrimary).is_some() && exchange.cause(Kind::Add).is_none();
    let after = &seen[exchange.place..];
    early
        && refused
        && speaks_to(after, NEW)
        && downlink(after, NEW).next().is_none()
        && downlink(after, OLD).count() > 100
}

/// Set Primary for an address that is nobody's, then for the new one.
pub(crate) fn asks_for_nobody(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let meddle = each_asconf(|number, draft| {
        if number == 1 {
            draft.requests.iter_mut().for_each(|request| request.address = NOBODY);
        }
    });
    asking(config, seed, meddle, [&[AddressChange::SetPrimary(NEW)]; 2], watch)
}

/// The first is refused and data stays on the old path; the second is obeyed.
pub(crate) fn drops_unknown_primary(seen: &[Seen]) -> bool {
    let Some(unknown) = exchange_about(seen, Kind::SetPrimary, NOBODY) else { return false };
    let Some(known) = exchange_about(seen, Kind::SetPrimary, NEW) else { return false };
    if unknown.place >= known.place {
        return false;
    }
    let between = &seen[unknown.place..known.place];
    let stays = downlink(between, OLD).count() > 100 && downlink(between, NEW).next().is_none();
    unknown.asked.authenticated
        && unknown.cause(Kind::SetPrimary).is_some()
        && stays
        && !speaks_to(seen, NOBODY)
        && known.is_granted()
        && downlink(&seen[known.place..], NEW).count() > 100
}

/// A mobile node with one address is made to ask for its deletion.
pub(crate) fn deletes_last(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let meddle =
        each_asconf(|_, draft| draft.requests.iter_mut().for_each(|request| request.kind = Kind::Delete));
    let mut bed = bed(config, seed, meddle, watch);
    bed.until(FIRST);
    bed.ask(&[AddressChange::SetPrimary(OLD)]);
    bed.finish(SECOND)
}

/// Refused for that reason, and data goes on.
pub(crate) fn refuses_last(seen: &[Seen]) -> bool {
    let Some(exchange) = exchange(seen, 0) else { return false };
    exchange.asked.authenticated
        && exchange.asked.wishes() == [(Kind::Delete, OLD)]
        && exchange.cause(Kind::Delete) == Some(cause_code::DELETE_LAST_ADDRESS)
        && seen
            .iter()
            .filter(|packet| {
                packet.at > at(FIRST + 1000) && packet.arrived() && packet.to == OLD && packet.has_data()
            })
            .count()
            > 100
}

/// A request to delete the old address comes twice over the network and, since its answers are lost, is repeated by its sender; later the same
/// is asked for under a new serial number.
pub(crate) fn asks_again(config: &Config, seed: u64, watch: Watch) -> (Vec<Seen>, u64) {
    let mut lost = 0;
    let mut request = None;
    let meddle: Meddle = Box::new(move |seen, bytes, sessions| {
        let answer = seen.asconf_ack().map(|answer| answer.serial);
        if lost < 2 && request.is_some() && answer == request {
            lost += 1;
            bytes.clear();
        }
        let Some(asked) = seen.asconf() else { return Vec::new() };
        if request.is_some() && request != Some(asked.serial) {
            if let Some(mut draft) = super::rewrite::Draft::of(bytes) {
                draft.requests.iter_mut().for_each(|wish| (wish.kind, wish.address) = (Kind::Delete, OLD));
                *bytes = draft.packet(sessions);
            }
        } else if request.is_none() && asked.asks(Kind::Delete, OLD) {
            request = Some(asked.serial);
            let route = Route { local: socket(seen.from), remote: socket(seen.to) };
            return vec![(route, bytes.clone())];
        }
        Vec::new()
    });
    let moved = [AddressChange::SetPrimary(NEW), AddressChange::Delete(OLD)];
    asking(config, seed, meddle, [&moved, &[AddressChange::SetPrimary(NEW)]], watch)
}

/// Every copy is answered alike and granted, though the same under a new serial number is refused: nothing is done twice.
pub(crate) fn answers_alike(seen: &[Seen]) -> bool {
    let requests = requests_at_cn(seen);
    let Some((first, asked)) = requests.iter().find(|(_, asked)| asked.asks(Kind::Delete, OLD)).copied()
    else {
        return false;
    };
    let copies = requests.iter().filter(|(_, copy)| copy.serial == asked.serial).count();
    let answers: Vec<_> = seen[first..]
        .iter()
        .filter(|packet| packet.left() && is_cn(packet.from))
        .flat_map(|packet| packet.chunks.iter())
        .filter_map(|chunk| if let Noted::AsconfAck(answer) = chunk { Some(answer) } else { None })
        .collect();
    let to_copies: Vec<_> = answers.iter().filter(|answer| answer.serial == asked.serial).collect();
    let anew =
        requests.iter().find(|(_, later)| later.serial != asked.serial && later.asks(Kind::Delete, OLD));
    let Some((_, anew)) = anew else { return false };
    let refused = answers.iter().any(|answer| answer.serial == anew.serial && !answer.refused.is_empty());
    copies >= 3
        && to_copies.len() == copies
        && to_copies.iter().all(|answer| answer.refused.is_empty() && answer.bytes == to_copies[0].bytes)
        && refused
}
