//! What the network calls IPv4 addresses, as the resolver's DNS64 knows it (RFC 7050): for interfaces that have IPv6 alone and whose
//! routers say nothing of it.
//!
//! The system's resolver is asked, which cannot be told by which interface to ask: with several networks the answer may be that of
//! another one. It is not authenticated either. So much is at stake as one more address that is tried: nothing goes there but a request that
//! names nothing and is authenticated, and no data before it has answered a HEARTBEAT (RFC 9260 §5.4).

use std::collections::BTreeMap;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use core::future::Future;
use core::net::{IpAddr, Ipv6Addr};

use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::source::{Others, Run};
use super::synthesised_answers::{NAME, prefixes};
use super::{Interface, InterfaceKind, InterfaceProperties, Interfaces, LinkSource, Nat64Prefix, Publisher};

/// How a resolver is asked after a change of the links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Before each question: which resolver there is becomes known later than the addresses.
    pauses: [Duration; 4],
    /// Who is silent for so long has no answer.
    answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { pauses: [0, 1, 3, 10].map(Duration::from_secs), answer: Duration::from_secs(8) }
    }
}

/// Questions to the system at a time, at most.
const QUESTIONS_MAX: usize = 4;

/// Somebody who knows the IPv6 addresses of [`NAME`].
pub(super) trait Resolver: Send + Sync + 'static {
    /// None if there is no answer.
    fn ask(&self) -> impl Future<Output = Vec<Ipv6Addr>> + Send;
}

/// The system's own.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Questions under way.
    asked: Arc<AtomicUsize>,
}

impl Resolver for System {
    async fn ask(&self) -> Vec<Ipv6Addr> {
        // The system gives up late in a network that leads nowhere, and cannot be stopped: the next network has another question.
        let more = |asked| (asked < QUESTIONS_MAX).then_some(asked + 1);
        if self.asked.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_err() {
            return Vec::new();
        }
        let (tell, told) = oneshot::channel();
        let asked = Arc::clone(&self.asked);
        let ask = move || {
            let found = (NAME, 0).to_socket_addrs();
            asked.fetch_sub(1, Ordering::AcqRel);
            let v6 = |address: core::net::SocketAddr| match address.ip() {
                IpAddr::V6(v6) => Some(v6),
                IpAddr::V4(_) => None,
            };
            // Nobody may be there to be told.
            _ = tell.send(found.map(|found| found.filter_map(v6).collect()).unwrap_or_default());
        };
        // Not one of the runtime's threads: a program that ends would wait for it.
        if std::thread::Builder::new().name("nat64-prefix".into()).spawn(ask).is_err() {
            self.asked.fetch_sub(1, Ordering::AcqRel);
        }
        told.await.unwrap_or_default()
    }
}

/// The word of a resolver.
#[derive(Debug, Default)]
pub(super) struct ResolverPrefixes<R> {
    pub(super) resolver: R,
    pub(super) patience: Patience,
}

impl<R: Resolver> LinkSource for ResolverPrefixes<R> {
    fn name(&self) -> String {
        "the resolver (DNS64)".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move { self.follow(&publisher).await })
    }
}

/// What makes asking worth while, and asking again.
#[derive(PartialEq, Default)]
struct Occasion {
    /// Interfaces whose network may translate and does not say so, with their addresses.
    open: BTreeMap<String, Vec<IpAddr>>,
    /// All that have addresses, and their ways out: with other ones the resolver may be another one.
    all: Vec<(String, Vec<IpAddr>, [bool; 2])>,
}

impl Occasion {
    fn of(interfaces: &Interfaces) -> Self {
        let present = interfaces.0.iter().filter(|(_, interface)| {
            interface.is_present() && interface.properties.kind != Some(InterfaceKind::Loopback)
        });
        let addresses =
            |interface: &Interface| interface.addresses.iter().map(|address| address.ip).collect();
        let ways =
            |interface: &Interface| [interface.way_out_v4, interface.way_out_v6].map(|way| way.is_some());
        let all: Vec<(String, Vec<IpAddr>, [bool; 2])> = present
            .clone()
            .map(|(name, interface)| (name.clone(), addresses(interface), ways(interface)))
            .collect();
        // Not every system tells of routes.
        let told = all.iter().any(|(_, _, ways)| ways.contains(&true));
        let open = present
            .filter(|(_, one)| one.properties.nat64.is_none() && has_ipv6_alone(one))
            .filter(|(_, one)| !told || one.way_out_v6.is_some())
            .map(|(name, one)| (name.clone(), addresses(one)))
            .collect();
        Self { open, all }
    }
}

fn has_ipv6_alone(interface: &Interface) -> bool {
    let mut usable = interface.addresses.iter().filter(|address| match address.ip {
        IpAddr::V4(v4) => !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_unicast_link_local(),
    });
    let v6 = |address: &super::InterfaceAddress| address.ip.is_ipv6();
    usable.clone().next().is_some() && usable.all(v6)
}

impl<R: Resolver> ResolverPrefixes<R> {
    /// Asks whenever the links have changed and somebody wants to know.
    async fn follow(&self, publisher: &Publisher) -> Result<(), super::LinkSourceError> {
        let mut others = publisher.others();
        let mut found: BTreeMap<String, (Vec<IpAddr>, Nat64Prefix)> = BTreeMap::new();
        loop {
            let occasion = Occasion::of(&others.now());
            found.retain(|name, (addresses, _)| occasion.open.get(name) == Some(addresses));
            publish(publisher, &found);
            let unknown = occasion.open.iter().filter(|(name, _)| !found.contains_key(*name));
            let unknown: Vec<(String, Vec<IpAddr>)> =
                unknown.map(|(name, addresses)| (name.clone(), addresses.clone())).collect();
            let answer = if unknown.is_empty() {
                None
            } else {
                tokio::select! {
                    biased;
                    () = other_occasion(&mut others, &occasion) => continue,
                    answer = self.ask() => answer,
                }
            };
            if let Some(prefix) = answer {
                found.extend(unknown.into_iter().map(|(name, addresses)| (name, (addresses, prefix))));
                publish(publisher, &found);
            }
            other_occasion(&mut others, &occasion).await;
        }
    }

    async fn ask(&self) -> Option<Nat64Prefix> {
        for pause in self.patience.pauses {
            sleep(pause).await;
            let answers = timeout(self.patience.answer, self.resolver.ask()).await.unwrap_or_default();
            if let Some(prefix) = prefixes(&answers).into_iter().next() {
                return Some(prefix);
            }
        }
        None
    }
}

async fn other_occasion(others: &mut Others, occasion: &Occasion) {
    while Occasion::of(&others.now()) == *occasion {
        others.change().await;
    }
}

fn publish(publisher: &Publisher, found: &BTreeMap<String, (Vec<IpAddr>, Nat64Prefix)>) {
    let says = |prefix| {
        let properties = InterfaceProperties { nat64: Some(prefix), ..InterfaceProperties::default() };
        Interface { properties, ..Interface::default() }
    };
    publisher
        .publish(Interfaces(found.iter().map(|(name, (_, prefix))| (name.clone(), says(*prefix))).collect()));
}

#[cfg(test)]
#[path = "resolver_prefixes_tests.rs"]
mod tests;
