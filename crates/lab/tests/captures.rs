//! Captures of experiments in which not everybody speaks SCTP, as somebody else reads them.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use whimbrel_lab::{Experiment, Papers, Watch, figures, own};

const SCTP: &str = "132";
const TCP: &str = "6";
/// An IPv4 packet in another, and then TCP in that.
const TUNNELLED_TCP: &str = "4,6";
const SIMPLIFIED: &str = "253";

/// Records the first cell of `experiment` whose label contains `label`, once.
fn record(experiment: &dyn Experiment, label: &str) -> (TempDir, PathBuf) {
    let cells = experiment.cells();
    let cell = cells.iter().find(|cell| cell.label().contains(label)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pcapng");
    let pcap = Some(Box::new(File::create(&path).unwrap()) as Box<_>);
    experiment.run(cell, experiment.seed(0), Watch { pcap, ..Watch::default() });
    (directory, path)
}

fn experiment(name: &str) -> Box<dyn Experiment> {
    figures::named(&Papers::load().unwrap(), &[name.to_owned()]).unwrap().remove(0)
}

/// What tshark prints, with every checksum checked; `None` if it is not installed.
fn tshark(file: &Path, arguments: &[&str]) -> Option<String> {
    let checks = ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "sctp.checksum:CRC 32c"];
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-r"]).arg(file).args(checks.iter().flat_map(|check| ["-o", check])).args(arguments);
    let Ok(output) = tshark.output() else {
        eprintln!("tshark is not installed: captures are not checked by others");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Holds a capture against the protocols that must be in it, and no others.
fn check(file: &Path, protocols: &[&str]) {
    let Some(found) = tshark(file, &["-T", "fields", "-e", "ip.proto"]) else { return };
    assert_eq!(found.lines().collect::<BTreeSet<_>>(), BTreeSet::from_iter(protocols.iter().copied()));
    // A status of 1 is good.
    let wrong = "_ws.malformed || ip.checksum.status != 1 || (tcp && tcp.checksum.status != 1) || \
                 (sctp && sctp.checksum.status != 1) || (ip.proto == 6 && !tcp)";
    assert_eq!(tshark(file, &["-Y", wrong]).as_deref(), Some(""));
}

#[test]
fn tcp_beside_sctp() {
    let (_directory, file) = record(&*experiment("e13_lc"), "");
    check(&file, &[SCTP, TCP]);
}

#[test]
fn tcp_over_mobile_ip() {
    let (_directory, file) = record(&*experiment("c04_fig06"), "scheme=tom");
    check(&file, &[TUNNELLED_TCP, SIMPLIFIED]);
}

#[test]
fn a_host_with_tcp_in_a_file_of_ones_own() {
    let text = std::fs::read_to_string("../../docs/lab/neighbour.toml").unwrap();
    let (_directory, file) = record(&*own::load("neighbour.toml", &text).unwrap(), "");
    check(&file, &[SCTP, TCP]);
}
