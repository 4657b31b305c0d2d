//! What an association has done, whatever became of it meanwhile.

use super::Association;
use crate::interface::Totals;

impl Association {
    /// Totals since it was made, whatever the peer did meanwhile.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.past.as_deref().copied().unwrap_or_default();
        if let Some(open) = self.open() {
            totals.add(&open.totals());
        }
        totals
    }

    /// What was open is over: what it has counted stays.
    pub(crate) fn keep_totals(&mut self) {
        if self.open().is_some() {
            self.past = Some(Box::new(self.totals().gone()));
        }
    }
}
