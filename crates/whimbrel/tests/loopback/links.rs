use std::net::SocketAddr;

use tokio::sync::watch;
use whimbrel::handover::{Action, Pace, Seamless};
use whimbrel::interfaces::{Interface, InterfaceAddress, Interfaces, LinkSource, Publisher, Run};
use whimbrel::{AddressChangeError, AssociationEvent, Endpoint, EndpointEvent, EndpointEvents, PathState};

use crate::support::*;

/// Links as a test wants them.
pub(crate) struct Scripted(pub(crate) watch::Receiver<Interfaces>);

impl LinkSource for Scripted {
    fn name(&self) -> String {
        "the test".into()
    }

    fn run(mut self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            loop {
                let interfaces = self.0.borrow_and_update().clone();
                publisher.publish(interfaces);
                if self.0.changed().await.is_err() {
                    return Ok(());
                }
            }
        })
    }
}

/// Interfaces of which those in `up` have a carrier, each with one loopback address.
pub(crate) fn host(interfaces: &[(&str, &str, bool)]) -> Interfaces {
    let interface = |&(name, ip, up): &(&str, &str, bool)| {
        let addresses = vec![InterfaceAddress { ip: ip.parse().unwrap(), asked_for: true }];
        (name.to_owned(), Interface { up: Some(up), addresses, ..Interface::default() })
    };
    Interfaces(interfaces.iter().map(interface).collect())
}

async fn bind(addresses: &[&str], links: &Interfaces) -> (Endpoint, watch::Sender<Interfaces>) {
    let (sender, receiver) = watch::channel(links.clone());
    let addresses = addresses.iter().map(|text| local(text));
    let endpoint =
        Endpoint::builder().addresses(addresses).link_source(Scripted(receiver)).bind().await.unwrap();
    (endpoint, sender)
}

async fn ups_and_downs(events: &mut EndpointEvents, count: usize) -> Vec<(SocketAddr, bool)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        match soon(events.recv()).await.unwrap() {
            EndpointEvent::AddressUp { address, .. } => seen.push((address, true)),
            EndpointEvent::AddressDown { address } => seen.push((address, false)),
            other => panic!("{other:?}"),
        }
    }
    seen
}

#[tokio::test]
async fn named_addresses_follow_the_carrier() {
    let (near, far) = ("127.0.0.51", "127.0.0.52");
    let links = |far_up| host(&[("a", near, true), ("b", far, far_up)]);
    let (endpoint, script) = bind(&["127.0.0.51:0", "127.0.0.52:0"], &links(true)).await;
    let both = endpoint.local_addresses();
    assert_eq!(both.len(), 2);
    let mut events = endpoint.events();
    script.send(links(false)).unwrap();
    assert_eq!(ups_and_downs(&mut events, 1).await, [(both[1], false)]);
    assert_eq!(endpoint.local_addresses(), [both[0]]);
    script.send(links(true)).unwrap();
    assert_eq!(ups_and_downs(&mut events, 1).await, [(both[1], true)]);
    assert_eq!(endpoint.local_addresses(), both);
}

/// An association whose only address goes and comes back goes on.
#[tokio::test]
async fn a_transfer_waits_for_its_only_address() {
    let links = |up| host(&[("a", "127.0.0.53", up)]);
    let (client, script) = bind(&["127.0.0.53:0"], &links(true)).await;
    let server = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    near.send(message(0, content(1, 1000))).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(1, 1000));
    let mut events = client.events();
    script.send(links(false)).unwrap();
    let down = ups_and_downs(&mut events, 1).await;
    near.send(message(0, content(2, 50_000))).await.unwrap();
    script.send(links(true)).unwrap();
    let up = ups_and_downs(&mut events, 1).await;
    assert_eq!((down[0].0, down[0].1, up[0].1), (up[0].0, false, true));
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(2, 50_000));
}

#[tokio::test]
async fn any_gets_what_appears() {
    let (client, script) = bind(&["0.0.0.0:0"], &Interfaces::default()).await;
    let ip: std::net::IpAddr = "127.0.0.54".parse().unwrap();
    assert!(client.local_addresses().iter().all(|address| address.ip() != ip));
    let mut events = client.events();
    script.send(host(&[("a", "127.0.0.54", true)])).unwrap();
    let appeared = async {
        while !ups_and_downs(&mut events, 1).await.iter().any(|(address, up)| *up && address.ip() == ip) {}
    };
    soon(appeared).await;
    assert_eq!(client.local_addresses().iter().filter(|address| address.ip() == ip).count(), 1);
    // From an address that it did not begin with.
    let server = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    near.send(message(0, "hello".into())).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "hello");
    assert_eq!(near.initial_route().local.ip(), ip);
}

/// With a policy, the loss of the address in use moves the association before any timeout.
#[tokio::test]
async fn a_policy_moves_what_loses_its_address() {
    let ips = ["127.0.0.55", "127.0.0.56"];
    let links = |up: [bool; 2]| host(&[("a", ips[0], up[0]), ("b", ips[1], up[1])]);
    let (sender, receiver) = watch::channel(links([true, true]));
    let client = Endpoint::builder()
        .addresses([local("127.0.0.55:0"), local("127.0.0.56:0")])
        .link_source(Scripted(receiver))
        .policy(|| Seamless::policy(Pace::MOBILE))
        .bind()
        .await
        .unwrap();
    let server = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    let both_active = async {
        loop {
            let paths = near.paths().await;
            if paths.len() == 2 && paths.iter().all(|path| path.state == PathState::Active) {
                return paths;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let paths = soon(both_active).await;
    let in_use = paths.iter().find(|path| path.in_use).unwrap();
    let mut events = near.events();
    sender.send(links(ips.map(|ip| ip != in_use.route.local.ip().to_string()))).unwrap();
    let moved = async {
        let mut decided = false;
        loop {
            match events.recv().await.unwrap() {
                AssociationEvent::Decision(decision) => {
                    decided |= matches!(decision.action, Action::UsePath(path) if path != in_use.id);
                }
                AssociationEvent::PathInUse { path, .. } if path != in_use.id => return decided,
                _ => {}
            }
        }
    };
    let decided = soon(moved).await;
    near.send(message(0, content(1, 50_000))).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(1, 50_000));
    assert!(decided, "the policy says so");
}

/// The peer lacks what it takes, or the address is not ours: the answer says it.
#[tokio::test]
async fn changes_of_address_are_answered() {
    let pair = pair().await;
    let near = &pair.near;
    let stranger = "192.0.2.200".parse().unwrap();
    let error = soon(near.add_address(stranger)).await.unwrap_err();
    assert!(matches!(error, AddressChangeError::NotOurs | AddressChangeError::Static(_)), "{error}");
    let last = near.initial_route().local.ip();
    let error = soon(near.delete_address(last)).await.unwrap_err();
    assert!(matches!(error, AddressChangeError::LastAddress | AddressChangeError::Static(_)), "{error}");
    near.abort("enough");
    soon(near.closed()).await;
    assert_eq!(soon(near.ask_primary(last)).await, Err(AddressChangeError::Closed));
}
