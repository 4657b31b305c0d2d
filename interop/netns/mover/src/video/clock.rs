//! One clock for all processes of a run: the system's.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When the run begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin(Duration);

impl Begin {
    pub(crate) fn new(unix: f64) -> anyhow::Result<Self> {
        Ok(Self(Duration::try_from_secs_f64(unix)?))
    }

    /// Time since the begin; zero before it.
    pub(crate) fn now(self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(self.0)
    }

    /// Waits for a time after the begin.
    pub(crate) async fn wait(self, at: Duration) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        tokio::time::sleep((self.0 + at).saturating_sub(now)).await;
    }
}
