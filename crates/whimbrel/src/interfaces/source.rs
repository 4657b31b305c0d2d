use std::io;
use std::sync::Arc;

use core::future::Future;
use core::pin::Pin;

use tokio::sync::watch;

use super::board::Board;
use super::{Interfaces, LineError};

/// Why a source of link facts cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{source_name}: {cause}")]
pub struct LinkSourceError {
    /// Which source, in words for people.
    pub source_name: String,
    /// What happened; part of the message.
    pub cause: io::Error,
}

/// Somebody who knows about this host's links: the kernel, a modem manager, a test.
///
/// ```
/// use whimbrel::interfaces::{
///     Interface, Interfaces, LinkSource, LinkSourceError, Publisher, ReceivedPower,
/// };
///
/// /// A radio whose signal gets weaker and weaker.
/// struct Fading;
///
/// impl LinkSource for Fading {
///     fn name(&self) -> String {
///         "a fading radio".into()
///     }
///
///     fn run(
///         self: Box<Self>,
///         publisher: Publisher,
///     ) -> std::pin::Pin<Box<dyn Future<Output = Result<(), LinkSourceError>> + Send>> {
///         Box::pin(async move {
///             for dbm in 40..100 {
///                 let mut radio = Interface::default();
///                 radio.properties.signal = Some(ReceivedPower::from_dbm(-f64::from(dbm)));
///                 publisher.publish(Interfaces([("radio0".to_owned(), radio)].into()));
///                 tokio::time::sleep(std::time::Duration::from_millis(100)).await;
///             }
///             Ok(())
///         })
///     }
/// }
/// ```
pub trait LinkSource: Send + 'static {
    /// Whose word it is, for messages to people: "the file /run/links".
    fn name(&self) -> String;

    /// Publishes what it knows, first at once and then whenever it changes, until it is dropped.
    ///
    /// A source that ends leaves its last word standing.
    ///
    /// # Errors
    /// When nothing further can be learned.
    fn run(self: Box<Self>, publisher: Publisher) -> Run;
}

/// A source at work.
pub type Run = Pin<Box<dyn Future<Output = Result<(), LinkSourceError>> + Send>>;

/// Where a source says what it knows.
#[derive(Clone)]
pub struct Publisher {
    board: Arc<Board>,
    slot: usize,
}

impl Publisher {
    pub(super) fn new(board: Arc<Board>, slot: usize) -> Self {
        Self { board, slot }
    }

    /// Everything the source knows now; what it said before no longer counts.
    ///
    /// Only the latest word is kept, so a source that speaks too often costs time but no memory.
    pub fn publish(&self, interfaces: Interfaces) {
        self.board.publish(self.slot, interfaces);
    }

    /// What the other sources say, for one that depends on it.
    pub(super) fn others(&self) -> Others {
        Others { board: Arc::clone(&self.board), slot: self.slot, changes: self.board.changes() }
    }

    /// Something the source was told makes no sense; the endpoint's events tell.
    pub fn reject(&self, error: LineError) {
        self.board.reject(self.slot, error);
    }
}

/// What the other sources say.
pub(super) struct Others {
    board: Arc<Board>,
    slot: usize,
    changes: watch::Receiver<()>,
}

impl Others {
    /// All that they say together now.
    pub(super) fn now(&mut self) -> Interfaces {
        self.changes.mark_unchanged();
        self.board.read_others(self.slot)
    }

    /// Waits until anybody has said something since the last call of [`Self::now`].
    pub(super) async fn change(&mut self) {
        if self.changes.changed().await.is_err() {
            // Nobody will; we hold the board, so it does not come to that.
            core::future::pending().await
        }
    }
}

impl core::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Publisher").field("slot", &self.slot).finish_non_exhaustive()
    }
}
