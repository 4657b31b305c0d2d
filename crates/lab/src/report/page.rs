//! The page around the charts.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::{Chapter, charts};
use crate::VERSION;
use crate::claims::{Claim, Verdict};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Whimbrel: the lab</title>\n<link rel=\"icon\" href=\"data:,\">\n";

/// All of it.
pub(super) fn page(chapters: &[Chapter<'_>], equations: &[(&Claim, Verdict)]) -> String {
    let mut plots = Vec::new();
    let body: String = chapters.iter().map(|chapter| self::chapter(chapter, &mut plots)).collect();
    // Nothing in JSON may end the element that holds it.
    let data = Json::Array(plots).to_string().replace("</", "<\\/");
    let (library, style) =
        (include_str!("../../assets/uPlot.iife.min.js"), include_str!("../../assets/uPlot.min.css"));
    let (script, own) = (include_str!("../../assets/report.js"), include_str!("../../assets/report.css"));
    format!(
        "{HEAD}<style>{style}\n{own}</style>\n</head>\n<body>\n{}{body}{}{}\n<script type=\"application/json\" id=\"plots\">{data}</script>\n\
         <script>{library}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        index(chapters, equations),
        of_equations(equations),
        foot(),
    )
}

fn index(chapters: &[Chapter<'_>], equations: &[(&Claim, Verdict)]) -> String {
    let all: Vec<&Verdict> =
        chapters.iter().flat_map(|chapter| &chapter.claims).chain(equations).map(|c| &c.1).collect();
    let mut page = format!(
        "<h1>Published handover experiments, run again</h1>\n<p>Every figure here was made by running Whimbrel's own \
         transport, the code that users run, in a network in virtual time, with the set-up of the paper. Every claim of the \
         papers about it is a check on the results.</p>\n<p><strong>{}</strong></p>\n<div class=\"scroll\"><table>\n\
         <tr><th>Experiment</th><th>Figure</th><th>Holds</th><th>Does not hold</th><th>Cannot say</th></tr>\n",
        score(&all)
    );
    for chapter in chapters {
        let scenario = chapter.done.experiment.scenario();
        let count = |name: &str| chapter.claims.iter().filter(|(_, verdict)| verdict.name() == name).count();
        let _ = writeln!(
            page,
            "<tr><td><a href=\"#{name}\">{name}</a>: {}</td><td>{} {}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(scenario.title()),
            escape(scenario.paper()),
            escape(&scenario.figures().join(", ")),
            count("holds"),
            count("does not hold"),
            count("cannot say"),
            name = escape(chapter.done.experiment.name()),
        );
    }
    page + "</table></div>\n"
}

fn score(verdicts: &[&Verdict]) -> String {
    let count = |name: &str| verdicts.iter().filter(|verdict| verdict.name() == name).count();
    format!(
        "{} claims: {} hold, {} do not hold, {} cannot be said.",
        verdicts.len(),
        count("holds"),
        count("does not hold"),
        count("cannot say")
    )
}

fn chapter(chapter: &Chapter<'_>, plots: &mut Vec<Json>) -> String {
    let experiment = &*chapter.done.experiment;
    let scenario = experiment.scenario();
    let repetitions =
        chapter.done.rows.iter().map(|row| row.repetition).collect::<std::collections::BTreeSet<_>>().len();
    let verdicts: Vec<&Verdict> = chapter.claims.iter().map(|(_, verdict)| verdict).collect();
    let name = escape(experiment.name());
    let mut page = format!(
        "<h2 id=\"{name}\">{name}: {}</h2>\n<p>{} figure {}. {} rows, {repetitions} repetitions; bars are 95 % confidence \
         intervals of means (t distribution). {}</p>\n",
        escape(scenario.title()),
        escape(scenario.paper()),
        escape(&scenario.figures().join(", ")),
        chapter.done.rows.len(),
        score(&verdicts),
    );
    for plot in experiment.plots() {
        let _ = writeln!(
            page,
            "<div class=\"chart\"><div class=\"name\">Figure {}: {}</div><div data-plot=\"{}\"></div></div>",
            escape(plot.figure),
            escape(&plot.title),
            plots.len()
        );
        plots.push(charts::chart(&plot, &chapter.groups));
    }
    page.push_str("<ul>\n");
    for (series, what) in experiment.series() {
        let _ = writeln!(page, "<li><strong>{}</strong>: {}</li>", escape(&series), escape(what));
    }
    let _ = writeln!(page, "</ul>\n<h3>Claims</h3>");
    chapter.claims.iter().for_each(|(claim, verdict)| page.push_str(&of_claim(claim, verdict)));
    page + &set_up(chapter)
        + &format!(
            "<h3>Again</h3>\n<pre>whimbrel lab run {name} --reps {repetitions}\nwhimbrel lab report</pre>\n"
        )
}

fn of_claim(claim: &Claim, verdict: &Verdict) -> String {
    let text = |label: &str, text: &str| match text {
        "" => String::new(),
        text => format!("<p class=\"soft\">{label}: {}</p>\n", escape(text)),
    };
    format!(
        "<div class=\"claim {}\"><p><span class=\"verdict\">{}</span> <span class=\"soft\">{} · {} · {} · confidence {}</span></p>\n\
         <p>{}</p>\n{}{}{}{}<details><summary>check</summary><pre>{}</pre></details></div>\n",
        verdict.name().replace(' ', "-"),
        verdict.name(),
        escape(&claim.id),
        escape(&claim.place),
        escape(&claim.origin),
        escape(&claim.confidence),
        escape(&claim.statement),
        text("Decided by (ours first)", verdict.detail()),
        text("Tolerance", &claim.tolerance),
        text("Note", &claim.note),
        text("Found", &claim.found),
        escape(&claim.check),
    )
}

fn set_up(chapter: &Chapter<'_>) -> String {
    let scenario = chapter.done.experiment.scenario();
    let mut page = String::from(
        "<details><summary>Set-up: what the paper states</summary><div class=\"scroll\"><table>\n",
    );
    for stated in scenario.stated() {
        let (what, value, source) = (escape(&stated.what), escape(&stated.value), escape(&stated.source));
        let _ = writeln!(
            page,
            "<tr><td><code>{what}</code></td><td>{value}</td><td class=\"soft\">{source}</td></tr>"
        );
    }
    page.push_str("</table></div></details>\n<details><summary>Our assumptions</summary><div class=\"scroll\"><table>\n");
    for assumed in scenario.assumptions() {
        let (what, value, why) = (escape(&assumed.what), escape(&assumed.value), escape(&assumed.why));
        let _ = writeln!(
            page,
            "<tr><td><code>{what}</code></td><td>{value}</td><td class=\"soft\">{why}</td></tr>"
        );
    }
    page.push_str("</table></div></details>\n<details><summary>What was measured</summary><div class=\"scroll\"><table>\n");
    for metric in chapter.done.experiment.metrics() {
        let (name, what) = (escape(&metric), escape(scenario.definition(&metric)));
        let _ = writeln!(page, "<tr><td><code>{name}</code></td><td>{what}</td></tr>");
    }
    page + "</table></div></details>\n"
}

fn of_equations(equations: &[(&Claim, Verdict)]) -> String {
    let claims: String = equations.iter().map(|(claim, verdict)| of_claim(claim, verdict)).collect();
    format!(
        "<h2 id=\"equations\">Equations</h2>\n<p>Claims about the papers' own arithmetic, which need no run.</p>\n{claims}"
    )
}

fn foot() -> String {
    format!("<p class=\"soft\">Whimbrel {VERSION}. Charts by uPlot (MIT licence).</p>\n")
}

/// Text that means itself in HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
