//! What networks do to packets, what radios hear, and by what hosts find their way.

use super::load;
use super::residents::{TOP, WIFI, metric, rows};

const CALL: &str =
    "[traffic]\nkind = \"constant-rate\"\nsize = 200\nrate = 0.16\ndeadline = 150\nstart = 1\n";

fn measured(text: &str, name: &str) -> f64 {
    metric(&rows(text)[0], name).unwrap_or_else(|| panic!("{name} of {text}"))
}

/// As many packets are lost, but one after the other: what is sent again is lost, too.
#[test]
fn losses_that_come_in_bursts_hold_up_more() {
    let often = "[traffic]\nkind = \"constant-rate\"\nsize = 200\nrate = 0.64\ndeadline = 100\nstart = 1\n";
    let late = |loss: &str| measured(&(TOP.to_owned() + WIFI + loss + often), "late");
    let (alone, bursts) = (late("loss = 0.05\n"), late("loss = 0.05\nburst = 60\n"));
    let chain = late("loss = { p = 0.000877193, r = 0.0166667 }\n");
    assert!(bursts > 3.0 * alone && bursts > 0.02, "{alone} {bursts}");
    assert!((chain - bursts).abs() < 0.01, "the same chain by its letters: {chain} {bursts}");
    assert!(late("") < 0.001);
    let event = "[[event]]\nat = 0\nnetwork = \"wifi\"\nwhat = \"loss\"\nvalue = 0.05\n";
    let by_event = late(&format!("burst = 60\n{event}"));
    assert!(by_event > 3.0 * alone, "bursts stay as long when the loss changes: {by_event}");
    let refused = load("mine", &(TOP.to_owned() + WIFI + "loss = { p = 0.01, r = 0.5 }\n" + event + CALL));
    let Err(error) = refused else { panic!("a chain has no mean to change") };
    assert!(error.to_string().contains("give the network loss and burst"), "{error}");
}

/// A download and an upload, over a box that forgets whom it has let out.
#[test]
fn a_nat_box_lets_in_what_was_asked_for() {
    let goodput = |from: &str| {
        let traffic = format!("[traffic]\nkind = \"bulk\"\nsize = 1400\nfrom = \"{from}\"\n");
        measured(&(TOP.to_owned() + WIFI + "nat = 30\n" + &traffic), "goodput") / 1e6
    };
    assert!((6.0..8.0).contains(&goodput("cn")) && goodput("mn") > 1.5, "{}", goodput("cn"));
    // A message every four seconds, into a silence in which the box forgets.
    let time = |nat: &str| {
        let rare = "[profile]\nHB.interval = 20\n[traffic]\nkind = \"video\"\nsize = 100\nframes = 0.25\nstart = 1\n";
        measured(&(TOP.to_owned() + WIFI + nat + rare), "transfer_time")
    };
    let (none, patient, forgetful) = (time(""), time("nat = 60\n"), time("nat = 1\n"));
    assert!((none - patient).abs() < 0.001, "{none} {patient}");
    assert!(forgetful > 10.0 * patient, "{forgetful} {patient}");
}

#[test]
fn a_host_moves_from_behind_one_nat_box_to_behind_another() {
    let cellular = "[network.cellular]\nrate = 8\ndelay = 20\nkind = \"cellular\"\nrank = 1\nnat = 60\n";
    let lost = "[[event]]\nat = 10\nnetwork = \"wifi\"\nwhat = \"lose\"\n";
    let text = TOP.to_owned() + WIFI + "nat = 60\n" + cellular + lost + CALL;
    assert_eq!(measured(&text, "moves"), 1.0);
    assert!(measured(&text, "longest_silence") < 0.3, "{}", measured(&text, "longest_silence"));
}

const CELLS: &str = "[network.a]\nrate = 8\ndelay = 5\nkind = \"wlan\"\n\
    cell = { at = [0, 0], radius = 50, layer2 = 0.5, address = 1, radio = \"wlan\" }\n\
    [network.b]\nrate = 8\ndelay = 5\nkind = \"wlan\"\nrank = 1\n\
    cell = { at = [80, 0], radius = 50, layer2 = 0.5, address = 1, radio = \"wlan\" }\n\
    [motion]\nkind = \"line\"\nfrom = [0, 0]\nto = [80, 0]\nspeed = 4\n";

/// The overlap is 20 m or 5 s long. A radio that hears one cell at a time has no address from half a second after it has begun
/// until a second later.
#[test]
fn one_radio_leaves_a_cell_for_another() {
    let silence = |handover: &str| {
        let radio = format!("[radio.wlan]\nhandover = \"{handover}\"\n");
        measured(&(TOP.to_owned() + CELLS + &radio + CALL), "longest_silence")
    };
    assert!(silence("soft") < 0.1, "{}", silence("soft"));
    assert!((1.0..1.6).contains(&silence("hard")), "{}", silence("hard"));
    let usual = measured(&(TOP.to_owned() + CELLS + CALL), "longest_silence");
    assert_eq!(usual, silence("hard"), "a radio that cells share is hard");
    let alone = CELLS.replace(", radio = \"wlan\"", "");
    assert!(measured(&(TOP.to_owned() + &alone + CALL), "longest_silence") < 0.1);
}

/// The same walk over TCP and Mobile IP: each registration takes a round trip, and what was under way is lost.
#[test]
fn mobile_ip_carries_tcp_from_cell_to_cell() {
    let top = TOP.replace("\"seamless\"", "\"mobile-ip\", \"signal-strength\"");
    let file = "[traffic]\nkind = \"file\"\nsize = 20_000_000\nstart = 1\n";
    let text = top + CELLS + file;
    let experiment = load("mine", &text).unwrap();
    let run = |series: &str| {
        let cell = experiment.cells().into_iter().find(|cell| cell.series == series).unwrap();
        let outcome = experiment.run(&cell, 900_000_000, crate::Watch::default());
        outcome.samples[0].metrics.iter().map(|(name, value)| (name.to_string(), *value)).collect::<Vec<_>>()
    };
    let row = ("".to_owned(), run("mobile-ip"));
    assert_eq!(metric(&row, "moves"), Some(1.0), "{row:?}");
    let goodput = metric(&row, "goodput").unwrap();
    assert!((4.0e6..5.4e6).contains(&goodput), "20 MB in 30 s, or nearly: {row:?}");
    let sctp = ("".to_owned(), run("signal-strength"));
    assert_eq!(metric(&sctp, "moves"), Some(1.0), "{sctp:?}");
    // Without cells it is where it is preferred, and goes when that is lost.
    let two = "[network.cellular]\nrate = 8\ndelay = 20\nkind = \"cellular\"\nrank = 1\n";
    let lost = "[[event]]\nat = 10\nnetwork = \"wifi\"\nwhat = \"lose\"\n";
    for from in ["cn", "mn"] {
        let bulk = format!("[traffic]\nkind = \"bulk\"\nsize = 1400\nfrom = \"{from}\"\n");
        let rows = rows(&(TOP.replace("seamless", "mobile-ip") + WIFI + two + lost + &bulk));
        assert_eq!(metric(&rows[0], "moves"), Some(1.0), "{from}: {rows:?}");
        assert!(metric(&rows[0], "goodput").unwrap() > 4e6, "{from}: {rows:?}");
    }
}

/// A network that is worse by its rank is left alone when it comes up, and left when the better one is back.
#[test]
fn mobile_ip_goes_by_rank() {
    let moves = |rank: u8| {
        let second =
            format!("[network.cellular]\nrate = 8\ndelay = 20\nkind = \"cellular\"\nrank = {rank}\n");
        let lost = |network: &str, at: u8| {
            format!("[[event]]\nat = {at}\nnetwork = \"{network}\"\nwhat = \"lose\"\nfor = 3\n")
        };
        let events = lost("wifi", 5) + &lost("cellular", 15);
        let top = TOP.replace("seamless", "mobile-ip");
        let traffic = "[traffic]\nkind = \"bulk\"\nsize = 1400\n";
        measured(&(top + WIFI + "rank = 3\n" + &second + &events + traffic), "moves")
    };
    assert_eq!(moves(4), 2.0, "away at 5 s and back at 8 s, and no more at 18 s");
    assert_eq!(moves(2), 2.0, "away at 15 s and back at 18 s; the other is never better");
    assert_eq!(moves(3), 2.0, "of equals to whichever came last: at 8 s and at 18 s");
}

/// The same room for small packets and large ones, as routers and ns-2 count it.
#[test]
fn a_buffer_may_be_counted_in_packets() {
    let text = |buffer: &str| {
        let bulk = "[traffic]\nkind = \"bulk\"\nsize = 1400\n";
        TOP.to_owned() + WIFI + "buffer = { packets = 4 }\n" + buffer + bulk
    };
    let again = |packets: u32| {
        let text = text("").replace("packets = 4", &format!("packets = {packets}"));
        measured(&text, "retransmitted")
    };
    let (few, many) = (again(4), again(1000));
    assert!(few > 0.001 && many == 0.0, "{few} {many}");
    let swept = text("") + "[sweep]\n\"network.wifi.buffer.packets\" = [4, 1000]\n";
    assert_eq!(load("mine", &swept).unwrap().cells().len(), 2);
}

/// A table with a `v` in it is a value with its source, but not where names are the user's.
#[test]
fn a_network_may_be_called_v() {
    let text = TOP.to_owned() + WIFI + CALL;
    let renamed =
        text.replace("network.wifi", "network.v").replace("delay = 5", "delay = { v = 5, why = \"so\" }");
    assert_eq!(rows(&renamed), rows(&text));
    let experiment = load("mine", &renamed).unwrap();
    assert_eq!(&*experiment.scenario().assumptions()[0].what, "network.v.delay");
    let swept = renamed
        + "[policy.v]\nkind = \"rfc\"\n[host.v]\npolicy = \"v\"\n[sweep]\n\"network.v.delay\" = [5, 9]\n";
    assert_eq!(load("mine", &swept).unwrap().cells().len(), 2);
}

/// A round trip of 200 ms and 60 packets: a window that holds them all, and one that has to grow.
#[test]
fn a_path_begins_as_its_network_says() {
    let time = |profile: &str| {
        let network = "[network.wifi]\nrate = 100\ndelay = 99\nkind = \"wlan\"\n";
        let file = "[profile]\nCongestion.Control = \"reno\"\n[traffic]\nkind = \"file\"\nsize = 84_000\nstart = 1\n";
        measured(&(TOP.to_owned() + network + profile + file), "completion_time")
    };
    let large = time("profile = { Initial.Window = 100 }\n");
    let small = time("profile = { Initial.Window = 2, ssthresh = 5000 }\n");
    assert!(small > large + 0.8 && large < 0.8, "{small} {large}");
    assert!(time("") > large + 0.1, "ten packets by themselves");
}

#[test]
fn everything_can_be_swept_without_being_there_before() {
    let text = TOP.to_owned() + WIFI + "loss = 0.1\n" + CALL;
    for (path, values) in [
        ("profile.RTO.Min", "[0.1, 0.4]"),
        ("profile.HB.interval", "[1, \"off\"]"),
        ("policy.seamless.dwell", "[0, 5]"),
        ("policy.seamless.profile.Path.Max.Retrans", "[1, 2]"),
        ("network.wifi.profile.Initial.Window", "[1, 2]"),
        ("network.wifi.burst", "[1, 2]"),
        ("network.wifi.nat", "[30, 60]"),
    ] {
        let text = format!("{text}[sweep]\n\"{path}\" = {values}\n");
        let experiment = load("mine", &text).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(experiment.cells().len(), 2, "{path}");
        assert!(!experiment.meaning(path).definition.is_empty(), "{path}");
    }
    for (path, expected) in [
        (
            "network.wimax.loss",
            "mine: sweep: there is nothing at network.wimax.loss; in network there are: wifi",
        ),
        ("host.a.profile.RTO.Min", "nothing at host.a.profile.RTO.Min; in the file there are: duration, "),
        ("profile.RTO.Least", "SCTP has no parameter called RTO.Least"),
        ("policy.seamless.haste", "seamless has no parameter called haste"),
        ("network.wifi.loss.p", "nothing at network.wifi.loss.p; network.wifi.loss has no parts"),
        ("radio.wlan.handover", "radio.wlan: no cell has it"),
    ] {
        let value = if path.starts_with("radio") { "\"soft\"" } else { "1" };
        let text = format!("{text}[sweep]\n\"{path}\" = [{value}]\n");
        let Err(error) = load("mine", &text) else { panic!("{path} was taken") };
        assert!(error.to_string().contains(expected), "{path}: {error}");
    }
}

#[test]
fn what_no_network_can_do_is_refused() {
    let tcp = "[host.a]\nkind = \"tcp\"\n";
    for (text, expected) in [
        (format!("{WIFI}loss = 0.9\nburst = 2\n{CALL}"), "network.wifi.loss is 0.9: in bursts of 2 packets"),
        (format!("{WIFI}loss = {{ p = 0.1 }}\n{CALL}"), "loss is a probability, or a table with p, r"),
        (format!("{WIFI}burst = 0\n{CALL}"), "network.wifi.burst is 0.0"),
        (format!("{WIFI}nat = 0\n{CALL}"), "network.wifi.nat is 0.0, and must be from 1 to 86400 s"),
        (format!("{WIFI}nat = 9\n{CALL}{tcp}"), "host.a speaks TCP, and the NAT box"),
        (
            format!("{WIFI}nat = 9\n{CALL}[host.a]\npolicy = \"mobile-ip\"\n"),
            "mobile-ip cannot be had behind",
        ),
        (
            format!("{WIFI}{CALL}[host.a]\nkind = \"tcp\"\nprofile = {{ RTO.Min = 1 }}\n"),
            "a profile is SCTP's",
        ),
        (format!("{WIFI}{CALL}[radio.x]\n"), "radio.x: no cell has it"),
        (format!("{WIFI}{CALL}[policy.\"1.5\"]\n"), "which is a number"),
        (
            format!("{WIFI}{CALL}[policy.hasty]\ndwell = 1\n"),
            "policy.hasty: its kind is hasty, and may be seamless",
        ),
        (
            format!(
                "{WIFI}burst = 2\n{CALL}[[event]]\nat = 1\nnetwork = \"wifi\"\nwhat = \"loss\"\nvalue = 0.9\n"
            ),
            "event.0.value is 0.9: in bursts of 2 packets",
        ),
    ] {
        let Err(error) = load("mine", &(TOP.to_owned() + &text)) else { panic!("{text} was taken") };
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

/// Who repeats somebody's experiment says which values are stated and which are assumed.
#[test]
fn values_may_say_where_they_come_from() {
    let plain = TOP.to_owned() + WIFI + CALL;
    let text = plain
        .replace("delay = 5", "delay = { v = 5, src = \"their section 3\", u = \"ms\" }")
        .replace("duration = 30", "duration = { v = 30, why = \"not given\" }");
    assert_eq!(rows(&text), rows(&plain), "the same world");
    let experiment = load("mine", &text).unwrap();
    let stated = experiment.scenario().stated();
    let delay = stated.iter().find(|one| one.what == "network.wifi.delay").unwrap();
    assert_eq!((&*delay.value, &*delay.source), ("5 ms", "their section 3"));
    let assumed = experiment.scenario().assumptions();
    assert_eq!((&*assumed[0].what, &*assumed[0].why), ("run.duration", "not given"));
    let swept = text.clone() + "[sweep]\n\"network.wifi.delay\" = [5, 50]\n";
    assert_eq!(load("mine", &swept).unwrap().cells().len(), 2);
    for leaf in [
        "{ v = 5 }",
        "{ v = 5, src = 3 }",
        "{ v = 5, why = \"a\", src = \"b\" }",
        "{ v = 5, source = \"a\" }",
    ] {
        let Err(error) = load("mine", &plain.replace("delay = 5", &format!("delay = {leaf}"))) else {
            panic!("{leaf} was taken")
        };
        assert!(
            error.to_string().contains("network.wifi.delay: beside v stand words: src"),
            "{leaf}: {error}"
        );
    }
}

/// A third network that carries nothing and is slow keeps nobody from going back to the first, when that works again.
#[test]
fn a_slow_network_besides_keeps_nobody_away_from_the_best() {
    let text = "title = \"t\"\nduration = 60\npolicies = [\"seamless\"]\n\
        network.a = { kind = \"wlan\", rank = 0, rate = 10, delay = 10 }\n\
        network.b = { kind = \"cellular\", rank = 1, rate = 5, delay = 40 }\n\
        network.z = { kind = \"other\", rank = 9, rate = 5, delay = 500 }\n\
        traffic = { kind = \"constant-rate\", size = 200, rate = 0.1 }\n\
        event = [{ at = 8, network = \"a\", what = \"break\", for = 3 }]\n\
        sweep = { \"network.z.delay\" = [40, 500] }\n";
    let experiment = load("three", text).unwrap();
    for delay in [40.0, 500.0] {
        let moves = super::metric(&*experiment, "seamless", delay, "moves");
        assert_eq!(moves, 2.0, "{delay} ms: away and back");
    }
}
