use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI8, Ordering};

use proptest::prelude::*;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::fake_kernel::{self as fake, FakeKernel, Question, Reply, done, error, part};
use super::super::{Board, InterfaceAddress};
use super::*;
use crate::handover::{Action, Pace, Reason, Seamless};
use crate::{Association, AssociationEvent, Endpoint, PathState};

const PATIENCE: Duration = Duration::from_secs(60);
const NEVER: Duration = Duration::from_secs(86_400);
/// What this kernel calls the family.
const NUMBER: u16 = 31;
const CLIENT: u32 = 2;
const ACCESS_POINT: u32 = 3;
const MONITOR: u32 = 6;
const ENOENT: i32 = 2;
const ENODEV: i32 = 19;
const EOPNOTSUPP: i32 = 95;

/// NL80211_CMD_NEW_INTERFACE with what kernels say besides: device, address, generation, network, queues.
fn card(index: u32, name: &str, kind: u32) -> Vec<u8> {
    let queues = fake::attribute(0x8000 | 265, &fake::attribute(1, &0_u32.to_ne_bytes()));
    let attributes = [
        fake::attribute(3, &index.to_ne_bytes()),
        fake::attribute(4, &[name.as_bytes(), b"\0"].concat()),
        fake::attribute(1, &0_u32.to_ne_bytes()),
        fake::attribute(5, &kind.to_ne_bytes()),
        fake::attribute(153, &1_u64.to_ne_bytes()),
        fake::attribute(6, &[2, 0, 0, 0, 0, 1]),
        fake::attribute(46, &7_u32.to_ne_bytes()),
        fake::attribute(52, b"a network"),
        queues,
    ];
    part(NUMBER, 7, &attributes)
}

/// Station information: time since the last frame, bytes, the given ones, signal per antenna, rate.
fn station(infos: &[(u16, &[u8])]) -> Vec<u8> {
    let mut nested = fake::attribute(1, &1200_u32.to_ne_bytes());
    nested.extend(fake::attribute(23, &123_456_u64.to_ne_bytes()));
    for (kind, value) in infos {
        nested.extend(fake::attribute(*kind, value));
    }
    nested.extend(fake::attribute(0x8000 | 25, &fake::attribute(0, &[0xb0])));
    nested.extend(fake::attribute(0x8000 | 8, &fake::attribute(5, &866_u32.to_ne_bytes())));
    let attributes = [
        fake::attribute(3, &7_u32.to_ne_bytes()),
        fake::attribute(6, &[2, 0, 0, 0, 0, 9]),
        fake::attribute(46, &7_u32.to_ne_bytes()),
        fake::attribute(0x8000 | 21, &nested),
    ];
    part(NUMBER, 19, &attributes)
}

fn hears(last: i8, average: i8) -> Vec<u8> {
    station(&[(7, &last.to_ne_bytes()), (13, &average.to_ne_bytes())])
}

fn message(bytes: &[u8]) -> Message {
    let message = rtnetlink::packet_core::NetlinkMessage::deserialize(bytes).unwrap();
    match message.payload {
        rtnetlink::packet_core::NetlinkPayload::InnerMessage(message) => message,
        other => panic!("{other:?}"),
    }
}

/// A kernel with these cards, whose stations are what `stations` says of each.
fn kernel(cards: &[Vec<u8>], stations: impl Fn(u32) -> Reply + Send + Sync + 'static) -> FakeKernel {
    let cards = [cards, &[done(0)]].concat();
    FakeKernel::new(move |question| match (question.family, question.command) {
        (16, 3) => Some(vec![part(16, 1, &[fake::attribute(1, &NUMBER.to_ne_bytes())])]),
        (NUMBER, 5) => Some(cards.clone()),
        (NUMBER, 17) => {
            assert_eq!(question.attributes[..4], fake::attribute(3, &[0; 4])[..4]);
            stations(u32::from_ne_bytes(question.attributes[4..].try_into().unwrap()))
        }
        _ => panic!("{question:?}"),
    })
}

/// In whole decibels, as cards report it.
fn dbm(power: ReceivedPower) -> f64 {
    power.dbm().round()
}

fn signals(interfaces: &Interfaces) -> Vec<(&str, Option<f64>)> {
    let signal = |interface: &Interface| interface.properties.signal.map(dbm);
    interfaces.0.iter().map(|(name, interface)| (&name[..], signal(interface))).collect()
}

#[tokio::test]
async fn every_client_is_asked_and_nobody_else() {
    let cards = [card(7, "wlan0", CLIENT), card(8, "ap0", ACCESS_POINT), card(9, "wlan1", CLIENT)];
    let kernel = kernel(&cards, |index| match index {
        7 => Some(vec![hears(-61, -64), done(0)]),
        // Not associated.
        9 => Some(vec![done(0)]),
        _ => panic!("{index}"),
    });
    let found = look(&kernel, NUMBER).await.unwrap();
    assert_eq!(signals(&found), [("wlan0", Some(-64.0)), ("wlan1", None)]);
    let wifi = Some(InterfaceKind::WirelessLan);
    assert!(found.0.values().all(|card| card.properties.kind == wifi && card.up.is_none()));
    let dump = |command, attributes| Question { family: NUMBER, flags: 0x301, command, attributes };
    let station = |index: u32| dump(17, fake::attribute(3, &index.to_ne_bytes()));
    assert_eq!(kernel.asked(), [dump(5, Vec::new()), station(7), station(9)]);
}

#[test]
fn clients_are_told_from_other_modes() {
    assert_eq!(client(&message(&card(7, "wlan0", CLIENT))), Some((7, "wlan0".into())));
    assert_eq!(client(&message(&card(7, "p2p0", 8))), Some((7, "p2p0".into())));
    for other in [ACCESS_POINT, MONITOR, 0, u32::MAX] {
        assert_eq!(client(&message(&card(7, "wlan0", other))), None, "{other}");
    }
    assert_eq!(client(&message(&card(7, "", CLIENT))), None);
    assert_eq!(client(&message(&hears(-61, -64))), None);
}

#[test]
fn the_average_counts_where_there_is_one() {
    let of = |infos: &[(u16, &[u8])]| signal(&message(&station(infos))).map(dbm);
    let byte = i8::to_ne_bytes;
    assert_eq!(of(&[(7, &byte(-61)), (13, &byte(-64))]), Some(-64.0));
    assert_eq!(of(&[(13, &byte(-128)), (7, &byte(-61))]), Some(-128.0));
    assert_eq!(of(&[(7, &byte(-61))]), Some(-61.0));
    // Nothing heard yet, and a unit of the card's own.
    assert_eq!(of(&[(7, &byte(-61)), (13, &byte(0))]), Some(-61.0));
    assert_eq!(of(&[(7, &byte(55))]), None);
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[(7, &[]), (13, &[0xc0, 0xff])]), None);
    assert_eq!(signal(&message(&card(7, "wlan0", CLIENT))), None);
}

/// Mask and flags: of two stations of a client the access point is the one that is no direct neighbour.
#[tokio::test]
async fn neighbours_are_not_the_access_point() {
    let flags = |flags: u32| [u32::MAX.to_ne_bytes(), flags.to_ne_bytes()].concat();
    let near = station(&[(7, &[0xe0]), (17, &flags(1 << 6 | 1 << 1))]);
    let far = station(&[(7, &[0xb5]), (17, &flags(1 << 7 | 1 << 1))]);
    let kernel = kernel(&[card(7, "wlan0", CLIENT)], move |_| Some(vec![near.clone(), far.clone(), done(0)]));
    assert_eq!(signals(&look(&kernel, NUMBER).await.unwrap()), [("wlan0", Some(-75.0))]);
}

#[tokio::test]
async fn a_card_that_is_taken_out_between_the_questions_hides_no_other() {
    let cards = [card(7, "wlan0", CLIENT), card(8, "wlan1", CLIENT), card(9, "wlan2", CLIENT)];
    let kernel = kernel(&cards, |index| {
        Some(match index {
            7 => vec![done(-ENODEV)],
            8 => vec![error(-EOPNOTSUPP)],
            _ => vec![hears(-50, -50), done(0)],
        })
    });
    let found = look(&kernel, NUMBER).await.unwrap();
    assert_eq!(signals(&found), [("wlan0", None), ("wlan1", None), ("wlan2", Some(-50.0))]);
}

#[tokio::test]
async fn cards_are_bounded() {
    let cards: Vec<_> = (1..=100).map(|index| card(index, &format!("wlan{index}"), CLIENT)).collect();
    let kernel = kernel(&cards, |_| Some(vec![hears(-50, -50), done(0)]));
    assert_eq!(look(&kernel, NUMBER).await.unwrap().0.len(), RADIOS_MAX);
    assert_eq!(kernel.asked().len(), 1 + RADIOS_MAX);
}

/// Containers, virtual machines, hosts without the module: one question, one refusal, not a word.
#[tokio::test]
async fn without_the_family_nothing_happens() {
    let kernel = FakeKernel::new(|_| Some(vec![error(-ENOENT)]));
    let board = Board::new(|| panic!("nobody is to be woken"));
    let mut changes = futures_util::stream::pending::<()>();
    watch(&kernel, &Publisher::new(board, 0), &mut changes, NEVER).await.unwrap();
    assert_eq!(kernel.asked().len(), 1);
}

/// The module is there, the radio is not, or not in this network namespace.
#[tokio::test]
async fn without_a_card_nothing_happens() {
    let kernel = kernel(&[card(8, "ap0", ACCESS_POINT)], |index| panic!("{index}"));
    let board = Board::new(|| panic!("nobody is to be woken"));
    let mut changes = futures_util::stream::pending::<()>();
    watch(&kernel, &Publisher::new(board, 0), &mut changes, NEVER).await.unwrap();
    assert_eq!(kernel.asked().len(), 2);
}

/// Later tries depend on it.
#[tokio::test]
async fn a_kernel_that_fails_is_told_from_one_without_radios() {
    let board = Board::new(|| {});
    let publisher = Publisher::new(board, 0);
    let mut changes = futures_util::stream::pending::<()>();
    let failing = FakeKernel::new(|question| match question.command {
        3 => Some(vec![part(16, 1, &[fake::attribute(1, &NUMBER.to_ne_bytes())])]),
        _ => Some(vec![done(-ENODEV)]),
    });
    let error = watch(&failing, &publisher, &mut changes, NEVER).await.unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ENODEV));
    let silent = kernel(&[card(7, "wlan0", CLIENT)], |_| None);
    let error = watch(&silent, &publisher, &mut changes, NEVER).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

/// On any host: as many looks as changes, and an end with the last of them.
#[tokio::test]
async fn this_host_is_looked_at_until_nobody_tells_of_links() {
    let publisher = Publisher::new(Board::new(|| {}), 0);
    let mut changes = futures_util::stream::iter([(), ()]);
    timeout(PATIENCE, follow(&publisher, &mut changes)).await.expect("its end");
}

/// Endpoints wait for every source's first word, so a host without a radio must not keep them waiting.
#[tokio::test]
async fn this_host_is_not_waited_for_and_says_nothing_strange() {
    let board = Board::new(|| {});
    let _running = board.start(vec![Box::new(Radio)]);
    timeout(PATIENCE, board.all_have_spoken()).await.expect("its first word");
    assert!(board.take().complaints.is_empty());
}

/// A card whose signal the test decides, and a way to say that a link has changed.
struct Card {
    dbm: Arc<AtomicI8>,
    changes: mpsc::UnboundedReceiver<()>,
    period: Duration,
}

fn wlan0(dbm: i8, period: Duration) -> (Card, Arc<AtomicI8>, mpsc::UnboundedSender<()>) {
    let dbm = Arc::new(AtomicI8::new(dbm));
    let (changed, changes) = mpsc::unbounded_channel();
    (Card { dbm: dbm.clone(), changes, period }, dbm, changed)
}

impl LinkSource for Card {
    fn name(&self) -> String {
        "a card".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        let Self { dbm, mut changes, period } = *self;
        let kernel = kernel(&[card(7, "wlan0", CLIENT)], move |_| {
            let dbm = dbm.load(Ordering::Relaxed);
            Some(vec![hears(dbm, dbm), done(0)])
        });
        Box::pin(async move {
            let mut changes = futures_util::stream::poll_fn(move |cx| changes.poll_recv(cx));
            watch(&kernel, &publisher, &mut changes, period).await.unwrap();
            Ok(())
        })
    }
}

async fn until(board: &Board, dbm: f64) {
    let reads = async {
        while signals(&board.read()) != [("wlan0", Some(dbm))] {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, reads).await.expect("the card's signal");
}

#[tokio::test]
async fn a_signal_is_followed_by_the_clock() {
    let (card, dbm, _changed) = wlan0(-60, Duration::from_millis(10));
    let board = Board::new(|| {});
    let _running = board.start(vec![Box::new(card)]);
    until(&board, -60.0).await;
    dbm.store(-70, Ordering::Relaxed);
    until(&board, -70.0).await;
}

#[tokio::test]
async fn a_change_of_a_link_is_looked_at_without_waiting_for_the_clock() {
    let (card, dbm, changed) = wlan0(-60, NEVER);
    let board = Board::new(|| {});
    let mut running = board.start(vec![Box::new(card)]);
    until(&board, -60.0).await;
    dbm.store(-70, Ordering::Relaxed);
    changed.send(()).unwrap();
    until(&board, -70.0).await;
    // Nobody tells of links any more.
    drop(changed);
    timeout(PATIENCE, running.join_next()).await.expect("its end").unwrap().unwrap();
}

/// Addresses on two interfaces, as rtnetlink would say.
struct TwoNetworks;

impl LinkSource for TwoNetworks {
    fn name(&self) -> String {
        "two networks".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        let interface = |ip: &str| {
            let addresses = vec![InterfaceAddress { ip: ip.parse().unwrap(), asked_for: true }];
            Interface { up: Some(true), addresses, ..Interface::default() }
        };
        publisher.publish(Interfaces(
            [("wlan0".to_owned(), interface("127.0.0.71")), ("wwan0".to_owned(), interface("127.0.0.72"))]
                .into(),
        ));
        Box::pin(core::future::pending())
    }
}

/// Waits until both paths work and the one over `local` is in use.
async fn settled(association: &Association, local: &str) {
    let settles = async {
        loop {
            let paths = association.paths().await;
            let works = paths.iter().filter(|path| path.state == PathState::Active).count() == 2;
            if works && paths.iter().any(|path| path.in_use && path.route.local.ip().to_string() == local) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, settles).await.unwrap_or_else(|_| panic!("on the way to {local}"));
}

/// From the bytes of the kernel to the policy's decision: Wi-Fi is liked best while it is strong, and left when it fades.
#[tokio::test]
async fn the_policy_leaves_a_network_whose_signal_fades() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    let (card, dbm, _changed) = wlan0(-55, Duration::from_millis(50));
    let client = Endpoint::builder()
        .addresses([address("127.0.0.71:0"), address("127.0.0.72:0")])
        .link_source(TwoNetworks)
        .link_source(card)
        .policy(|| Seamless::policy(Pace::MOBILE))
        .bind()
        .await
        .unwrap();
    let server = Endpoint::bind([address("127.0.0.1:0")]).await.unwrap();
    let listener = server.listen(7).unwrap();
    let peer = server.local_addresses();
    let (near, far) = tokio::join!(client.connect(&peer, 7), listener.accept());
    let (near, _far) = (near.unwrap(), far.unwrap());
    settled(&near, "127.0.0.71").await;
    let mut events = near.events();
    dbm.store(-90, Ordering::Relaxed);
    let decides = async {
        loop {
            if let AssociationEvent::Decision(decision) = events.recv().await.expect("the association lives")
                && matches!(decision.action, Action::UsePath(_))
            {
                return decision.reason;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, decides).await.expect("a decision"), Reason::SignalFading);
    settled(&near, "127.0.0.72").await;
}

proptest! {
    /// Whatever an answer is cut down to or its bytes are changed to, it is an answer or none.
    #[test]
    fn no_answer_makes_it_panic(
        bytes in prop_oneof![Just(card(7, "wlan0", CLIENT)), Just(hears(-61, -64))],
        length in 20_usize..200,
        changes in prop::collection::vec((20_usize..200, any::<u8>()), 0..4),
    ) {
        let mut attributes = bytes[20..length.clamp(20, bytes.len())].to_vec();
        for (at, byte) in changes {
            if let Some(place) = attributes.get_mut(at - 20) {
                *place = byte;
            }
        }
        for command in [7, 19] {
            let message = Message { family: NUMBER, command, attributes: attributes.clone() };
            prop_assert!(client(&message).is_none_or(|(_, name)| !name.is_empty()));
            prop_assert!(signal(&message).is_none_or(|power| (-128.0..0.0).contains(&dbm(power))));
        }
    }
}
