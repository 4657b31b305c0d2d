use core::time::Duration;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::timeout;

use super::super::complaints::BURST;
use super::super::source::Run;
use super::*;
use crate::interfaces::Interface;
use crate::interfaces::InterfaceAddress;

/// Says one thing for ever.
struct Says(&'static str, Interface);

impl LinkSource for Says {
    fn name(&self) -> String {
        format!("somebody who knows {}", self.0)
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        publisher.publish(Interfaces([(self.0.to_owned(), self.1)].into()));
        Box::pin(core::future::pending())
    }
}

/// Never says anything.
struct Fails;

impl LinkSource for Fails {
    fn name(&self) -> String {
        "somebody".into()
    }

    fn run(self: Box<Self>, _: Publisher) -> Run {
        let cause = std::io::Error::other("it broke");
        Box::pin(async { Err(LinkSourceError { source_name: "somebody".into(), cause }) })
    }
}

fn up(up: bool) -> Interface {
    Interface { up: Some(up), ..Interface::default() }
}

async fn spoken(board: &Board) {
    timeout(Duration::from_secs(10), board.all_have_spoken()).await.expect("all sources speak");
}

#[tokio::test]
async fn sources_are_merged_and_the_driver_is_woken() {
    let woken = Arc::new(AtomicUsize::new(0));
    let board = Board::new({
        let woken = woken.clone();
        move || {
            woken.fetch_add(1, Ordering::Relaxed);
        }
    });
    let sources: Vec<Box<dyn LinkSource>> =
        vec![Box::new(Says("a", up(true))), Box::new(Says("a", up(false)))];
    let _running = board.start(sources);
    spoken(&board).await;
    assert!(woken.load(Ordering::Relaxed) >= 2);
    assert!(board.has_news());
    let news = board.take().interfaces.expect("news");
    assert_eq!(news.0["a"].up, Some(false));
    assert!(!board.has_news() && board.take().interfaces.is_none());
    // The same once more is no news.
    board.publish(0, Interfaces([("a".to_owned(), up(true))].into()));
    assert!(!board.has_news());
    board.publish(1, Interfaces::default());
    assert_eq!(board.take().interfaces.unwrap().0["a"].up, Some(true));
}

#[tokio::test]
async fn a_source_that_fails_is_reported_and_not_waited_for() {
    let board = Board::new(|| {});
    let _running = board.start(vec![Box::new(Fails), Box::new(Says("a", up(true)))]);
    spoken(&board).await;
    let news = board.take();
    let text = "no further link facts: it broke".to_owned();
    assert_eq!(news.complaints, [Complaint { source: "somebody".into(), text }]);
    assert_eq!(news.interfaces.unwrap().0.len(), 1);
}

#[tokio::test]
async fn what_a_source_says_is_bounded() {
    let board = Board::new(|| {});
    let _running = board.start(vec![Box::new(Fails)]);
    let many = (0..10_000).map(|number| (format!("i{number}"), up(true))).collect();
    board.publish(0, Interfaces(many));
    assert_eq!(board.take().interfaces.unwrap().0.len(), Interfaces::MAX);
    let nonsense = |slot, line| board.reject(slot, LineError { line: Some(line), reason: "nonsense".into() });
    let begun = Instant::now();
    let mut complaints = Vec::new();
    for line in 0..10_000 {
        nonsense(0, line);
        complaints.extend(board.take().complaints);
    }
    let seconds = begun.elapsed().as_secs() as usize;
    assert!((BURST as usize..=BURST as usize + seconds + 1).contains(&complaints.len()), "{complaints:?}");
    assert_eq!(complaints[2].text, "line 2: nonsense");
    // Nobody takes them, and there are more sources than any user has.
    let many: Vec<Box<dyn LinkSource>> = (0..20).map(|_| Box::new(Fails) as Box<dyn LinkSource>).collect();
    let _running = board.start(many);
    for slot in 0..20 {
        (0..100).for_each(|line| nonsense(slot, line));
    }
    assert_eq!(board.take().complaints.len(), COMPLAINTS_MAX);
}

/// Two hotspots give out the same private address.
#[tokio::test]
async fn a_network_that_is_not_used_is_told_of_once() {
    let board = Board::new(|| {});
    let _running = board.start(vec![Box::new(Says("a", up(true)))]);
    spoken(&board).await;
    let with = |address: &str| {
        let ip = address.parse().unwrap();
        Interface { addresses: vec![InterfaceAddress { ip, asked_for: false }], ..up(true) }
    };
    let publish = |one: &str, other: &str| {
        board.publish(
            0,
            Interfaces([("eth0".to_owned(), with(one)), ("wlan0".to_owned(), with(other))].into()),
        );
        board.take().complaints
    };
    assert_eq!(publish("192.168.43.2", "192.168.43.3"), []);
    let told = publish("192.168.43.2", "192.168.43.2");
    assert_eq!(told.len(), 1);
    assert!(told[0].text.starts_with("wlan0 and eth0 have the same address, 192.168.43.2"), "{told:?}");
    board.publish(0, Interfaces::default());
    assert_eq!(publish("192.168.43.2", "192.168.43.2").len(), 1, "it is so again");
    board.publish(0, Interfaces([("eth0".to_owned(), with("10.0.0.1"))].into()));
    assert_eq!(board.take().complaints, []);
}
