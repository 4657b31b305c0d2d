//! The demo's page: one HTML file with everything in it.

use std::fmt::Write;

use anyhow::Context;
use serde_json::{Value, json};

use super::capture::Overheard;
use super::networks::{LTE, Profile, WIFI};
use super::samples::{Point, STEP, between, thinned};
use super::{CUT_AT, Story};
use crate::template;

const TEMPLATE: &str = include_str!("../../assets/demo.html");
const STYLE: &str = include_str!("../../assets/demo.css");
const SCRIPT: &str = include_str!("../../assets/demo.js");
const CHART_SCRIPT: &str = include_str!("../../assets/vendor/uplot/uPlot.iife.min.js");
const CHART_STYLE: &str = include_str!("../../assets/vendor/uplot/uPlot.min.css");
const CHART_LICENCE: &str = include_str!("../../assets/vendor/uplot/LICENSE");

/// What the close-up shows around the cut, seconds before and after.
const CLOSE_UP: (f64, f64) = (0.4, 1.1);

/// The page.
pub(super) fn render(story: &Story) -> anyhow::Result<String> {
    let data = serde_json::to_string(&data(story)).context("cannot encode the samples")?;
    let parts: [(&str, String); 8] = [
        ("{{licence}}", template::comment(CHART_LICENCE)),
        ("{{chart-style}}", CHART_STYLE.to_owned()),
        ("{{style}}", STYLE.to_owned()),
        ("{{headline}}", headline(story)),
        ("{{table}}", table(story)),
        ("{{overheard}}", overheard(story)),
        ("{{data}}", template::data(&data)),
        ("{{scripts}}", [CHART_SCRIPT, SCRIPT].map(template::script).join("\n")),
    ];
    template::fill(TEMPLATE, &parts)
}

fn data(story: &Story) -> Value {
    let timeline = &story.timeline;
    let cut = timeline.seconds(timeline.cut);
    let gap_begin = timeline.seconds(story.pause.begin);
    let gap = story.pause.gap.as_secs_f64();
    let (from, to) = (gap_begin.min(cut) - CLOSE_UP.0, (gap_begin + gap).max(cut) + CLOSE_UP.1 - CLOSE_UP.0);
    let steps = story.traffic.rates.iter().map(Vec::len).max().unwrap_or(0);
    let round = |value: f64, digits: f64| (value * digits).round() / digits;
    let points = |points: Vec<Point>| -> Value {
        points.iter().map(|p| json!([round(p.at, 1e4), round(p.sent, 1e4), u8::from(p.lost)])).collect()
    };
    let rates = |network: usize| -> Value {
        story.traffic.rates[network].iter().map(|&megabits| round(megabits, 1e2)).collect()
    };
    json!({
        "cut": cut, "back": timeline.back.map(|back| timeline.seconds(back)), "end": timeline.seconds(timeline.end),
        "gap": [gap_begin, gap_begin + gap],
        "names": [WIFI.name, LTE.name],
        "rates": {
            "at": (0..steps).map(|step| round(step as f64 * STEP, 1e3)).collect::<Vec<_>>(),
            "networks": [rates(0), rates(1)],
        },
        "overview": [points(thinned(&story.traffic.points[0])), points(thinned(&story.traffic.points[1]))],
        "closeUp": {
            "from": from, "to": to,
            "networks": [
                points(between(&story.traffic.points[0], from, to)),
                points(between(&story.traffic.points[1], from, to)),
            ],
        },
    })
}

fn headline(story: &Story) -> String {
    format!(
        "The Wi-Fi died in the middle of a {:.0} MB file. The transfer paused for <strong>{:.0} ms</strong>, went on over LTE, \
         and the file arrived whole.",
        story.bytes as f64 / 1e6,
        story.pause.gap.as_secs_f64() * 1e3
    )
}

fn table(story: &Story) -> String {
    let timeline = &story.timeline;
    let seconds = |at| format!("{:.2} s", timeline.seconds(at));
    let millis = |duration: std::time::Duration| format!("{:.1} ms", duration.as_secs_f64() * 1e3);
    let share = |network: usize| {
        let total: u64 = story.traffic.bytes.iter().sum();
        let bytes = story.traffic.bytes[network];
        format!("{:.1} MB ({:.0} %)", bytes as f64 / 1e6, 100.0 * bytes as f64 / total.max(1) as f64)
    };
    let cut = timeline.seconds(timeline.cut);
    let returned = timeline.back.and_then(|back| {
        let back = timeline.seconds(back);
        story.moves.iter().find(|(at, network)| *at >= back && *network == 0).map(|(at, _)| at - back)
    });
    let noticed =
        story.moves.iter().find(|(at, network)| *at >= cut && *network == 1).map(|(at, _)| at - cut);
    let rows: Vec<(&str, String)> = vec![
        (
            "Pause of the application",
            format!("<strong>{:.0} ms</strong>", story.pause.gap.as_secs_f64() * 1e3),
        ),
        ("Spacing of data before, median", millis(story.pause.typical)),
        ("Longest wait in the 2 s before", millis(story.pause.longest_before)),
        ("Wi-Fi dies", format!("{} ({:.0} % of the file)", seconds(timeline.cut), CUT_AT * 100.0)),
        (
            "New data goes over LTE",
            noticed.map_or("never".into(), |after| format!("{:.0} ms later", after * 1e3)),
        ),
        ("Wi-Fi is back", timeline.back.map_or("not before the end".into(), seconds)),
        (
            "Data goes over Wi-Fi again",
            returned.map_or("not before the end".into(), |after| format!("{after:.2} s later")),
        ),
        ("File complete", format!("{}, {:.0} MB", seconds(timeline.end), story.bytes as f64 / 1e6)),
        ("Carried by Wi-Fi", share(0)),
        ("Carried by LTE", share(1)),
        ("Packets lost", story.traffic.lost.to_string()),
        ("Data chunks sent again", story.retransmitted.to_string()),
        ("Content, at both ends", format!("BLAKE3 <code>{}</code>", story.hash.to_hex())),
        ("Wi-Fi", describe(&WIFI)),
        ("LTE", describe(&LTE)),
    ];
    let mut out = String::new();
    for (name, value) in rows {
        let _ = writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    out
}

/// What a listener has, in words, and the beginning of a packet as it passed.
fn overheard(story: &Story) -> String {
    let sum = |of: fn(&Overheard) -> u64| story.overheard.iter().map(of).sum::<u64>();
    let (packets, sealed) = (sum(|heard| heard.packets), sum(|heard| heard.sealed));
    let revealing = match sum(|heard| heard.revealing) {
        0 => "In none of them is the file's name to be found, or its first bytes".to_owned(),
        some => format!("In {some} of them the file's name was found, or its first bytes"),
    };
    let mut out = format!(
        "<p>Both hosts had the other's key, and the packets were encrypted. Whoever listened in both networks has {packets} packets, of which \
         {sealed} are sealed; the others set the connection up, and agreed on keys. {revealing}. When packets passed, and how long they were, is \
         all that there is: the pictures above are made of nothing else.</p>\n"
    );
    if let Some(sample) = story.overheard.iter().map(|heard| &heard.sample).find(|sample| !sample.is_empty())
    {
        let _ = writeln!(out, "<pre>{}</pre>", dump(sample));
        out.push_str(
            "<p>The beginning of one of them. In the first line are SCTP's ports, the tag of the connection and the checksum, then begins the sealed chunk \
             (41, its length, a record number that is masked). From there on it is noise.</p>\n",
        );
    }
    out
}

/// Sixteen bytes a line, and what of them is text.
fn dump(bytes: &[u8]) -> String {
    let line = |line: &[u8]| {
        let hexadecimal: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let letter = |byte: &u8| match char::from(*byte) {
            letter @ ('&' | '<' | '>') => format!("&#{};", u32::from(letter)),
            letter if letter.is_ascii_graphic() => letter.to_string(),
            _ => ".".into(),
        };
        format!("{}  {}", hexadecimal.join(" "), line.iter().map(letter).collect::<String>())
    };
    bytes.chunks(16).map(line).collect::<Vec<_>>().join("\n")
}

fn describe(profile: &Profile) -> String {
    format!(
        "{} Mbit/s, {} ms there and back, {:.2} % random loss (emulated)",
        profile.megabits,
        profile.rtt.as_millis(),
        profile.loss * 100.0
    )
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
