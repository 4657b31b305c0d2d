//! How measurements are shown.

use std::time::Duration;

use indicatif::DecimalBytes;
use serde_json::{Value, json};
use whimbrel::PathView;

use super::histogram::Histogram;
use super::protocol::{Counts, Mode, Request, Seen};
use crate::display::rate;
use crate::news::News;
use crate::output::{complain, json_line, line};
use crate::path_words::{describe, path_json};

/// Lines for people, or JSON lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl News for Output {
    fn event(&self, kind: &str, fields: Value) {
        Self::event(*self, kind, fields);
    }

    fn note(&self, text: &str) {
        Self::note(*self, text);
    }

    fn warn(&self, text: &str) {
        complain(&format!("warning: {text}"));
    }
}

/// A finished measurement.
#[derive(Debug, Default)]
pub(super) struct Result {
    pub(super) request: Option<Request>,
    pub(super) associations: usize,
    pub(super) client: Seen,
    pub(super) server: Seen,
    /// Whichever side received: its clock and counts make the goodput.
    pub(super) received: Seen,
    /// What came back meanwhile, if both sides sent.
    pub(super) returned: Option<Seen>,
    pub(super) latency: Option<Histogram>,
    pub(super) paths: Vec<PathView>,
}

impl Result {
    /// Those of several associations at the same time, as one.
    pub(super) fn sum(results: Vec<Self>) -> Self {
        let add = |mut sum: Self, one: Self| {
            sum.client = sum.client.and(one.client);
            sum.server = sum.server.and(one.server);
            sum.received = sum.received.and(one.received);
            sum.returned = sum.returned.zip(one.returned).map(|(sum, one)| sum.and(one));
            sum
        };
        results.into_iter().reduce(add).unwrap_or_default()
    }

    fn direction(&self) -> &'static str {
        match self.request.as_ref().map(|request| request.mode) {
            Some(Mode::Download) => "from the server",
            _ => "to the server",
        }
    }
}

/// What there is at an instant of a measurement.
#[derive(Debug, Default)]
pub(super) struct Moment {
    /// Since the beginning.
    pub(super) at: Duration,
    pub(super) counts: Counts,
    /// What came back meanwhile.
    pub(super) returned: Counts,
    /// DATA chunks retransmitted so far.
    pub(super) retransmitted: u64,
    pub(super) paths: Vec<PathView>,
}

impl Moment {
    /// The congestion windows of the paths in use, together.
    fn cwnd(&self) -> u64 {
        self.paths.iter().filter(|path| path.in_use).map(|path| path.cwnd as u64).sum()
    }
}

impl Output {
    pub(super) fn note(self, text: &str) {
        if !self.json {
            line(text);
        }
    }

    pub(super) fn event(self, event: &str, fields: Value) {
        if self.json {
            json_line(event, fields);
        }
    }

    /// What happened since the last such line.
    pub(super) fn interval(self, mode: Mode, before: &Moment, now: &Moment) {
        let seconds = (now.at - before.at).as_secs_f64().max(1e-9);
        let messages = now.counts.messages - before.counts.messages;
        let bytes = now.counts.bytes - before.counts.bytes;
        let total = now.retransmitted;
        let retransmitted = total - before.retransmitted;
        let bits = bytes as f64 * 8.0 / seconds;
        let back = now.returned.bytes - before.returned.bytes;
        let back = (mode == Mode::Both).then_some(back as f64 * 8.0 / seconds);
        self.event(
            "interval",
            json!({
                "at_seconds": now.at.as_secs_f64(), "seconds": seconds, "messages": messages, "bytes": bytes,
                "bits_per_second": bits, "bits_per_second_back": back, "data_retransmitted": retransmitted, "data_retransmitted_total": total,
                "cwnd": now.cwnd(), "paths": now.paths.iter().map(path_json).collect::<Vec<_>>(),
            }),
        );
        let back = back.map(|bits| format!("  back {:>8.1} Mbit/s", bits / 1e6)).unwrap_or_default();
        // Windows of a side that only receives say nothing.
        let windows = match mode {
            Mode::Download => String::new(),
            _ => {
                format!("  rtx {retransmitted:<4}  cwnd {:>10}", DecimalBytes(now.cwnd()).to_string())
            }
        };
        self.note(&format!(
            "{:6.1} s  {:>10}  {:>8.1} Mbit/s  {:>9.0} msg/s{back}{windows}  {}",
            now.at.as_secs_f64(),
            DecimalBytes(bytes).to_string(),
            bits / 1e6,
            messages as f64 / seconds,
            describe(&now.paths)
        ));
    }

    /// The end.
    pub(super) fn result(self, result: &Result) {
        let Some(request) = &result.request else { return };
        let returned = result.returned.unwrap_or_default();
        let gigabytes = ((result.received.counts.bytes + returned.counts.bytes) as f64 / 1e9).max(1e-12);
        let per_gb = |seen: &Seen| seen.cpu_seconds / gigabytes;
        let both = per_gb(&result.client) + per_gb(&result.server);
        let used = result.paths.iter().find(|path| path.in_use).or(result.paths.first());
        let srtt = used.and_then(|path| path.srtt).map(|srtt| srtt.as_secs_f64() * 1e3);
        let mut summary = json!({
            "ok": true, "request": request, "associations": result.associations,
            "cpu_seconds_per_gb": { "client": per_gb(&result.client), "server": per_gb(&result.server), "both": both },
            "srtt_ms": srtt, "paths": result.paths.iter().map(path_json).collect::<Vec<_>>(),
        });
        add_goodput(&mut summary, &result.received);
        if let Some(returned) = &result.returned {
            summary["from_server"] = json!({});
            add_goodput(&mut summary["from_server"], returned);
        }
        if let Some(latency) = &result.latency {
            summary["round_trip_us"] = latency_json(latency);
        }
        self.event("summary", summary);
        if let Some(latency) = &result.latency {
            return self.round_trips(request, latency);
        }
        self.goodput(result.direction(), request, &result.received);
        if let Some(returned) = &result.returned {
            self.goodput("from the server", request, returned);
        }
        self.note(&format!(
            "CPU seconds per GB: client {:.2}, server {:.2}, both {both:.2}; smoothed RTT {:.2} ms",
            per_gb(&result.client),
            per_gb(&result.server),
            srtt.unwrap_or(0.0)
        ));
    }

    fn round_trips(self, request: &Request, latency: &Histogram) {
        let micros = |quantile: f64| latency.quantile(quantile).as_secs_f64() * 1e6;
        self.note(&format!(
            "round trip of {} bytes, {} times: min {:.0} µs, median {:.0}, 90 % {:.0}, 99 % {:.0}, 99.9 % {:.0}, max {:.0}",
            request.size,
            latency.count(),
            latency.min().as_secs_f64() * 1e6,
            micros(0.5),
            micros(0.9),
            micros(0.99),
            micros(0.999),
            latency.max().as_secs_f64() * 1e6
        ));
    }

    fn goodput(self, direction: &str, request: &Request, seen: &Seen) {
        let Seen { counts, seconds, .. } = *seen;
        let rates = match (rate(counts.bytes as f64 * 8.0, seconds), rate(counts.messages as f64, seconds)) {
            (Some(goodput), Some(messages)) => {
                format!(": {:.1} Mbit/s, {messages:.0} messages/s", goodput / 1e6)
            }
            _ => format!(": {} message{}", counts.messages, if counts.messages == 1 { "" } else { "s" }),
        };
        self.note(&format!(
            "{direction}: {} in {seconds:.2} s{rates} of {} bytes",
            DecimalBytes(counts.bytes),
            request.size
        ));
    }
}

fn add_goodput(to: &mut Value, seen: &Seen) {
    let Seen { counts, seconds, .. } = *seen;
    to["seconds"] = json!(seconds);
    to["messages"] = json!(counts.messages);
    to["bytes"] = json!(counts.bytes);
    to["goodput_bits_per_second"] = json!(rate(counts.bytes as f64 * 8.0, seconds));
    to["messages_per_second"] = json!(rate(counts.messages as f64, seconds));
}

fn latency_json(latency: &Histogram) -> Value {
    let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
    json!({
        "count": latency.count(), "min": micros(latency.min()), "mean": micros(latency.mean()),
        "p50": micros(latency.quantile(0.5)), "p90": micros(latency.quantile(0.9)),
        "p99": micros(latency.quantile(0.99)), "p999": micros(latency.quantile(0.999)),
        "max": micros(latency.max()),
    })
}
