//! Who is told of what happens in a shard: the program's [`Recorder`], and the subscribers of `tracing` where that is built in.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use whimbrel_machine::{Instant, Record};
use whimbrel_proto::{AssociationId, CloseReason};

use crate::events::{AssociationEvent, Subscriber};
use crate::mailbox::Mailbox;
use crate::recorder::Recorder;
use crate::spans::{self, Span};

/// What has to be told, and to whom. It costs nothing as long as nobody listens.
pub(crate) struct Witness {
    recorder: Option<Box<dyn Recorder>>,
    /// The associations that somebody wants to hear of, by number.
    watched: FxHashMap<u64, Watched>,
}

struct Watched {
    id: AssociationId,
    events: Arc<Subscriber>,
    span: Span,
}

impl Witness {
    pub(crate) fn new(recorder: Option<Box<dyn Recorder>>) -> Self {
        Self { recorder, watched: FxHashMap::default() }
    }

    /// Whether the machine should compare what there is with what there was.
    pub(crate) fn wants_records(&self) -> bool {
        self.recorder.is_some() || spans::want_records()
    }

    pub(crate) fn record(&mut self, now: Instant, record: Record) {
        if spans::want_records() {
            match self.watched.get(&record.subject) {
                Some(watched) => watched.span.record(&record),
                None => spans::record(&record),
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.record(now.saturating_since(Instant::ZERO), record);
        }
    }

    /// An association has come up.
    pub(crate) fn opened(&mut self, mailbox: &Mailbox) {
        let span = Span::open(mailbox.id, &mailbox.setup);
        if self.recorder.is_some() || span.is_heard() {
            let watched = Watched { id: mailbox.id, events: mailbox.subscribe(), span };
            self.watched.insert(mailbox.id.number(), watched);
        }
    }

    pub(crate) fn connect_failed(&self, reason: &CloseReason) {
        spans::connect_failed(reason);
    }

    /// Something may have happened to an association.
    pub(crate) fn look(&mut self, now: Instant, association: AssociationId) {
        if self.watched.is_empty() {
            return;
        }
        let number = association.number();
        let Some(watched) = self.watched.get(&number) else { return };
        if watched.tell(now, &mut self.recorder) {
            self.watched.remove(&number);
        }
    }

    /// The shard ends. Whoever waits for that finds everything recorded.
    pub(crate) fn end(&mut self, now: Instant) {
        for watched in core::mem::take(&mut self.watched).into_values() {
            watched.tell(now, &mut self.recorder);
        }
        self.recorder = None;
    }
}

impl Watched {
    /// Tells what has happened since the last call; true if that was the end of the association.
    fn tell(&self, now: Instant, recorder: &mut Option<Box<dyn Recorder>>) -> bool {
        let mut ended = false;
        while let Some(event) = self.events.try_recv() {
            self.span.tell(&event);
            if let Some(recorder) = recorder {
                recorder.event(now.saturating_since(Instant::ZERO), self.id, &event);
            }
            ended |= matches!(event, AssociationEvent::Closed { .. });
        }
        ended
    }
}
