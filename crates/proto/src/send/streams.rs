use std::collections::VecDeque;

use bytes::Bytes;
use whimbrel_wire::{PayloadProtocolId, Ssn, StreamId};

use super::filling::Filling;
use super::stream_scheduler::StreamScheduler;
use crate::interface::{Acknowledge, Delivery, Message, Urgency};

/// A piece of a message, about to become a DATA chunk.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) payload: Bytes,
    pub(crate) ppid: PayloadProtocolId,
    pub(crate) stream: StreamId,
    pub(crate) ssn: Ssn,
    pub(crate) unordered: bool,
    pub(crate) beginning: bool,
    pub(crate) ending: bool,
    pub(crate) immediate: bool,
    /// Copies of it go by other paths, too.
    pub(crate) urgent: bool,
}

/// The outbound streams: messages waiting for their first transmission.
#[derive(Debug)]
pub(crate) struct OutboundStreams {
    /// Grows to the highest stream used.
    streams: Vec<Outbound>,
    count: u16,
    scheduler: Box<dyn StreamScheduler>,
    /// So many messages at the head of stream 0 go before everything else, and the scheduler does not know of them.
    ahead: u32,
    /// The message being cut up. DATA chunks of one message have consecutive TSNs (RFC 9260 §6.9), so it is
    /// finished before another begins.
    current: Option<Current>,
    queued: usize,
    /// How long the user has kept its room filled.
    pub(super) filling: Filling,
}

#[derive(Debug, Default)]
struct Outbound {
    messages: VecDeque<Message>,
    next_ssn: Ssn,
}

#[derive(Debug)]
struct Current {
    message: Message,
    ssn: Ssn,
    beginning: bool,
}

impl OutboundStreams {
    pub(crate) fn new(count: u16, scheduler: Box<dyn StreamScheduler>) -> Self {
        let filling = Filling::default();
        Self { streams: Vec::new(), count, scheduler, ahead: 0, current: None, queued: 0, filling }
    }

    /// Queues a message; the caller has checked the stream and the payload.
    pub(crate) fn push(&mut self, message: Message) {
        self.scheduler.enqueue(message.stream.0);
        self.append(message);
    }

    /// Queues a message of stream 0 before those of all other streams. Those that wait in stream 0 go before it.
    pub(crate) fn push_ahead(&mut self, message: Message) {
        debug_assert_eq!(message.stream, StreamId(0));
        let waiting = self.streams.first().map_or(0, |stream| stream.messages.len());
        if waiting == self.ahead as usize {
            self.ahead += 1;
        } else {
            self.scheduler.enqueue(0);
        }
        self.append(message);
    }

    fn append(&mut self, message: Message) {
        let index = message.stream.0 as usize;
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Outbound::default);
        }
        self.queued += message.payload.len();
        self.streams[index].messages.push_back(message);
    }

    /// Bytes of user data waiting.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queued == 0
    }

    pub(crate) fn count(&self) -> u16 {
        self.count
    }

    /// Bytes of user data left of the message whose turn it is.
    pub(crate) fn head_len(&mut self) -> Option<usize> {
        self.head().map(|current| current.message.payload.len())
    }

    /// Whether a part of that message has been taken already.
    pub(crate) fn has_begun(&self) -> bool {
        self.current.as_ref().is_some_and(|current| !current.beginning)
    }

    /// Takes the next piece, at most `room` bytes of user data (at least 1).
    pub(crate) fn take(&mut self, room: usize) -> Option<Piece> {
        let current = self.head()?;
        let ending = current.message.payload.len() <= room;
        let message = &mut current.message;
        let payload =
            if ending { core::mem::take(&mut message.payload) } else { message.payload.split_to(room) };
        let piece = Piece {
            ppid: message.ppid,
            stream: message.stream,
            ssn: current.ssn,
            unordered: message.delivery == Delivery::Unordered,
            beginning: core::mem::replace(&mut current.beginning, false),
            ending,
            immediate: ending && message.acknowledge == Acknowledge::Immediately,
            urgent: message.urgency == Urgency::Urgent,
            payload,
        };
        if ending {
            self.current = None;
        }
        self.queued -= piece.payload.len();
        Some(piece)
    }

    fn head(&mut self) -> Option<&mut Current> {
        if self.current.is_none() {
            let stream = match self.ahead.checked_sub(1) {
                Some(left) => {
                    self.ahead = left;
                    0
                }
                None => self.scheduler.next()?,
            };
            let outbound = &mut self.streams[stream as usize];
            let message = outbound.messages.pop_front().expect("the scheduler names streams with messages");
            if outbound.messages.is_empty() {
                outbound.messages.shrink_to(64);
            }
            let ssn = outbound.next_ssn;
            // RFC 9260 §6.5: unordered messages leave the Stream Sequence Number alone.
            if message.delivery == Delivery::Ordered {
                outbound.next_ssn = ssn.next();
            }
            self.current = Some(Current { message, ssn, beginning: true });
        }
        self.current.as_mut()
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
