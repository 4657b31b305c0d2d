use std::time::Duration;

use core::num::NonZeroU32;

use super::source::Run;
use super::{
    Interface, InterfaceAddress, InterfaceKind, InterfaceProperties, Interfaces, LinkSource, Publisher,
};

/// How often the list of addresses is looked at.
const PERIOD: Duration = Duration::from_millis(500);

/// The system's list of addresses, for systems whose notifications nobody has written a source for yet.
#[derive(Debug, Default)]
pub(super) struct Polling;

impl LinkSource for Polling {
    fn name(&self) -> String {
        "this host's list of addresses".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            loop {
                // A list that cannot be had this time is asked for again; what was known stands.
                if let Ok(list) = if_addrs::get_if_addrs() {
                    publisher.publish(collect(&list));
                }
                tokio::time::sleep(PERIOD).await;
            }
        })
    }
}

fn collect(list: &[if_addrs::Interface]) -> Interfaces {
    let mut interfaces = Interfaces::default();
    for entry in list {
        let interface = interfaces.0.entry(entry.name.clone()).or_insert_with(|| Interface {
            index: entry.index.and_then(NonZeroU32::new),
            // The list has only interfaces that are switched on; carrier is not in it.
            up: Some(true),
            properties: InterfaceProperties {
                kind: entry.is_loopback().then_some(InterfaceKind::Loopback),
                ..InterfaceProperties::default()
            },
            ..Interface::default()
        });
        interface.addresses.push(InterfaceAddress { ip: entry.ip(), asked_for: false });
    }
    interfaces
}

#[cfg(test)]
#[path = "polling_tests.rs"]
mod tests;
