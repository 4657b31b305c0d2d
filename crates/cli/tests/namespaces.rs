//! Real interfaces: a host with two networks and its peer, as network namespaces. Needs root; skipped otherwise.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::process::Command;

use common::{Running, wait_until, whimbrel};
use serde_json::Value;
use tempfile::TempDir;

/// A mobile host with interfaces `a0` and `b0` towards a peer that has one address behind both, and drops what
/// arrives by the wrong one.
struct Networks {
    mobile: String,
    peer: String,
    runtime: TempDir,
}

/// The peer's address.
const PEER: &str = "10.71.9.1";

fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split_whitespace()).output().is_ok_and(|output| output.status.success())
}

impl Networks {
    /// `None` where namespaces cannot be made.
    fn new(name: &str) -> Option<Self> {
        let id = std::process::id();
        let networks = Self {
            mobile: format!("wm{name}{id}"),
            peer: format!("wp{name}{id}"),
            runtime: TempDir::new().unwrap(),
        };
        let Self { mobile, peer, .. } = &networks;
        if !ip(&format!("netns add {mobile}")) || !ip(&format!("netns add {peer}")) {
            println!("skipped: network namespaces need root and iproute2");
            return None;
        }
        for (near, far, network) in [("a0", "a1", 1), ("b0", "b1", 2)] {
            assert!(ip(&format!("link add {near} netns {mobile} type veth peer name {far} netns {peer}")));
            networks.peer(&format!("addr add 10.71.{network}.1/24 dev {far}"));
            networks.peer(&format!("link set {far} up"));
            networks.mobile(&format!("addr add 10.71.{network}.2/24 dev {near}"));
            networks.attach(near, network);
        }
        for namespace in [mobile, peer] {
            assert!(ip(&format!("-n {namespace} link set lo up")));
        }
        networks.peer(&format!("addr add {PEER}/32 dev lo"));
        // Strict reverse path filtering: who sends by the wrong interface is not heard.
        let filter = "sysctl -qw net.ipv4.conf.all.rp_filter=1";
        assert!(ip(&format!("netns exec {peer} {filter}")));
        Some(networks)
    }

    fn mobile(&self, arguments: &str) {
        assert!(ip(&format!("-n {} {arguments}", self.mobile)), "{arguments}");
    }

    fn peer(&self, arguments: &str) {
        assert!(ip(&format!("-n {} {arguments}", self.peer)), "{arguments}");
    }

    /// Switches an interface of the mobile host on, with a default route of its own.
    fn attach(&self, interface: &str, network: u8) {
        self.mobile(&format!("link set {interface} up"));
        let metric = u32::from(network) * 100;
        self.mobile(&format!("route add default via 10.71.{network}.1 dev {interface} metric {metric}"));
    }

    fn run(&self, namespace: &str, arguments: &[&str]) -> Running {
        let program = whimbrel().get_program().to_str().unwrap().to_owned();
        let prefix = ["ip", "netns", "exec", namespace, &program];
        Running::run(&[&prefix, arguments].concat(), &[("XDG_RUNTIME_DIR", self.runtime.path())])
    }

    /// The paths of the client, by local address: state and bytes sent.
    fn paths(&self) -> Vec<(String, String, u64)> {
        let output = whimbrel()
            .args(["paths", "--json", "--once"])
            .env("XDG_RUNTIME_DIR", self.runtime.path())
            .output()
            .unwrap();
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let processes = all["processes"].as_array().unwrap();
        let Some(client) = processes.iter().find(|process| process["command"] == "perf client") else {
            return Vec::new();
        };
        let paths = client["associations"][0]["paths"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let path = |path: &Value| {
            (text(&path["interface"]), text(&path["state"]), path["bytes_sent"].as_u64().unwrap_or_default())
        };
        paths.iter().map(path).collect()
    }

    fn is_active(&self, interface: &str) -> bool {
        self.paths().iter().any(|(on, state, _)| on == interface && state == "active")
    }

    fn sent(&self, interface: &str) -> u64 {
        self.paths().iter().filter(|(on, ..)| on == interface).map(|(.., sent)| *sent).max().unwrap_or(0)
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for namespace in [&self.mobile, &self.peer] {
            ip(&format!("netns del {namespace}"));
        }
    }
}

/// What leaves from the second network's address leaves through the second network, although the first has the better
/// default route; when the first loses its carrier, data goes on over the second; when it comes back, its path does too.
#[test]
fn a_cable_is_pulled_and_put_back() {
    let Some(networks) = Networks::new("c") else { return };
    let mut server = networks
        .run(&networks.peer, &["perf", "server", "--anyone", "--insecure", "--json", "--listen", PEER]);
    server.event("listening");
    let client = ["perf", "client", "--json", "--insecure", "--to", PEER, "--bind", "any", "--time", "3600"];
    let mut client = networks.run(&networks.mobile, &client);
    client.event("connected");
    wait_until("both networks have an active path", || networks.is_active("a0") && networks.is_active("b0"));

    networks.mobile("link set a0 down");
    let down = client.event("address");
    assert_eq!((&down["state"], &down["address"].as_str().unwrap()[..10]), (&"down".into(), "10.71.1.2:"));
    let before = networks.sent("b0");
    wait_until("data goes on over the other network", || networks.sent("b0") > before + 1_000_000);

    networks.attach("a0", 1);
    let up = client.event("address");
    assert_eq!((&up["state"], &up["interface"]), (&"up".into(), &"a0".into()));
    wait_until("the first network's path is active again", || networks.is_active("a0"));
}

/// Break before make: the only network goes, address and all, and later another one comes.
#[test]
fn a_host_changes_its_only_network() {
    let Some(networks) = Networks::new("o") else { return };
    networks.mobile("addr del 10.71.2.2/24 dev b0");
    networks.mobile("link set b0 down");
    let mut server = networks
        .run(&networks.peer, &["perf", "server", "--anyone", "--insecure", "--json", "--listen", PEER]);
    server.event("listening");
    let client = ["perf", "client", "--json", "--insecure", "--to", PEER, "--bind", "any", "--time", "3600"];
    let mut client = networks.run(&networks.mobile, &client);
    client.event("connected");
    wait_until("the network has an active path", || networks.is_active("a0"));

    networks.mobile("addr del 10.71.1.2/24 dev a0");
    networks.mobile("link set a0 down");
    assert_eq!(client.event("address")["state"], "down");
    networks.mobile("addr add 10.71.2.2/24 dev b0");
    networks.attach("b0", 2);
    assert_eq!(client.event("address")["state"], "up");
    wait_until("data goes on over the new network", || networks.sent("b0") > 1_000_000);
}

/// Without any network nothing is tried, and nobody waits for ever.
#[test]
fn patience_ends_without_a_network_too() {
    let Some(networks) = Networks::new("p") else { return };
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = from.path().join("f");
    std::fs::File::create(&file).unwrap().set_len(4 << 30).unwrap();
    let directory = to.path().to_str().unwrap();
    let receive = ["recv", "--json", "--dir", directory, "--anyone", "--insecure", "--listen", PEER];
    let mut receiver = networks.run(&networks.peer, &receive);
    receiver.event("listening");
    let send =
        ["send", "--json", "--insecure", "--to", PEER, "--bind", "any", "--patience", "2", "--retry", "1"];
    let mut sender = networks.run(&networks.mobile, &[&send[..], &[file.to_str().unwrap()]].concat());
    sender.event("connected");
    for interface in ["a0", "b0"] {
        networks.mobile(&format!("link set {interface} down"));
    }
    let waiting = sender.event("waiting");
    assert!(waiting["text"].as_str().unwrap().contains("--patience"), "{waiting}");
    sender.event("lost");
    assert_eq!(sender.finish().0, 1);
}
