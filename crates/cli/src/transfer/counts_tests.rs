//! What both ends count and tell of a transfer.

use super::super::partial::Partial;
use super::super::partials::Start;
use super::super::receive::receive;
use super::super::report::Totals;
use super::super::store::Store;
use super::super::testing::{Dirs, dirs, file, pair, recorder};
use super::*;

impl Dirs {
    /// A file to send, whose beginning somebody else is sending already.
    fn busy(&self, store: &Arc<Store>) -> (Sources, Partial) {
        let path = file(self.from.path(), "f", b"content");
        let sources = Sources::collect(&[path], false).unwrap();
        let other = store.begin(&sources.list[0].offer, Start::default()).unwrap().unwrap();
        other.write(b"con").unwrap();
        (sources, other)
    }
}

/// What is tried again is not over: only how it ends in the end counts at the receiver, and once.
#[tokio::test]
async fn a_busy_file_that_arrives_later_has_not_failed() {
    let dirs = dirs();
    let store = dirs.store();
    let (sources, other) = dirs.busy(&store);
    let release = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(other);
    };
    let received = received(sources, &store, Duration::from_secs(60));
    let ((reports, totals), ()) = tokio::join!(received, release);
    let outcomes: Vec<_> = reports.iter().map(|report| report.outcome).collect();
    assert_eq!(outcomes, [Outcome::Verified]);
    assert_eq!((totals.files, totals.done_files, totals.failed_files), (1, 1, 0));
    assert_eq!((totals.bytes, totals.done_bytes), (7, 7));
}

#[tokio::test]
async fn a_file_that_is_busy_to_the_end_has_failed_once() {
    let dirs = dirs();
    let store = dirs.store();
    let (sources, other) = dirs.busy(&store);
    let (reports, totals) = received(sources, &store, Duration::ZERO).await;
    drop(other);
    let outcomes: Vec<_> = reports.iter().map(|report| report.outcome).collect();
    assert_eq!(outcomes, [Outcome::Busy]);
    assert_eq!((totals.files, totals.done_files, totals.failed_files), (1, 0, 1));
}

/// What a receiver says and counts of a transfer from a sender of this patience, who says goodbye.
async fn received(sources: Sources, store: &Arc<Store>, patience: Duration) -> (Vec<FileReport>, Totals) {
    let (left, right) = pair();
    let tally = Arc::new(Tally::default());
    let (reports, on_received) = recorder();
    let mut outbox = Outbox::new(sources, Arc::default(), recorder().1, patience);
    let send = async {
        outbox.session(&left).await.unwrap();
        left.close();
    };
    let receive = receive(&right, Arc::clone(store), Arc::clone(&tally), on_received);
    let ((), received) = tokio::join!(send, receive);
    received.unwrap();
    let reports = reports.lock().unwrap().clone();
    (reports, tally.totals())
}

/// A directory is no file, but one that cannot be made is told of as one that has failed.
#[tokio::test]
async fn a_directory_that_fails_is_in_the_total() {
    let dirs = dirs();
    let root = dirs.from.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    file(&root, "f", b"content");
    file(dirs.to.path(), "tree", b"in the way");
    let (left, right) = pair();
    let (sender, receiver) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
    let sources = Sources::collect(&[root], true).unwrap();
    let mut outbox = Outbox::new(sources, Arc::clone(&sender), recorder().1, Duration::ZERO);
    let send = async {
        outbox.session(&left).await.unwrap();
        left.close();
    };
    let receive = receive(&right, dirs.store(), Arc::clone(&receiver), recorder().1);
    let ((), received) = tokio::join!(send, receive);
    received.unwrap();
    for totals in [sender.totals(), receiver.totals()] {
        assert_eq!((totals.files, totals.done_files, totals.failed_files), (2, 0, 2));
    }
}

#[tokio::test]
async fn a_second_connection_announces_what_is_left() {
    let dirs = dirs();
    let paths = ["a", "b"].map(|name| file(dirs.from.path(), name, b"content"));
    let sources = Sources::collect(&paths, false).unwrap();
    let mut outbox = Outbox::new(sources, Arc::default(), recorder().1, Duration::ZERO);
    let mut announced = Vec::new();
    for _ in 0..2 {
        let (left, right) = pair();
        let answer = async {
            let hello = right.recv().await.unwrap().unwrap();
            right.send(control(&Control::Welcome { version: VERSION })).await.unwrap();
            let first = Control::Result { id: 0, outcome: Outcome::Already, text: String::new() };
            right.send(control(&first)).await.unwrap();
            right.close();
            Control::decode(&hello.bytes).unwrap()
        };
        let (_, hello) = tokio::join!(outbox.session(&left), answer);
        let Control::Hello { files, bytes, .. } = hello else { panic!("{hello:?}") };
        announced.push((files, bytes));
    }
    assert_eq!(announced, [(2, 14), (1, 7)]);
}
