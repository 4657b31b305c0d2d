use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use core::net::IpAddr;

use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::complaints::Complaints;
use super::{Interfaces, LineError, LinkSource, LinkSourceError, Publisher};
use crate::shared::lock;

/// Complaints kept until the driver takes them, at most.
const COMPLAINTS_MAX: usize = 64;

/// Where the sources write and the driver reads: the latest word of each, nothing else, so it is bounded.
pub(crate) struct Board {
    state: Mutex<State>,
    published: Notify,
    /// Marked with each new word.
    changes: watch::Sender<()>,
    /// Wakes the driver.
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    names: Vec<String>,
    sources: Vec<Option<Interfaces>>,
    /// How much may be said about each source.
    limits: Vec<Complaints>,
    changed: bool,
    complaints: Vec<Complaint>,
    /// Interfaces and addresses that are known not to be used, since they count on others.
    unused: BTreeSet<(String, IpAddr)>,
}

impl State {
    /// What is to be said of networks that are not used, and has not been said yet.
    fn note_unused(&mut self) -> Vec<String> {
        let all = Interfaces::merged(self.sources.iter().flatten());
        let before = core::mem::take(&mut self.unused);
        let mut texts = Vec::new();
        for (name, ip, holder) in all.unused().into_iter().take(COMPLAINTS_MAX) {
            if self.unused.insert((name.to_owned(), ip)) && !before.contains(&(name.to_owned(), ip)) {
                texts.push(format!(
                    "{name} and {holder} have the same address, {ip}, so that only {holder} is used (the preferred one, or else that of the \
                     better route)"
                ));
            }
        }
        texts
    }
}

/// Something a source could not make sense of, or the end of a source.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Complaint {
    pub(crate) source: String,
    pub(crate) text: String,
}

/// What is new on the board.
#[derive(Default)]
pub(crate) struct LinkNews {
    /// All interfaces, if anything about them may have changed.
    pub(crate) interfaces: Option<Interfaces>,
    pub(crate) complaints: Vec<Complaint>,
}

impl Board {
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        let changes = watch::Sender::new(());
        Arc::new(Self { state: Mutex::default(), published: Notify::new(), changes, wake: Box::new(wake) })
    }

    /// Starts the sources. They end when the set is dropped.
    pub(crate) fn start(self: &Arc<Self>, sources: Vec<Box<dyn LinkSource>>) -> JoinSet<()> {
        let mut running = JoinSet::new();
        {
            let mut state = lock(&self.state);
            state.names = sources.iter().map(|source| source.name()).collect();
            state.sources = vec![None; sources.len()];
            let now = Instant::now();
            state.limits = sources.iter().map(|_| Complaints::new(now)).collect();
        }
        for (slot, source) in sources.into_iter().enumerate() {
            let board = Arc::clone(self);
            let publisher = Publisher::new(Arc::clone(self), slot);
            running.spawn(async move {
                if let Err(error) = source.run(publisher).await {
                    board.failed(slot, &error);
                }
            });
        }
        running
    }

    pub(super) fn publish(&self, slot: usize, mut interfaces: Interfaces) {
        while interfaces.0.len() > Interfaces::MAX {
            interfaces.0.pop_last();
        }
        let unused = {
            let mut state = lock(&self.state);
            let Some(known) = state.sources.get_mut(slot) else { return };
            let first = known.is_none();
            if known.as_ref() == Some(&interfaces) {
                return;
            }
            *known = Some(interfaces);
            state.changed = true;
            if first {
                self.published.notify_waiters();
            }
            state.note_unused()
        };
        for text in unused {
            self.complain(slot, text);
        }
        self.changes.send_replace(());
        (self.wake)();
    }

    pub(super) fn reject(&self, slot: usize, error: LineError) {
        let admitted = match lock(&self.state).limits.get_mut(slot) {
            Some(limit) => limit.admit(Instant::now(), error.to_string()),
            None => Some(error.to_string()),
        };
        if let Some(text) = admitted {
            self.complain(slot, text);
        }
    }

    fn failed(&self, slot: usize, error: &LinkSourceError) {
        // Whoever waits for its first word waits no longer.
        if let Some(known) = lock(&self.state).sources.get_mut(slot) {
            known.get_or_insert_default();
        }
        self.published.notify_waiters();
        self.complain(slot, format!("no further link facts: {}", error.cause));
    }

    fn complain(&self, slot: usize, text: String) {
        let mut state = lock(&self.state);
        if state.complaints.len() < COMPLAINTS_MAX {
            let source = state.names.get(slot).cloned().unwrap_or_default();
            state.complaints.push(Complaint { source, text });
        }
        drop(state);
        (self.wake)();
    }

    /// Waits until every source has said something.
    pub(crate) async fn all_have_spoken(&self) {
        loop {
            let published = self.published.notified();
            if lock(&self.state).sources.iter().all(Option::is_some) {
                return;
            }
            published.await;
        }
    }

    /// What all sources say together, which is then no longer news; complaints stay.
    pub(crate) fn read(&self) -> Interfaces {
        let mut state = lock(&self.state);
        state.changed = false;
        Interfaces::merged(state.sources.iter().flatten())
    }

    /// What all but one say together.
    pub(super) fn read_others(&self, slot: usize) -> Interfaces {
        let state = lock(&self.state);
        let others = state.sources.iter().enumerate().filter(|(source, _)| *source != slot);
        Interfaces::merged(others.filter_map(|(_, word)| word.as_ref()))
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// What is new since the last call.
    pub(crate) fn take(&self) -> LinkNews {
        let mut state = lock(&self.state);
        let complaints = core::mem::take(&mut state.complaints);
        let changed = core::mem::take(&mut state.changed);
        let interfaces = changed.then(|| Interfaces::merged(state.sources.iter().flatten()));
        LinkNews { interfaces, complaints }
    }

    /// Whether [`Board::take`] would find anything.
    pub(crate) fn has_news(&self) -> bool {
        let state = lock(&self.state);
        state.changed || !state.complaints.is_empty()
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
