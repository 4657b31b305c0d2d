use super::rows::At;
use crate::grid::Contender;

/// Who has a column.
const COLUMNS: [Contender; 4] = [Contender::TcpCubic, Contender::Mobile, Contender::Reno, Contender::Cubic];

/// A table for each rate.
pub(super) fn written(grid: &[At<'_>]) -> String {
    let mut rates: Vec<u64> = grid.iter().map(|at| at.place.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let mut text = "## All cells\n\nGoodput in Mbit/s, marked where it is less than that of `tcp-cubic`: ↓ (less than 99 %), **bold** ⇊ (less than 80 %). Then what packets wait at the bottleneck in \
                    the mean, what share is sent again (in brackets what came twice, for which there was no need), and after how many round trips half the rate is reached, beside how \
                    many there may be; each for `tcp-cubic`, `mobile`, `reno` and `cubic`.\n"
        .to_owned();
    for rate in rates {
        text.push_str(&format!("\n### {rate} Mbit/s\n\n"));
        text.push_str("| RTT, ms | queue, BDP | trouble | bound | tcp-cubic | mobile | reno | cubic | waits, ms | sent again, % | half the rate, round trips |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
        for at in grid.iter().filter(|at| at.place.rate == rate) {
            text.push_str(&row(at));
        }
    }
    text
}

fn row(at: &At<'_>) -> String {
    let place = at.place;
    let goodput = |one: Contender| at.of(one, "goodput").unwrap_or_default();
    let marked = Contender::OURS.map(|one| mark(goodput(one), at.beside_tcp(one)));
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        place.rtt,
        place.queue,
        place.trouble.name(),
        short(place.bound()),
        short(goodput(Contender::TcpCubic)),
        marked.join(" | "),
        each(|one| number(at.of(one, "queueing").map(|time| time * 1e3))),
        each(|one| again(at, one)),
        half_rate(at),
    )
}

fn mark(goodput: f64, ratio: f64) -> String {
    let goodput = short(goodput);
    match ratio {
        ..0.8 => format!("**{goodput}** ⇊"),
        0.8..0.99 => format!("{goodput} ↓"),
        _ => goodput,
    }
}

fn each(of: impl Fn(Contender) -> String) -> String {
    COLUMNS.map(of).join(" · ")
}

fn again(at: &At<'_>, one: Contender) -> String {
    let percent = |metric| at.of(one, metric).map(|share| share * 100.0);
    let sent = number(percent("retransmitted"));
    match percent("needless") {
        Some(needless) if needless >= 0.005 => format!("{sent} ({})", short(needless)),
        _ => sent,
    }
}

fn half_rate(at: &At<'_>) -> String {
    let trips = |time: Option<f64>| number(time.map(|time| time * 1e3 / at.place.rtt as f64));
    let limit = trips(at.of(Contender::Mobile, "half_rate_limit"));
    format!("{}; {limit}", each(|one| trips(at.of(one, "half_rate"))))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), short)
}

/// Three digits, no more after the point than tell anything.
pub(super) fn short(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
