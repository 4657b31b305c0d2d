use super::{LossDetection, SackNews};
use crate::send::outstanding::Outstanding;
use crate::send::report::Report;

/// Miss indications up to one horizon for the whole association (RFC 9260 §7.2.4): whatever is missing below the highest
/// TSN newly acknowledged has one more, and is lost when it has as many as the threshold, once until T3-rtx expires.
#[derive(Debug)]
pub(in crate::send) struct MissIndications {
    threshold: u8,
}

impl MissIndications {
    /// `threshold` is 3 in RFC 9260.
    pub(in crate::send) fn new(threshold: u8) -> Self {
        Self { threshold }
    }

    /// One miss indication for the chunk at `index` if it is in flight and has not been fast-retransmitted.
    fn miss(&self, index: usize, outstanding: &mut Outstanding, report: &mut Report) {
        let Some((misses, _)) = outstanding.suspected(index) else { return };
        misses.indications = misses.indications.saturating_add(1);
        if misses.indications >= self.threshold {
            outstanding.lose(index, report);
        }
    }
}

impl LossDetection for MissIndications {
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report) {
        let mut from = 0;
        while let Some(index) = outstanding.next_suspect(from..sack.newly_end) {
            from = index + 1;
            self.miss(index, outstanding, report);
        }
        // A SACK that advances the Cumulative TSN Ack Point in Fast Recovery tells of all that it reports missing.
        if report.cumulative_advanced && sack.met.recovery.is_active() {
            let mut from = sack.newly_end;
            while let Some(index) = outstanding.next_suspect(from..sack.end) {
                from = index + 1;
                let path = outstanding.suspected(index).map(|(_, path)| path);
                if path.is_some_and(|path| sack.met.recovery.covers(path)) {
                    self.miss(index, outstanding, report);
                }
            }
        }
    }

    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, report: &mut Report) {
        self.miss(index, outstanding, report);
    }
}
