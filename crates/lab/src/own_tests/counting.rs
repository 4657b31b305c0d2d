//! What counts, and from when on.

use super::residents::{TOP, WIFI, metric, rows};

const LTE: &str = "[network.lte]\nrate = 8\ndelay = 20\nkind = \"cellular\"\nrank = 1\n";
const CALL: &str = "[traffic]\nkind = \"constant-rate\"\nsize = 100\nrate = 0.1\n";

fn measured(text: &str, wanted: &str) -> Option<f64> {
    metric(&rows(text)[0], wanted)
}

fn event(what: &str, at: f64, rest: &str) -> String {
    format!("[[event]]\nnetwork = \"wifi\"\nwhat = \"{what}\"\nat = {at}\n{rest}\n")
}

/// A `return` that stands after a `break` in the file comes after it, at the same instant as well.
#[test]
fn a_return_at_the_instant_of_a_break_ends_it() {
    let silence =
        |events: &str| measured(&(TOP.to_owned() + WIFI + events + CALL), "longest_silence").unwrap();
    let later = event("break", 10.0, "for = 1");
    for what in ["break", "lose"] {
        let [broken, back] = [event(what, 5.0, ""), event("return", 5.0, "")];
        let returned = silence(&(broken.clone() + &back + &later));
        assert!((1.0..4.0).contains(&returned), "{what}: the later break lasts 1 s: {returned}");
        let before = silence(&(back + &broken));
        assert!(before > 24.0, "{what}: what returns before that stays away: {before}");
    }
}

/// Whatever was silent before, and however long messages are apart.
#[test]
fn no_silence_is_longer_than_the_run() {
    let top = TOP.replace("duration = 30", "duration = 1");
    let rare = "[traffic]\nkind = \"video\"\nsize = 1000\nframes = 0.001\n";
    assert_eq!(measured(&(top + WIFI + rare), "longest_silence"), Some(1.0));
}

/// A video that is there is not silent, as a file is not, and nor does what comes over TCP.
#[test]
fn a_silence_ends_with_the_last_message() {
    let video =
        |count: &str| format!("[traffic]\nkind = \"video\"\nsize = 100\nframes = 20\nstart = 0\n{count}\n");
    let tcp = "[host.a]\nkind = \"tcp\"\n";
    let outage = event("break", 8.0, "");
    for host in ["", tcp] {
        let silence = |video: &str| {
            measured(&(TOP.to_owned() + WIFI + &outage + host + video), "longest_silence").unwrap()
        };
        let there = silence(&video("count = 100"));
        assert!(there < 0.1, "100 frames are there after 5 s: {there}");
        let cut_off = silence(&video("count = 200"));
        assert!(cut_off > 21.0, "of 200 frames 40 are not: {cut_off}");
    }
    let before =
        measured(&(TOP.to_owned() + WIFI + &video("count = 1").replace("start = 0", "")), "longest_silence");
    assert_eq!(before, None, "all of it was there before the start");
}

/// From the start of the traffic on, whether or not somebody can send them.
#[test]
fn messages_are_made_when_they_are_due() {
    let film = "[traffic]\nkind = \"video\"\nsize = 1000\nframes = 10\ndeadline = 100\nstart = 0\n";
    let until = |seconds: &str| event("break", 0.0, seconds);
    let never = rows(&(TOP.to_owned() + WIFI + &until("") + film)).remove(0);
    assert_eq!((metric(&never, "late"), metric(&never, "transfer_time")), (Some(1.0), None), "{never:?}");
    let [at_once, late] = [until("for = 0"), until("for = 5.9")]
        .map(|events| rows(&(TOP.to_owned() + WIFI + &events + film)).remove(0));
    assert!(metric(&at_once, "late").unwrap() < 0.02, "{at_once:?}");
    // The INIT is repeated every 500 ms up to 2 s, and then after 1, 2 and 2 s: 70 of some 300 frames wait for it.
    let share = metric(&late, "late").unwrap();
    assert!((0.22..0.25).contains(&share), "{late:?}");
    let time = metric(&late, "transfer_time").unwrap();
    assert!((0.7..1.0).contains(&time), "70 frames wait for 3.5 s in the mean: {late:?}");
}

/// Of messages whose deadline lies before the start nothing is known.
#[test]
fn a_message_that_is_due_before_the_start_does_not_count() {
    let burst = "[traffic]\nkind = \"video\"\nsize = 1000\nframes = 1000\ncount = 5\ndeadline = 1\n";
    let row = rows(&(TOP.to_owned() + WIFI + burst)).remove(0);
    assert_eq!((metric(&row, "late"), metric(&row, "transfer_time")), (None, None), "{row:?}");
}

#[test]
fn a_move_is_one_away_from_the_network_of_the_event() {
    let place = |events: &str| TOP.to_owned() + WIFI + LTE + events + CALL;
    let lost = event("lose", 5.0, "");
    let latency = measured(&place(&lost), "move_latency").unwrap();
    assert!(latency < 1.0, "{latency}");
    let elsewhere = event("delay", 4.0, "value = 30").replace("wifi", "lte");
    assert_eq!(measured(&place(&(elsewhere + &lost)), "move_latency"), None, "nothing was sent there");
    let up = place(&lost) + "from = \"mn\"\n";
    assert!(measured(&up, "move_latency").unwrap() < 1.0, "a sender's own address tells the network");
}

/// Who registers again in the only network there is has not moved.
#[test]
fn mobile_ip_moves_from_network_to_network() {
    let moves = |networks: &str| {
        let top = TOP.replace("seamless", "mobile-ip");
        measured(&(top + networks + &event("lose", 5.0, "for = 1\nevery = 5") + CALL), "moves").unwrap()
    };
    assert_eq!(moves(WIFI), 0.0);
    let both = moves(&(WIFI.to_owned() + LTE));
    assert!((10.0..=12.0).contains(&both), "there and back, five or six times: {both}");
}
