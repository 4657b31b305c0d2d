//! A quantity over time, in bounded memory.

/// Points kept at most: more than a chart has pixels.
const POINTS_MAX: usize = 4096;

/// Points in the order of time. When there are too many, every other goes, but not those that stand out.
#[derive(Debug, Default)]
pub(super) struct Series {
    points: Vec<(f64, f64)>,
    /// Of all that there ever were: the least and the most.
    range: Option<(f64, f64)>,
    last: Option<f64>,
}

impl Series {
    pub(super) fn push(&mut self, at: f64, value: f64) {
        if self.points.len() == POINTS_MAX {
            self.thin();
        }
        self.points.push((at, value));
        let (least, most) = self.range.unwrap_or((value, value));
        self.range = Some((least.min(value), most.max(value)));
        self.last = Some(value);
    }

    /// Of each four points the least and the most stay.
    fn thin(&mut self) {
        let mut kept = Vec::with_capacity(POINTS_MAX);
        for four in self.points.chunks(4) {
            let by_value = |a: &usize, b: &usize| four[*a].1.total_cmp(&four[*b].1);
            let least = (0..four.len()).min_by(by_value).unwrap_or(0);
            let most = (0..four.len()).max_by(by_value).unwrap_or(0);
            kept.push(four[least.min(most)]);
            if least != most {
                kept.push(four[least.max(most)]);
            }
        }
        self.points = kept;
    }

    pub(super) fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    pub(super) const fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    pub(super) const fn last(&self) -> Option<f64> {
        self.last
    }
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
