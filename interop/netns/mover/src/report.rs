//! What the receiver saw.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{bail, ensure};

use crate::pace::Pace;

/// Gaps above this are listed one by one.
const WORTH_TELLING: Duration = Duration::from_millis(50);

/// So many gaps are listed; those after them only count for the largest.
const GAPS_MAX: usize = 2000;

/// Counts arrivals.
#[derive(Debug)]
pub(crate) struct Report {
    begin: Instant,
    /// The same moment on the clock that scripts read.
    begin_unix: Duration,
    patience: Duration,
    first: Option<Instant>,
    last: Option<Instant>,
    records: u64,
    bytes: u64,
    largest: (Duration, Duration),
    latest: (Duration, Duration),
    gaps: Vec<(Duration, Duration)>,
}

impl Report {
    /// Begins now. When nothing arrives for `patience`, the stream counts as broken.
    pub(crate) fn new(patience: Duration) -> Self {
        let zero = (Duration::ZERO, Duration::ZERO);
        Self {
            begin: Instant::now(),
            begin_unix: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            patience,
            first: None,
            last: None,
            records: 0,
            bytes: 0,
            largest: zero,
            latest: zero,
            gaps: Vec::new(),
        }
    }

    /// Waits for what comes next, but not for ever.
    pub(crate) async fn expect<T>(&self, next: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        match tokio::time::timeout(self.patience, next).await {
            Ok(come) => come,
            Err(_) => bail!("nothing came for {} s", self.patience.as_secs()),
        }
    }

    /// A record has arrived; every record must, in order.
    pub(crate) fn arrived(&mut self, number: u64, pace: Pace) -> anyhow::Result<()> {
        ensure!(number == self.records, "record {number} instead of {}", self.records);
        let now = Instant::now();
        let first = *self.first.get_or_insert(now);
        if let Some(last) = self.last.replace(now) {
            let gap = (last - self.begin, now - last);
            if gap.1 > self.largest.1 {
                self.largest = gap;
            }
            if gap.1 > WORTH_TELLING && self.gaps.len() < GAPS_MAX {
                self.gaps.push(gap);
            }
        }
        if pace.rate > 0 {
            let due = first + Duration::from_secs_f64(number as f64 / f64::from(pace.rate));
            let late = now.saturating_duration_since(due);
            if late > self.latest.0 {
                self.latest = (late, now - self.begin);
            }
        }
        self.records += 1;
        self.bytes += u64::from(pace.size);
        Ok(())
    }

    /// Prints it as one line of JSON.
    pub(crate) fn print(&self, transport: &str, error: Option<&anyhow::Error>) {
        let ms = |duration: Duration| (duration.as_secs_f64() * 1e4).round() / 10.0;
        let gaps: Vec<_> = self
            .gaps
            .iter()
            .map(|&(at, gap)| serde_json::json!({"at_ms": ms(at), "gap_ms": ms(gap)}))
            .collect();
        let report = serde_json::json!({
            "transport": transport, "records": self.records, "bytes": self.bytes,
            "began_unix_ms": ms(self.begin_unix),
            "duration_ms": self.last.map_or(0.0, |last| ms(last - self.begin)),
            "largest_gap_ms": ms(self.largest.1), "largest_gap_at_ms": ms(self.largest.0), "gaps": gaps,
            "latest_ms": ms(self.latest.0), "latest_at_ms": ms(self.latest.1),
            "complete": error.is_none(), "error": error.map(|error| format!("{error:#}")),
        });
        println!("{report}");
    }
}
