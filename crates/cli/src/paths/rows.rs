//! From reports to lines of a table.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use super::narrow;
use crate::control::{Answers, Failed, PathReport, Report};

/// The columns' names.
pub(super) const HEADER: [&str; 11] = [
    "PROCESS",
    "ASSOC",
    "LOCAL",
    "REMOTE",
    "STATE",
    "ROLE",
    "RTT",
    "CWND",
    "RATE OUT/IN",
    "AVAIL/CAP",
    "SIGNAL",
];

/// One line: a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) cells: [String; HEADER.len()],
    pub(super) tone: Tone,
}

/// How a line looks where there are colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    InUse,
    Standby,
    Doubtful,
    Dead,
}

/// A path's name among all processes.
type Key = (u32, u64, u32);

/// What there was at one time, with the rates since the time before.
pub(super) struct Sample {
    at: Instant,
    reports: Vec<Report>,
    /// Processes of which nothing is known.
    failed: Vec<Failed>,
    /// Bits per second out and in.
    rates: BTreeMap<Key, (f64, f64)>,
}

impl Sample {
    pub(super) fn take(answers: Answers, before: Option<&Self>) -> Self {
        let Answers { reports, failed } = answers;
        let at = Instant::now();
        let mut rates = BTreeMap::new();
        if let Some(before) = before {
            let seconds = at.duration_since(before.at).as_secs_f64().max(1e-3);
            let old: BTreeMap<Key, &PathReport> = all(&before.reports).collect();
            for (key, path) in all(&reports) {
                if let Some(old) = old.get(&key) {
                    let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 * 8.0 / seconds;
                    let out = rate(path.bytes_sent, old.bytes_sent);
                    rates.insert(key, (out, rate(path.bytes_received, old.bytes_received)));
                }
            }
        }
        Self { at, reports, failed, rates }
    }

    /// A line for each process that should have answered and has not.
    pub(super) fn failures(&self) -> Vec<String> {
        self.failed.iter().map(|one| format!("process {} {}", one.pid, one.reason)).collect()
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for report in &self.reports {
            for association in &report.associations {
                let id = short(association.id);
                let name = format!("{id} {}→{}", association.local_port, association.remote_port);
                for path in &association.paths {
                    let rates = self.rates.get(&(report.pid, association.id, path.id)).copied();
                    let process = format!("{} {}", report.pid, report.command);
                    rows.push(row(process, name.clone(), path, rates));
                }
            }
        }
        rows
    }

    /// The reports, with the rates in each path.
    pub(super) fn to_json(&self) -> Value {
        let mut processes = serde_json::to_value(&self.reports).unwrap_or_default();
        for process in processes.as_array_mut().into_iter().flatten() {
            let pid = process["pid"].as_u64().unwrap_or_default() as u32;
            for association in process["associations"].as_array_mut().into_iter().flatten() {
                let id = association["id"].as_u64().unwrap_or_default();
                for path in association["paths"].as_array_mut().into_iter().flatten() {
                    let key = (pid, id, path["id"].as_u64().unwrap_or_default() as u32);
                    let rates = self.rates.get(&key);
                    path["out_bits_per_second"] = rates.map(|(out, _)| out.round()).into();
                    path["in_bits_per_second"] = rates.map(|(_, back)| back.round()).into();
                }
            }
        }
        processes
    }
}

fn all(reports: &[Report]) -> impl Iterator<Item = (Key, &PathReport)> {
    reports.iter().flat_map(|report| {
        report.associations.iter().flat_map(move |association| {
            association.paths.iter().map(move |path| ((report.pid, association.id, path.id), path))
        })
    })
}

fn row(process: String, association: String, path: &PathReport, rates: Option<(f64, f64)>) -> Row {
    let role = match (path.in_use, path.primary) {
        (true, true) => "in use, primary",
        (true, false) => "in use",
        (false, true) => "primary",
        (false, false) => "standby",
    };
    let tone = match path.state.as_str() {
        "active" if path.in_use => Tone::InUse,
        "active" => Tone::Standby,
        "inactive" => Tone::Dead,
        _ => Tone::Doubtful,
    };
    let on = path.interface.as_ref().map(|name| format!("%{name}")).unwrap_or_default();
    let mut signal = path.signal_dbm.map(|dbm| format!("{dbm:.0} dBm")).unwrap_or_default();
    if path.metered == Some(true) {
        signal = format!("{signal} metered").trim().to_owned();
    }
    let cells = [
        process,
        association,
        format!("{}{on}", path.local.ip()),
        path.remote.to_string(),
        path.state.clone(),
        if path.ordered_by_network { format!("{role}, by the network") } else { role.into() },
        path.srtt_ms.map(|ms| format!("{ms:.1} ms")).unwrap_or_default(),
        format!("{} KiB", path.cwnd.div_ceil(1024)),
        rates.map(|(out, back)| format!("{} / {}", rate(out), rate(back))).unwrap_or_default(),
        estimates(path),
        signal,
    ];
    Row { cells, tone }
}

/// What the path carries of late, and what it can carry, in bits per second.
fn estimates(path: &PathReport) -> String {
    let known = |bits: Option<u64>| bits.map_or_else(|| "?".into(), |bits| rate(bits as f64));
    match (path.available_bits_per_second, path.capacity_bits_per_second) {
        (None, None) => String::new(),
        (available, capacity) => format!("{} / {}", known(available), known(capacity)),
    }
}

/// An association's id in few characters. Its lower half is the place that the association has, which another may have had
/// before; its upper half counts those.
fn short(id: u64) -> String {
    match (id >> 32, id & u64::from(u32::MAX)) {
        (0, place) => place.to_string(),
        (before, place) => format!("{place}.{before}"),
    }
}

/// Bits per second in few characters.
fn rate(bits: f64) -> String {
    match bits {
        bits if bits >= 1e9 => format!("{:.2} G", bits / 1e9),
        bits if bits >= 1e6 => format!("{:.1} M", bits / 1e6),
        bits if bits >= 1e3 => format!("{:.0} k", bits / 1e3),
        bits => format!("{bits:.0}"),
    }
}

/// The widest cell of each column.
pub(super) fn widths(rows: &[Row]) -> [usize; HEADER.len()] {
    let mut widths = HEADER.map(|name| name.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

/// All paths as text: as a table where that fits into `columns`, else in short lines.
pub(super) fn plain(rows: &[Row], failures: &[String], columns: Option<usize>) -> String {
    let said = |text: &str| columns.map_or_else(|| text.to_owned(), |room| narrow::sentence(text, room));
    let failures: String = failures.iter().map(|line| said(line) + "\n").collect();
    if rows.is_empty() {
        return if failures.is_empty() { said(NOTHING) + "\n" } else { failures };
    }
    if let Some(columns) = columns.filter(|columns| narrow::table_width(rows) > *columns) {
        let before = core::iter::once(None).chain(rows.iter().map(Some));
        let lines = rows.iter().zip(before).flat_map(|(row, before)| narrow::lines(row, before, columns));
        return lines.map(|line| line + "\n").collect::<String>() + &failures;
    }
    let widths = widths(rows);
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    };
    let mut text = line(HEADER.to_vec());
    for row in rows {
        text += &line(row.cells.iter().map(String::as_str).collect());
    }
    text + &failures
}

/// What is shown when there is nothing to show.
pub(super) const NOTHING: &str = "no associations (of `whimbrel send`, `recv` or `perf` of the same user)";

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
