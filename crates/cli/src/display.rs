//! What the user sees: a bar on a terminal, a line now and then elsewhere, JSON lines, or nothing.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use whimbrel::PathView;

use crate::args::OutputArgs;
use crate::failures::Failures;
use crate::news::News;
use crate::output::{complain, json_line, line};
use crate::path_words::{describe, path_json};
use crate::transfer::names::printable;
use crate::transfer::report::{FileReport, Totals};

/// Files listed one by one on a terminal; of further ones only failures.
const LISTED: u64 = 50;

/// How to show things.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Bar,
    Lines,
    Json,
    Quiet,
}

/// The place where everything a command has to say comes together.
pub(crate) struct Display {
    mode: Mode,
    bar: Option<ProgressBar>,
    /// Whether the bar is on the screen: only while something is under way.
    shown: AtomicBool,
    state: Mutex<State>,
}

struct State {
    /// Since when something is under way.
    busy_since: Option<Instant>,
    /// How long something was, before.
    busy: Duration,
    last: Instant,
    last_bytes: u64,
    /// Bytes per second, smoothed over some seconds.
    rate: f64,
    listed: u64,
    failures: Failures,
    /// Whom everything is about.
    peer: Option<SocketAddr>,
}

/// A display of what happens to one of several associations.
pub(crate) struct About {
    pub(crate) display: Arc<Display>,
    pub(crate) peer: SocketAddr,
}

impl Display {
    /// A display as the options ask for.
    pub(crate) fn new(output: OutputArgs) -> Self {
        let mode = match output {
            OutputArgs { json: true, .. } => Mode::Json,
            OutputArgs { quiet: true, .. } => Mode::Quiet,
            _ if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() => Mode::Bar,
            _ => Mode::Lines,
        };
        let now = Instant::now();
        let state = State::new(now);
        Self {
            mode,
            bar: (mode == Mode::Bar).then(new_bar),
            shown: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// How often [`Display::tick`] should be called.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_millis(match self.mode {
            Mode::Bar => 150,
            Mode::Json => 1000,
            Mode::Lines | Mode::Quiet => 2000,
        })
    }

    /// A sentence for people.
    pub(crate) fn note(&self, text: &str) {
        match self.mode {
            Mode::Bar => self.print(text),
            Mode::Lines => line(text),
            Mode::Json | Mode::Quiet => {}
        }
    }

    /// A sentence for people that even `--quiet` does not suppress.
    pub(crate) fn warn(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| complain(text)),
            None => complain(text),
        }
    }

    /// Something is under way from now on.
    pub(crate) fn begin(&self) {
        self.state().begin(Instant::now());
    }

    /// Whom everything is about, if that is known.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.state().peer
    }

    /// Names the peer in all that is told from now on.
    pub(crate) fn set_peer(&self, peer: SocketAddr) {
        self.state().peer = Some(peer);
    }

    /// An object for programs; `event` names its kind.
    pub(crate) fn event(&self, event: &str, fields: Value) {
        let peer = self.state().peer;
        self.event_about(peer, event, fields);
    }

    fn event_about(&self, peer: Option<SocketAddr>, event: &str, mut fields: Value) {
        if self.mode == Mode::Json {
            if let Some(peer) = peer {
                fields["peer"] = peer.to_string().into();
            }
            json_line(event, fields);
        }
    }

    /// Says how a file ended, with or from whom.
    pub(crate) fn file(&self, report: &FileReport, peer: Option<SocketAddr>) {
        let hash = report.hash.map(|hash| hash.to_hex().to_string());
        let mut fields = json!({
            "name": report.name, "name_bytes": report.name_bytes, "bytes": report.size, "resumed": report.resumed,
            "outcome": report.outcome.name(), "text": report.text, "blake3": hash,
        });
        if let Some(location) = &report.location {
            fields["location"] = location.as_str().into();
        }
        self.event_about(peer.or(self.state().peer), "file", fields);
        if !report.outcome.is_success() {
            if self.mode != Mode::Json {
                self.failed(report, peer.is_some());
            }
            return;
        }
        let listed = {
            let mut state = self.state();
            state.listed += 1;
            state.listed
        };
        match listed {
            1..=LISTED => self.note(&format!("{}  {}", report.name, explain(report))),
            n if n == LISTED + 1 => self.note("(further files are not listed)"),
            _ => {}
        }
    }

    /// Names a file that has failed: each of one's own, of others' not more than some.
    fn failed(&self, report: &FileReport, of_other: bool) {
        let unlisted = match of_other {
            true => match self.state().failures.admit(Instant::now()) {
                Some(unlisted) => unlisted,
                None => return,
            },
            false => 0,
        };
        if unlisted > 0 {
            self.warn(&format!("({unlisted} failed files were not listed)"));
        }
        self.warn(&format!("failed: {}: {}", report.name, explain(report)));
    }

    /// Shows how far things are.
    pub(crate) fn tick(&self, totals: &Totals, paths: &[PathView]) {
        let rate = self.state().measure(Instant::now(), totals.moved_bytes);
        match (&self.bar, self.mode) {
            (Some(bar), _) => {
                if !self.shown.swap(true, Ordering::Relaxed) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                bar.set_length(totals.bytes);
                bar.set_position(totals.done_bytes.min(totals.bytes));
                bar.set_message(format!("{}/s{}", DecimalBytes(rate as u64), eta(totals, rate)));
                bar.set_prefix(describe(paths));
            }
            (_, Mode::Lines) if totals.bytes > totals.done_bytes && totals.done_bytes > 0 => {
                let percent = 100.0 * totals.done_bytes as f64 / totals.bytes as f64;
                line(&format!(
                    "{percent:5.1} %  {} of {}  {}/s{}  {}",
                    DecimalBytes(totals.done_bytes),
                    DecimalBytes(totals.bytes),
                    DecimalBytes(rate as u64),
                    eta(totals, rate),
                    describe(paths)
                ));
            }
            (_, Mode::Json) => self.event(
                "progress",
                json!({
                    "bytes": totals.done_bytes, "bytes_total": totals.bytes, "bytes_per_second": rate as u64,
                    "files": totals.done_files, "files_failed": totals.failed_files, "files_total": totals.files,
                    "paths": paths.iter().map(path_json).collect::<Vec<_>>(),
                }),
            ),
            _ => {}
        }
    }

    /// Nothing is under way any more, for now.
    pub(crate) fn idle(&self) {
        self.state().end(Instant::now());
        if let Some(bar) = &self.bar
            && self.shown.swap(false, Ordering::Relaxed)
        {
            bar.finish_and_clear();
            bar.set_draw_target(ProgressDrawTarget::hidden());
            bar.reset();
        }
    }

    /// The summary, last of all. Its time is that in which something was under way.
    pub(crate) fn summary(&self, verb: &str, totals: &Totals, ok: bool) {
        self.idle();
        let elapsed = self.state().busy;
        self.event(
            "summary",
            json!({
                "ok": ok, "files": totals.done_files, "files_failed": totals.failed_files,
                "bytes": totals.confirmed_bytes, "bytes_before": totals.before_bytes, "seconds": elapsed.as_secs_f64(),
            }),
        );
        if !ok && totals.done_files == 0 && totals.failed_files == 0 {
            // What went wrong is said as an error; how little was done is not worth a line.
            return;
        }
        self.note(&sum_up(verb, totals, elapsed));
    }

    fn print(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.suspend(|| line(text));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl News for Display {
    fn event(&self, kind: &str, fields: Value) {
        Self::event(self, kind, fields);
    }

    fn note(&self, text: &str) {
        Self::note(self, text);
    }

    fn warn(&self, text: &str) {
        Self::warn(self, &format!("warning: {text}"));
    }
}

impl News for About {
    fn event(&self, kind: &str, fields: Value) {
        self.display.event_about(Some(self.peer), kind, fields);
    }

    fn note(&self, text: &str) {
        self.display.note(text);
    }

    fn warn(&self, text: &str) {
        News::warn(self.display.as_ref(), text);
    }
}

impl State {
    fn new(now: Instant) -> Self {
        Self {
            busy_since: None,
            busy: Duration::ZERO,
            last: now,
            last_bytes: 0,
            rate: 0.0,
            listed: 0,
            failures: Failures::new(now),
            peer: None,
        }
    }

    fn begin(&mut self, now: Instant) {
        self.busy_since.get_or_insert(now);
    }

    fn end(&mut self, now: Instant) {
        self.busy += self.busy_since.take().map_or(Duration::ZERO, |since| now - since);
    }

    fn measure(&mut self, now: Instant, bytes: u64) -> f64 {
        let elapsed = now.saturating_duration_since(self.last).as_secs_f64();
        if elapsed > 0.05 {
            let current = bytes.saturating_sub(self.last_bytes) as f64 / elapsed;
            let weight = if self.rate == 0.0 { 1.0 } else { (elapsed / 2.0).min(1.0) };
            self.rate += weight * (current - self.rate);
            (self.last, self.last_bytes) = (now, bytes);
        }
        self.rate
    }
}

fn explain(report: &FileReport) -> String {
    use crate::transfer::protocol::Outcome;
    let text = match report.outcome {
        Outcome::Verified if report.resumed > 0 => {
            format!(
                "{}, of which {} were there already",
                DecimalBytes(report.size),
                DecimalBytes(report.resumed)
            )
        }
        Outcome::Verified => DecimalBytes(report.size).to_string(),
        Outcome::Already => "is there already, with the same content".into(),
        Outcome::Exists => {
            "a file of this name is there already (the receiver can run with --overwrite or --rename)".into()
        }
        Outcome::BadName => "the name is not accepted".into(),
        Outcome::NoSpace => "the receiver has no room for it".into(),
        Outcome::Corrupt => "the content was damaged".into(),
        Outcome::Failed => "the receiver cannot store it".into(),
        Outcome::Busy if report.text.is_empty() => "another transfer of it is under way".into(),
        Outcome::Abandoned if report.text.is_empty() => "the sender gave it up without a reason".into(),
        Outcome::Busy | Outcome::Abandoned => String::new(),
    };
    let separator = if text.is_empty() || report.text.is_empty() { "" } else { ": " };
    format!("{text}{separator}{}", printable(&report.text))
}

/// The summary in words: what is confirmed, and how much of it was moved how fast.
fn sum_up(verb: &str, totals: &Totals, elapsed: Duration) -> String {
    let moved = totals.confirmed_bytes.saturating_sub(totals.before_bytes);
    let rate = rate(moved as f64, elapsed.as_secs_f64());
    let rate = rate.map(|rate| format!(" ({}/s)", DecimalBytes(rate as u64))).unwrap_or_default();
    let failed = match totals.failed_files {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let before = match totals.before_bytes {
        0 => String::new(),
        before => format!(", of which {} were there before", DecimalBytes(before)),
    };
    format!(
        "{verb} {} file{}{failed}, {} in {:.1} s{rate}{before}",
        totals.done_files,
        if totals.done_files == 1 { "" } else { "s" },
        DecimalBytes(totals.confirmed_bytes),
        elapsed.as_secs_f64(),
    )
}

/// An amount per second; of a moment no rate is made.
pub(crate) fn rate(amount: f64, seconds: f64) -> Option<f64> {
    (seconds >= 1e-3).then(|| amount / seconds)
}

fn eta(totals: &Totals, rate: f64) -> String {
    let left = totals.bytes.saturating_sub(totals.done_bytes);
    if left == 0 || rate < 1.0 {
        return String::new();
    }
    format!(", {:#} left", HumanDuration(Duration::from_secs_f64((left as f64 / rate).min(1e9))))
}

fn new_bar() -> ProgressBar {
    let template = "{bar:30} {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {msg}\n{prefix}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()).with_style(style)
}

#[cfg(test)]
#[path = "display_tests.rs"]
mod tests;
