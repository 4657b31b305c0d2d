//! What the receiver saw.

use std::time::{Duration, Instant};

use anyhow::ensure;

/// Gaps above this are listed one by one.
const WORTH_TELLING: Duration = Duration::from_millis(100);

/// Counts arrivals.
#[derive(Debug)]
pub(crate) struct Report {
    begin: Instant,
    last: Option<Instant>,
    records: u64,
    bytes: u64,
    largest: (Duration, Duration),
    gaps: Vec<(Duration, Duration)>,
}

impl Report {
    /// Begins now.
    pub(crate) fn new() -> Self {
        let zero = (Duration::ZERO, Duration::ZERO);
        Self { begin: Instant::now(), last: None, records: 0, bytes: 0, largest: zero, gaps: Vec::new() }
    }

    /// A record has arrived; every record must, in order.
    pub(crate) fn arrived(&mut self, number: u64, bytes: usize) -> anyhow::Result<()> {
        ensure!(number == self.records, "record {number} instead of {}", self.records);
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            let gap = (last - self.begin, now - last);
            if gap.1 > self.largest.1 {
                self.largest = gap;
            }
            if gap.1 > WORTH_TELLING {
                self.gaps.push(gap);
            }
        }
        self.records += 1;
        self.bytes += bytes as u64;
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
            "duration_ms": self.last.map_or(0.0, |last| ms(last - self.begin)),
            "largest_gap_ms": ms(self.largest.1), "largest_gap_at_ms": ms(self.largest.0), "gaps": gaps,
            "complete": error.is_none(), "error": error.map(|error| format!("{error:#}")),
        });
        println!("{report}");
    }
}
