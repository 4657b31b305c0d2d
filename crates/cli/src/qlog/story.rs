//! What an event log tells, in bounded memory.

use std::collections::BTreeMap;
use std::io::BufRead;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::read::Texts;
use super::series::Series;

/// Paths that are drawn, of all associations together; further ones are counted.
const PATHS_MAX: usize = 64;
/// Things that happened at an instant, kept for each association and counted beyond that.
const MARKS_MAX: usize = 500;
/// Letters of a word that a file says: an address, a reason.
const WORD_MAX: usize = 200;
/// From here on a threshold is none, for no window is as large: slow start has not ended.
const NO_THRESHOLD: f64 = (1_u64 << 31) as f64;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) associations: BTreeMap<String, Association>,
    pub(super) events: u64,
    /// Events of paths that there was no room for.
    pub(super) left_out: u64,
    /// Milliseconds.
    pub(super) end: f64,
    pub(super) is_cut_off: bool,
    paths: usize,
}

#[derive(Debug, Default)]
pub(super) struct Association {
    pub(super) paths: BTreeMap<String, Path>,
    pub(super) marks: Vec<Mark>,
    pub(super) marks_left_out: u64,
}

#[derive(Debug, Default)]
pub(super) struct Path {
    /// Its addresses, if the log has them.
    pub(super) route: Option<(String, String)>,
    /// By the field's name in the log.
    pub(super) quantities: BTreeMap<&'static str, Series>,
    /// How much had been sent when chunks were sent again.
    pub(super) again: Series,
    pub(super) retransmitted: f64,
    pub(super) timeouts: f64,
    pub(super) fast_retransmits: f64,
}

/// Something that happened at an instant.
#[derive(Debug)]
pub(super) struct Mark {
    /// Milliseconds.
    pub(super) at: f64,
    pub(super) kind: Kind,
    pub(super) path: Option<String>,
    pub(super) text: String,
}

/// What kinds of marks there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A retransmission timeout, or a loss in a log of another program.
    Loss,
    Path,
    Handover,
    Association,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Path => "path",
            Self::Handover => "handover",
            Self::Association => "association",
        }
    }
}

/// The fields of `recovery:metrics_updated` that are drawn.
const QUANTITIES: [&str; 8] = [
    "congestion_window",
    "ssthresh",
    "bytes_in_flight",
    "smoothed_rtt",
    "rto",
    "pacing_rate",
    "bytes_sent",
    "bytes_received",
];

impl Story {
    /// Reads a log.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub(super) fn read(reader: impl BufRead) -> anyhow::Result<Self> {
        let mut texts = Texts::new(reader)?;
        let (_, head) = texts.next()?.context("there is nothing in it")?;
        ensure!(head.get("qlog_version").is_some() || head.get("file_schema").is_some(), "line 1: no qlog");
        let mut story = Self::default();
        while let Some((line, event)) = texts.next()? {
            story.take(&event).with_context(|| format!("line {line}"))?;
        }
        story.is_cut_off = texts.is_cut_off;
        Ok(story)
    }

    fn take(&mut self, event: &Value) -> anyhow::Result<()> {
        let at = event["time"].as_f64().context("an event without its time")?;
        ensure!(at.is_finite() && (0.0..1e15).contains(&at), "an event at an impossible time, {at} ms");
        let name = event["name"].as_str().context("an event without a name")?;
        let data = &event["data"];
        self.events += 1;
        self.end = self.end.max(at);
        let subject = word(&event["group_id"]);
        let path = event.get("path").map(word);
        match name {
            "recovery:metrics_updated" => {
                let Some(path) = self.path(&subject, path) else { return Ok(()) };
                path.update(at, data);
            }
            "sctp:path_assigned" => {
                let Some(path) = self.path(&subject, path) else { return Ok(()) };
                path.route = Some((word(&data["route"]["local"]), word(&data["route"]["remote"])));
            }
            "sctp:data_retransmitted" | "sctp:fast_retransmit" | "sctp:timeout" => {
                let total = data["total"].as_f64().context("no total")?;
                let Some(one) = self.path(&subject, path.clone()) else { return Ok(()) };
                let before = one.count(at, name, total);
                if name == "sctp:timeout" && total > before {
                    self.mark(&subject, Mark { at, kind: Kind::Loss, path, text: "timeout (T3-rtx)".into() });
                }
            }
            _ => {
                if let Some((kind, text)) = said(name, data) {
                    self.mark(&subject, Mark { at, kind, path, text });
                }
            }
        }
        Ok(())
    }

    /// A path, if there is room for it. What another program logs of its only path has no name.
    fn path(&mut self, subject: &str, path: Option<String>) -> Option<&mut Path> {
        let name = path.unwrap_or_default();
        let there = self.associations.get(subject).is_some_and(|one| one.paths.contains_key(&name));
        if !there {
            if self.paths == PATHS_MAX {
                self.left_out += 1;
                return None;
            }
            self.paths += 1;
        }
        let association = self.associations.entry(subject.to_owned()).or_default();
        Some(association.paths.entry(name).or_default())
    }

    fn mark(&mut self, subject: &str, mark: Mark) {
        if !self.associations.contains_key(subject) && self.associations.len() >= PATHS_MAX {
            self.left_out += 1;
            return;
        }
        let association = self.associations.entry(subject.to_owned()).or_default();
        if association.marks.len() < MARKS_MAX {
            association.marks.push(mark);
        } else {
            association.marks_left_out += 1;
        }
    }
}

impl Path {
    fn update(&mut self, at: f64, data: &Value) {
        for name in QUANTITIES {
            let Some(value) = data[name].as_f64() else { continue };
            if name != "ssthresh" || value < NO_THRESHOLD {
                self.quantities.entry(name).or_default().push(at, value);
            }
        }
    }

    /// Takes in a new total; returns the old one.
    fn count(&mut self, at: f64, name: &str, total: f64) -> f64 {
        let place = match name {
            "sctp:data_retransmitted" => &mut self.retransmitted,
            "sctp:fast_retransmit" => &mut self.fast_retransmits,
            _ => &mut self.timeouts,
        };
        let before = core::mem::replace(place, total);
        if name == "sctp:data_retransmitted" && total > before {
            let sent = self.quantities.get("bytes_sent").and_then(Series::last).unwrap_or_default();
            self.again.push(at, sent);
        }
        before
    }
}

/// An event in words, if it is worth a mark.
fn said(name: &str, data: &Value) -> Option<(Kind, String)> {
    let field = |name: &str| word(&data[name]);
    Some(match name {
        "sctp:path_state_updated" => (Kind::Path, field("new").replace('_', " ")),
        "sctp:path_use_updated" if data["in_use"] == "yes" => (Kind::Handover, "in use".into()),
        "sctp:handover" => {
            let what = ["action", "address", "path"].map(field).join(" ");
            (Kind::Handover, format!("{}: {}", what.trim().replace('_', " "), field("reason")))
        }
        "sctp:address_changed" => {
            let error = match &data["error"] {
                Value::Null => "done".into(),
                error => word(error),
            };
            (Kind::Path, format!("{} {}: {error}", field("change").replace('_', " "), field("address")))
        }
        "sctp:peer_address" => {
            (Kind::Path, format!("the peer's {}: {}", field("address"), field("change").replace('_', " ")))
        }
        "sctp:restarted" => (Kind::Association, "the peer has restarted".into()),
        "connectivity:connection_state_updated" => (Kind::Association, field("new").replace('_', " ")),
        "connectivity:connection_closed" => (Kind::Association, format!("closed: {}", field("reason"))),
        "recovery:packet_lost" => (Kind::Loss, "packet lost".into()),
        _ => return None,
    })
}

/// A word of the file, whatever its type; nothing that is too long.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().take(WORD_MAX).collect(),
        Value::Null => String::new(),
        other => other.to_string().chars().take(WORD_MAX).collect(),
    }
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
