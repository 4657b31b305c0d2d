//! Means and confidence intervals.

/// The 97.5 % quantile of Student's t distribution for 1 to 10 degrees of freedom.
const FEW: [f64; 10] =
    [12.7062, 4.302_65, 3.182_45, 2.776_45, 2.570_58, 2.446_91, 2.364_62, 2.306_00, 2.262_16, 2.228_14];
/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_985;

/// The part of a mean below which nothing was measured: sums of 64-bit numbers are off by some 1e-16 of themselves.
const ROUNDING: f64 = 1e-9;

/// What repetitions tell about a metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// How many of them could measure it.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean (t distribution); 0 for a single value, and where values differ by no more than the
    /// arithmetic has rounded.
    pub half_width: f64,
}

impl Estimate {
    /// Of these values; those that are not finite are left out. `None` if nothing is left.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        if count == 1 {
            return Some(Self { count, mean, half_width: 0.0 });
        }
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = (squares / (count - 1) as f64 / count as f64).sqrt();
        let half_width = t_quantile(count - 1) * error;
        let is_noise = half_width < mean.abs() * ROUNDING;
        Some(Self { count, mean, half_width: if is_noise { 0.0 } else { half_width } })
    }
}

/// The median of values in ascending order; `None` if there are none.
pub fn median(ascending: &[f64]) -> Option<f64> {
    let upper = *ascending.get(ascending.len() / 2)?;
    let lower = *ascending.get(ascending.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// The 95 % confidence interval of the median of values in ascending order, between two of them (the sign test's, in the normal approximation), so
/// that a few of them do not widen it however far off they are. All values are in it if there are fewer than six.
pub fn median_interval(ascending: &[f64]) -> Option<(f64, f64)> {
    let count = ascending.len();
    let outside = ((count as f64 - NORMAL * (count as f64).sqrt()) / 2.0).floor().max(1.0) as usize;
    Some((*ascending.get(outside - 1)?, *ascending.get(count.checked_sub(outside)?)?))
}

/// The 97.5 % quantile of Student's t distribution, to five digits. Beyond ten degrees of freedom by the expansion of
/// Abramowitz and Stegun 26.7.5.
pub fn t_quantile(degrees: usize) -> f64 {
    match degrees {
        0 => f64::INFINITY,
        1..=10 => FEW[degrees - 1],
        _ => {
            let (z, n) = (NORMAL, degrees as f64);
            let g1 = (z.powi(3) + z) / 4.0;
            let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
            z + g1 / n + g2 / n.powi(2) + g3 / n.powi(3)
        }
    }
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
