//! The page of the grid, in Markdown.

mod fairness;
mod rows;
mod summary;
mod tables;

use std::collections::BTreeSet;

use self::rows::At;
use crate::experiment::Row;

/// What stands out, and what it comes from, as far as it is known.
const REMARKS: &str = include_str!("../../../data/grid_remarks.md");

/// The page: what was measured, by which versions of the program, how many cells meet the goal, and every cell.
pub fn written(grid: &[Row], fairness: &[Row], versions: &BTreeSet<String>) -> String {
    let seeds: BTreeSet<String> = grid.iter().chain(fairness).map(|row| row.seed.to_string()).collect();
    let mut page = introduction(&listed(versions), &listed(&seeds));
    let (grid, fairness) = (At::all(grid), At::all(fairness));
    page.push_str(&summary::written(&grid));
    page.push_str(REMARKS);
    page.push_str(&fairness::written(&fairness));
    page.push_str(&tables::written(&grid));
    page
}

fn listed(all: &BTreeSet<String>) -> String {
    all.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ")
}

fn introduction(versions: &str, seeds: &str) -> String {
    let controller = format!("{:?}", whimbrel_proto::Config::mobile().congestion.controller);
    // The type that makes controllers is called after them, and what follows are its numbers.
    let controller = controller.split("Parameters").next().unwrap_or_default().to_uppercase();
    format!(
        "# The grid

How fast one transfer is on paths of every kind, by congestion controller, beside TCP; and how several share a bottleneck. `whimbrel lab grid --page
docs/grid.md` makes this page anew; the rows were made by version {versions} with seed {seeds} (`--seed` and `--reps` are for others).

Two real endpoints send real packets through one bottleneck of `netsim` in virtual time: 1,500 bytes, SCTP in UDP, messages of 16 KiB, as much as the association
takes. All have buffers of twice what the path and its queue hold. `mobile` is `Config::mobile()`, whose controller is {controller}; `reno` and `cubic` are
the same with `--controller reno` and `cubic`, which begin with HyStart++. `tcp-cubic` is CUBIC of `rivals` as Linux has it: RACK with tail loss probes (RFC 8985), proportional rate reduction
(RFC 9937), DSACK and what it takes back, HyStart, an initial window of ten, timeouts of SRTT and 200 ms at least, and no pacing; but no timestamps, and an acknowledgement for each segment. `tcp-reno` is the same with Reno. The kernel's BBR is not here.

- Queues are 0.1, 1 and 4 bandwidth-delay products (BDP), and four packets at least. `bursts`: 1 % is lost, in bursts of ten (Gilbert). `jitter`: each packet
  takes up to 5 ms longer, and overtakes others. `leo`: every 15 s rate and round trip change, by factors of 1, 0.5, 1.5, 1 and 1, 1.5, 0.75, 1.25. `wifi`: the access point has the
  medium for a third of every 4 ms, at three times the rate, and acknowledgements come in the middle of its pause.
- Goodput is that of the whole run, ramp-up included. A run takes 10 s or 200 round trips, whichever is longer, up to 100 Mbit/s, 6 s or 50 round trips at 1 Gbit/s, 5 s at 10 Gbit/s, 60 s with `leo` and 20 s with `wifi`.
- The *bound* is rate × (1 - loss). A full packet has 1,460 bytes of user data with TCP and 1,428 with Whimbrel (two chunks, and UDP), so nobody reaches more than 97 and 95 % of it. Compared with TCP,
  goodput is divided by these: who fills the bottleneck has 100 %.

"
    )
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
