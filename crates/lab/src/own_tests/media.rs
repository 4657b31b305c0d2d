//! Networks whose hosts share the air.

use super::residents::{metric, rows};
use super::{example, load};
use crate::experiment::Watch;

/// Goodput of each host in Mbit/s, in the cell of the sweep where these axes have these values.
fn goodputs(text: &str, at: &[(&str, &str)]) -> Vec<f64> {
    let experiment = load("mine", text).unwrap_or_else(|error| panic!("{error}"));
    let cells = experiment.cells();
    let fits = |cell: &&crate::Cell| {
        at.iter().all(|(axis, wanted)| cell.get(axis).is_some_and(|value| value.to_string() == *wanted))
    };
    let outcome = experiment.run(cells.iter().find(fits).expect("there is such a cell"), 1, Watch::default());
    let goodput = |sample: &crate::experiment::Sample| {
        sample.metrics.iter().find(|(name, _)| name == "goodput").expect("it is measured").1 / 1e6
    };
    outcome.samples.iter().map(goodput).collect()
}

/// Ten lines: twenty hosts in a cell, both ways. SACKs have to contend for the air, too.
#[test]
fn a_hotspot_is_shared() {
    let text = example("hotspot");
    let all = |kind: &str, from: &str, rts: &str| {
        let at = [("network.cell.kind", kind), ("traffic.from", from), ("network.cell.rts", rts)];
        let goodputs = goodputs(text, &at);
        assert_eq!(goodputs.len(), 20);
        goodputs
    };
    for from in ["cn", "mn"] {
        let [fast, slow] = ["802.11a", "802.11b"].map(|kind| all(kind, from, "400").iter().sum::<f64>());
        // What a cell of one station carries is 24.3 and 4.2 Mbit/s of packets of 1452 bytes.
        assert!((12.0..25.0).contains(&fast), "{from}: {fast}");
        assert!((2.0..5.0).contains(&slow), "{from}: {slow}");
    }
    let down = all("802.11b", "cn", "3000");
    assert!(down.iter().all(|own| *own > 0.01), "{down:?}");
    assert!(down.iter().sum::<f64>() > all("802.11b", "cn", "0").iter().sum(), "RTS and CTS cost time");
}

/// 384 kbit/s of blocks of 40 bytes, in each direction.
#[test]
fn a_common_channel_is_shared() {
    for from in ["cn", "mn"] {
        let goodputs =
            goodputs(example("common-channel"), &[("traffic.from", from), ("traffic.size", "1400")]);
        let sum: f64 = goodputs.iter().sum();
        assert!((0.33..0.384).contains(&sum) && goodputs.len() == 4, "{from}: {goodputs:?}");
        assert!(goodputs.iter().all(|own| *own > sum / 10.0), "{from}: {goodputs:?}");
    }
}

/// Everybody begins in the slower cell.
#[test]
fn aisle_spreads_hosts_over_two_cells() {
    let text = example("aisle");
    let sum = |policy: &str| {
        let experiment = load("mine", text).unwrap();
        let cells = experiment.cells();
        let cell = cells.iter().find(|cell| cell.series == policy).unwrap();
        let outcome = experiment.run(cell, 1, Watch::default());
        let value = |sample: &crate::experiment::Sample, wanted: &str| {
            sample.metrics.iter().find(|(name, _)| name == wanted).map_or(0.0, |(_, value)| *value)
        };
        let goodput: f64 = outcome.samples.iter().map(|sample| value(sample, "goodput") / 1e6).sum();
        let moves: Vec<f64> = outcome.samples.iter().map(|sample| value(sample, "moves")).collect();
        (goodput, moves)
    };
    let ((aisle, moves), (failover, none)) = (sum("aisle"), sum("failover"));
    assert!(aisle > 2.0 * failover, "{aisle} {failover} {moves:?}");
    assert!(moves.iter().filter(|moves| **moves > 0.0).count() >= 5, "{moves:?}");
    assert!(none.iter().all(|moves| *moves == 0.0));
}

#[test]
fn hosts_that_are_alike_are_counted() {
    let top = "title = \"t\"\nduration = 2\npolicies = [\"failover\"]\ntraffic = { kind = \"bulk\", size = 1400 }\n";
    let net = "[network.n]\nrate = 1\ndelay = 1\nkind = \"wlan\"\n";
    let rows = rows(&format!("{top}{net}[host.a]\ncount = 12\n[host.b]\n"));
    let names: Vec<&str> = rows.iter().map(|(name, _)| &**name).collect();
    assert_eq!((names.len(), names[0], names[11], names[12]), (13, "a-01", "a-12", "b"));
    assert!(rows.iter().all(|row| metric(row, "goodput").is_some()));
}

#[test]
fn what_is_no_such_network_is_said() {
    let top = "title = \"t\"\nduration = 2\npolicies = [\"failover\"]\ntraffic = { kind = \"bulk\", size = 1400 }\n";
    for (rest, expected) in [
        ("[network.n]\ndelay = 1\nkind = \"wlan\"\n", "network.n.rate is missing: Mbit/s to the hosts"),
        ("[network.n]\ndelay = 1\nrate = 5\nkind = \"umts\"\n", "network.n.rate is not to be given"),
        ("[network.n]\ndelay = 1\nbuffer = 5\nkind = \"802.11a\"\n", "network.n.buffer is not to be given"),
        ("[network.n]\ndelay = 1\nrts = 5\nkind = \"umts\"\n", "network.n.rts is not to be given"),
        (
            "[network.n]\ndelay = 1\nrate = 1\nrts = 5\nkind = \"wlan\"\n",
            "network.n.rts belongs to the kinds",
        ),
        (
            "[network.n]\ndelay = 1\nkind = \"802.11b\"\n[[event]]\nat = 1\nnetwork = \"n\"\nwhat = \"rate\"\nvalue = 1\n",
            "event.0: the rate of n is that of its kind",
        ),
        (
            "[network.n]\ndelay = 1\nkind = \"802.11b\"\n[host.a]\ncount = -1\n",
            "expected a whole number from 0 on",
        ),
        (
            "[network.n]\ndelay = 1\nkind = \"802.11b\"\n[host.a]\ncount = 500\n",
            "host.a.count is 500.0, and must be from 1 to 200",
        ),
        (
            "[network.n]\ndelay = 1\nkind = \"802.11b\"\n[host.a]\ncount = 2\n[host.a-1]\n",
            "host.a.count: there is a host called a-1",
        ),
        (
            "[network.n]\ndelay = 1\nkind = \"802.11b\"\n[host.a]\ncount = 2\n[sweep]\n\"host.a.count\" = [1, 2]\n",
            "sweep: host.a.count says how many rows a run yields",
        ),
    ] {
        let Err(error) = load("mine", &format!("{top}{rest}")) else { panic!("{rest} was taken") };
        assert!(error.to_string().contains(expected), "{rest}: {error}");
    }
}
