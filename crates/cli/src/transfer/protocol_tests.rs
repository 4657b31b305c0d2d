use proptest::prelude::*;

use super::super::cursor::MAX_TEXT;
use super::*;

fn text() -> impl Strategy<Value = String> {
    ".{0,40}"
}

fn offer() -> impl Strategy<Value = Offer> {
    let names = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..=255), 0..=64);
    let kind = prop_oneof![Just(Kind::File), Just(Kind::Directory)];
    (any::<u32>(), kind, any::<u64>(), any::<i64>(), 0..=0o777_u16, names).prop_map(
        |(id, kind, size, mtime, mode, names)| Offer {
            id,
            kind,
            size,
            mtime,
            mode,
            path: RelativePath::unchecked(names),
        },
    )
}

fn message() -> impl Strategy<Value = Control> {
    let outcome = (0..Outcome::ALL.len()).prop_map(|index| Outcome::ALL[index]);
    prop_oneof![
        (any::<u16>(), any::<u64>(), any::<u64>()).prop_map(|(version, files, bytes)| Control::Hello {
            version,
            files,
            bytes
        }),
        any::<u16>().prop_map(|version| Control::Welcome { version }),
        offer().prop_map(Control::Offer),
        (any::<u32>(), any::<u64>()).prop_map(|(id, length)| Control::Prove { id, length }),
        (any::<u32>(), any::<Hash>()).prop_map(|(id, hash)| Control::Claim { id, hash }),
        (any::<u32>(), any::<u64>()).prop_map(|(id, offset)| Control::Accept { id, offset }),
        (any::<u32>(), outcome, text()).prop_map(|(id, outcome, text)| Control::Result { id, outcome, text }),
        (any::<u32>(), text()).prop_map(|(id, text)| Control::Cancel { id, text }),
        Just(Control::Bye),
        text().prop_map(|text| Control::Fatal { text }),
    ]
}

fn data() -> impl Strategy<Value = DataMessage> {
    let reason = prop_oneof![Just(Abandon::Unreadable), Just(Abandon::Changed), Just(Abandon::Ended)];
    prop_oneof![
        (any::<u32>(), any::<u64>()).prop_map(|(id, offset)| DataMessage::Begin { id, offset }),
        prop::collection::vec(any::<u8>(), 1..100).prop_map(|bytes| DataMessage::Data(bytes.into())),
        any::<Hash>().prop_map(|hash| DataMessage::End { hash }),
        (reason, text()).prop_map(|(reason, text)| DataMessage::Abandon { reason, text }),
    ]
}

proptest! {
    #[test]
    fn control_messages_survive(message in message()) {
        prop_assert_eq!(Control::decode(&message.encode()), Ok(message));
    }

    #[test]
    fn bytes_appended_by_a_later_version_are_ignored(message in message(), more in prop::collection::vec(any::<u8>(), 1..20)) {
        let mut bytes = message.encode().to_vec();
        bytes.extend(more);
        prop_assert_eq!(Control::decode(&bytes), Ok(message));
    }

    #[test]
    fn every_truncation_is_an_error(message in message(), at in any::<prop::sample::Index>()) {
        let bytes = message.encode();
        // Who may read a file need not be said.
        let needed = bytes.len() - if matches!(message, Control::Offer(_)) { 2 } else { 0 };
        prop_assert!(Control::decode(&bytes[..at.index(needed)]).is_err());
    }

    #[test]
    fn any_bytes_are_judged_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), ppid in PPID_CONTROL..PPID_CONTROL + 8) {
        let _ = Control::decode(&bytes);
        let _ = DataMessage::decode(ppid, bytes.into());
    }

    #[test]
    fn data_messages_survive(message in data()) {
        let (ppid, bytes) = message.encode();
        prop_assert_eq!(DataMessage::decode(ppid, bytes), Ok(message));
    }
}

#[test]
fn long_texts_are_cut_between_characters() {
    let sent = Control::Fatal { text: "é".repeat(400) };
    let Ok(Control::Fatal { text }) = Control::decode(&sent.encode()) else { panic!("not a Fatal") };
    assert_eq!(text, "é".repeat(MAX_TEXT / 2));
}

#[test]
fn the_longest_offer_is_a_small_message() {
    let path = RelativePath::unchecked(vec![vec![b'x'; 255]; 64]);
    let offer = Offer { id: 1, kind: Kind::File, size: 1, mtime: 0, mode: 0o644, path };
    assert!(Control::Offer(offer).encode().len() < BLOCK);
}

#[test]
fn other_protocols_are_recognised() {
    assert_eq!(Control::decode(b"\x01HTTP\0\x01"), Err(Malformed("not a Whimbrel file transfer")));
}
