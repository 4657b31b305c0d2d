//! What floods of SIP make a gateway keep: each request here has proved its user, as nothing is kept of those that have not.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "memory is the process's")]

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Route, Seed, Sink, Transmit};
use whimbrel_ufa::sip::{HardwareAddress, SipConfig, Timers, Transport};
use whimbrel_ufa::{Access, ClearSip, Event, Gateway, GatewayConfig, Order, Patience, Release, Resources};

const SOURCES: usize = 8;
const REQUESTS: usize = 1100;

/// Bytes of a request in clear: the gateway's door takes no longer ones.
const LENGTH: usize = 4000;

/// What a gateway may keep of all that is said in clear, whoever says it. Of 35 MB of requests, and of half as many transactions as a gateway has.
const BOUND_MB: f64 = 30.0;

fn resident_mb() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("the tests run on Linux");
    let pages: f64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096.0 / 1e6
}

#[derive(Default)]
struct Answers(usize);

impl Sink<Event> for Answers {
    fn transmit(&mut self, _: &Transmit, bytes: &[u8]) {
        self.0 += usize::from(bytes.starts_with(b"SIP/2.0"));
    }

    fn event(&mut self, _: Event) {}
}

fn here(transport: Transport) -> SocketAddr {
    SocketAddr::from(([10, 1, 0, 1], transport.port()))
}

fn gateway() -> Gateway {
    let config = GatewayConfig {
        address: here(Transport::Tls),
        access: Access {
            mac: HardwareAddress([2; 6]),
            essid: "a network".into(),
            channel: 1,
            netmask: IpAddr::from([255, 0, 0, 0]),
            addresses: Vec::new(),
            delay: Duration::ZERO,
            key: None,
        },
        resources: Resources { throughput: 1_000_000, per_terminal: 1, buffer: 1000, least_buffer: 500 },
        order: Order::default(),
        release: Release::default(),
        patience: Patience::default(),
        sip: SipConfig {
            transport: Transport::Tls,
            besides: Some(Transport::Udp),
            timers: Timers::reliable(),
            supervision: Some(Duration::from_secs(10)),
        },
        clear: ClearSip::default(),
    };
    Gateway::new(config, &Seed::from_u64(1))
}

/// One that makes whoever keeps it keep as much as possible: answers have all Vias.
fn request(method: &str, source: usize, n: usize) -> String {
    let word = |what: &str| format!("{what}{source}x{n}x{}", "w".repeat(200));
    let (from, branch) = (format!("10.9.0.{source}"), word("z9hG4bK"));
    // More users than there is room for, each of whom says to be at as many places as it may.
    let (user, to, contacts) = if method == "REGISTER" {
        let user = format!("user{source}x{}", n % 300);
        let contacts = (0..4).map(|at| format!("Contact: <sip:{}@{from}:{}>\r\n", "c".repeat(220), 1 + at));
        (user.clone(), format!("{user}@10.1.0.1"), contacts.collect())
    } else {
        (format!("user{source}"), "b@x".to_owned(), String::new())
    };
    let head = format!(
        "{method} sip:x@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP {from}:5060;branch={branch}\r\n\
         From: <sip:{user}@x>;tag={}\r\nTo: <sip:{to}>\r\nCall-ID: {}\r\nCSeq: 1 {method}\r\n\
         UFA_Application: sctp {from}:{} 10.0.0.1:{}\r\n{contacts}",
        word("tag"),
        word("call"),
        1 + n,
        1 + n
    );
    let via = "Via: SIP/2.0/UDP 10.9.9.9;branch=";
    let rest = LENGTH - head.len() - via.len() - 4;
    format!("{head}{via}{}\r\n\r\n", "v".repeat(rest))
}

fn hear(gateway: &mut Gateway, over: Transport, source: usize, text: &str) -> usize {
    let remote = SocketAddr::from(([10, 9, 0, source as u8], over.port()));
    let (route, ecn) = (Route { local: here(over), remote }, Ecn::NotCapable);
    let (mut answers, bytes) = (Answers::default(), text.as_bytes());
    gateway.step(Instant::ZERO, [Input::Datagrams { route, ecn, bytes, segment: bytes.len() }], &mut answers);
    answers.0
}

/// Eight sources, eleven hundred requests of each kind: what is kept is bounded, and hosts with TLS are still answered.
#[test]
fn what_floods_leave_behind_is_bounded() {
    let mut flooded = Vec::new();
    for method in ["OPTIONS", "REGISTER", "INVITE", "CANCEL"] {
        let (mut gateway, before, mut answered) = (gateway(), resident_mb(), 0);
        for n in 0..REQUESTS {
            for source in 1..=SOURCES {
                answered += hear(&mut gateway, Transport::Udp, source, &request(method, source, n));
            }
        }
        let kept = resident_mb() - before;
        println!("{method}: {answered} of {} answered, {kept:.1} MB kept", SOURCES * REQUESTS);
        assert!(kept < BOUND_MB, "{method}: {kept:.1} MB");
        assert!(answered >= 4096, "{method}: {answered} answered");
        assert_eq!(hear(&mut gateway, Transport::Tls, 200, &request("OPTIONS", 200, 0)), 1, "{method}");
        assert!(gateway.session_count() <= 512, "{method}");
        assert_eq!(gateway.registrations(), if method == "REGISTER" { 1024 } else { 0 }, "{method}");
        // What is kept is not given back before the next one is measured.
        flooded.push(gateway);
    }
    for gateway in &mut flooded {
        let mut answers = Answers::default();
        let mut now = Instant::ZERO;
        for _ in 0..300 {
            now += Duration::from_secs(1);
            gateway.step(now, [Input::Timeout], &mut answers);
        }
        assert_eq!(gateway.session_count(), 0);
        assert_eq!(gateway.step(now, [Input::Timeout], &mut answers), None, "nothing is waited for any more");
    }
}
