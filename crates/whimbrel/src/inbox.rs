use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

use rustc_hash::FxHashMap;
use whimbrel_proto::{Command, ConnectToken, HandOver};

use crate::EndpointClosed;
use crate::shared::{ConnectReply, Request, lock};

/// Bytes handed over by other shards that wait for the driver, at most. What is too much is dropped, as a socket drops what its buffer
/// has no room for.
pub(crate) const HANDED_OVER_MAX: usize = 4 << 20;

/// What the driver of a shard takes each time it runs.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) commands: VecDeque<Command>,
    pub(crate) requests: Vec<Request>,
    /// By other shards.
    pub(crate) handed_over: Vec<HandOver>,
}

impl Wishes {
    fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.requests.is_empty() && self.handed_over.is_empty()
    }
}

/// Where handles and other shards leave what the driver of a shard is to do.
#[derive(Default)]
pub(crate) struct Inbox {
    queue: Mutex<Queue>,
}

#[derive(Default)]
pub(crate) struct Queue {
    wishes: Wishes,
    /// Of what has been handed over.
    bytes: usize,
    connecting: FxHashMap<u64, ConnectReply>,
    next_token: u64,
    /// Set while the driver sleeps: whoever adds a wish takes it and wakes the driver, once.
    sleeper: Option<Waker>,
    /// No new associations and listeners.
    closing: bool,
    /// The driver is gone.
    closed: bool,
}

impl Queue {
    /// Adds a command. A closed endpoint has nobody to carry it out, so it is dropped.
    pub(crate) fn push(&mut self, command: Command) {
        if !self.closed {
            self.wishes.commands.push_back(command);
        }
    }

    /// To be fired once the locks are released.
    pub(crate) fn wake(&mut self) -> Wake {
        Wake(self.sleeper.take())
    }
}

/// Wakes the driver when fired, if it sleeps. Separate from pushing so that no lock is held while waking.
#[must_use]
pub(crate) struct Wake(Option<Waker>);

impl Wake {
    pub(crate) const NOBODY: Self = Self(None);

    pub(crate) fn fire(self) {
        if let Some(waker) = self.0 {
            waker.wake();
        }
    }
}

impl Inbox {
    /// Wakes the driver.
    pub(crate) fn wake(&self) {
        let wake = self.queue().wake();
        wake.fire();
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Adds a command and wakes the driver.
    pub(crate) fn command(&self, command: Command) {
        let mut queue = self.queue();
        queue.push(command);
        let wake = queue.wake();
        drop(queue);
        wake.fire();
    }

    /// Adds a request and wakes the driver. A closed endpoint drops it, and with it the channel for the answer.
    pub(crate) fn request(&self, request: Request) {
        let mut queue = self.queue();
        if queue.closed {
            return;
        }
        queue.wishes.requests.push(request);
        let wake = queue.wake();
        drop(queue);
        wake.fire();
    }

    /// Adds what another shard has received and wakes the driver. False if there is no room.
    pub(crate) fn hand_over(&self, hand_over: HandOver) -> bool {
        let mut queue = self.queue();
        let bytes = queue.bytes + hand_over.size();
        if queue.closed || bytes > HANDED_OVER_MAX {
            return false;
        }
        queue.bytes = bytes;
        queue.wishes.handed_over.push(hand_over);
        let wake = queue.wake();
        drop(queue);
        wake.fire();
        true
    }

    /// Asks for an association; the answer comes through `reply`.
    pub(crate) fn connect(
        &self,
        reply: ConnectReply,
        command: impl FnOnce(ConnectToken) -> Command,
    ) -> Result<ConnectToken, EndpointClosed> {
        let mut queue = self.queue();
        if queue.closing || queue.closed {
            return Err(EndpointClosed);
        }
        let token = ConnectToken(queue.next_token);
        queue.next_token += 1;
        queue.connecting.insert(token.0, reply);
        queue.push(command(token));
        let wake = queue.wake();
        drop(queue);
        wake.fire();
        Ok(token)
    }

    /// Gives up an attempt. Nothing happens if it has been answered already.
    pub(crate) fn cancel_connect(&self, token: ConnectToken) {
        let mut queue = self.queue();
        if queue.connecting.remove(&token.0).is_some() {
            queue.push(Command::CancelConnect { token });
            let wake = queue.wake();
            drop(queue);
            wake.fire();
        }
    }

    /// Whoever waits for the answer to `token`, once.
    pub(crate) fn take_connecting(&self, token: ConnectToken) -> Option<ConnectReply> {
        self.queue().connecting.remove(&token.0)
    }

    pub(crate) fn is_connecting(&self) -> bool {
        !self.queue().connecting.is_empty()
    }

    /// Fails every attempt that is under way.
    fn fail_connecting(&self) {
        let replies = core::mem::take(&mut self.queue().connecting);
        for reply in replies.into_values() {
            // The caller may have given up meanwhile.
            let _ = reply.send(Err(EndpointClosed.into()));
        }
    }

    /// Moves all wishes to `wishes`, whose commands must have been carried out. True if there are any.
    pub(crate) fn take_wishes(&self, wishes: &mut Wishes) -> bool {
        let mut queue = self.queue();
        if wishes.commands.is_empty() {
            core::mem::swap(&mut queue.wishes.commands, &mut wishes.commands);
        }
        wishes.requests.append(&mut queue.wishes.requests);
        wishes.handed_over.append(&mut queue.wishes.handed_over);
        queue.bytes = 0;
        !wishes.is_empty()
    }

    /// Puts the driver to sleep unless a wish has come meanwhile.
    pub(crate) fn park(&self, waker: &Waker) -> bool {
        let mut queue = self.queue();
        if !queue.wishes.is_empty() {
            return false;
        }
        match &mut queue.sleeper {
            Some(old) => old.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        true
    }

    /// Refuses new associations from now on, and ends those that are waiting.
    pub(crate) fn begin_close(&self, request: Request) {
        self.queue().closing = true;
        self.request(request);
        self.fail_connecting();
    }

    pub(crate) fn is_closing(&self) -> bool {
        let queue = self.queue();
        queue.closing || queue.closed
    }

    /// Nobody carries out wishes any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.queue().closed
    }

    /// The driver's last word.
    pub(crate) fn finish(&self) {
        let wishes = {
            let mut queue = self.queue();
            queue.closed = true;
            core::mem::take(&mut queue.wishes)
        };
        // Dropped outside the lock: dropping messages and channels runs code that is not ours.
        drop(wishes);
        self.fail_connecting();
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
