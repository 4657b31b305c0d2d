//! Associations set up and held: how fast, how dear, how large.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::ends::whimbrel::ENCRYPTED;
use crate::referee::{Match, Pair};
use crate::rounds::{self, Spread};
use crate::table::{self, number};
use crate::transfers::strings;
use crate::{Memory, Setups};

const LIMIT: Duration = Duration::from_secs(120);

/// Whimbrel and usrsctp, each with two addresses at each end and with one. The last is what the machine can do.
const STACKS: [&str; 6] = [WHIMBREL, ENCRYPTED, USRSCTP_TWO, WHIMBREL_ONE, USRSCTP, BARE_UDP];

const WHIMBREL: &str = "whimbrel";

const WHIMBREL_ONE: &str = "whimbrel, one address";

const USRSCTP: &str = "usrsctp";

/// Its library knows addresses of interfaces only: 127.0.0.2 has to be one of lo.
const USRSCTP_TWO: &str = "usrsctp, two addresses";

const BARE_UDP: &str = "UDP, two round trips";

const HOLDERS: [&str; 3] = [WHIMBREL, ENCRYPTED, USRSCTP];

#[derive(Serialize)]
struct SetupRow {
    stack: &'static str,
    inflight: usize,
    setups_per_s: Spread,
    cpu_us_per_setup: Spread,
    /// Rate over usrsctp's with one address in the same round: what slows the machine for seconds hits both.
    ratio_to_usrsctp: Option<Spread>,
    /// The same with two addresses.
    ratio_to_usrsctp_two: Option<Spread>,
}

pub(crate) fn run_setups(arguments: &Setups) -> anyhow::Result<()> {
    let contestants: Vec<(usize, &'static str)> =
        arguments.inflight.iter().flat_map(|&inflight| STACKS.map(|stack| (inflight, stack))).collect();
    let program = std::env::current_exe()?;
    let common = &arguments.common;
    let results = rounds::play(
        common.rounds,
        &contestants,
        |(inflight, stack)| format!("{stack}, {inflight} at a time"),
        |&(inflight, stack)| {
            hold(stack, arguments.count, inflight, false, common.port).play(of(
                stack,
                &program,
                &common.usrsctp,
            ))
        },
    );
    let count = arguments.count as f64;
    let ratio =
        |own: &[Option<Pair>], inflight: usize, stack| {
            let other = contestants.iter().position(|&each| each == (inflight, stack))?;
            let rounds = own.iter().zip(&results[other]);
            Spread::of(rounds.filter_map(|(own, other)| {
                Some(other.as_ref()?.client.seconds / own.as_ref()?.client.seconds)
            }))
        };
    let rows: Vec<SetupRow> = contestants
        .iter()
        .zip(&results)
        .filter_map(|(&(inflight, stack), pairs)| {
            let played = pairs.iter().flatten();
            Some(SetupRow {
                stack,
                inflight,
                setups_per_s: Spread::of(played.clone().map(|pair| count / pair.client.seconds))?,
                cpu_us_per_setup: Spread::of(played.map(|pair| pair.cpu() * 1e6 / count))?,
                ratio_to_usrsctp: ratio(pairs, inflight, USRSCTP),
                ratio_to_usrsctp_two: ratio(pairs, inflight, USRSCTP_TWO),
            })
        })
        .collect();
    if common.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        print_setups(&rows);
    }
    Ok(())
}

fn print_setups(rows: &[SetupRow]) {
    let cells: Vec<_> = rows
        .iter()
        .map(|row| {
            let rate = row.setups_per_s;
            let spread = |ratio: Option<Spread>| {
                ratio.map_or_else(
                    || "-".to_owned(),
                    |ratio| {
                        format!("{} ({} to {})", number(ratio.median), number(ratio.min), number(ratio.max))
                    },
                )
            };
            vec![
                row.inflight.to_string(),
                row.stack.to_owned(),
                number(rate.median),
                format!("{} to {}", number(rate.min), number(rate.max)),
                number(row.cpu_us_per_setup.median),
                spread(row.ratio_to_usrsctp),
                spread(row.ratio_to_usrsctp_two),
            ]
        })
        .collect();
    table::print(
        &[
            "in flight",
            "stack",
            "set-ups/s",
            "spread",
            "CPU µs each, both ends",
            "times usrsctp, by round",
            "times usrsctp with two addresses",
        ],
        &cells,
    );
}

#[derive(Serialize)]
struct MemoryRow {
    stack: &'static str,
    end: &'static str,
    bytes_per_association: Spread,
}

pub(crate) fn run_memory(arguments: &Memory) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    let common = &arguments.common;
    let results = rounds::play(
        common.rounds,
        &HOLDERS,
        |stack| (*stack).to_owned(),
        |&stack| {
            hold(stack, arguments.count, 16, true, common.port).play(of(stack, &program, &common.usrsctp))
        },
    );
    let mut rows = Vec::new();
    for (stack, pairs) in HOLDERS.into_iter().zip(&results) {
        let each = |growth: i64| growth as f64 * 1024.0 / arguments.count as f64;
        let ends = |pick: fn(&Pair) -> i64| Spread::of(pairs.iter().flatten().map(|pair| each(pick(pair))));
        let server = ends(|pair| pair.server.rss_after_kib - pair.server.rss_before_kib);
        let client = ends(|pair| pair.client.rss_after_kib - pair.client.rss_before_kib);
        for (end, spread) in [("server", server), ("client", client)] {
            rows.extend(spread.map(|bytes_per_association| MemoryRow { stack, end, bytes_per_association }));
        }
    }
    if common.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let cells: Vec<_> = rows
        .iter()
        .map(|row| {
            let bytes = row.bytes_per_association;
            vec![
                row.stack.to_owned(),
                row.end.to_owned(),
                number(bytes.median / 1024.0),
                format!("{} to {}", number(bytes.min / 1024.0), number(bytes.max / 1024.0)),
            ]
        })
        .collect();
    table::print(&["stack", "end", "KiB per idle association", "spread"], &cells);
    Ok(())
}

fn of<'a>(stack: &str, program: &'a Path, usrsctp: &'a Path) -> &'a Path {
    if stack.starts_with(USRSCTP) { usrsctp } else { program }
}

/// Sets up `count` associations and holds them.
fn hold(stack: &str, count: usize, inflight: usize, idle: bool, port: u16) -> Match {
    let (count, inflight) = (count.to_string(), inflight.to_string());
    let (server, client) = (port.to_string(), (port + 1).to_string());
    let ends = ["server", "client"].map(|role| {
        if stack.starts_with(USRSCTP) {
            strings(&[
                role,
                if idle { "--idle" } else { "--setups" },
                &count,
                "--inflight",
                &inflight,
                "--server-udp",
                &server,
                "--client-udp",
                &client,
                "--addresses",
                if stack == USRSCTP_TWO { "2" } else { "1" },
            ])
        } else {
            let mut words = strings(&[
                "end",
                match stack {
                    BARE_UDP => "udp-exchange",
                    ENCRYPTED => ENCRYPTED,
                    _ => WHIMBREL,
                },
                role,
                "--setups",
                &count,
                "--inflight",
                &inflight,
                "--port",
                &server,
            ]);
            words.extend(idle.then(|| "--idle".to_owned()));
            if stack == WHIMBREL_ONE {
                words.extend(strings(&["--addresses", "1"]));
            }
            words
        }
    });
    Match { ends, limit: LIMIT }
}
