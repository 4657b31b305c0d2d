use core::time::Duration;

use tokio::time::Instant as TokioInstant;
use whimbrel_machine::Instant;

/// The one place where a real clock meets the machine's time: zero is the endpoint's creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: TokioInstant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: TokioInstant::now() }
    }

    pub(crate) fn now(self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }

    /// When `at` is on the runtime's clock; `None` if that is too far away to be expressed.
    pub(crate) fn to_tokio(self, at: Instant) -> Option<TokioInstant> {
        self.start.checked_add(Duration::from_nanos(at.as_nanos()))
    }
}
