//! Hostile senders.

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::super::names::RelativePath;
use super::super::protocol::{BLOCK, PPID_DATA};
use super::super::receive::control;
use super::super::rules::Rules;
use super::super::testing::recorder;
use super::*;

fn offer(id: u32, name: &str, size: u64) -> Offer {
    let path = RelativePath::unchecked(vec![name.as_bytes().to_vec()]);
    Offer { id, kind: Kind::File, size, mtime: 0, mode: 0o644, path }
}

fn data(stream: u16, message: &DataMessage) -> Frame {
    let (ppid, bytes) = message.encode();
    Frame { stream, ppid, bytes }
}

/// Runs `act` on the thread an inbox lives on, and returns the replies.
fn with_inbox(act: impl FnOnce(&mut Inbox)) -> (TempDir, Vec<Control>) {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), Rules::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (replies, mut outgoing) = mpsc::channel(10_000);
    let mut inbox = Inbox::new(store, replies, Arc::default(), recorder().1, runtime.handle().clone());
    act(&mut inbox);
    inbox.settle();
    drop(inbox);
    let replies = std::iter::from_fn(|| outgoing.blocking_recv()).collect();
    (directory, replies)
}

fn hello(inbox: &mut Inbox) {
    inbox.frame(control(&Control::Hello { version: VERSION, files: 1, bytes: 1 })).unwrap();
}

#[test]
fn violations_end_the_transfer() {
    let begin = |id, offset| data(1, &DataMessage::Begin { id, offset });
    let content =
        |bytes: &'static [u8]| Frame { stream: 1, ppid: PPID_DATA, bytes: Bytes::from_static(bytes) };
    let good = || vec![control(&Control::Offer(offer(1, "f", 4))), begin(1, 0), content(b"ab")];
    let cases: Vec<(&str, Vec<Frame>)> = vec![
        (
            "data on the control stream",
            vec![Frame { stream: 0, ppid: PPID_DATA, bytes: Bytes::from_static(b"x") }],
        ),
        ("a second greeting", vec![control(&Control::Hello { version: 1, files: 0, bytes: 0 })]),
        ("a receiver's message", vec![control(&Control::Accept { id: 1, offset: 0 })]),
        ("an id twice", [good(), vec![control(&Control::Offer(offer(1, "g", 4)))]].concat()),
        ("begin of nothing", vec![begin(1, 0)]),
        ("begin at an offset", vec![control(&Control::Offer(offer(1, "f", 4))), begin(1, 3)]),
        ("begin twice", [good(), vec![begin(1, 0)]].concat()),
        ("content outside a file", vec![content(b"x")]),
        ("more content than offered", [good(), vec![content(b"abc")]].concat()),
        ("end before the size", [good(), vec![data(1, &DataMessage::End { hash: [0; 32] })]].concat()),
        ("claim without proof", [good(), vec![control(&Control::Claim { id: 1, hash: [0; 32] })]].concat()),
        (
            "cancel in the middle",
            [good(), vec![control(&Control::Cancel { id: 1, text: String::new() })]].concat(),
        ),
        ("unknown payload", vec![Frame { stream: 1, ppid: 99, bytes: Bytes::from_static(b"x") }]),
    ];
    for (what, frames) in cases {
        let (directory, _) = with_inbox(|inbox| {
            hello(inbox);
            let (last, before) = frames.split_last().unwrap();
            for frame in before {
                inbox.frame(frame.clone()).unwrap_or_else(|stop| panic!("{what}: too early: {stop}"));
            }
            assert!(matches!(inbox.frame(last.clone()), Err(Stop::Malformed(_))), "{what}");
        });
        assert!(!directory.path().join("f").exists(), "{what}");
    }
}

/// A busy file is offered again after a second, while what was sent of it is still on its way: the new offer waits until that is over.
#[test]
fn an_offer_waits_for_the_end_of_the_first_one() {
    let (_directory, replies) = with_inbox(|inbox| {
        hello(inbox);
        let one = control(&Control::Offer(offer(1, "f", 4)));
        let begin = data(1, &DataMessage::Begin { id: 1, offset: 2 });
        let claim = left_behind(inbox);
        [one.clone(), claim].into_iter().for_each(|frame| inbox.frame(frame).unwrap());
        let other = go_on(inbox);
        inbox.frame(begin).unwrap();
        inbox.frame(one).unwrap();
        let content = Frame { stream: 1, ppid: PPID_DATA, bytes: Bytes::from_static(b"c") };
        inbox.frame(content).unwrap();
        let ended = DataMessage::Abandon { reason: Abandon::Ended, text: String::new() };
        inbox.frame(data(1, &ended)).unwrap();
        drop(other);
    });
    let prove = Control::Prove { id: 1, length: 2 };
    let accept = Control::Accept { id: 1, offset: 2 };
    assert_eq!(replies[1..3], [prove.clone(), accept]);
    assert!(matches!(replies[3], Control::Result { outcome: Outcome::Busy, .. }));
    assert_eq!(replies[4..], [prove]);
}

/// Two bytes of a file, which nobody writes; and the claim of who has them.
fn left_behind(inbox: &Inbox) -> Frame {
    let other = inbox.store.begin(&offer(1, "f", 4), Start::default()).unwrap().unwrap();
    other.write(b"ab").unwrap();
    control(&Control::Claim { id: 1, hash: *blake3::hash(b"ab").as_bytes() })
}

/// Somebody else goes on with them.
fn go_on(inbox: &Inbox) -> Partial {
    let mut hasher = Box::new(blake3::Hasher::new());
    hasher.update(b"ab");
    inbox.store.begin(&offer(1, "f", 4), Start { copy: Some(0), hasher }).unwrap().unwrap()
}

/// A sender that has died is started again: a window of content was on its way when it heard that the first one was still thought to write.
#[test]
fn who_would_be_busy_is_not_accepted() {
    let (_directory, replies) = with_inbox(|inbox| {
        hello(inbox);
        let claim = left_behind(inbox);
        let other = go_on(inbox);
        let one = control(&Control::Offer(offer(1, "f", 4)));
        [one.clone(), claim.clone()].into_iter().for_each(|frame| inbox.frame(frame).unwrap());
        drop(other);
        [one, claim].into_iter().for_each(|frame| inbox.frame(frame).unwrap());
    });
    let prove = Control::Prove { id: 1, length: 2 };
    assert_eq!(replies[1], prove);
    assert!(matches!(replies[2], Control::Result { outcome: Outcome::Busy, .. }), "{replies:?}");
    assert_eq!(replies[3..], [prove, Control::Accept { id: 1, offset: 2 }]);
}

/// Two send the same file at the same time. The second one has sent it, and is told so.
#[test]
fn what_came_twice_is_verified_twice() {
    let (_directory, replies) = with_inbox(|inbox| {
        hello(inbox);
        let hash = blake3::hash(b"abcd");
        let other = inbox.store.begin(&offer(1, "f", 4), Start::default()).unwrap().unwrap();
        let content = Frame { stream: 1, ppid: PPID_DATA, bytes: Bytes::from_static(b"abcd") };
        let begin = data(1, &DataMessage::Begin { id: 1, offset: 0 });
        let one = control(&Control::Offer(offer(1, "f", 4)));
        [one, begin, content].into_iter().for_each(|frame| inbox.frame(frame).unwrap());
        other.write(b"abcd").unwrap();
        assert!(matches!(inbox.store.finish(other, &offer(1, "f", 4), hash), Ok(Placed::AsOffered)));
        inbox.frame(data(1, &DataMessage::End { hash: *hash.as_bytes() })).unwrap();
    });
    let last = replies.last().unwrap();
    assert!(matches!(last, Control::Result { outcome: Outcome::Verified, .. }), "{last:?}");
}

#[test]
fn nothing_counts_before_the_greeting() {
    with_inbox(|inbox| {
        assert!(inbox.frame(control(&Control::Offer(offer(1, "f", 4)))).is_err());
        assert!(inbox.frame(data(1, &DataMessage::Begin { id: 1, offset: 0 })).is_err());
    });
}

#[test]
fn offers_are_bounded() {
    with_inbox(|inbox| {
        hello(inbox);
        for id in 0..2 * WINDOW as u32 {
            inbox.frame(control(&Control::Offer(offer(id, &format!("f{id}"), 1)))).unwrap();
        }
        assert!(inbox.frame(control(&Control::Offer(offer(9999, "last", 1)))).is_err());
    });
}

#[test]
fn a_hostile_name_fails_alone() {
    let (directory, replies) = with_inbox(|inbox| {
        hello(inbox);
        for (id, name) in ["../escape", "..", "/etc/passwd", ".whimbrel-partial", ""].into_iter().enumerate()
        {
            inbox.frame(control(&Control::Offer(offer(id as u32, name, 1)))).unwrap();
        }
        inbox.frame(control(&Control::Offer(offer(99, "good", 1)))).unwrap();
    });
    let refused =
        replies.iter().filter(|r| matches!(r, Control::Result { outcome: Outcome::BadName, .. })).count();
    assert_eq!(refused, 5);
    assert!(replies.contains(&Control::Accept { id: 99, offset: 0 }));
    assert!(!directory.path().parent().unwrap().join("escape").exists());
}

#[test]
fn content_that_does_not_match_its_hash_is_thrown_away() {
    let (directory, replies) = with_inbox(|inbox| {
        hello(inbox);
        inbox.frame(control(&Control::Offer(offer(1, "f", 4)))).unwrap();
        inbox.frame(data(1, &DataMessage::Begin { id: 1, offset: 0 })).unwrap();
        inbox.frame(data(1, &DataMessage::Data(Bytes::from_static(b"abcd")))).unwrap();
        inbox.frame(data(1, &DataMessage::End { hash: [7; 32] })).unwrap();
    });
    assert!(replies.iter().any(|r| matches!(r, Control::Result { outcome: Outcome::Corrupt, .. })));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

fn frames() -> impl Strategy<Value = Frame> {
    let id = 0..3_u32;
    let message = prop_oneof![
        (id.clone(), 0..5_u64).prop_map(|(id, size)| control(&Control::Offer(offer(
            id,
            &format!("f{id}"),
            size
        )))),
        (id.clone(), 1..4_u16, 0..3_u64)
            .prop_map(|(id, stream, offset)| data(stream, &DataMessage::Begin { id, offset })),
        (1..4_u16, 1..4_usize)
            .prop_map(|(stream, length)| data(stream, &DataMessage::Data(vec![1; length].into()))),
        (1..4_u16, 1..5_usize).prop_map(|(stream, length)| {
            data(stream, &DataMessage::End { hash: *blake3::hash(&vec![1; length]).as_bytes() })
        }),
        (1..4_u16).prop_map(|stream| data(
            stream,
            &DataMessage::Abandon { reason: Abandon::Unreadable, text: String::new() }
        )),
        (id.clone(), 1..5_usize).prop_map(|(id, length)| control(&Control::Claim {
            id,
            hash: *blake3::hash(&vec![1; length]).as_bytes()
        })),
        id.prop_map(|id| control(&Control::Cancel { id, text: String::new() })),
    ];
    message
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Any sequence of well-formed messages: no panic, and what is in place has the content it should have.
    #[test]
    fn any_conversation_leaves_only_whole_files(frames in prop::collection::vec(frames(), 0..40)) {
        let (directory, _) = with_inbox(|inbox| {
            hello(inbox);
            for frame in frames {
                if inbox.frame(frame).is_err() {
                    break;
                }
            }
        });
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let content = std::fs::read(&path).unwrap();
                prop_assert!(content.iter().all(|&byte| byte == 1) && content.len() < BLOCK);
            }
        }
    }
}
