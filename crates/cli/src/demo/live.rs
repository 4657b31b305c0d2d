//! The demo while it runs: bars on a terminal, lines elsewhere, JSON on demand.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use whimbrel::PathView;

use super::stage::Stage;
use crate::output::{json_line, line};
use crate::path_words::state_name;

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_millis(1000);
/// Time over which goodput is measured.
const MEASURE_EVERY: Duration = Duration::from_millis(250);
/// Width of the little history graphs.
const HISTORY: usize = 24;

pub(super) struct Live {
    json: bool,
    bars: Option<Bars>,
    state: Mutex<State>,
}

struct Bars {
    all: MultiProgress,
    file: ProgressBar,
    networks: [ProgressBar; 2],
}

#[derive(Default)]
struct State {
    printed: Duration,
    measured: Duration,
    delivered: [u64; 2],
    megabits: [f64; 2],
    history: [Vec<f64>; 2],
}

impl Live {
    pub(super) fn new(json: bool) -> Self {
        let terminal = !json && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        Self { json, bars: terminal.then(Bars::new), state: Mutex::default() }
    }

    /// A sentence for people.
    pub(super) fn say(&self, text: &str) {
        match &self.bars {
            _ if self.json => {}
            Some(bars) => bars.all.suspend(|| line(text)),
            None => line(text),
        }
    }

    /// An object for programs.
    pub(super) fn event(&self, event: &str, fields: Value) {
        if self.json {
            json_line(event, fields);
        }
    }

    /// Introduces the networks.
    pub(super) fn begin(&self, stage: &Stage) {
        for network in &stage.networks {
            let profile = network.profile;
            self.event(
                "network",
                json!({
                    "name": profile.name, "megabits_per_second": profile.megabits, "loss": profile.loss,
                    "rtt_ms": profile.rtt.as_secs_f64() * 1e3, "address": network.address,
                }),
            );
            self.say(&format!(
                "  {:6} {} Mbit/s, {} ms there and back, {:.2} % loss   ({})",
                profile.name,
                profile.megabits,
                profile.rtt.as_millis(),
                profile.loss * 100.0,
                network.address
            ));
        }
    }

    /// Something worth a line of its own.
    pub(super) fn moment(&self, at: Duration, kind: &str, text: &str) {
        self.event(kind, json!({ "at_seconds": at.as_secs_f64(), "text": text }));
        self.say(&format!("{:5.2} s  {text}", at.as_secs_f64()));
    }

    /// How things stand.
    pub(super) fn show(&self, at: Duration, stage: &Stage, paths: &[PathView], share: f64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.measure(at, stage);
        let of = |network: usize| paths.iter().find(|path| stage.network_of(path.route.local) == network);
        if let Some(bars) = &self.bars {
            bars.file.set_position((share * 1000.0) as u64);
            for network in 0..2 {
                bars.networks[network].set_message(state.describe(network, stage, of(network)));
            }
            return;
        }
        if at - state.printed < LINE_EVERY {
            return;
        }
        state.printed = at;
        let networks: Vec<String> =
            (0..2).map(|network| state.describe(network, stage, of(network))).collect();
        self.event(
            "progress",
            json!({
                "at_seconds": at.as_secs_f64(), "share": share,
                "megabits_per_second": { "wifi": state.megabits[0], "lte": state.megabits[1] },
                "paths": paths.iter().map(crate::path_words::path_json).collect::<Vec<_>>(),
            }),
        );
        self.say(&format!("{:5.2} s  {:3.0} %  {}", at.as_secs_f64(), share * 100.0, networks.join("   ")));
    }

    /// Takes the bars off the screen.
    pub(super) fn close(&self) {
        if let Some(bars) = &self.bars {
            bars.file.finish_and_clear();
            bars.networks.iter().for_each(ProgressBar::finish_and_clear);
        }
    }
}

impl State {
    fn measure(&mut self, at: Duration, stage: &Stage) {
        let elapsed = at.saturating_sub(self.measured);
        if elapsed < MEASURE_EVERY {
            return;
        }
        self.measured = at;
        for (index, network) in stage.networks.iter().enumerate() {
            let delivered = network.handle().stats().uplink.delivered_bytes;
            let bytes = delivered.saturating_sub(std::mem::replace(&mut self.delivered[index], delivered));
            self.megabits[index] = bytes as f64 * 8e-6 / elapsed.as_secs_f64();
            let history = &mut self.history[index];
            history.push(self.megabits[index] / network.profile.megabits as f64);
            if history.len() > HISTORY {
                history.remove(0);
            }
        }
    }

    fn describe(&self, network: usize, stage: &Stage, path: Option<&PathView>) -> String {
        let (state, mark) =
            path.map_or(("gone", ' '), |path| (state_name(path), if path.in_use { '*' } else { ' ' }));
        let name = stage.networks[network].profile.name;
        format!(
            "{mark} {name:5} {:5.1} Mbit/s  {} {state}",
            self.megabits[network],
            sparkline(&self.history[network])
        )
    }
}

impl Bars {
    fn new() -> Self {
        let all = MultiProgress::new();
        let style = |template| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
        };
        let file = all.add(ProgressBar::new(1000).with_style(style("file    {bar:40} {percent:>3} %")));
        let network = || all.add(ProgressBar::new(1).with_style(style("{msg}")));
        let networks = [network(), network()];
        Self { all, file, networks }
    }
}

/// Shares of capacity as a little graph.
fn sparkline(history: &[f64]) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let level = |share: &f64| LEVELS[((share * 8.0) as usize).min(7)];
    format!("{:HISTORY$}", history.iter().map(level).collect::<String>())
}
