//! What passes in a handover that the network controls, packet by packet, and whether it is as paper d10 has it.

use core::net::IpAddr;

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::Overheard;
use whimbrel_ufa::sip::{
    AppliConfig, BDP, CONTEXT_TRANSFER, Message, RESOURCE_QUERY, SIP_PORT, TerminalSettings, number,
};
use whimbrel_wire::{Chunk, Packet, Tsn, chunk_type};

use crate::setups::gateways::{correspondent, terminal_address};

/// How far a measured bandwidth-delay product may be from the formula's.
const TOLERANCE: f64 = 0.03;
/// Bytes of user data in a full packet: a window may be exceeded by less than one (RFC 9260 §6.1 B).
const PACKET: f64 = 1452.0;

/// Everything that matters of what was seen.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// SIP as it reached whom it was for.
    sip: Vec<(Instant, Route, Message)>,
    /// DATA: when, to which address, whether it was on its way through a gateway, its TSN and bytes of user data.
    data: Vec<(Instant, IpAddr, bool, Tsn, usize)>,
    /// SCTP of the terminal: when the correspondent got it, and from which address.
    back: Vec<(Instant, IpAddr)>,
    asconf: u64,
}

impl Trace {
    /// A packet reaches a host.
    pub(crate) fn note(&mut self, now: Instant, packet: &Overheard<'_>) {
        if packet.route.remote.port() == SIP_PORT {
            if let (false, Ok(message)) = (packet.transit, Message::parse(packet.bytes)) {
                self.sip.push((now, packet.route, message));
            }
            return;
        }
        let Ok(parsed) = Packet::parse(packet.bytes) else { return };
        let to = packet.route.remote.ip();
        if to == correspondent().ip() && !packet.transit {
            self.back.push((now, packet.route.local.ip()));
        }
        let mut raw = parsed.chunks();
        while let Some(Ok(chunk)) = raw.next_raw() {
            let is_asconf = matches!(chunk.chunk_type(), chunk_type::ASCONF | chunk_type::ASCONF_ACK);
            self.asconf += u64::from(is_asconf);
        }
        for chunk in parsed.chunks().flatten() {
            if let Chunk::Data(data) = chunk {
                self.data.push((now, to, packet.transit, data.tsn, data.payload.len()));
            }
        }
    }

    // ---- the messages, by their numbers in the paper

    /// The place of the first message after `from` for which `is` holds.
    fn find(&self, from: usize, is: impl Fn(&Route, &Message) -> bool) -> Option<usize> {
        let found = self.sip.iter().skip(from).position(|(_, route, message)| is(route, message));
        found.map(|at| at + from)
    }

    /// The places of messages 1 to 8, with 5A to 7A after 7.
    fn places(&self) -> Option<[usize; 11]> {
        let to_cn = |route: &Route| route.remote.ip() == correspondent().ip();
        let from_cn = |route: &Route| route.local.ip() == correspondent().ip();
        let of = |method: &str, status: u16| {
            let method = method.to_owned();
            move |message: &Message| message.method().to_string() == method && message.status() == status
        };
        let invite =
            |message: &Message| of("INVITE", 0)(message) && message.header("UFA_Appli_Config").is_some();
        let ack = of("ACK", 0);
        let agreed = of("INVITE", 200);
        let one = self.find(0, |_, message| of(RESOURCE_QUERY, 0)(message))?;
        let two = self.find(0, |_, message| of(RESOURCE_QUERY, 200)(message))?;
        let three = self.find(0, |_, message| of(CONTEXT_TRANSFER, 0)(message))?;
        let four = self.find(0, |_, message| of(CONTEXT_TRANSFER, 200)(message))?;
        let five = self.find(0, |route, message| to_cn(route) && invite(message))?;
        let six = self.find(five, |route, message| from_cn(route) && agreed(message))?;
        let seven = self.find(five, |route, message| to_cn(route) && ack(message))?;
        let five_a = self.find(0, |route, message| !to_cn(route) && invite(message))?;
        let mobile = self.sip[five_a].1.remote.ip();
        let six_a = self.find(five_a, |route, message| route.local.ip() == mobile && agreed(message))?;
        let seven_a = self.find(five_a, |route, message| route.remote.ip() == mobile && ack(message))?;
        let eight = self.find(seven_a, |route, message| {
            route.local.ip() != mobile && !from_cn(route) && of("INVITE", 0)(message)
        })?;
        Some([one, two, three, four, five, six, seven, five_a, six_a, seven_a, eight])
    }

    fn message(&self, at: usize) -> (&Instant, &Route, &Message) {
        let (now, route, message) = &self.sip[at];
        (now, route, message)
    }

    /// The terminal's new address, its gateway there, and when messages 7, 7A and 8 arrived.
    fn moved(&self) -> Option<Moved> {
        let places = self.places()?;
        let (eight, route, _) = self.message(places[10]);
        let [seven, seven_a] = [places[6], places[9]].map(|at| *self.message(at).0);
        Some(Moved { new: route.local.ip(), gateway: route.remote.ip(), seven, seven_a, eight: *eight })
    }

    // ---- what is judged

    /// Messages 1 to 4 before 5 to 7, and 8 after 7A, from an address that nothing came from before.
    pub(crate) fn is_in_order(&self) -> bool {
        let (Some(places), Some(moved)) = (self.places(), self.moved()) else { return false };
        let first = self.back.iter().find(|(_, from)| *from == moved.new);
        places.is_sorted() && first.is_none_or(|(at, _)| *at >= moved.eight)
    }

    /// Message 5 and message 5A name the new address, which message 8 comes from, and the old one.
    pub(crate) fn has_appli_config(&self) -> bool {
        let (Some(places), Some(moved)) = (self.places(), self.moved()) else { return false };
        let expected = AppliConfig { add: moved.new, delete: terminal_address(0, 0).ip() };
        [places[4], places[7]].iter().all(|at| AppliConfig::of(self.message(*at).2) == Ok(expected))
    }

    /// Message 5A says how to get to where message 8 goes; message 5 does not.
    pub(crate) fn has_terminal_config(&self) -> bool {
        let (Some(places), Some(moved)) = (self.places(), self.moved()) else { return false };
        let settings = TerminalSettings::of(self.message(places[7]).2);
        let fits = |settings: &TerminalSettings| {
            let named = !settings.essid.is_empty() && settings.channel > 0 && settings.mac.0 != [0; 6];
            named && settings.gateway == moved.gateway && settings.address == moved.new
        };
        settings.as_ref().is_ok_and(fits) && TerminalSettings::of(self.message(places[4]).2).is_err()
    }

    /// Message 5 names the bandwidth-delay product.
    pub(crate) fn has_bdp(&self, expected: f64) -> bool {
        let named = self.places().and_then(|places| number(self.message(places[4]).2, BDP).ok());
        named.is_some_and(|named| (named as f64 / expected - 1.0).abs() <= TOLERANCE)
    }

    /// No data leaves for the new address before message 7 has come, and some reaches the target before message 8 does.
    pub(crate) fn destination_is_valid_at_7(&self) -> bool {
        let Some(moved) = self.moved() else { return false };
        let first = self.data.iter().find(|(_, to, ..)| *to == moved.new);
        first.is_some_and(|(at, ..)| *at > moved.seven && *at < moved.eight)
    }

    /// Nothing comes from the new address before message 7A has come, and SACKs come after that.
    pub(crate) fn source_is_valid_at_7a(&self) -> bool {
        let Some(moved) = self.moved() else { return false };
        let sip = self.sip.iter().find(|(_, route, _)| route.local.ip() == moved.new);
        let sctp = self.back.iter().find(|(_, from)| *from == moved.new);
        sip.is_some_and(|(at, ..)| *at > moved.seven_a) && sctp.is_some_and(|(at, _)| *at > moved.seven_a)
    }

    /// What reached the target before message 8 reaches the terminal after it, in the same order and before all else.
    pub(crate) fn waits_for_8(&self) -> bool {
        let Some(moved) = self.moved() else { return false };
        let at_target = self.data.iter().filter(|(_, to, transit, ..)| *to == moved.new && *transit);
        let waited = at_target.take_while(|(at, ..)| *at < moved.eight).map(|(.., tsn, _)| *tsn);
        let waited: Vec<Tsn> = waited.collect();
        let came = self.data.iter().filter(|(_, to, transit, ..)| *to == moved.new && !*transit);
        let came: Vec<_> = came.take(waited.len()).map(|(at, .., tsn, _)| (*at, *tsn)).collect();
        let in_order = came.iter().map(|(_, tsn)| *tsn).eq(waited.iter().copied());
        !waited.is_empty() && in_order && came.iter().all(|(at, _)| *at > moved.eight)
    }

    /// There is no ASCONF and no answer to one.
    pub(crate) const fn has_no_asconf(&self) -> bool {
        self.asconf == 0
    }

    /// On the way to the new address, what was sent to the old one before comes ahead of all that was not.
    pub(crate) fn sends_lost_first(&self) -> bool {
        let Some(moved) = self.moved() else { return false };
        let on_way = |to_new: bool| {
            let wanted = move |to: IpAddr| (to == moved.new) == to_new;
            self.data
                .iter()
                .filter(move |(_, to, transit, ..)| *transit && wanted(*to))
                .map(|(.., tsn, _)| *tsn)
        };
        let Some(last) = on_way(false).max_by(|a, b| {
            if a.precedes(*b) { core::cmp::Ordering::Less } else { core::cmp::Ordering::Greater }
        }) else {
            return false;
        };
        let again: Vec<bool> = on_way(true).map(|tsn| !last.precedes(tsn)).collect();
        let lost = again.iter().take_while(|again| **again).count();
        lost > 0 && again.iter().skip(lost).all(|again| !again)
    }

    /// As much goes to the new address before anything comes from there as the window is, and no packet more.
    pub(crate) fn begins_with(&self, window: f64) -> bool {
        let Some(moved) = self.moved() else { return false };
        let unanswered =
            self.back.iter().find(|(_, from)| *from == moved.new).map_or(Instant::FAR_FUTURE, |(at, _)| *at);
        let on_way =
            self.data.iter().filter(|(at, to, transit, ..)| *transit && *to == moved.new && *at < unanswered);
        let bytes = on_way.map(|(.., bytes)| *bytes).sum::<usize>() as f64;
        bytes > window * (1.0 - TOLERANCE) - PACKET && bytes < window * (1.0 + TOLERANCE) + PACKET
    }
}

/// A handover, as its packets show it.
#[derive(Clone, Copy, Debug)]
struct Moved {
    new: IpAddr,
    gateway: IpAddr,
    seven: Instant,
    seven_a: Instant,
    eight: Instant,
}
