//! What a network calls IPv4 addresses, as its routers tell it (PREF64, RFC 8781), from the Linux kernel by rtnetlink.
//!
//! The kernel keeps nothing of it: it hands out that option of each router advertisement when it comes (since 5.8), and says nothing to
//! whoever asks later. So what a program hears at its start is the next advertisement. Where another program handles advertisements in the
//! kernel's place (`accept_ra` is 0), there may be none.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use core::net::Ipv6Addr;

use futures_util::StreamExt;
use rtnetlink::packet_core::{
    DecodeError, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use rtnetlink::proto::new_connection;
use rtnetlink::sys::protocols::NETLINK_ROUTE;
use rtnetlink::sys::{AsyncSocket, SocketAddr};
use tokio::time::{Instant, sleep_until};

use super::source::Run;
use super::{Interface, InterfaceProperties, Interfaces, LinkSource, Nat64Prefix, Publisher};

/// Names and numbers from `linux/rtnetlink.h`.
const NEW_OPTION: u16 = 68;
const OPTIONS_GROUP: u32 = 20;

/// `struct nduseroptmsg`: family, length of the options, interface, type of the ICMP message; then the options.
const HEADER: usize = 16;

/// RFC 4861 §4.2.
const ROUTER_ADVERTISEMENT: u8 = 134;

/// RFC 8781 §4.
const PREF64: u8 = 38;
const PREF64_BYTES: usize = 16;

/// Prefixes kept of one interface, at most, and interfaces.
const PREFIXES_MAX: usize = 4;
const INTERFACES_MAX: usize = 64;

/// Routers of the networks that this host is in.
#[derive(Debug)]
pub(super) struct AdvertisedPrefixes;

impl LinkSource for AdvertisedPrefixes {
    fn name(&self) -> String {
        "router advertisements (rtnetlink)".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            // Nobody waits for a router's first word.
            publisher.publish(Interfaces::default());
            // Without rtnetlink the kernel's other source complains already.
            _ = watch(&publisher).await;
            Ok(())
        })
    }
}

/// Publishes until the connection to the kernel ends.
async fn watch(publisher: &Publisher) -> io::Result<()> {
    let (mut connection, _handle, mut notices) = new_connection::<Notice>(NETLINK_ROUTE)?;
    let socket = connection.socket_mut().socket_mut();
    socket.bind(&SocketAddr::new(0, 1 << (OPTIONS_GROUP - 1)))?;
    let mut others = publisher.others();
    let mut heard = Heard::default();
    let talk = async {
        loop {
            heard.follow(Instant::now(), &others.now());
            publisher.publish(heard.word());
            let next = heard.next_end();
            let end = async {
                match next {
                    Some(end) => sleep_until(end).await,
                    None => core::future::pending().await,
                }
            };
            tokio::select! {
                () = others.change() => {}
                () = end => {}
                notice = notices.next() => match notice {
                    Some((message, _)) => heard.take(Instant::now(), message),
                    None => return,
                },
            }
        }
    };
    tokio::select! {
        () = connection => {}
        () = talk => {}
    }
    Ok(())
}

/// What has been heard, by the kernel's number of the interface.
#[derive(Default)]
struct Heard {
    prefixes: BTreeMap<u32, Vec<(Nat64Prefix, Instant)>>,
    /// The names of interfaces that are up.
    up: BTreeMap<u32, String>,
}

impl Heard {
    fn take(&mut self, now: Instant, message: NetlinkMessage<Notice>) {
        let NetlinkPayload::InnerMessage(notice) = message.payload else { return };
        for option in options(&notice.options) {
            if let Some((prefix, lifetime)) = pref64(option) {
                self.hear(now, notice.interface, prefix, lifetime);
            }
        }
    }

    /// RFC 8781 §4.1: a lifetime of zero takes it back.
    fn hear(&mut self, now: Instant, interface: u32, prefix: Nat64Prefix, lifetime: Duration) {
        if !self.prefixes.contains_key(&interface) && self.prefixes.len() >= INTERFACES_MAX {
            return;
        }
        let known = self.prefixes.entry(interface).or_default();
        if let Some((_, end)) = known.iter_mut().find(|(other, _)| *other == prefix) {
            *end = now + lifetime;
        } else if known.len() < PREFIXES_MAX {
            known.push((prefix, now + lifetime));
        }
    }

    /// What is over goes, and what was heard where an interface is down by now: another network may be there when it comes back. An
    /// advertisement may be heard before the interface is said to be up.
    fn follow(&mut self, now: Instant, interfaces: &Interfaces) {
        let up: BTreeMap<u32, String> = interfaces
            .0
            .iter()
            .filter(|(_, interface)| interface.is_present())
            .filter_map(|(name, interface)| Some((interface.index?.get(), name.clone())))
            .collect();
        let was_up = core::mem::replace(&mut self.up, up);
        self.prefixes.retain(|index, known| {
            known.retain(|(_, end)| *end > now);
            !known.is_empty() && (self.up.contains_key(index) || !was_up.contains_key(index))
        });
    }

    fn next_end(&self) -> Option<Instant> {
        self.prefixes.values().flatten().map(|(_, end)| *end).min()
    }

    /// The prefix of each interface that was heard first.
    fn word(&self) -> Interfaces {
        let says = |known: &Vec<(Nat64Prefix, Instant)>| {
            let nat64 = known.first().map(|(prefix, _)| *prefix);
            let properties = InterfaceProperties { nat64, ..InterfaceProperties::default() };
            Interface { properties, ..Interface::default() }
        };
        let named = |(index, name): (&u32, &String)| Some((name.clone(), says(self.prefixes.get(index)?)));
        Interfaces(self.up.iter().filter_map(named).collect())
    }
}

/// Options of a neighbour discovery message (RFC 4861 §4.6), as far as they are well formed.
fn options(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let length = usize::from(*bytes.get(1)?) * 8;
        let (option, rest) = bytes.split_at_checked(length).filter(|_| length > 0)?;
        bytes = rest;
        Some(option)
    })
}

/// The prefix of a PREF64 option, and how long it counts: 13 bits of lifetime in units of 8 s, 3 bits of prefix length, 96 bits of
/// prefix.
fn pref64(option: &[u8]) -> Option<(Nat64Prefix, Duration)> {
    let [PREF64, _, one, two, prefix @ ..] = option else { return None };
    let prefix: &[u8; PREF64_BYTES - 4] = prefix.try_into().ok()?;
    let word = u16::from_be_bytes([*one, *two]);
    let length = *[96, 64, 56, 48, 40, 32].get(usize::from(word & 7))?;
    let mut address = [0; 16];
    address[..prefix.len()].copy_from_slice(prefix);
    let prefix = Nat64Prefix::new(Ipv6Addr::from(address), length).ok()?;
    Some((prefix, Duration::from_secs(u64::from(word & !7))))
}

/// A message about options of neighbour discovery. Others have none.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Notice {
    interface: u32,
    /// As they were on the wire.
    options: Vec<u8>,
}

impl NetlinkDeserializable for Notice {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let Some((own, rest)) = payload.split_first_chunk::<HEADER>() else {
            return Err(DecodeError::from("a message about neighbour discovery without its header"));
        };
        let length = usize::from(u16::from_ne_bytes([own[2], own[3]]));
        let interface = u32::from_ne_bytes([own[4], own[5], own[6], own[7]]);
        let told = header.message_type == NEW_OPTION && own[8] == ROUTER_ADVERTISEMENT;
        let options = rest.get(..length).filter(|_| told).unwrap_or_default();
        Ok(Self { interface, options: options.to_vec() })
    }
}

/// Nothing is asked.
impl NetlinkSerializable for Notice {
    fn message_type(&self) -> u16 {
        NEW_OPTION
    }

    fn buffer_len(&self) -> usize {
        0
    }

    fn serialize(&self, _: &mut [u8]) {}
}

#[cfg(test)]
#[path = "advertised_prefixes_tests.rs"]
mod tests;
