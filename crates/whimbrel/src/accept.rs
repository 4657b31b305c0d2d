use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use whimbrel_proto::Command;

use crate::association::Association;
use crate::error::EndpointClosed;
use crate::shared::{Client, lock};

/// Associations that wait to be accepted, at most; further ones are aborted.
const BACKLOG: usize = 4096;

/// The associations of one SCTP port that nobody has accepted yet.
#[derive(Default)]
pub(crate) struct AcceptQueue {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    associations: VecDeque<Association>,
    closed: bool,
}

impl AcceptQueue {
    /// Hands an association to whoever accepts; gives it back if the queue is full or closed.
    pub(crate) fn push(&self, association: Association) -> Result<(), Association> {
        let mut waiting = lock(&self.waiting);
        if waiting.closed || waiting.associations.len() >= BACKLOG {
            return Err(association);
        }
        waiting.associations.push_back(association);
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }

    fn take(&self) -> Option<Result<Association, EndpointClosed>> {
        let mut waiting = lock(&self.waiting);
        let taken = waiting.associations.pop_front();
        if !waiting.associations.is_empty() {
            // One permit may stand for several arrivals: pass it on.
            self.arrived.notify_one();
        }
        match taken {
            Some(association) => Some(Ok(association)),
            None if waiting.closed => Some(Err(EndpointClosed)),
            None => None,
        }
    }

    pub(crate) fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.closed = true;
        let dropped = core::mem::take(&mut waiting.associations);
        drop(waiting);
        // Dropping a handle takes other locks.
        drop(dropped);
        self.arrived.notify_waiters();
    }
}

/// Accepts the associations that peers set up towards one SCTP port.
///
/// Dropping it stops listening: associations nobody has accepted yet are shut down, accepted ones live on.
pub struct Listener {
    client: Arc<Client>,
    queue: Arc<AcceptQueue>,
    port: u16,
}

impl Listener {
    pub(crate) fn new(client: Arc<Client>, queue: Arc<AcceptQueue>, port: u16) -> Self {
        Self { client, queue, port }
    }

    /// The SCTP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for the next association. Several tasks may wait at once; each gets its own.
    ///
    /// Up to 4,096 associations wait to be accepted; more are aborted.
    ///
    /// Cancel-safe: an association is taken only by a call that returns it.
    pub async fn accept(&self) -> Result<Association, EndpointClosed> {
        loop {
            let arrived = self.queue.arrived.notified();
            if let Some(outcome) = self.queue.take() {
                return outcome;
            }
            arrived.await;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut listeners = self.client.listeners();
        // The port may belong to a newer listener if the endpoint was closed meanwhile.
        if listeners.get(&self.port).is_some_and(|queue| Arc::ptr_eq(queue, &self.queue)) {
            listeners.remove(&self.port);
        }
        drop(listeners);
        self.client.listen(&Command::StopListening { port: self.port });
        self.queue.close();
    }
}

impl core::fmt::Debug for Listener {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Listener").field("port", &self.port).finish_non_exhaustive()
    }
}
