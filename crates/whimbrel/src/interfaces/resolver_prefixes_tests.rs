use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::super::board::Board;
use super::super::{InterfaceAddress, RouteRank};
use super::*;

/// Nothing is waited for.
const AT_ONCE: Patience = Patience { pauses: [Duration::ZERO; 4], answer: Duration::ZERO };

const WAY: Option<RouteRank> = Some(RouteRank { specific: false, metric: 0 });

/// A resolver whose answer the test decides, and which counts.
#[derive(Clone, Default)]
struct Fake {
    answer: Arc<Mutex<Vec<Ipv6Addr>>>,
    asked: Arc<AtomicUsize>,
}

impl Fake {
    fn knows(prefix: &str) -> Self {
        let fake = Self::default();
        fake.learns(prefix);
        fake
    }

    fn learns(&self, prefix: &str) {
        let prefix: Nat64Prefix = prefix.parse().unwrap();
        *self.answer.lock().unwrap() = vec![prefix.synthesise([192, 0, 0, 170].into())];
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Resolver for Fake {
    async fn ask(&self) -> Vec<Ipv6Addr> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.answer.lock().unwrap().clone()
    }
}

fn with(addresses: &[&str]) -> Interface {
    let address = |text: &&str| InterfaceAddress { ip: text.parse().unwrap(), asked_for: false };
    let has = |v4: bool| addresses.iter().any(|text| text.contains('.') == v4);
    Interface {
        up: Some(true),
        addresses: addresses.iter().map(address).collect(),
        way_out_v4: WAY.filter(|_| has(true)),
        way_out_v6: WAY.filter(|_| has(false)),
        ..Interface::default()
    }
}

fn links(all: &[(&str, Interface)]) -> Interfaces {
    Interfaces(all.iter().map(|(name, interface)| ((*name).to_owned(), interface.clone())).collect())
}

/// The source under test beside one whose word the test speaks.
struct Bench {
    board: Arc<Board>,
    kernel: Publisher,
    resolver: Fake,
    _running: tokio::task::JoinSet<()>,
}

/// Only a place on the board.
struct Nobody;

impl LinkSource for Nobody {
    fn name(&self) -> String {
        "nobody".into()
    }

    fn run(self: Box<Self>, _: Publisher) -> Run {
        Box::pin(core::future::pending())
    }
}

impl Bench {
    fn new(resolver: Fake) -> Self {
        let board = Board::new(|| {});
        let running = board.start(vec![
            Box::new(Nobody),
            Box::new(ResolverPrefixes { resolver: resolver.clone(), patience: AT_ONCE }),
        ]);
        let kernel = Publisher::new(Arc::clone(&board), 0);
        Self { board, kernel, resolver, _running: running }
    }

    fn links(&self, all: &[(&str, Interface)]) {
        self.kernel.publish(links(all));
    }

    /// The links become so, and then it is told.
    async fn tells(&self, all: &[(&str, Interface)], told: &[(&str, &str)]) {
        self.links(all);
        let told: Vec<(String, String)> =
            told.iter().map(|(name, prefix)| ((*name).to_owned(), (*prefix).to_owned())).collect();
        self.until(|| self.told() == told).await;
    }

    async fn until(&self, come: impl Fn() -> bool) {
        let waiting = async {
            while !come() {
                sleep(Duration::from_millis(1)).await;
            }
        };
        let seen = || (self.told(), self.resolver.asked());
        timeout(Duration::from_secs(30), waiting).await.unwrap_or_else(|_| panic!("{:?}", seen()));
    }

    fn told(&self) -> Vec<(String, String)> {
        let word = self.board.read_others(0);
        let prefix = |one: &Interface| one.properties.nat64.map(|prefix| prefix.to_string());
        word.0.iter().filter_map(|(name, one)| Some((name.clone(), prefix(one)?))).collect()
    }
}

#[tokio::test]
async fn who_has_ipv6_alone_asks_once() {
    let bench = Bench::new(Fake::knows("2001:db8:64::/96"));
    let mut radio = with(&["2001:db8:1::7", "fe80::7"]);
    bench.tells(&[("wlan0", radio.clone())], &[("wlan0", "2001:db8:64::/96")]).await;
    assert_eq!(bench.resolver.asked(), 1);
    bench.resolver.learns("2001:db8:65::/96");
    radio.properties.rate = Some(1);
    bench.links(&[("wlan0", radio)]);
    // Another network; what has changed before did not matter.
    bench.tells(&[("wlan0", with(&["2001:db8:2::7"]))], &[("wlan0", "2001:db8:65::/96")]).await;
    assert_eq!(bench.resolver.asked(), 2);
    bench.tells(&[], &[]).await;
}

#[tokio::test]
async fn nobody_asks_without_need() {
    let bench = Bench::new(Fake::knows("2001:db8:64::/96"));
    let mut told = with(&["2001:db8:1::7"]);
    told.properties.nat64 = Some(Nat64Prefix::WELL_KNOWN);
    let mut loopback = with(&["2001:db8:1::8"]);
    loopback.properties.kind = Some(InterfaceKind::Loopback);
    let mut no_way_out = with(&["2001:db8:1::9"]);
    no_way_out.way_out_v6 = None;
    let mut down = with(&["2001:db8:1::10"]);
    down.up = Some(false);
    let mut all = vec![
        ("dual", with(&["2001:db8:1::7", "192.0.2.7"])),
        ("v4", with(&["192.0.2.7"])),
        ("local", with(&["fe80::7"])),
        ("told", told),
        ("lo", loopback),
        ("bridge", no_way_out),
        ("down", down),
    ];
    assert!(Occasion::of(&links(&all)).open.is_empty());
    // An address of its own choice (RFC 3927) leads nowhere.
    all.push(("wlan0", with(&["2001:db8:1::7", "169.254.0.7"])));
    bench.tells(&all, &[("wlan0", "2001:db8:64::/96")]).await;
    assert_eq!(bench.resolver.asked(), 1);
}

/// Not every system tells of routes.
#[test]
fn where_no_routes_are_told_every_network_may_translate() {
    let mut radio = with(&["2001:db8:1::7"]);
    radio.way_out_v6 = None;
    assert_eq!(Occasion::of(&links(&[("wlan0", radio)])).open.len(), 1);
}

/// A router's word counts more.
#[tokio::test]
async fn what_a_router_says_ends_the_question() {
    let bench = Bench::new(Fake::knows("2001:db8:64::/96"));
    let mut radio = with(&["2001:db8:1::7"]);
    bench.tells(&[("wlan0", radio.clone())], &[("wlan0", "2001:db8:64::/96")]).await;
    radio.properties.nat64 = Some("2001:db8:65::/96".parse().unwrap());
    bench.tells(&[("wlan0", radio)], &[]).await;
    assert_eq!(bench.resolver.asked(), 1);
}

/// Which resolver there is becomes known later than addresses.
#[tokio::test]
async fn a_resolver_is_asked_a_few_times_and_again_after_the_next_change() {
    let bench = Bench::new(Fake::default());
    let times = AT_ONCE.pauses.len();
    let radio = ("wlan0", with(&["2001:db8:1::7"]));
    bench.links(core::slice::from_ref(&radio));
    bench.until(|| bench.resolver.asked() == times).await;
    bench.resolver.learns("2001:db8:64::/96");
    bench.tells(&[radio, ("eth0", with(&["192.0.2.7"]))], &[("wlan0", "2001:db8:64::/96")]).await;
    assert_eq!(bench.resolver.asked(), times + 1);
}

/// Never answers.
struct Silent;

impl Resolver for Silent {
    async fn ask(&self) -> Vec<Ipv6Addr> {
        core::future::pending().await
    }
}

#[tokio::test]
async fn a_resolver_that_is_silent_is_given_up() {
    assert_eq!(ResolverPrefixes { resolver: Silent, patience: AT_ONCE }.ask().await, None);
}
