use proptest::prelude::*;
use rtnetlink::packet_core::NLM_F_DUMP;
use rtnetlink::proto::new_connection;
use rtnetlink::sys::protocols::NETLINK_GENERIC;

use super::super::fake_kernel::{self, FakeKernel, Question, done, error, netlink, part};
use super::*;

const OVERRUN: u16 = 4;

fn question() -> Message {
    Message { family: 30, command: 5, attributes: Vec::new() }
}

async fn answered(messages: Vec<Vec<u8>>) -> io::Result<Vec<Message>> {
    ask(&FakeKernel::new(move |_| Some(messages.clone())), question(), NLM_F_DUMP).await
}

#[tokio::test]
async fn a_family_is_asked_for_by_name() {
    let id = fake_kernel::attribute(1, &31_u16.to_ne_bytes());
    let name = fake_kernel::attribute(2, b"nl80211\0");
    let reply = part(16, 1, &[name.clone(), id]);
    let kernel = FakeKernel::new(move |_| Some(vec![reply.clone()]));
    assert_eq!(family(&kernel, "nl80211").await.unwrap(), 31);
    assert_eq!(kernel.asked(), [Question { family: 16, flags: 1, command: 3, attributes: name }]);
}

#[tokio::test]
async fn a_family_without_a_number_is_none() {
    for id in [&b""[..], &[31], &5_u16.to_ne_bytes(), &[0; 4]] {
        let reply = part(16, 1, &[fake_kernel::attribute(1, id)]);
        let kernel = FakeKernel::new(move |_| Some(vec![reply.clone()]));
        assert_eq!(family(&kernel, "x").await.unwrap_err().kind(), io::ErrorKind::NotFound, "{id:?}");
    }
}

/// A kernel refuses a question by an error and a dump by its end.
#[tokio::test]
async fn refusals_are_errors_and_acknowledgements_are_not() {
    let found = part(30, 7, &[]);
    for (messages, code) in [
        (vec![error(-2)], Some(2)),
        (vec![found.clone(), done(-19)], Some(19)),
        (vec![error(i32::MIN)], Some(i32::MAX)),
        (vec![found.clone(), error(0)], None),
        (vec![found.clone(), done(0)], None),
        // The length of what the dump has put into its last buffer.
        (vec![found.clone(), done(120)], None),
    ] {
        let outcome = answered(messages.clone()).await;
        assert_eq!(outcome.as_ref().err().and_then(io::Error::raw_os_error), code, "{messages:?}");
        assert_eq!(outcome.is_err(), code.is_some());
    }
    assert!(answered(vec![found, netlink(OVERRUN, 0, &[])]).await.is_err());
}

#[tokio::test]
async fn silence_is_an_error() {
    let error = ask(&FakeKernel::new(|_| None), question(), 0).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test]
async fn answers_are_bounded() {
    let messages = answered(vec![part(30, 7, &[]); 4 * MESSAGES_MAX]).await.unwrap();
    assert_eq!(messages.len(), MESSAGES_MAX);
}

/// The real kernel, as far as any Linux goes: the family of families has a number that never changes.
#[tokio::test]
async fn the_kernel_knows_its_controller_and_no_nonsense() {
    let (mut connection, handle, _) = match new_connection::<Message>(NETLINK_GENERIC) {
        Ok(connected) => connected,
        Err(error) => return eprintln!("skipped: no generic netlink here: {error}"),
    };
    connection.set_forward_done(true);
    let talk = async {
        assert_eq!(family(&handle, "nlctrl").await.unwrap(), CONTROLLER);
        assert_eq!(family(&handle, "whimbrel?").await.unwrap_err().kind(), io::ErrorKind::NotFound);
        let dump = Message { family: CONTROLLER, command: GET_FAMILY, attributes: Vec::new() };
        let families = ask(&handle, dump, NLM_F_DUMP).await.unwrap();
        let names = families.iter().flat_map(|family| attributes_of(&family.attributes));
        assert!(names.into_iter().any(|attribute| attribute == (FAMILY_NAME, b"nlctrl\0")));
        let nonsense = Message { family: CONTROLLER, command: 200, attributes: Vec::new() };
        assert!(ask(&handle, nonsense, 0).await.unwrap_err().raw_os_error().is_some());
    };
    tokio::select! {
        () = connection => panic!("the kernel has ended the conversation"),
        () = talk => {}
    }
}

#[test]
fn attributes_end_where_they_are_not_well_formed() {
    let fine = [attribute(1, b"abc"), attribute(0x8002, b"")].concat();
    let expected: [(u16, &[u8]); 2] = [(1, b"abc"), (2, b"")];
    // Twice the same from two hands; the flag of nested ones is no part of the kind.
    assert_eq!(fine, [fake_kernel::attribute(1, b"abc"), fake_kernel::attribute(0x8002, b"")].concat());
    for rest in [&[][..], &[0, 0, 3, 0], &[3, 0, 3, 0], &[8, 0, 3, 0, 1], &[0xff; 7], &[4, 0, 3]] {
        let bytes = [&fine[..], rest].concat();
        assert!(attributes_of(&bytes).eq(expected), "{rest:?}");
    }
}

proptest! {
    /// Whatever the bytes are, nothing is read that is not there.
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop_oneof![0_u8..12, any::<u8>()], 0..80)) {
        let read: usize = attributes_of(&bytes).map(|(_, value)| 4 + value.len()).sum();
        prop_assert!(read <= bytes.len());
        let message = Message::deserialize(&NetlinkHeader::default(), &bytes);
        prop_assert_eq!(message.is_ok(), bytes.len() >= HEADER);
        let _ = NetlinkMessage::<Message>::deserialize(&bytes);
    }
}
