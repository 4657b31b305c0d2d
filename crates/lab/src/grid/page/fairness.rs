use super::rows::At;
use super::tables::short;
use crate::grid::fairness::Mix;

/// How flows share a bottleneck, by who they are.
pub(super) fn written(places: &[At<'_>]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let mut text = "## Fairness\n\nFlows with equal round trips through one bottleneck of 100 Mbit/s, which begin within a second; the last 50 of 60 s. Jain's index of their goodput, and behind it the mean goodput of the \
                    flows that are named first and of the others, in fair shares: with two and two of them 0.5 and 1.5 is three times as much for the others.\n\n|"
        .to_owned();
    for at in places {
        text.push_str(&format!(" | {} ms, {} BDP", at.place.rtt, at.place.queue));
    }
    text.push_str(" |\n|---|");
    text.push_str(&"---|".repeat(places.len()));
    text.push('\n');
    for mix in Mix::all() {
        let name = mix.name();
        text.push_str(&format!("| {name} |"));
        for at in places {
            text.push_str(&format!(" {} |", cell(at, &name)));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

fn cell(at: &At<'_>, mix: &str) -> String {
    let of = |metric| at.mean(mix, metric);
    let Some(jain) = of("jain") else { return "–".to_owned() };
    match (of("first"), of("second")) {
        (Some(first), Some(second)) => format!("{}; {} and {}", short(jain), short(first), short(second)),
        _ => short(jain),
    }
}
