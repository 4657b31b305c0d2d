//! Transfers: each stack in turn, for each message size.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::ends::PACKET;
use crate::ends::whimbrel::ENCRYPTED;
use crate::referee::{Match, Pair};
use crate::rounds::{self, Spread};
use crate::table::{self, number};
use crate::{Common, Crowd, Transfers};

/// Every stack there is.
pub(crate) const STACKS: [&str; 8] =
    ["whimbrel", ENCRYPTED, "quinn", "usrsctp", "rtc-sctp", "rtc-sctp-single", "tcp", "raw-udp"];

/// On top of what a transfer should take.
const GRACE: Duration = Duration::from_secs(20);

/// usrsctp counts the 20 + 8 bytes of IPv4 and UDP headers into the path MTU.
const USRSCTP_MTU: usize = PACKET + 28;

#[derive(Serialize)]
struct Row {
    size: usize,
    stack: String,
    rounds: usize,
    goodput_mb_per_s: Spread,
    cpu_s_per_gb: Spread,
    messages_per_s: Spread,
    /// Of the receiver's CPU time in both ends'.
    receiver_share: f64,
    /// CPU seconds per GB of usrsctp over this stack's: how many times cheaper it is.
    cheaper_than_usrsctp: Option<f64>,
    /// CPU seconds per GB of this stack over raw UDP's: how many times dearer it is.
    dearer_than_raw_udp: Option<f64>,
    goodput_over_usrsctp: Option<f64>,
}

pub(crate) fn run(arguments: &Transfers) -> anyhow::Result<()> {
    let contestants: Vec<(usize, &str)> = arguments
        .sizes
        .iter()
        .flat_map(|&size| arguments.stacks.iter().map(move |stack| (size, stack.as_str())))
        .collect();
    let program = std::env::current_exe()?;
    let results = rounds::play(
        arguments.common.rounds,
        &contestants,
        |(size, stack)| format!("{stack}, {size} B"),
        |&(size, stack)| {
            let (program, game) = transfer(arguments, &program, stack, size);
            game.play(&program)
        },
    );
    let rows: Vec<Row> = contestants
        .iter()
        .zip(&results)
        .filter_map(|(&(size, stack), pairs)| row(size, stack, pairs))
        .collect();
    report(with_ratios(rows), arguments.common.json)
}

fn transfer(arguments: &Transfers, program: &Path, stack: &str, size: usize) -> (PathBuf, Match) {
    let limit = Duration::from_secs(arguments.seconds) + GRACE;
    let (size, seconds) = (size.to_string(), arguments.seconds.to_string());
    let port = arguments.common.port;
    if stack == "usrsctp" {
        let ends = ["server", "client"].map(|role| {
            let (mtu, server, client) = (USRSCTP_MTU.to_string(), port.to_string(), (port + 1).to_string());
            strings(&[
                role,
                "--size",
                &size,
                "--seconds",
                &seconds,
                "--mtu",
                &mtu,
                "--server-udp",
                &server,
                "--client-udp",
                &client,
            ])
        });
        return (arguments.common.usrsctp.clone(), Match { ends, limit });
    }
    let port = port.to_string();
    let ends = ["server", "client"]
        .map(|role| strings(&["end", stack, role, "--size", &size, "--seconds", &seconds, "--port", &port]));
    (program.to_owned(), Match { ends, limit })
}

pub(crate) fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn row(size: usize, stack: &str, pairs: &[Option<Pair>]) -> Option<Row> {
    let pairs: Vec<&Pair> = pairs.iter().flatten().collect();
    Some(Row {
        size,
        stack: stack.to_owned(),
        rounds: pairs.len(),
        goodput_mb_per_s: Spread::of(pairs.iter().map(|pair| pair.goodput()))?,
        cpu_s_per_gb: Spread::of(pairs.iter().map(|pair| pair.cpu_per_gb()))?,
        messages_per_s: Spread::of(pairs.iter().map(|pair| pair.messages()))?,
        receiver_share: Spread::of(pairs.iter().map(|pair| pair.server.cpu() / pair.cpu()))?.median,
        cheaper_than_usrsctp: None,
        dearer_than_raw_udp: None,
        goodput_over_usrsctp: None,
    })
}

fn with_ratios(mut rows: Vec<Row>) -> Vec<Row> {
    let facts: Vec<_> = rows
        .iter()
        .map(|row| (row.size, row.stack.clone(), row.cpu_s_per_gb.median, row.goodput_mb_per_s.median))
        .collect();
    let find = |size: usize, stack: &str| facts.iter().find(|fact| fact.0 == size && fact.1 == stack);
    for row in &mut rows {
        let usrsctp = find(row.size, "usrsctp");
        row.cheaper_than_usrsctp = usrsctp.map(|fact| fact.2 / row.cpu_s_per_gb.median);
        row.goodput_over_usrsctp = usrsctp.map(|fact| row.goodput_mb_per_s.median / fact.3);
        row.dearer_than_raw_udp = find(row.size, "raw-udp").map(|fact| row.cpu_s_per_gb.median / fact.2);
    }
    rows
}

fn report(rows: Vec<Row>, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), number);
    let cells: Vec<_> = rows
        .iter()
        .map(|row| {
            let cpu = row.cpu_s_per_gb;
            vec![
                row.size.to_string(),
                row.stack.clone(),
                number(cpu.median),
                format!("{} to {}", number(cpu.min), number(cpu.max)),
                number(row.goodput_mb_per_s.median),
                format!("{:.3}", row.messages_per_s.median / 1e6),
                format!("{:.0} %", row.receiver_share * 100.0),
                ratio(row.cheaper_than_usrsctp),
                ratio(row.goodput_over_usrsctp),
                ratio(row.dearer_than_raw_udp),
            ]
        })
        .collect();
    table::print(
        &[
            "size, B",
            "stack",
            "CPU s/GB",
            "spread",
            "MB/s",
            "M messages/s",
            "receiver",
            "usrsctp's CPU / own",
            "goodput / usrsctp's",
            "CPU / raw UDP's",
        ],
        &cells,
    );
    Ok(())
}

/// Heartbeats of idle associations cost what their interval makes them cost: the default profile's two seconds, and
/// the RFC's thirty.
const HEARTBEATS_MS: [u64; 2] = [2000, 30_000];

pub(crate) fn run_crowd(arguments: &Crowd) -> anyhow::Result<()> {
    let contestants: Vec<(usize, u64)> =
        HEARTBEATS_MS.iter().flat_map(|&interval| [(0, interval), (arguments.count, interval)]).collect();
    let program = std::env::current_exe()?;
    let results = rounds::play(
        arguments.common.rounds,
        &contestants,
        |(count, interval)| format!("{count} idle, heartbeats every {interval} ms"),
        |&(count, interval)| crowd_transfer(arguments, count, interval).play(&program),
    );
    let spreads: Vec<_> =
        results.iter().map(|pairs| Spread::of(pairs.iter().flatten().map(Pair::cpu_per_gb))).collect();
    let rows: Vec<Vec<String>> = contestants
        .iter()
        .enumerate()
        .filter_map(|(index, (count, interval))| {
            let (own, alone) = (spreads[index]?, spreads[index & !1]?);
            Some(vec![
                count.to_string(),
                format!("{} s", interval / 1000),
                number(own.median),
                format!("{} to {}", number(own.min), number(own.max)),
                number(1.0 / own.median),
                format!("{:.0} %", alone.median / own.median * 100.0),
            ])
        })
        .collect();
    if arguments.common.json {
        println!("{}", serde_json::to_string_pretty(&spreads)?);
    } else {
        let heading =
            ["idle beside it", "HB.interval", "CPU s/GB", "spread", "GB per CPU s", "of that alone"];
        table::print(&heading, &rows);
    }
    Ok(())
}

fn crowd_transfer(arguments: &Crowd, count: usize, interval: u64) -> Match {
    let Common { port, .. } = arguments.common;
    let words = [
        arguments.size.to_string(),
        arguments.seconds.to_string(),
        port.to_string(),
        count.to_string(),
        interval.to_string(),
    ];
    let ends = ["server", "client"].map(|role| {
        strings(&[
            "end",
            "whimbrel",
            role,
            "--size",
            &words[0],
            "--seconds",
            &words[1],
            "--port",
            &words[2],
            "--crowd",
            &words[3],
            "--heartbeat-ms",
            &words[4],
        ])
    });
    Match { ends, limit: Duration::from_secs(arguments.seconds) + 3 * GRACE }
}
