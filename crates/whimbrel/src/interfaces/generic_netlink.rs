//! Generic netlink: questions to the parts of the Linux kernel that have registered under a name (a family), and their
//! answers.
//!
//! Only the frame of a message is read here, and its attributes are split; what they mean the asker knows. Attributes that
//! nobody asks about, newer kernels' among them, are passed over whatever they hold.

use std::io;
use std::time::Duration;

use core::num::NonZeroI32;

use futures_util::{Stream, StreamExt};
use rtnetlink::packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable, NlasIterator,
};
use rtnetlink::proto::ConnectionHandle;
use rtnetlink::sys::SocketAddr;
use tokio::time::timeout;

/// The kernel answers at once. A question that an overrun has swallowed is never answered.
const ANSWER: Duration = Duration::from_secs(2);

/// Messages of one answer that are kept, at most.
pub(super) const MESSAGES_MAX: usize = 256;

/// Command, version, and two bytes that mean nothing (`struct genlmsghdr`).
const HEADER: usize = 4;

/// The family that knows the others, and its numbers (`linux/genetlink.h`).
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

/// A question or a part of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Message {
    pub(super) family: u16,
    pub(super) command: u8,
    /// As they are on the wire.
    pub(super) attributes: Vec<u8>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        HEADER + self.attributes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.fill(0);
        buffer[0] = self.command;
        buffer[HEADER..].copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for Message {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        match payload.split_at_checked(HEADER) {
            Some((own, attributes)) => {
                Ok(Self { family: header.message_type, command: own[0], attributes: attributes.to_vec() })
            }
            None => Err(DecodeError::from("a generic netlink message without its header")),
        }
    }
}

impl From<Message> for NetlinkPayload<Message> {
    fn from(message: Message) -> Self {
        Self::InnerMessage(message)
    }
}

/// Somebody who answers: the kernel, or a test in its place.
pub(super) trait Answers {
    /// Everything that comes back, as it comes; it ends when the answer is complete.
    fn put(
        &self,
        question: NetlinkMessage<Message>,
    ) -> io::Result<impl Stream<Item = NetlinkMessage<Message>> + Send + Unpin>;
}

impl Answers for ConnectionHandle<Message> {
    fn put(
        &self,
        question: NetlinkMessage<Message>,
    ) -> io::Result<impl Stream<Item = NetlinkMessage<Message>> + Send + Unpin> {
        self.request(question, SocketAddr::new(0, 0)).map_err(io::Error::other)
    }
}

/// Asks one question.
///
/// # Errors
/// The kernel's own, also those that it ends a dump with; [`io::ErrorKind::TimedOut`] if it does not answer.
pub(super) async fn ask(
    kernel: &(impl Answers + Sync),
    question: Message,
    flags: u16,
) -> io::Result<Vec<Message>> {
    let mut question = NetlinkMessage::from(question);
    question.header.flags = NLM_F_REQUEST | flags;
    let answer = async {
        let mut replies = kernel.put(question)?;
        let mut messages = Vec::new();
        while let Some(reply) = replies.next().await {
            match reply.payload {
                NetlinkPayload::InnerMessage(message) if messages.len() < MESSAGES_MAX => {
                    messages.push(message)
                }
                NetlinkPayload::Error(error) => refused(error.code)?,
                NetlinkPayload::Done(done) => refused(NonZeroI32::new(done.code))?,
                NetlinkPayload::Overrun(_) => return Err(io::Error::other("parts of the answer are lost")),
                _ => {}
            }
        }
        Ok(messages)
    };
    timeout(ANSWER, answer).await?
}

/// Errors are negative, and what is not one (an acknowledgement, the end of a dump) is not.
fn refused(code: Option<NonZeroI32>) -> io::Result<()> {
    match code {
        Some(code) if code.is_negative() => Err(io::Error::from_raw_os_error(code.get().saturating_neg())),
        _ => Ok(()),
    }
}

/// The number of the family of this name.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if the kernel has none, or those of [`ask`].
pub(super) async fn family(kernel: &(impl Answers + Sync), name: &str) -> io::Result<u16> {
    let attributes = attribute(FAMILY_NAME, &[name.as_bytes(), b"\0"].concat());
    let question = Message { family: CONTROLLER, command: GET_FAMILY, attributes };
    let replies = ask(kernel, question, 0).await?;
    let numbers = replies.iter().filter_map(|reply| {
        let (_, value) = attributes_of(&reply.attributes).find(|(kind, _)| *kind == FAMILY_ID)?;
        Some(u16::from_ne_bytes(value.try_into().ok()?))
    });
    // Smaller numbers are netlink's own.
    numbers.into_iter().find(|number| *number >= CONTROLLER).ok_or(io::ErrorKind::NotFound.into())
}

/// An attribute as it is on the wire: length, kind, value, and zeros up to the next multiple of four.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let attribute = DefaultNla::new(kind, value.to_vec());
    let mut bytes = vec![0; attribute.buffer_len()];
    attribute.emit(&mut bytes);
    bytes
}

/// Kinds and values, as far as they are well formed.
pub(super) fn attributes_of(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes).map_while(|attribute| {
        let attribute = attribute.ok()?;
        let (kind, end) = (attribute.kind(), usize::from(attribute.length()));
        Some((kind, attribute.into_inner().get(4..end)?))
    })
}

#[cfg(test)]
#[path = "generic_netlink_tests.rs"]
mod tests;
