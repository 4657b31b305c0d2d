//! What a host's user was promised and what it got, association by association. Survives a crash of the host.

use std::collections::BTreeMap;

use whimbrel_machine::Instant;
use whimbrel_proto::{CloseReason, Delivery, Part, Received, StreamId};

use crate::traffic::Traffic;

/// Complaints kept per host; one is enough to fail.
const MAX_COMPLAINTS: usize = 10;

/// A host's book.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) incarnations: Vec<Incarnation>,
    /// Promises that were broken, and when.
    pub(crate) complaints: Vec<(Instant, String)>,
    pub(crate) connects: u64,
    pub(crate) connects_failed: u64,
    /// The client has closed gracefully: it does not connect again.
    pub(crate) done: bool,
}

/// One life of an association as one end sees it: from Up or Restarted to Closed, Restarted or a crash.
#[derive(Debug)]
pub(crate) struct Incarnation {
    pub(crate) number: u8,
    pub(crate) outbound_streams: u16,
    pub(crate) began: Instant,
    pub(crate) end: Option<(Instant, End)>,
    /// Messages handed over and not refused, in that order.
    pub(crate) accepted: Vec<u32>,
    pub(crate) accepted_bytes: usize,
    /// What was announced as acknowledged.
    pub(crate) sent_bytes: usize,
    /// What the endpoint says it gave up at the end.
    pub(crate) undelivered: Option<usize>,
    /// The peer's incarnation that its messages belong to.
    pub(crate) peer: Option<u8>,
    /// Complete messages in the order of their arrival.
    pub(crate) received: Vec<u32>,
    seen: Vec<u64>,
    partial: BTreeMap<(StreamId, bool), Partial>,
    /// Nobody could have changed what was sent.
    pub(crate) trusted: bool,
}

/// How an incarnation ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Closed(CloseReason),
    Restarted,
    Crashed,
}

/// A message of which parts have arrived.
#[derive(Debug)]
struct Partial {
    ppid: u32,
    bytes: usize,
}

impl Ledger {
    pub(crate) fn complain(&mut self, now: Instant, what: impl Into<String>) {
        if self.complaints.len() < MAX_COMPLAINTS {
            self.complaints.push((now, what.into()));
        }
    }

    pub(crate) fn any_live(&self) -> bool {
        self.incarnations.iter().any(|i| i.end.is_none())
    }

    pub(crate) fn begin(&mut self, now: Instant, outbound_streams: u16) -> usize {
        if self.incarnations.len() >= 200 {
            self.complain(now, "two hundred associations, and none of them worked");
        }
        self.incarnations.push(Incarnation {
            number: (self.incarnations.len() + 1).min(255) as u8,
            outbound_streams,
            began: now,
            end: None,
            accepted: Vec::new(),
            accepted_bytes: 0,
            sent_bytes: 0,
            undelivered: None,
            peer: None,
            received: Vec::new(),
            seen: Vec::new(),
            partial: BTreeMap::new(),
            trusted: true,
        });
        self.incarnations.len() - 1
    }

    /// An incarnation ends; `undelivered` is what the endpoint says it gave up.
    pub(crate) fn end(&mut self, now: Instant, index: usize, end: End, undelivered: usize) {
        let incarnation = &mut self.incarnations[index];
        let clean = end == End::Closed(CloseReason::Shutdown);
        let (partial, trusted) = (incarnation.partial.len(), incarnation.trusted);
        incarnation.end = Some((now, end));
        incarnation.undelivered = Some(undelivered);
        if clean && undelivered > 0 {
            self.complain(now, format!("closed gracefully with {undelivered} bytes undelivered"));
        }
        if clean && trusted && partial > 0 {
            self.complain(now, "closed gracefully in the middle of a received message");
        }
    }

    /// The host has crashed: nothing more will be heard of its associations.
    pub(crate) fn crash(&mut self, now: Instant) {
        for incarnation in self.incarnations.iter_mut().filter(|i| i.end.is_none()) {
            incarnation.end = Some((now, End::Crashed));
        }
        self.done = false;
    }

    /// Takes down a received message or part; says what is wrong with it, if anything.
    pub(crate) fn receive(&mut self, index: usize, traffic: &Traffic, received: &Received) -> Option<String> {
        let incarnation = &mut self.incarnations[index];
        let ppid = received.ppid.0;
        let (peer, number) = ((ppid >> 24) as u8, ppid & 0x00ff_ffff);
        if number as usize >= traffic.messages.len() {
            return Some(format!("message {number} was never sent"));
        }
        if *incarnation.peer.get_or_insert(peer) != peer {
            return Some(format!("message {number} is from another association"));
        }
        if traffic.delivery(number) != received.delivery {
            return Some(format!("message {number} came as {:?}", received.delivery));
        }
        let content = traffic.content(peer, number);
        let complete = match incarnation.assemble(received, &content) {
            Ok(complete) => complete,
            Err(what) => return Some(format!("message {number}: {what}")),
        };
        if !complete {
            return None;
        }
        incarnation.received.push(number);
        let word = number as usize / 64;
        if incarnation.seen.len() <= word {
            incarnation.seen.resize(word + 1, 0);
        }
        let bit = 1 << (number % 64);
        if incarnation.seen[word] & bit != 0 {
            return Some(format!("message {number} came twice"));
        }
        incarnation.seen[word] |= bit;
        None
    }
}

impl Incarnation {
    /// What is wrong with the sum of what was acknowledged and what was given up, once the last refusal is known.
    pub(crate) fn imbalance(&self) -> Option<String> {
        let (accepted, sent, undelivered) = (self.accepted_bytes, self.sent_bytes, self.undelivered?);
        (sent + undelivered != accepted)
            .then(|| format!("accepted {accepted} bytes, acknowledged {sent}, gave up {undelivered}"))
    }

    /// Compares the part with the content; true if the message is complete with it.
    fn assemble(&mut self, received: &Received, content: &[u8]) -> Result<bool, String> {
        let key = (received.stream, received.delivery == Delivery::Ordered);
        let begun = self.partial.remove(&key);
        let begins = matches!(received.part, Part::Whole | Part::First);
        let start = match begun {
            Some(_) if begins => return Err("begins inside another one".to_owned()),
            None if !begins => return Err("goes on without having begun".to_owned()),
            Some(partial) if partial.ppid != received.ppid.0 => {
                return Err("is mixed with another one".to_owned());
            }
            Some(partial) => partial.bytes,
            None => 0,
        };
        let end = start + received.payload.len();
        if content.get(start..end) != Some(&received.payload[..]) {
            return Err(format!("bytes {start} to {end} of {} are wrong", content.len()));
        }
        let complete = matches!(received.part, Part::Whole | Part::Last);
        if complete && end != content.len() {
            return Err(format!("has {end} bytes instead of {}", content.len()));
        }
        if !complete {
            self.partial.insert(key, Partial { ppid: received.ppid.0, bytes: end });
        }
        Ok(complete)
    }
}
