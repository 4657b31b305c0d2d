//! The page of an event log: one HTML file with everything in it. Without scripts it has its tables.

use std::fmt::Write;

use anyhow::Context;
use serde_json::{Value, json};

use super::series::Series;
use super::story::{Association, Path, Story};
use crate::template;

const TEMPLATE: &str = include_str!("../../assets/qlog.html");
const STYLE: &str = include_str!("../../assets/qlog.css");
const SCRIPT: &str = include_str!("../../assets/qlog.js");
const CHART_SCRIPT: &str = include_str!("../../assets/vendor/uplot/uPlot.iife.min.js");
const CHART_STYLE: &str = include_str!("../../assets/vendor/uplot/uPlot.min.css");
const CHART_LICENCE: &str = include_str!("../../assets/vendor/uplot/LICENSE");

/// Rows of the table of events, for each association.
const ROWS_MAX: usize = 100;

/// The page of the log in the file `name`.
pub(super) fn render(name: &str, story: &Story) -> anyhow::Result<String> {
    let data = serde_json::to_string(&data(story)).context("cannot encode the page's data")?;
    let parts: [(&str, String); 8] = [
        ("{{title}}", escape(name)),
        ("{{licence}}", template::comment(CHART_LICENCE)),
        ("{{chart-style}}", CHART_STYLE.to_owned()),
        ("{{style}}", STYLE.to_owned()),
        ("{{headline}}", escape(&format!("{name}: {}", summary(story)))),
        ("{{associations}}", sections(story)),
        ("{{data}}", template::data(&data)),
        ("{{scripts}}", [CHART_SCRIPT, SCRIPT].map(template::script).join("\n")),
    ];
    template::fill(TEMPLATE, &parts)
}

/// What there is, in a sentence.
pub(super) fn summary(story: &Story) -> String {
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let paths = story.associations.values().map(|one| one.paths.len()).sum();
    let mut text = format!(
        "{} of {} over {}, {:.3} s",
        count(story.events as usize, "event"),
        count(story.associations.len(), "association"),
        count(paths, "path"),
        story.end / 1e3
    );
    if story.left_out > 0 {
        let _ = write!(text, "; {} of further paths are left out", count(story.left_out as usize, "event"));
    }
    text
}

/// Whoever wrote the log may have written anything.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn data(story: &Story) -> Value {
    let associations = story.associations.values().map(|association| {
        let paths = association.paths.iter().map(|(name, path)| {
            let quantities: serde_json::Map<String, Value> = path
                .quantities
                .iter()
                .map(|(name, series)| ((*name).to_owned(), points(series)))
                .chain([("again".to_owned(), points(&path.again))])
                .collect();
            json!({ "name": label(name, path), "quantities": quantities })
        });
        let marks = association.marks.iter().map(|mark| json!([mark.at / 1e3, mark.kind.name(), mark.text]));
        json!({ "paths": paths.collect::<Vec<_>>(), "marks": marks.collect::<Vec<_>>() })
    });
    json!({ "end": story.end / 1e3, "associations": associations.collect::<Vec<_>>() })
}

/// Seconds and values, as two lists.
fn points(series: &Series) -> Value {
    let (at, values): (Vec<f64>, Vec<f64>) =
        series.points().iter().map(|(at, value)| (at / 1e3, *value)).unzip();
    json!([at, values])
}

/// What a path is called.
fn label(name: &str, path: &Path) -> String {
    match (&path.route, name) {
        (Some((local, remote)), _) => format!("{name}: {local} → {remote}"),
        (None, "") => "the path".into(),
        (None, name) => format!("path {name}"),
    }
}

/// A section for each association: where its charts go, and its tables.
fn sections(story: &Story) -> String {
    const UNDRAWN: &str = "<p class=\"undrawn\">A script in this page draws the chart, and it does not run here. The table has the numbers.</p>";
    let mut out = String::new();
    for (number, (name, association)) in story.associations.iter().enumerate() {
        let title =
            if name.is_empty() { "Association".to_owned() } else { format!("Association {}", escape(name)) };
        let _ = writeln!(out, "<section>\n<h2>{title}</h2>");
        for (chart, heading) in
            [("bytes", "Bytes sent, and where something was sent again"), ("times", "Round trips")]
        {
            let _ = writeln!(
                out,
                "<h3>{heading}</h3>\n<div class=\"chart\" id=\"{chart}-{number}\" role=\"img\" aria-label=\"{heading}\">{UNDRAWN}</div>"
            );
        }
        for (path, (name, one)) in association.paths.iter().enumerate() {
            let heading = format!("Windows of {}", escape(&label(name, one)));
            let _ = writeln!(
                out,
                "<h3>{heading}</h3>\n<div class=\"chart\" id=\"window-{number}-{path}\" role=\"img\" aria-label=\"{heading}\">{UNDRAWN}</div>"
            );
        }
        paths(association, &mut out);
        events(association, &mut out);
        out.push_str("</section>\n");
    }
    out
}

fn paths(association: &Association, out: &mut String) {
    out.push_str(
        "<h3>Paths</h3>\n<table>\n<tr><th scope=\"col\">path</th><th scope=\"col\">bytes sent</th><th scope=\"col\">received</th>\
         <th scope=\"col\">chunks sent again</th><th scope=\"col\">fast retransmits</th><th scope=\"col\">timeouts</th>\
         <th scope=\"col\">cwnd, bytes</th><th scope=\"col\">smoothed RTT, ms</th></tr>\n",
    );
    for (name, path) in &association.paths {
        let last = |name| path.quantities.get(name).and_then(Series::last).unwrap_or_default();
        let range = |name| match path.quantities.get(name).and_then(Series::range) {
            Some((least, most)) => format!("{} to {}", round(least), round(most)),
            None => "–".into(),
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&label(name, path)),
            round(last("bytes_sent")),
            round(last("bytes_received")),
            round(path.retransmitted),
            round(path.fast_retransmits),
            round(path.timeouts),
            range("congestion_window"),
            range("smoothed_rtt"),
        );
    }
    out.push_str("</table>\n");
}

fn events(association: &Association, out: &mut String) {
    if association.marks.is_empty() {
        return;
    }
    out.push_str("<h3>Events</h3>\n<table>\n");
    for mark in association.marks.iter().take(ROWS_MAX) {
        let path = mark.path.as_ref().map(|path| format!("path {}: ", escape(path))).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr class=\"{}\"><th scope=\"row\">{:.3} s</th><td>{path}{}</td></tr>",
            mark.kind.name(),
            mark.at / 1e3,
            escape(&mark.text)
        );
    }
    out.push_str("</table>\n");
    let more = (association.marks.len().saturating_sub(ROWS_MAX)) as u64 + association.marks_left_out;
    if more > 0 {
        let _ = writeln!(out, "<p>and {more} more</p>");
    }
}

/// A number without needless digits.
fn round(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
