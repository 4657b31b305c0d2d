//! Captures and traces: what others read of a run.
mod common;

use core::time::Duration;
use std::fs::File;
use std::io::{self, Write};
use std::process::Command as Process;

use common::{Gap, Log, Source, Toy, ip, route};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Change, InFlight, LinkConfig, LinkId, QueueLimit, Side, World};
use whimbrel_testbed::Memory;

const MS: Duration = Duration::from_millis(1);

/// A and an echo, with an address of each family, on one link per family; one link is cut for a while.
fn world(local: &str, remote: &str) -> (World<Toy, Log>, LinkId) {
    let mut world = World::new(Seed::from_u64(9));
    let route = route(local, remote);
    let source = Source { route, bytes: 600, count: 100, gap: Gap::Constant(MS) };
    let a = world.add_host("mn", Toy::default(), Log::sending(source));
    let b = world.add_host("cn", Toy::echo(), Log::default());
    let (ia, ib) = (world.add_interface(a, [ip(local)]), world.add_interface(b, [ip(remote)]));
    let config = LinkConfig {
        rate_bps: Some(4_000_000),
        queue: QueueLimit::packets(5),
        delay: 10 * MS,
        ..LinkConfig::default()
    };
    let link = world.add_link(ia, ib, config, config);
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    world.schedule_link(link, Side::Both, [(at(50), Change::Down(InFlight::Lost)), (at(60), Change::Up)]);
    (world, link)
}

fn tshark(file: &std::path::Path, arguments: &[&str]) -> Option<String> {
    let output = Process::new("tshark").arg("-r").arg(file).args(arguments).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn tshark_reads_every_packet_and_finds_nothing_wrong() {
    for (local, remote) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
        let (mut world, link) = world(local, remote);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("link.pcapng");
        world.capture(&[(link, "access")], File::create(&path).unwrap()).unwrap();
        world.run_until(Instant::from_nanos(1_000_000_000));
        world.finish().unwrap();
        let captured =
            world.stats(link, Side::AtoB).offered_packets + world.stats(link, Side::BtoA).delivered_packets;
        assert!(captured > 120, "{captured}");

        let fields =
            ["-T", "fields", "-e", "frame.time_epoch", "-e", "udp.length", "-e", "frame.interface_name"];
        let checks = ["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
        let Some(all) = tshark(&path, &[&checks[..], &fields[..]].concat()) else {
            eprintln!("tshark is not installed: not checked by others");
            return;
        };
        assert_eq!(all.lines().count() as u64, captured);
        assert!(all.lines().all(|line| line.ends_with("\t608\taccess")), "{all}");
        assert_eq!(all.lines().nth(1).unwrap().split('\t').next(), Some("0.001000000"));
        // The toy's packets are not SCTP, so what is above UDP does not count here.
        let wrong =
            "_ws.malformed && !sctp || ip.checksum.status == 0 || udp.checksum.status == 0 || _ws.short";
        let wrong =
            tshark(&path, &[&checks[..], &["-d", "udp.port==9899,data", "-Y", wrong]].concat()).unwrap();
        assert_eq!(wrong, "");
        let dropped = tshark(&path, &["-Y", "frame.comment contains \"dropped\""]).unwrap();
        assert_eq!(
            dropped.lines().count() as u64,
            world.stats(link, Side::AtoB).dropped_packets() - cut(&world, link)
        );
    }
}

fn cut(world: &World<Toy, Log>, link: LinkId) -> u64 {
    world.stats(link, Side::AtoB).dropped_for(whimbrel_netsim::DropReason::Cut)
}

#[test]
fn the_trace_tells_the_whole_story_and_changes_nothing() {
    let (mut silent, _) = world("10.0.0.1", "10.0.0.2");
    silent.run_until(Instant::from_nanos(1_000_000_000));
    let (mut traced, link) = world("10.0.0.1", "10.0.0.2");
    let out = Memory::default();
    traced.trace_to(out.clone());
    traced.run_until(Instant::from_nanos(1_000_000_000));
    traced.finish().unwrap();
    assert_eq!(traced.trace_hash(), silent.trace_hash());

    let text = out.text();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let times: Vec<u64> = lines.iter().map(|line| line["at"].as_u64().unwrap()).collect();
    assert!(times.is_sorted());
    let count = |what: &str| lines.iter().filter(|line| line["what"] == what).count() as u64;
    let (there, back) = (traced.stats(link, Side::AtoB), traced.stats(link, Side::BtoA));
    assert_eq!(count("deliver"), there.delivered_packets + back.delivered_packets);
    assert_eq!(count("drop"), there.dropped_packets() + back.dropped_packets());
    let refused = |stats: &whimbrel_netsim::DirectionStats| {
        stats.dropped_packets() - stats.dropped_for(whimbrel_netsim::DropReason::Cut)
    };
    let passed = there.offered_packets + back.offered_packets - refused(there) - refused(back);
    assert_eq!(count("enqueue"), passed);
    assert_eq!(count("link"), 4);
    assert_eq!(count("start"), 2);
    for reason in ["queue", "down", "cut"] {
        assert!(lines.iter().any(|line| line["reason"] == reason), "{reason}");
    }
    // A packet keeps its number from link to host.
    let numbers = |what: &str| -> Vec<u64> {
        lines
            .iter()
            .filter(|line| line["what"] == what)
            .map(|line| line["packet"].as_u64().unwrap())
            .collect()
    };
    assert!(numbers("deliver").iter().all(|number| numbers("enqueue").contains(number)));
}

/// A writer that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_writers_are_told_at_the_end() {
    let (mut world, link) = world("10.0.0.1", "10.0.0.2");
    world.trace_to(Full);
    assert!(world.capture(&[(link, "x")], Full).is_err());
    world.run_until(Instant::from_nanos(1_000_000_000));
    assert_eq!(world.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert!(world.finish().is_ok());
}
