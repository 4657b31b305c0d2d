use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use whimbrel_machine::Instant;
use whimbrel_netsim::{Forgery, Intruder, Overheard};

/// The notes of somebody in the network who watches what is about to reach hosts, and changes nothing.
#[derive(Debug, Default)]
pub struct Notes<T>(Arc<Mutex<T>>);

struct Watcher<T, F> {
    notes: Notes<T>,
    note: F,
}

impl<T: Default + Send + 'static> Notes<T> {
    /// Empty notes, and who makes them: `note` is shown each packet as it arrives.
    pub fn by(
        note: impl FnMut(&mut T, Instant, Overheard<'_>) + Send + 'static,
    ) -> (Self, Box<dyn Intruder>) {
        let notes = Self::default();
        let watcher = Watcher { notes: Self(Arc::clone(&notes.0)), note };
        (notes, Box::new(watcher))
    }
}

impl<T> Notes<T> {
    /// What has been noted so far. Let go of it before the world goes on, which waits for it.
    pub fn read(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send, F: FnMut(&mut T, Instant, Overheard<'_>) + Send> Intruder for Watcher<T, F> {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, _forge: &mut Vec<Forgery>) {
        (self.note)(&mut self.notes.read(), now, packet);
    }
}
