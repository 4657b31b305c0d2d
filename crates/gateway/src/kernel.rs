//! What a gateway and a terminal have the Linux kernel do (rtnetlink).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use futures_util::TryStreamExt;
use rtnetlink::packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourState};
use rtnetlink::packet_route::route::RouteMessage;
use rtnetlink::packet_route::rule::{RuleAction, RuleFlags, RuleMessage};
use rtnetlink::{Handle, RouteMessageBuilder};

/// The table of routes to addresses that are waited for.
const TABLE: u32 = 9899;
/// The priorities of the rules that lead there, before the main table (32766).
const RELEASE_PRIORITY: u32 = 9898;
const HOLD_PRIORITY: u32 = 9899;
const MAIN: u32 = 254;

/// A connection to the kernel.
#[derive(Clone)]
pub(crate) struct Kernel {
    handle: Handle,
}

/// An interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link(u32);

impl Kernel {
    /// Must be called within a tokio runtime.
    pub(crate) fn connect() -> io::Result<Self> {
        let (connection, handle, _) = rtnetlink::new_connection()?;
        tokio::spawn(connection);
        Ok(Self { handle })
    }

    /// The interface of that name.
    pub(crate) async fn link(&self, name: &str) -> io::Result<Link> {
        let found = self.handle.link().get().match_name(name.to_owned()).execute().try_next().await;
        match found {
            Ok(Some(link)) => Ok(Link(link.header.index)),
            Ok(None) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(plain(error)),
        }
    }

    /// The interface that has this address.
    pub(crate) async fn link_with(&self, address: IpAddr) -> io::Result<Option<Link>> {
        let mut all = self.handle.address().get().set_address_filter(address).execute();
        let found = all.try_next().await.map_err(plain)?;
        Ok(found.map(|one| Link(one.header.index)))
    }

    // ---- for gateways

    /// Has packets of others, but not our own, go by the table of those that are waited for; what comes from `device` has waited.
    pub(crate) async fn add_rules(&self, device: &str, v6: bool) -> io::Result<()> {
        self.delete_rules(v6).await;
        let release = self.handle.rule().add().input_interface(device).table_id(MAIN);
        let hold = self.handle.rule().add().input_interface("lo").table_id(TABLE);
        let release = release.priority(RELEASE_PRIORITY).action(RuleAction::ToTable);
        let hold = hold.priority(HOLD_PRIORITY).action(RuleAction::ToTable);
        if v6 {
            let mut hold = hold.v6();
            hold.message_mut().header.flags |= RuleFlags::Invert;
            release.v6().execute().await.map_err(plain)?;
            hold.execute().await.map_err(plain)
        } else {
            let mut hold = hold.v4();
            hold.message_mut().header.flags |= RuleFlags::Invert;
            release.v4().execute().await.map_err(plain)?;
            hold.execute().await.map_err(plain)
        }
    }

    /// Takes back the rules, also those that an earlier process has left.
    pub(crate) async fn delete_rules(&self, v6: bool) {
        use rtnetlink::packet_route::rule::RuleAttribute::Priority;
        let version = if v6 { rtnetlink::IpVersion::V6 } else { rtnetlink::IpVersion::V4 };
        let ours = |rule: &RuleMessage| {
            rule.attributes
                .iter()
                .any(|attribute| matches!(attribute, Priority(RELEASE_PRIORITY | HOLD_PRIORITY)))
        };
        let rules: Vec<RuleMessage> =
            self.handle.rule().get(version).execute().try_collect().await.unwrap_or_default();
        for rule in rules.into_iter().filter(ours) {
            // Another process that ends may be quicker.
            let _ = self.handle.rule().del(rule).execute().await;
        }
    }

    fn hold_route(device: Link, address: IpAddr) -> RouteMessage {
        match address {
            IpAddr::V4(address) => RouteMessageBuilder::<Ipv4Addr>::new()
                .destination_prefix(address, 32)
                .output_interface(device.0)
                .table_id(TABLE)
                .build(),
            IpAddr::V6(address) => RouteMessageBuilder::<Ipv6Addr>::new()
                .destination_prefix(address, 128)
                .output_interface(device.0)
                .table_id(TABLE)
                .build(),
        }
    }

    /// Packets of others for this address go to `device` from now on.
    pub(crate) async fn hold(&self, device: Link, address: IpAddr) -> io::Result<()> {
        self.handle.route().add(Self::hold_route(device, address)).replace().execute().await.map_err(plain)
    }

    /// They go where they went before.
    pub(crate) async fn release(&self, device: Link, address: IpAddr) -> io::Result<()> {
        self.handle.route().del(Self::hold_route(device, address)).execute().await.map_err(plain)
    }

    /// Addresses that somebody on this interface has answered for of late.
    pub(crate) async fn neighbours(&self, link: Link) -> io::Result<Vec<IpAddr>> {
        let mut all = self.handle.neighbours().get().execute();
        let mut found = Vec::new();
        while let Some(one) = all.try_next().await.map_err(plain)? {
            if one.header.ifindex != link.0 || one.header.state != NeighbourState::Reachable {
                continue;
            }
            found.extend(one.attributes.iter().filter_map(|attribute| match attribute {
                NeighbourAttribute::Destination(NeighbourAddress::Inet(address)) => {
                    Some(IpAddr::V4(*address))
                }
                NeighbourAttribute::Destination(NeighbourAddress::Inet6(address)) => {
                    Some(IpAddr::V6(*address))
                }
                _ => None,
            }));
        }
        Ok(found)
    }

    // ---- for terminals

    /// Gives an interface this address, and has everything go by `router`.
    pub(crate) async fn settle(
        &self,
        link: Link,
        address: IpAddr,
        prefix: u8,
        router: IpAddr,
    ) -> io::Result<()> {
        self.handle.address().add(link.0, address, prefix).replace().execute().await.map_err(plain)?;
        let route = match router {
            IpAddr::V4(router) => {
                RouteMessageBuilder::<Ipv4Addr>::new().gateway(router).output_interface(link.0).build()
            }
            IpAddr::V6(router) => {
                RouteMessageBuilder::<Ipv6Addr>::new().gateway(router).output_interface(link.0).build()
            }
        };
        self.handle.route().add(route).replace().execute().await.map_err(plain)
    }

    /// Takes an address from whatever interface has it.
    pub(crate) async fn leave(&self, address: IpAddr) -> io::Result<()> {
        let mut all = self.handle.address().get().set_address_filter(address).execute();
        while let Some(one) = all.try_next().await.map_err(plain)? {
            self.handle.address().del(one).execute().await.map_err(plain)?;
        }
        Ok(())
    }
}

/// As the system calls it.
fn plain(error: rtnetlink::Error) -> io::Error {
    match error {
        rtnetlink::Error::NetlinkError(message) => message.to_io(),
        other => io::Error::other(other),
    }
}
