use super::rows::At;
use super::tables::short;
use crate::grid::Trouble;
use crate::grid::fairness::Mix;

const ONE_PATH: &str = "## Fairness

Flows with equal round trips through one bottleneck of 100 Mbit/s, which begin within a second; the last 50 of 60 s. Jain's index of their goodput, and behind it the mean goodput of the \
                        flows that are named first and of the others, in fair shares: with two and two of them 0.5 and 1.5 is three times as much for the others.

";

const TWO_PATHS: &str = "### Two paths through one bottleneck

An association that uses two paths at once, both of them through the bottleneck, beside TCP connections: as above. `mobile-on-two` and `reno-on-two` have a controller for each path; `lia`, `olia` and `rpv2` couple the windows of both. The last column \
                         has losses of 0.1 % and room for all: each packet is as likely to be lost as any other, for which the rules of coupling are made. The queues of the others drop what comes when they are full, which hits small windows less often than large ones.

";

/// How flows share a bottleneck, by who they are.
pub(super) fn written(places: &[At<'_>]) -> String {
    table(ONE_PATH, places, &Mix::all()) + &table(TWO_PATHS, places, &Mix::on_two())
}

/// A column for each of the places where the last of the mixes was measured, which is in one table alone.
fn table(introduction: &str, places: &[At<'_>], mixes: &[Mix]) -> String {
    let measured = |at: &&At<'_>| mixes.last().is_some_and(|mix| at.mean(&mix.name(), "jain").is_some());
    let places: Vec<_> = places.iter().filter(measured).collect();
    if places.is_empty() {
        return String::new();
    }
    let mut text = introduction.to_owned() + "|";
    for place in places.iter().map(|at| at.place) {
        text.push_str(&format!(" | {} Mbit/s, {} ms, ", place.rate, place.rtt));
        match place.trouble {
            Trouble::Loss(loss) if loss <= 0.0 => text.push_str(&format!("{} BDP", place.queue)),
            trouble => text.push_str(&trouble.name()),
        }
    }
    text.push_str(" |\n|---|");
    text.push_str(&"---|".repeat(places.len()));
    text.push('\n');
    for mix in mixes {
        let name = mix.name();
        text.push_str(&format!("| {name} |"));
        for at in &places {
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
