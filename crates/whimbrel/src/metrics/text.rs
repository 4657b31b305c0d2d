//! The exposition format of Prometheus, 0.0.4.

use core::fmt::{Display, Write};

use whimbrel_proto::DurationHistogram;

/// Numbers in the making, as text. All names begin with `whimbrel_`.
///
/// ```
/// let mut text = whimbrel::PrometheusText::default();
/// text.counter("calls_total", "Calls so far.", 7);
/// assert!(text.into_string().ends_with("# TYPE whimbrel_calls_total counter\nwhimbrel_calls_total 7\n"));
/// ```
#[derive(Clone, Default, Debug)]
pub struct PrometheusText(String);

impl PrometheusText {
    /// What the lines that follow are.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP whimbrel_{name} {help}\n# TYPE whimbrel_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "whimbrel_{name}{labels} {value}");
    }

    /// A number that only grows. `help` says what of, in a sentence.
    pub fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "counter", help);
        self.sample(name, "", value);
    }

    /// A number that is now.
    pub fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }

    /// One sample for each value of a label; `kind` is `counter` or `gauge`.
    pub fn labelled<'a>(
        &mut self,
        (name, kind): (&str, &str),
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.family(name, kind, help);
        for (which, value) in values {
            self.sample(name, &format!("{{{label}=\"{which}\"}}"), value);
        }
    }

    /// A histogram of durations, in seconds.
    pub fn histogram(&mut self, name: &str, help: &str, histogram: &DurationHistogram) {
        self.family(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (bound, count) in DurationHistogram::BOUNDS.iter().zip(histogram.counts()) {
            below += count;
            self.sample(&bucket, &format!("{{le=\"{}\"}}", bound.as_secs_f64()), below);
        }
        self.sample(&bucket, "{le=\"+Inf\"}", histogram.count());
        self.sample(&format!("{name}_sum"), "", histogram.sum().as_secs_f64());
        self.sample(&format!("{name}_count"), "", histogram.count());
    }

    /// What it has become, to be served with the content type `text/plain; version=0.0.4`.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}
