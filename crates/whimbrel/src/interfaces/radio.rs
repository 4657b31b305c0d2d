//! Signal strength of wireless LAN (802.11) cards, from the Linux kernel by nl80211.
//!
//! The kernel does tell by itself when a signal crosses a threshold, but there is one threshold per card, which belongs to
//! whoever has set it, as a rule the supplicant. So the cards are asked: every now and then, and whenever a link changes.
//! Asking needs no privileges.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rtnetlink::MulticastGroup;
use rtnetlink::packet_core::NLM_F_DUMP;
use rtnetlink::proto::new_connection;
use rtnetlink::sys::protocols::NETLINK_GENERIC;
use tokio::time::sleep;

use super::generic_netlink::{Answers, Message, ask, attribute, attributes_of, family};
use super::source::Run;
use super::{
    Interface, InterfaceKind, InterfaceProperties, Interfaces, LinkSource, Publisher, ReceivedPower,
};

/// How often cards are asked: twice within the second that the policy `seamless` looks ahead. Access points send a beacon
/// every tenth of a second, and some cards have to ask their firmware.
const PERIOD: Duration = Duration::from_millis(500);

/// Of a row of changes of links the cards are asked once.
const PAUSE: Duration = Duration::from_millis(50);

/// Until the next try after a question went wrong on a host that has a card.
const RETRY: Duration = Duration::from_secs(5);

/// Cards asked, at most.
const RADIOS_MAX: usize = 16;

/// Names and numbers from `linux/nl80211.h`.
const FAMILY: &str = "nl80211";
const GET_INTERFACE: u8 = 5;
const NEW_INTERFACE: u8 = 7;
const GET_STATION: u8 = 17;
const NEW_STATION: u8 = 19;
const IF_INDEX: u16 = 3;
const IF_NAME: u16 = 4;
const IF_TYPE: u16 = 5;
const STATION_INFO: u16 = 21;
/// Types of interfaces that have one access point: the usual client, and that of a Wi-Fi Direct group.
const CLIENTS: [u32; 2] = [2, 8];
/// Within the station information: of the last frame, of the last frames, and a mask of flags with their values.
const SIGNAL: u16 = 7;
const SIGNAL_AVERAGE: u16 = 13;
const STATION_FLAGS: u16 = 17;
/// A neighbour that frames go to directly (802.11z), not the access point.
const TDLS_PEER: u32 = 1 << 6;

/// What the kernel knows of radios. A host without any says nothing, and that at once.
#[derive(Debug)]
pub(super) struct Radio;

impl LinkSource for Radio {
    fn name(&self) -> String {
        "the kernel (nl80211)".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            // Nobody waits for a radio's first word.
            publisher.publish(Interfaces::default());
            let links = rtnetlink::new_multicast_connection(&[MulticastGroup::Link]);
            // Without rtnetlink the kernel's other source complains already.
            let Ok((connection, _handle, mut changes)) = links else { return Ok(()) };
            tokio::select! {
                () = connection => {}
                () = follow(&publisher, &mut changes) => {}
            }
            Ok(())
        })
    }
}

/// Publishes as long as links are told of. Where there is no radio, each change of a link costs a question or two, and
/// nothing else anything.
async fn follow(publisher: &Publisher, changes: &mut (impl Stream + Unpin)) {
    loop {
        let watched = converse(publisher, changes).await;
        publisher.publish(Interfaces::default());
        let changed = match watched {
            Ok(()) => change(changes).await,
            Err(_) => tokio::select! {
                changed = change(changes) => changed,
                () = sleep(RETRY) => true,
            },
        };
        if !changed {
            return;
        }
    }
}

/// [`watch`]es by a connection of its own.
async fn converse(publisher: &Publisher, changes: &mut (impl Stream + Unpin)) -> io::Result<()> {
    // A kernel or a sandbox without generic netlink is one without radios.
    let Ok((mut connection, handle, _)) = new_connection::<Message>(NETLINK_GENERIC) else { return Ok(()) };
    // How a dump has ended.
    connection.set_forward_done(true);
    tokio::select! {
        () = connection => Err(io::ErrorKind::BrokenPipe.into()),
        watched = watch(&handle, publisher, changes, PERIOD) => watched,
    }
}

/// Publishes until there is no radio, once a `period` and at changes of links.
async fn watch(
    kernel: &(impl Answers + Sync),
    publisher: &Publisher,
    changes: &mut (impl Stream + Unpin),
    period: Duration,
) -> io::Result<()> {
    let number = match family(kernel, FAMILY).await {
        Err(error) if error.kind() != io::ErrorKind::TimedOut => return Ok(()),
        number => number?,
    };
    loop {
        let radios = look(kernel, number).await?;
        if radios.0.is_empty() {
            return Ok(());
        }
        publisher.publish(radios);
        tokio::select! {
            more = change(changes) => if !more { return Ok(()) },
            () = sleep(period) => {}
        }
    }
}

/// Waits for a change of a link, and a moment longer for those that come with it; `false` if there will be none.
async fn change(changes: &mut (impl Stream + Unpin)) -> bool {
    if changes.next().await.is_none() {
        return false;
    }
    let _ = tokio::time::timeout(PAUSE, async { while changes.next().await.is_some() {} }).await;
    true
}

/// Every card that is the client of an access point, or could be, and how well it hears that.
async fn look(kernel: &(impl Answers + Sync), family: u16) -> io::Result<Interfaces> {
    let question = Message { family, command: GET_INTERFACE, attributes: Vec::new() };
    let cards = ask(kernel, question, NLM_F_DUMP).await?;
    let mut radios = BTreeMap::new();
    for (index, name) in cards.iter().filter_map(client).take(RADIOS_MAX) {
        let attributes = attribute(IF_INDEX, &index.to_ne_bytes());
        let question = Message { family, command: GET_STATION, attributes };
        let stations = match ask(kernel, question, NLM_F_DUMP).await {
            Ok(stations) => stations,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error),
            // Taken out since the first question, or with a driver that does not tell.
            Err(_) => Vec::new(),
        };
        let kind = Some(InterfaceKind::WirelessLan);
        let signal = stations.iter().find_map(signal);
        let properties = InterfaceProperties { kind, signal, ..InterfaceProperties::default() };
        radios.insert(name, Interface { properties, ..Interface::default() });
    }
    Ok(Interfaces(radios))
}

/// Index and name of a client of access points; others have many stations, or none that matters.
fn client(reply: &Message) -> Option<(u32, String)> {
    let (mut index, mut name, mut kind) = (None, None, None);
    for (attribute, value) in attributes_of(&reply.attributes) {
        match attribute {
            IF_INDEX => index = number(value),
            IF_NAME => name = value.strip_suffix(b"\0").and_then(|name| str::from_utf8(name).ok()),
            IF_TYPE => kind = number(value),
            _ => {}
        }
    }
    let is_client = reply.command == NEW_INTERFACE && CLIENTS.contains(&kind?);
    is_client.then_some((index?, name.filter(|name| !name.is_empty())?.to_owned()))
}

/// How strong the access point is received: on average if the card keeps one, since single frames scatter by several
/// decibels.
fn signal(reply: &Message) -> Option<ReceivedPower> {
    if reply.command != NEW_STATION {
        return None;
    }
    let (_, station) = attributes_of(&reply.attributes).find(|(kind, _)| *kind == STATION_INFO)?;
    let (mut last, mut average) = (None, None);
    for (kind, value) in attributes_of(station) {
        match kind {
            SIGNAL => last = power(value),
            SIGNAL_AVERAGE => average = power(value),
            STATION_FLAGS if is_direct_neighbour(value) => return None,
            _ => {}
        }
    }
    average.or(last)
}

/// The kernel's single byte is a signed one. Cards that have heard nothing yet say 0, and those whose unit is not dBm count
/// upwards from there.
fn power(value: &[u8]) -> Option<ReceivedPower> {
    let dbm = i8::from_ne_bytes(value.try_into().ok()?);
    (dbm < 0).then(|| ReceivedPower::from_dbm(dbm.into()))
}

fn is_direct_neighbour(mask_and_flags: &[u8]) -> bool {
    let flags = mask_and_flags.get(4..).and_then(number);
    flags.is_some_and(|flags| flags & TDLS_PEER != 0)
}

fn number(value: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(value.try_into().ok()?))
}

#[cfg(test)]
#[path = "radio_tests.rs"]
mod tests;
