//! A kernel for tests: it gets the bytes of a question and answers in bytes.
//!
//! The bytes are built here from `linux/netlink.h`, `linux/genetlink.h` and `linux/nl80211.h`, not by the code under test,
//! and not recorded from a kernel with a radio.

use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;

use core::task::Poll;

use futures_util::stream::{Stream, poll_fn};
use rtnetlink::packet_core::NetlinkMessage;

use super::generic_netlink::{Answers, Message};

const ERROR: u16 = 2;
const DONE: u16 = 3;
const MULTIPART: u16 = 2;

/// What there is to a question: the netlink message's type (the family), its flags, the command and the attributes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Question {
    pub(super) family: u16,
    pub(super) flags: u16,
    pub(super) command: u8,
    pub(super) attributes: Vec<u8>,
}

/// What comes back: netlink messages. `None` is silence.
pub(super) type Reply = Option<Vec<Vec<u8>>>;

pub(super) struct FakeKernel {
    answer: Box<dyn Fn(&Question) -> Reply + Send + Sync>,
    asked: Mutex<Vec<Question>>,
}

impl FakeKernel {
    pub(super) fn new(answer: impl Fn(&Question) -> Reply + Send + Sync + 'static) -> Self {
        Self { answer: Box::new(answer), asked: Mutex::default() }
    }

    pub(super) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

impl Answers for FakeKernel {
    fn put(
        &self,
        mut question: NetlinkMessage<Message>,
    ) -> io::Result<impl Stream<Item = NetlinkMessage<Message>> + Send + Unpin> {
        question.finalize();
        let mut bytes = vec![0xff; question.buffer_len()];
        question.serialize(&mut bytes);
        let number = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!(u32::from_ne_bytes(bytes[..4].try_into().unwrap()) as usize, bytes.len());
        assert_eq!(bytes[18..20], [0, 0], "reserved");
        let question = Question {
            family: number(4),
            flags: number(6),
            command: bytes[16],
            attributes: bytes[20..].to_vec(),
        };
        let reply = (self.answer)(&question);
        self.asked.lock().unwrap().push(question);
        let silent = reply.is_none();
        // As the codec of netlink-proto does, what cannot be read is passed over.
        let mut messages: VecDeque<_> =
            reply.iter().flatten().filter_map(|bytes| NetlinkMessage::deserialize(bytes).ok()).collect();
        Ok(poll_fn(move |_| match messages.pop_front() {
            None if silent => Poll::Pending,
            message => Poll::Ready(message),
        }))
    }
}

/// A netlink message: length, type, flags, sequence number, port; then the payload.
pub(super) fn netlink(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (16 + payload.len() as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(payload);
    bytes
}

/// A part of an answer.
pub(super) fn part(family: u16, command: u8, attributes: &[Vec<u8>]) -> Vec<u8> {
    netlink(family, MULTIPART, &[&[command, 1, 0, 0][..], &attributes.concat()].concat())
}

/// A refusal of the question, which is repeated in it.
pub(super) fn error(code: i32) -> Vec<u8> {
    netlink(ERROR, 0, &[&code.to_ne_bytes()[..], &[0; 16]].concat())
}

/// The end of a dump.
pub(super) fn done(code: i32) -> Vec<u8> {
    netlink(DONE, MULTIPART, &code.to_ne_bytes())
}

/// An attribute: length and kind, then the value, padded to a multiple of four bytes.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
