//! Whole transfers over a link in memory.

use std::sync::Arc;

use super::super::partials::Start;
use super::super::receive::ReceiveError;
use super::super::testing::{Dirs, Run, content, dirs, file, pair, recorder, transfer};
use super::*;

impl Dirs {
    fn received(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.to.path().join(name)).unwrap()
    }
}

fn outcomes(run: &Run) -> Vec<Outcome> {
    run.reports.iter().map(|report| report.outcome).collect()
}

#[tokio::test]
async fn files_of_all_sizes_arrive() {
    let dirs = dirs();
    let sizes = [0, 1, 65_535, 65_536, 65_537, 3_000_000];
    let paths: Vec<_> = sizes
        .iter()
        .map(|&size| file(dirs.from.path(), &format!("f{size}"), &content(size, size as u64)))
        .collect();
    let run = transfer(Sources::collect(&paths, false).unwrap(), &dirs.store(), None).await;
    run.sent.as_ref().unwrap();
    run.received.as_ref().unwrap();
    for size in sizes {
        assert_eq!(dirs.received(&format!("f{size}")), content(size, size as u64));
    }
    assert!(run.reports.iter().all(|report| report.outcome == Outcome::Verified && report.hash.is_some()));
    assert_eq!(run.received_reports.len(), sizes.len());
    assert_eq!(run.bytes, sizes.iter().sum::<usize>() as u64);
}

#[tokio::test]
async fn thousands_of_small_files_and_a_tree_arrive() {
    let dirs = dirs();
    let root = dirs.from.path().join("tree");
    std::fs::create_dir_all(root.join("sub/empty")).unwrap();
    for index in 0..600 {
        file(&root.join("sub"), &format!("{index}"), format!("content {index}").as_bytes());
    }
    let run = transfer(Sources::collect(&[root], true).unwrap(), &dirs.store(), None).await;
    run.sent.as_ref().unwrap();
    run.received.as_ref().unwrap();
    for index in 0..600 {
        assert_eq!(dirs.received(&format!("tree/sub/{index}")), format!("content {index}").as_bytes());
    }
    assert!(dirs.to.path().join("tree/sub/empty").is_dir());
    assert_eq!(run.reports.len(), 600);
}

#[tokio::test]
async fn a_cut_transfer_resumes_where_it_was() {
    let dirs = dirs();
    let body = content(4_000_000, 7);
    let path = [file(dirs.from.path(), "f", &body)];
    let first = transfer(Sources::collect(&path, false).unwrap(), &dirs.store(), Some(40)).await;
    assert!(first.sent.unwrap_err().is_passing());
    assert!(matches!(first.received, Err(ReceiveError::Link(_))));
    assert!(!dirs.to.path().join("f").exists());
    assert_eq!(first.bytes, 0, "open files count again when they are through again");
    let second = transfer(Sources::collect(&path, false).unwrap(), &dirs.store(), None).await;
    second.sent.unwrap();
    second.received.unwrap();
    assert_eq!(dirs.received("f"), body);
    assert!(second.reports[0].resumed > 1_000_000, "resumed {}", second.reports[0].resumed);
    let third = transfer(Sources::collect(&path, false).unwrap(), &dirs.store(), None).await;
    assert_eq!(outcomes(&third), [Outcome::Already]);
}

#[tokio::test]
async fn a_resumed_prefix_of_other_content_is_not_believed() {
    let dirs = dirs();
    let path = [file(dirs.from.path(), "f", &content(4_000_000, 7))];
    let _ = transfer(Sources::collect(&path, false).unwrap(), &dirs.store(), Some(40)).await;
    let other = content(4_000_000, 8);
    file(dirs.from.path(), "f", &other);
    let run = transfer(Sources::collect(&path, false).unwrap(), &dirs.store(), None).await;
    run.sent.as_ref().unwrap();
    assert_eq!(run.reports[0].resumed, 0);
    assert_eq!(dirs.received("f"), other);
}

#[tokio::test]
async fn one_outbox_goes_on_over_a_second_connection() {
    let dirs = dirs();
    let paths: Vec<_> =
        (0..20).map(|n| file(dirs.from.path(), &n.to_string(), &content(300_000, n))).collect();
    let (reports, on_file) = recorder();
    let tally = Arc::new(Tally::default());
    let sources = Sources::collect(&paths, false).unwrap();
    let mut outbox = Outbox::new(sources, Arc::clone(&tally), on_file, Duration::from_secs(60));
    for budget in [70, 90, usize::MAX] {
        let (left, right) = pair();
        let left = left.cut_after(budget);
        let send = async {
            let outcome = outbox.session(&left).await;
            left.close();
            outcome
        };
        let (_, on_received) = recorder();
        let (sent, _) = tokio::join!(
            send,
            super::super::receive::receive(&right, dirs.store(), Arc::default(), on_received)
        );
        assert_eq!(sent.is_ok(), budget == usize::MAX);
    }
    assert!(outbox.is_done());
    for n in 0..20 {
        assert_eq!(dirs.received(&n.to_string()), content(300_000, n));
    }
    assert_eq!(reports.lock().unwrap().len(), 20, "one report per file");
    assert_eq!(tally.totals().done_bytes, 20 * 300_000);
}

#[tokio::test]
async fn other_content_in_place_is_refused_and_named() {
    let dirs = dirs();
    let path = [file(dirs.from.path(), "same-size", b"new"), file(dirs.from.path(), "longer", b"longer")];
    file(dirs.to.path(), "same-size", b"old");
    file(dirs.to.path(), "longer", b"old");
    let run = transfer(Sources::collect(&path, false).unwrap(), &dirs.store(), None).await;
    run.sent.as_ref().unwrap();
    assert_eq!(outcomes(&run), [Outcome::Exists, Outcome::Exists]);
    assert_eq!(dirs.received("same-size"), b"old");
    assert_eq!(dirs.received("longer"), b"old");
}

#[tokio::test]
async fn a_source_that_vanishes_or_changes_is_told_to_both_ends() {
    let dirs = dirs();
    let gone = file(dirs.from.path(), "gone", b"1");
    let grown = file(dirs.from.path(), "grown", b"12");
    let fine = file(dirs.from.path(), "fine", b"123");
    let sources = Sources::collect(&[gone.clone(), grown.clone(), fine], false).unwrap();
    std::fs::remove_file(gone).unwrap();
    std::fs::write(grown, b"123").unwrap();
    let run = transfer(sources, &dirs.store(), None).await;
    run.sent.as_ref().unwrap();
    let texts = |reports: &[FileReport]| {
        let mut list: Vec<_> = reports.iter().map(|r| (r.name.clone(), r.outcome, r.text.clone())).collect();
        list.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        list
    };
    assert_eq!(texts(&run.reports), texts(&run.received_reports));
    let list = texts(&run.reports);
    assert_eq!(list[0].1, Outcome::Verified);
    assert_eq!((list[1].1, list[2].1), (Outcome::Abandoned, Outcome::Abandoned));
    assert!(list[1].2.contains("No such file") && list[2].2.contains("changed"), "{list:?}");
}

/// Files of /proc have a size of 0 and content all the same: an empty file in its place would be a lie.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_source_with_more_in_it_than_it_says_is_not_sent_as_empty() {
    let dirs = dirs();
    let sources = Sources::collect(&["/proc/self/status".into()], false).unwrap();
    let run = transfer(sources, &dirs.store(), None).await;
    assert_eq!(outcomes(&run), [Outcome::Abandoned]);
    assert!(run.reports[0].text.contains("more in it"), "{}", run.reports[0].text);
    assert!(!dirs.to.path().join("status").exists());
}

#[tokio::test]
async fn a_source_that_becomes_a_pipe_is_not_waited_for() {
    let dirs = dirs();
    let path = file(dirs.from.path(), "f", b"content");
    let sources = Sources::collect(std::slice::from_ref(&path), false).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let run = transfer(sources, &dirs.store(), None).await;
    run.sent.as_ref().unwrap();
    assert_eq!(outcomes(&run), [Outcome::Abandoned]);
}

#[tokio::test]
async fn the_receivers_totals_are_what_came_and_not_what_was_said() {
    let dirs = dirs();
    let path = [file(dirs.from.path(), "f", &content(4_000_000, 7))];
    let tally = Arc::new(Tally::default());
    for budget in [40, usize::MAX] {
        let (left, right) = pair();
        let left = left.cut_after(budget);
        let sources = Sources::collect(&path, false).unwrap();
        let mut outbox = Outbox::new(sources, Arc::default(), recorder().1, Duration::ZERO);
        let send = async {
            let _ = outbox.session(&left).await;
            left.close();
        };
        let receive = super::super::receive::receive(&right, dirs.store(), Arc::clone(&tally), recorder().1);
        let (_, ()) = tokio::join!(receive, send);
        let totals = tally.totals();
        let whole = if budget == usize::MAX { 4_000_000 } else { 0 };
        assert_eq!((totals.bytes, totals.done_bytes), (whole, whole));
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_transfer() {
    let dirs = dirs();
    let (left, right) = pair();
    let frame =
        Frame { stream: 1, ppid: super::super::protocol::PPID_DATA, bytes: vec![0; BLOCK + 1].into() };
    left.send(frame).await.unwrap();
    let (_, on_received) = recorder();
    let received = super::super::receive::receive(&right, dirs.store(), Arc::default(), on_received).await;
    assert!(matches!(received, Err(ReceiveError::Stop(_))), "{received:?}");
    // The sender is told.
    let fatal = left.recv().await.unwrap().unwrap();
    assert!(matches!(Control::decode(&fatal.bytes), Ok(Control::Fatal { .. })));
}

#[tokio::test]
async fn a_source_that_shrinks_in_mid_transfer_leaves_nothing() {
    let dirs = dirs();
    let path = file(dirs.from.path(), "f", &content(20_000_000, 1));
    let sources = Sources::collect(std::slice::from_ref(&path), false).unwrap();
    let (left, right) = pair();
    let (reports, on_file) = recorder();
    let mut outbox = Outbox::new(sources, Arc::default(), on_file, Duration::ZERO);
    let tally = Arc::new(Tally::default());
    let watch = Arc::clone(&tally);
    let shrink = async {
        while watch.totals().done_bytes < 500_000 {
            tokio::task::yield_now().await;
        }
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1_000).unwrap();
    };
    let send = async {
        let outcome = outbox.session(&left).await;
        left.close();
        outcome
    };
    let (_, on_received) = recorder();
    let receive = super::super::receive::receive(&right, dirs.store(), tally, on_received);
    let (sent, received, ()) = tokio::join!(send, receive, shrink);
    sent.unwrap();
    received.unwrap();
    let report = reports.lock().unwrap()[0].clone();
    assert_eq!(report.outcome, Outcome::Abandoned);
    assert_eq!(std::fs::read_dir(dirs.to.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_busy_file_is_offered_again() {
    let dirs = dirs();
    let path = [file(dirs.from.path(), "f", b"content")];
    let store = dirs.store();
    let sources = Sources::collect(&path, false).unwrap();
    // The same beginning is on its way already.
    let other = store.begin(&sources.list[0].offer, Start::default()).unwrap().unwrap();
    other.write(b"con").unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(other);
    };
    let (run, ()) = tokio::join!(transfer(sources, &store, None), release);
    run.sent.as_ref().unwrap();
    assert_eq!(outcomes(&run), [Outcome::Verified]);
    assert_eq!(run.reports[0].resumed, 3);
}

/// Names and sizes are no secret: who offers those of somebody else's unfinished file must not harm it.
#[tokio::test]
async fn a_sender_with_other_content_harms_nobody_elses_unfinished_file() {
    let dirs = dirs();
    let (honest, other) = (content(4_000_000, 7), content(4_000_000, 8));
    let path = [file(dirs.from.path(), "f", &honest)];
    let store = dirs.store();
    let _ = transfer(Sources::collect(&path, false).unwrap(), &store, Some(40)).await;
    file(dirs.from.path(), "f", &other);
    let _ = transfer(Sources::collect(&path, false).unwrap(), &store, Some(30)).await;
    file(dirs.from.path(), "f", &honest);
    let run = transfer(Sources::collect(&path, false).unwrap(), &store, None).await;
    run.sent.as_ref().unwrap();
    assert!(run.reports[0].resumed > 1_000_000, "resumed {}", run.reports[0].resumed);
    assert_eq!(dirs.received("f"), honest);
    assert_eq!(store.bytes_compared(), 0, "what this process wrote it need not read");
}

#[tokio::test(start_paused = true)]
async fn a_sender_that_says_nothing_is_sent_away() {
    let dirs = dirs();
    let (_left, right) = pair();
    let (_, on_received) = recorder();
    let receive = super::super::receive::receive(&right, dirs.store(), Arc::default(), on_received);
    // A paused clock does not go on by itself while the disk thread lives.
    let (received, ()) = tokio::join!(receive, tokio::time::advance(Duration::from_secs(11)));
    assert!(matches!(received, Err(ReceiveError::Silent)));
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_says_nothing_is_not_waited_for() {
    let dirs = dirs();
    let sources = Sources::collect(&[file(dirs.from.path(), "f", b"content")], false).unwrap();
    let (left, _right) = pair();
    let mut outbox = Outbox::new(sources, Arc::default(), recorder().1, Duration::ZERO);
    // A paused clock does not go on by itself while the disk thread lives.
    let (sent, ()) = tokio::join!(outbox.session(&left), tokio::time::advance(Duration::from_secs(31)));
    assert!(matches!(sent, Err(SendError::Silent)), "{sent:?}");
}

/// What has been read, and what the network has taken, has not arrived yet, and does not once the connection is lost.
#[tokio::test]
async fn progress_is_what_the_receiver_has_acknowledged() {
    let dirs = dirs();
    let sources = Sources::collect(&[file(dirs.from.path(), "f", &content(4_000_000, 1))], false).unwrap();
    let (left, right) = pair();
    let tally = Arc::new(Tally::default());
    let mut outbox = Outbox::new(sources, Arc::clone(&tally), recorder().1, Duration::ZERO);
    // Beside Hello, Offer and Begin.
    let on_link = 5 * BLOCK as u64;
    let stall = async {
        right.send(control(&Control::Welcome { version: VERSION })).await.unwrap();
        right.send(control(&Control::Accept { id: 0, offset: 0 })).await.unwrap();
        while tally.totals().done_bytes < 20 * BLOCK as u64 {
            tokio::task::yield_now().await;
        }
        assert_eq!(tally.arrived(on_link).done_bytes, 0);
        assert!(tally.arrived(0).done_bytes <= on_link);
        drop(right);
    };
    let (sent, ()) = tokio::join!(outbox.session(&left), stall);
    assert!(sent.is_err_and(|error| error.is_passing()));
    assert!(tally.totals().moved_bytes <= on_link);
}

#[tokio::test]
async fn a_receiver_cannot_have_a_file_read_for_ever() {
    let dirs = dirs();
    let sources = Sources::collect(&[file(dirs.from.path(), "f", b"content")], false).unwrap();
    let (left, right) = pair();
    let mut outbox = Outbox::new(sources, Arc::default(), recorder().1, Duration::ZERO);
    let ask = async {
        right.send(control(&Control::Welcome { version: VERSION })).await.unwrap();
        for _ in 0..=PROOFS {
            right.send(control(&Control::Prove { id: 0, length: 7 })).await.unwrap();
        }
    };
    let (sent, ()) = tokio::join!(outbox.session(&left), ask);
    assert!(matches!(sent, Err(SendError::Malformed(_))), "{sent:?}");
}
