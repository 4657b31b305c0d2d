use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the network decides where a host goes. It does from when a terminal's [`Agent`](crate::Agent) is there until the gateway refuses, falls silent or
/// loses the terminal; never for a correspondent, which is told of its peers alone.
#[derive(Clone, Debug, Default)]
pub struct NetworkControl(Arc<AtomicBool>);

impl NetworkControl {
    /// Whether it does now.
    #[must_use]
    pub fn decides(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, decides: bool) {
        self.0.store(decides, Ordering::Relaxed);
    }
}
