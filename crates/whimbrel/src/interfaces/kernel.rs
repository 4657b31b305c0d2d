//! Links, addresses and routes from the Linux kernel by rtnetlink.
//!
//! A notification only says that something has changed; what there is now is asked for. That makes one way of a lost
//! notification (the kernel drops them when a socket's buffer is full, and says so), of many at once and of the start.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use core::net::{Ipv4Addr, Ipv6Addr};
use core::num::NonZeroU32;

use futures_util::{Stream, StreamExt, TryStreamExt};
use rtnetlink::packet_route::AddressFamily;
use rtnetlink::packet_route::address::{AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage};
use rtnetlink::packet_route::link::{LinkAttribute, LinkFlags, LinkMessage, LinkMode, State};
use rtnetlink::packet_route::route::{RouteAttribute, RouteMessage, RouteProtocol, RouteType};
use rtnetlink::{Handle, MulticastGroup, RouteMessageBuilder};
use tokio::time::{Instant, sleep, timeout};

use super::source::Run;
use super::{
    Interface, InterfaceAddress, InterfaceKind, InterfaceProperties, Interfaces, LinkSource, LinkSourceError,
    Publisher, RouteRank,
};

/// Questions are not asked more often than this, however often something changes.
const PAUSE: Duration = Duration::from_millis(10);

/// A question that an overrun has swallowed is never answered: ask again. A kernel that is busy gets twice as long each time, since
/// whoever asks anew too soon would never hear the end of an answer.
const ANSWER: Duration = Duration::from_secs(2);
const ANSWER_MAX: Duration = Duration::from_secs(32);

/// Routes looked at, at most. A router that has a whole Internet of them need not be walked through for one that tells
/// us that an interface has a way out.
const ROUTES_MAX: usize = 4096;

/// What the kernel knows of interfaces.
#[derive(Debug)]
pub(super) struct Kernel;

impl LinkSource for Kernel {
    fn name(&self) -> String {
        "the kernel (rtnetlink)".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            watch(&publisher)
                .await
                .map_err(|cause| LinkSourceError { source_name: "the kernel (rtnetlink)".into(), cause })
        })
    }
}

/// Publishes until the connection to the kernel ends.
async fn watch(publisher: &Publisher) -> io::Result<()> {
    let groups = [
        MulticastGroup::Link,
        MulticastGroup::Ipv4Ifaddr,
        MulticastGroup::Ipv6Ifaddr,
        MulticastGroup::Ipv4Route,
        MulticastGroup::Ipv6Route,
    ];
    let (connection, handle, mut notices) = rtnetlink::new_multicast_connection(&groups)?;
    let talk = async {
        let mut patience = ANSWER;
        loop {
            let asked = Instant::now();
            match timeout(patience, ask(&handle)).await {
                Ok(Ok(interfaces)) => publisher.publish(interfaces),
                // Interrupted by a change.
                Ok(Err(_)) => {
                    sleep(PAUSE).await;
                    continue;
                }
                Err(_) => {
                    patience = (patience * 2).min(ANSWER_MAX);
                    continue;
                }
            }
            patience = ANSWER;
            if notices.next().await.is_none() {
                return;
            }
            // The first of a row of changes is looked at once; the rest of the row together.
            if let Some(left) = PAUSE.checked_sub(asked.elapsed()) {
                sleep(left).await;
            }
            while notices.try_recv().is_ok() {}
        }
    };
    tokio::select! {
        () = connection => {}
        () = talk => {}
    }
    Err(io::Error::new(io::ErrorKind::BrokenPipe, "the kernel has ended the conversation"))
}

/// Everything there is now.
async fn ask(handle: &Handle) -> Result<Interfaces, rtnetlink::Error> {
    let links: Vec<LinkMessage> = handle.link().get().execute().try_collect().await?;
    let addresses: Vec<AddressMessage> = handle.address().get().execute().try_collect().await?;
    let v4 = handle.route().get(RouteMessageBuilder::<Ipv4Addr>::new().build()).execute();
    let v6 = handle.route().get(RouteMessageBuilder::<Ipv6Addr>::new().build()).execute();
    let mut routes = some(v4).await?;
    routes.extend(some(v6).await?);
    Ok(assemble(&links, &addresses, &routes, device_type))
}

async fn some(
    routes: impl Stream<Item = Result<RouteMessage, rtnetlink::Error>>,
) -> Result<Vec<RouteMessage>, rtnetlink::Error> {
    routes.take(ROUTES_MAX).try_collect().await
}

/// What the kernel calls the type of a device (`wlan`, `wwan`), where it says so.
fn device_type(name: &str) -> Option<String> {
    // Names cannot contain a slash, but this one comes from outside.
    if name.contains('/') || name.starts_with('.') {
        return None;
    }
    let events = std::fs::read_to_string(format!("/sys/class/net/{name}/uevent")).ok()?;
    events.lines().find_map(|line| line.strip_prefix("DEVTYPE=")).map(str::to_owned)
}

fn assemble(
    links: &[LinkMessage],
    addresses: &[AddressMessage],
    routes: &[RouteMessage],
    device_type: impl Fn(&str) -> Option<String>,
) -> Interfaces {
    let mut by_index: BTreeMap<u32, (String, Interface)> =
        links.iter().filter_map(|link| Some((link.header.index, interface(link, &device_type)?))).collect();
    for message in addresses {
        if let (Some(address), Some((_, interface))) =
            (usable_address(message), by_index.get_mut(&message.header.index))
        {
            interface.addresses.push(address);
        }
    }
    for route in routes {
        let rank = rank(route);
        for index in ways_out(route) {
            let Some((_, interface)) = by_index.get_mut(&index) else { continue };
            let best = match route.header.address_family {
                AddressFamily::Inet => &mut interface.way_out_v4,
                _ => &mut interface.way_out_v6,
            };
            *best = Some(best.map_or(rank, |best| best.min(rank)));
        }
    }
    Interfaces(by_index.into_values().collect())
}

fn interface(
    link: &LinkMessage,
    device_type: impl Fn(&str) -> Option<String>,
) -> Option<(String, Interface)> {
    let mut name = None;
    let (mut state, mut mode) = (State::Unknown, LinkMode::Default);
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::IfName(text) => name = Some(text.clone()),
            LinkAttribute::OperState(oper) => state = *oper,
            LinkAttribute::Mode(link_mode) => mode = *link_mode,
            _ => {}
        }
    }
    let name = name?;
    let flags = link.header.flags;
    // LOWER_UP is the carrier itself. The operational state follows it up to a second later, as long as nobody has to be authenticated (802.1X, wireless LANs): then the link
    // is dormant by default, and the state decides.
    let held_back = matches!(state, State::Dormant | State::Testing | State::NotPresent)
        || (mode != LinkMode::Default && state != State::Up);
    let operational = flags.contains(LinkFlags::LowerUp) && !held_back;
    let kind = if flags.contains(LinkFlags::Loopback) {
        Some(InterfaceKind::Loopback)
    } else {
        kind(device_type(&name).as_deref(), flags)
    };
    let interface = Interface {
        index: NonZeroU32::new(link.header.index),
        up: Some(flags.contains(LinkFlags::Up) && operational),
        properties: InterfaceProperties { kind, ..InterfaceProperties::default() },
        ..Interface::default()
    };
    Some((name, interface))
}

fn kind(device_type: Option<&str>, flags: LinkFlags) -> Option<InterfaceKind> {
    match device_type {
        Some("wlan") => Some(InterfaceKind::WirelessLan),
        Some("wwan") => Some(InterfaceKind::Cellular),
        Some("wireguard" | "ipip" | "gre" | "sit") => Some(InterfaceKind::Tunnel),
        _ if flags.contains(LinkFlags::Pointopoint) => Some(InterfaceKind::Tunnel),
        _ if flags.contains(LinkFlags::Broadcast) => Some(InterfaceKind::Wired),
        _ => None,
    }
}

/// The address of a message if packets may leave from it: no IPv6 address whose uniqueness is not known yet, or which
/// another host has too (RFC 4862 §5.4), except an optimistic one (RFC 4429).
fn usable_address(message: &AddressMessage) -> Option<InterfaceAddress> {
    let mut local = None;
    let mut address = None;
    let mut tentative = message.header.flags.contains(AddressHeaderFlags::Tentative);
    let mut optimistic = message.header.flags.contains(AddressHeaderFlags::Optimistic);
    let mut failed = message.header.flags.contains(AddressHeaderFlags::Dadfailed);
    for attribute in &message.attributes {
        match attribute {
            // On a point-to-point link, Address is the other end and Local is ours.
            AddressAttribute::Local(ip) => local = Some(*ip),
            AddressAttribute::Address(ip) => address = Some(*ip),
            AddressAttribute::Flags(flags) => {
                tentative |= flags.contains(AddressFlags::Tentative);
                optimistic |= flags.contains(AddressFlags::Optimistic);
                failed |= flags.contains(AddressFlags::Dadfailed);
            }
            _ => {}
        }
    }
    let usable = !failed && (!tentative || optimistic);
    usable.then_some(InterfaceAddress { ip: local.or(address)?, asked_for: false })
}

fn rank(route: &RouteMessage) -> RouteRank {
    let metric = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Priority(metric) => Some(*metric),
        _ => None,
    });
    RouteRank { specific: route.header.destination_prefix_length > 0, metric: metric.unwrap_or(0) }
}

/// The interfaces that a route leads out of beyond their own subnets: not those that the kernel makes for each address.
fn ways_out(route: &RouteMessage) -> Vec<u32> {
    if route.header.kind != RouteType::Unicast || route.header.protocol == RouteProtocol::Kernel {
        return Vec::new();
    }
    let mut indices = Vec::new();
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => indices.push(*index),
            RouteAttribute::MultiPath(hops) => {
                indices.extend(hops.iter().map(|hop| hop.interface_index));
            }
            _ => {}
        }
    }
    indices
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
