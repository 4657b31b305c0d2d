//! Rows of the grid, by place and contender.

use crate::experiment::{Cell, Row};
use crate::grid::{Contender, Place};
use crate::statistics::Estimate;

/// What was measured at a place.
pub(super) struct At<'a> {
    pub(super) place: Place,
    rows: Vec<&'a Row>,
}

impl<'a> At<'a> {
    /// All places, in the order of rows.
    pub(super) fn all(rows: &'a [Row]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for row in rows {
            let cell = Cell { series: row.series.clone(), axes: row.axes.clone() };
            let Some(place) = Place::of(&cell) else { continue };
            match all.iter_mut().rev().find(|known| known.place == place) {
                Some(known) => known.rows.push(row),
                None => all.push(Self { place, rows: vec![row] }),
            }
        }
        all
    }

    /// The mean of a metric over the repetitions that could measure it.
    pub(super) fn mean(&self, series: &str, metric: &str) -> Option<f64> {
        let of = self.rows.iter().filter(|row| row.series == series);
        let values = of.filter_map(|row| row.metrics.iter().find(|(name, _)| name == metric));
        Estimate::of(values.map(|(_, value)| *value)).map(|estimate| estimate.mean)
    }

    /// A metric of a contender.
    pub(super) fn of(&self, contender: Contender, metric: &str) -> Option<f64> {
        self.mean(contender.name(), metric)
    }

    /// The goodput of one of ours as a share of that of TCP with CUBIC. What packets have room for is taken into account: where both fill the
    /// bottleneck it is 1.
    pub(super) fn beside_tcp(&self, contender: Contender) -> f64 {
        let per_packet = |one: Contender| self.of(one, "goodput").unwrap_or_default() / one.payload() as f64;
        per_packet(contender) / per_packet(Contender::TcpCubic)
    }
}

/// The command that runs a cell again.
pub(super) fn replay(experiment: &str, place: Place, contender: Contender) -> String {
    let cell: Vec<String> = place.axes().iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    format!("whimbrel lab trace {experiment} --series {} --cell '{}'", contender.name(), cell.join(","))
}
