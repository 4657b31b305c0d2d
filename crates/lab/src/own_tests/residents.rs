//! Hosts, what they send, and where they go.

use super::load;
use crate::experiment::Watch;
use crate::value::Value;

pub(super) const TOP: &str = "title = \"t\"\nrepetitions = 1\nduration = 30\npolicies = [\"seamless\"]\n";
pub(super) const WIFI: &str = "[network.wifi]\nrate = 8\nrate_up = 2\ndelay = 5\nkind = \"wlan\"\n";

/// What one run shows, host by host.
pub(super) fn rows(text: &str) -> Vec<(String, Vec<(String, f64)>)> {
    let experiment = load("mine", text).unwrap_or_else(|error| panic!("{error}"));
    let outcome = experiment.run(&experiment.cells()[0], 900_000_000, Watch::default());
    let row = |sample: &crate::experiment::Sample| {
        let host = sample.axes.iter().find(|(axis, _)| axis == "host").and_then(|(_, value)| value.word());
        let metrics = sample.metrics.iter().map(|(name, value)| (name.to_string(), *value));
        (host.unwrap_or_default().to_owned(), metrics.collect())
    };
    outcome.samples.iter().map(row).collect()
}

pub(super) fn metric(row: &(String, Vec<(String, f64)>), wanted: &str) -> Option<f64> {
    row.1.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
}

#[test]
fn a_file_takes_as_long_as_its_direction_allows() {
    let time = |from: &str| {
        let traffic = format!("[traffic]\nkind = \"file\"\nsize = 2_000_000\nfrom = \"{from}\"\nstart = 1\n");
        let rows = rows(&(TOP.to_owned() + WIFI + &traffic));
        metric(&rows[0], "completion_time").unwrap()
    };
    // 16 Mbit at 8 and at 2 Mbit/s, headers and the slow start aside.
    let (down, up) = (time("cn"), time("mn"));
    assert!((2.0..2.6).contains(&down), "{down}");
    assert!((8.0..9.5).contains(&up), "{up}");
    let traffic = "[traffic]\nkind = \"file\"\nsize = 200_000_000\n";
    let rows = rows(&(TOP.to_owned() + WIFI + traffic));
    assert_eq!(metric(&rows[0], "completion_time"), None, "it is not there when the time is over");
}

/// Whichever began first, and with a `return` between them.
#[test]
fn a_network_that_is_broken_twice_at_a_time_is_broken_until_both_are_over() {
    let silence = |events: &[(&str, f64, &str)]| {
        let event = |&(what, at, rest): &(&str, f64, &str)| {
            format!("[[event]]\nnetwork = \"wifi\"\nwhat = \"{what}\"\nat = {at}\n{rest}\n")
        };
        let events: String = events.iter().map(event).collect();
        let traffic = "[traffic]\nkind = \"constant-rate\"\nsize = 100\nrate = 0.1\n";
        metric(&rows(&(TOP.to_owned() + WIFI + &events + traffic))[0], "longest_silence").unwrap()
    };
    let both = silence(&[("break", 5.0, "for = 10"), ("break", 8.0, "for = 0.5")]);
    assert!((10.0..14.0).contains(&both), "{both}");
    let both = silence(&[("break", 8.0, "for = 0.5"), ("lose", 5.0, "for = 10")]);
    assert!((10.0..14.0).contains(&both), "{both}");
    let one = silence(&[("break", 5.0, ""), ("break", 8.0, "for = 0.5"), ("return", 15.0, "")]);
    assert!((10.0..14.0).contains(&one), "until it returns: {one}");
    let one = silence(&[("break", 5.0, "for = 10"), ("return", 7.0, "")]);
    assert!((2.0..4.0).contains(&one), "{one}");
}

/// What is delivered before the duration begins does not count, however short it is.
#[test]
fn goodput_is_no_more_than_the_network_carries() {
    for duration in [1, 2, 10] {
        let top = TOP.replace("duration = 30", &format!("duration = {duration}"));
        let rows = rows(&(top + WIFI + "[traffic]\nkind = \"bulk\"\nsize = 1000\n"));
        let goodput = metric(&rows[0], "goodput").unwrap();
        assert!((6.0e6..8.0e6).contains(&goodput), "{duration} s: {goodput}");
        let again = metric(&rows[0], "retransmitted").unwrap();
        assert!((0.0..=1.0).contains(&again), "{again}");
    }
    let never = "[[event]]\nat = 0\nnetwork = \"wifi\"\nwhat = \"loss\"\nvalue = 1\n";
    let rows =
        rows(&(TOP.to_owned() + WIFI + never + "[traffic]\nkind = \"bulk\"\nsize = 1000\nstart = 5\n"));
    assert_eq!(metric(&rows[0], "longest_silence"), None, "what never spoke is not silent");
}

#[test]
fn a_video_is_late_where_the_network_is_slow_and_ends_with_its_last_message() {
    let video = |size: u32, deadline: u32| {
        let traffic = format!(
            "[traffic]\nkind = \"video\"\nsize = {size}\nframes = 20\ncount = 100\ndeadline = {deadline}\nstart = 0\n"
        );
        rows(&(TOP.to_owned() + WIFI + &traffic)).remove(0)
    };
    // 20 × 10 kB × 8 = 1.6 Mbit/s: each message has some 10 ms to be sent and 5 ms on its way.
    let good = video(10_000, 100);
    let time = metric(&good, "transfer_time").unwrap();
    assert!((0.015..0.03).contains(&time) && metric(&good, "late") == Some(0.0), "{good:?}");
    assert!((metric(&good, "goodput").unwrap() - 100.0 * 10_000.0 * 8.0 / 30.0).abs() < 1.0, "{good:?}");
    assert_eq!(metric(&video(10_000, 10), "late"), Some(1.0), "none can be there in 10 ms");
    // 9.6 Mbit/s do not fit.
    assert!(metric(&video(60_000, 100), "late").unwrap() > 0.5);
}

/// Two cells side by side on the way; whoever loses one has the other.
#[test]
fn a_walk_leads_from_cell_to_cell() {
    let cell = |name: &str, x: u32, rank: u32| {
        format!(
            "[network.{name}]\nrate = 8\ndelay = 5\nkind = \"wlan\"\nrank = {rank}\n\
             cell = {{ at = [{x}, 0], radius = 50, layer2 = 0.2, address = 0.2 }}\n"
        )
    };
    let walk = |far: u32, to: u32| {
        let motion = format!("[motion]\nkind = \"line\"\nfrom = [0, 0]\nto = [{to}, 0]\nspeed = 4\n");
        let traffic = "[traffic]\nkind = \"constant-rate\"\nsize = 200\nrate = 0.16\n";
        rows(&(TOP.to_owned() + &cell("a", 0, 0) + &cell("b", far, 1) + &motion + traffic)).remove(0)
    };
    // 20 m of overlap at 4 m/s are 5 s.
    let good = walk(80, 80);
    assert_eq!(metric(&good, "moves"), Some(1.0), "{good:?}");
    assert!(metric(&good, "longest_silence").unwrap() < 0.1, "{good:?}");
    // 20 m without either.
    let gap = walk(120, 120);
    let silence = metric(&gap, "longest_silence").unwrap();
    assert!((5.0..7.5).contains(&silence), "{gap:?}");
    // Who stays in the first cell does not move, and who leaves it for nowhere is lost at 12.5 s.
    assert_eq!(metric(&walk(80, 20), "moves"), Some(0.0));
    let lost = metric(&walk(400, 200), "longest_silence").unwrap();
    assert!((17.0..18.0).contains(&lost), "{lost}");
}

const NEIGHBOURS: &str = "[host.a]\n[host.b]\npolicy = \"failover\"\n\
    [host.c]\nkind = \"tcp\"\nnetworks = [\"wifi\"]\n[traffic]\nkind = \"bulk\"\nsize = 1400\n";

#[test]
fn hosts_share_their_network_and_stand_in_rows_of_their_own() {
    let queue = |queue: &str| {
        let rows = rows(&(TOP.to_owned() + WIFI + &format!("queue = \"{queue}\"\n") + NEIGHBOURS));
        let names: Vec<&str> = rows.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        [0, 1, 2].map(|host| metric(&rows[host], "goodput").unwrap() / 1e6)
    };
    for goodputs in [queue("drop-tail"), queue("per-flow")] {
        let sum: f64 = goodputs.iter().sum();
        assert!((7.0..8.0).contains(&sum), "they share 8 Mbit/s: {goodputs:?}");
    }
    let apart = queue("per-flow");
    let (least, most) =
        (apart.iter().copied().fold(9.0, f64::min), apart.iter().copied().fold(0.0, f64::max));
    assert!(most / least < 1.15, "each has its turn: {apart:?}");
}

#[test]
fn hosts_are_an_axis_of_rows_and_lines() {
    let text = TOP.to_owned() + WIFI + NEIGHBOURS + "[sweep]\n\"network.wifi.rate\" = [4, 8]\n";
    let experiment = load("mine", &text).unwrap();
    assert_eq!(experiment.axes(), ["network.wifi.rate", "host"]);
    assert_eq!(experiment.cells().len(), 2);
    let lines = &experiment.plots()[0].lines;
    let hosts: Vec<_> = lines.iter().map(|line| line.at.last().unwrap().1.clone()).collect();
    assert_eq!(hosts, ["a", "b", "c"].map(Value::from));
    assert!(experiment.metrics().iter().all(|metric| metric != "completion_time" && metric != "late"));
}

/// What would hang, run out of memory, or be another experiment than the one that was asked for.
#[test]
fn hosts_and_ways_that_cannot_be_are_refused() {
    let cell = "cell = { at = [0, 0], radius = 50 }\n";
    let bulk = "[traffic]\nkind = \"bulk\"\nsize = 1400\n";
    let line = |from: &str, speed: &str| {
        format!("{cell}{bulk}[motion]\nkind = \"line\"\nfrom = {from}\nto = [9, 0]\nspeed = {speed}\n")
    };
    let waypoint = |area: &str, speed: &str| {
        format!("{cell}{bulk}[motion]\nkind = \"waypoint\"\narea = {area}\nstart = [0, 0]\nspeed = {speed}\n")
    };
    let traffic = |text: &str| format!("[traffic]\n{text}");
    let cases = [
        (String::new(), "there is no [traffic]"),
        (traffic("kind = \"file\"\nsize = 99_000_000_000"), "traffic.size is 99000000000"),
        (traffic("kind = \"video\"\nsize = 100"), "traffic.frames is missing: video needs it"),
        (traffic("kind = \"video\"\nsize = 100\nframes = nan"), "traffic.frames is NaN"),
        (traffic("kind = \"video\"\nsize = 100\nframes = 5\ncount = 0"), "traffic.count is 0"),
        (traffic("kind = \"video\"\nsize = 100\nframes = 5\ndeadline = -1"), "traffic.deadline is -1.0"),
        (traffic("kind = \"bulk\"\nsize = 100\nrate = 5"), "traffic.rate does not belong to bulk"),
        (traffic("kind = \"bulk\"\nsize = 100\nstart = inf"), "traffic.start is inf"),
        (traffic("kind = \"bulk\"\nsize = 100\nspread = 1"), "traffic.spread belongs to a start"),
        (traffic("kind = \"bulk\"\nsize = 100\nstart = 1\nspread = 1000"), "or may: `start` and `spread`"),
        (traffic("kind = \"constant-rate\"\nsize = 1\nrate = 7"), "traffic means 26250000 messages"),
        (format!("{cell}{bulk}"), "there is no [motion], and network.wifi has a cell"),
        (line("[70, 0]", "2"), "motion begins at [70, 0], where no network is heard"),
        (line("[0, 0]", "0"), "motion.speed is 0.0"),
        (line("[0, nan]", "2"), "motion.from.1 is NaN"),
        (waypoint("[[0, 0], [0, 0]]", "[1, 2]"), "motion.area is 0 m long"),
        (waypoint("[[0, 0], [9, 9]]", "[2, 1]"), "motion.speed.1 is 1.0, and must be from 2"),
        (waypoint("[[0, 0], [1, 1]]", "[1, 9999]"), "motion: at its speed the area is crossed"),
        (line("[0, 0]", "2").replace("radius = 50", "radius = 5, power = 1"), "either a radius or a power"),
        (
            line("[0, 0]", "2").replace("radius = 50", "radius = 1e9"),
            "network.wifi.cell.radius is 1000000000.0",
        ),
        (
            line("[0, 0]", "2") + "[[event]]\nat = 1\nnetwork = \"wifi\"\nwhat = \"lose\"\n",
            "event.0: wifi has a cell",
        ),
        (
            format!("{bulk}[host.a]\nnetworks = [\"wimax\"]\n"),
            "host.a.networks: there is no network called wimax; there are: wifi",
        ),
        (format!("{bulk}[host.a]\nnetworks = []\n"), "host.a.networks names none"),
        (
            format!("{bulk}[host.a]\nkind = \"tcp\"\npolicy = \"rfc\"\n"),
            "host.a speaks TCP: there is no policy",
        ),
        (
            format!("{bulk}[host.a]\n[sweep]\n\"host.a.policy\" = [\"magic\"]\n"),
            "host.a.policy: there is no policy called magic",
        ),
        (
            bulk.to_owned()
                + "[host.a]\n[host.b]\n"
                + &"[[event]]\nat = 0\nnetwork = \"wifi\"\nwhat = \"warn\"\nevery = 0.001\n".repeat(20),
            "events would happen",
        ),
        (
            bulk.to_owned() + &(0..201).map(|n| format!("[host.h{n}]\n")).collect::<String>(),
            "there are 201 hosts",
        ),
    ];
    for (rest, expected) in cases {
        let Err(error) = load("mine", &(TOP.to_owned() + WIFI + &rest)) else { panic!("{rest} was taken") };
        assert!(error.to_string().contains(expected), "{rest}: {error}");
    }
}
