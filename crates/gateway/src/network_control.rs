use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the network decides where a terminal goes. It does until the gateway refuses, falls silent or loses the terminal.
#[derive(Clone, Debug)]
pub struct NetworkControl(Arc<AtomicBool>);

impl Default for NetworkControl {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

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
