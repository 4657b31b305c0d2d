use std::time::Duration;

use tokio::time::Instant;

/// Complaints about one source that are passed on at once.
pub(super) const BURST: u32 = 16;

/// After that, one in this time.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// Keeps a source that says nonsense without end from burying everything else that there is to tell.
#[derive(Debug)]
pub(super) struct Complaints {
    left: u32,
    /// When `left` last grew.
    since: Instant,
    /// Not passed on since the last one that was.
    left_out: u64,
}

impl Complaints {
    pub(super) fn new(now: Instant) -> Self {
        Self { left: BURST, since: now, left_out: 0 }
    }

    /// The complaint as it is to be passed on, if it is.
    pub(super) fn admit(&mut self, now: Instant, text: String) -> Option<String> {
        let passed = now.saturating_duration_since(self.since).as_nanos() / EVERY.as_nanos();
        if passed > 0 {
            self.left = self.left.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX)).min(BURST);
            self.since = now;
        }
        if self.left == 0 {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        self.left -= 1;
        let others = match core::mem::take(&mut self.left_out) {
            0 => String::new(),
            1 => " (another one before it is left out)".into(),
            count => format!(" ({count} others before it are left out)"),
        };
        Some(text + &others)
    }
}

#[cfg(test)]
#[path = "complaints_tests.rs"]
mod tests;
