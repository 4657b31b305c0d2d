//! What a file says and nothing would read is refused.

use super::load;
use super::residents::{TOP, WIFI};

const BULK: &str = "[traffic]\nkind = \"bulk\"\nsize = 1400\n";
const CELL: &str = "cell = { at = [0, 0], radius = 50 }\n";
const STAND: &str = "kind = \"standing\"\nat = [0, 0]\n";

fn said(rest: &str) -> String {
    load("mine", &(TOP.to_owned() + WIFI + rest)).map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn what_nobody_reads_is_said_with_what_to_do() {
    let slow = "profile = { RTO.Min = 0.3 }\n";
    let tcp = "kind = \"tcp\"\nnetworks = [\"wifi\"]\n";
    for (rest, place, advice) in [
        (format!("{BULK}[policy.patient]\nkind = \"seamless\"\n"), "policy.patient", "name it in `policies`"),
        (format!("{BULK}[host.a]\npolicy = \"mobile-ip\"\n{slow}"), "host.a.profile", "mobile-ip alone"),
        (format!("profile = {{ ssthresh = 9000 }}\n{BULK}[host.a]\n{tcp}"), "network.wifi.profile", "SCTP's"),
        (format!("{BULK}[profile]\nRTO.Min = 0.3\n[host.a]\npolicy = \"mobile-ip\"\n"), "profile", "SCTP's"),
        (format!("burst = 5\n{BULK}"), "network.wifi.burst", "give the network a `loss`"),
        (format!("{BULK}[motion]\n{STAND}"), "motion", "give a network a `cell`"),
        (format!("{BULK}[host.a]\n[host.a.motion]\n{STAND}"), "host.a.motion", "give a network a `cell`"),
        (format!("{BULK}[host.a.traffic]\nkind = \"bulk\"\nsize = 1\n"), "traffic", "take it out"),
    ] {
        let error = said(&rest);
        let expected = format!("mine: {place} is read by nobody: ");
        assert!(error.starts_with(&expected) && error.contains(advice), "{rest}: {error}");
    }
    let error = said(&format!("{BULK}[host.a]\n{tcp}{slow}"));
    assert!(error.contains("a profile is SCTP's"), "{error}");
}

/// Of a sweep it is enough that one cell reads it.
#[test]
fn what_is_read_somewhere_is_taken() {
    let profile = "profile = { RTO.Min = 0.3 }\n";
    let policies = "[policy.x]\nkind = \"seamless\"\n[policy.y]\nkind = \"rfc\"\n";
    for rest in [
        format!("{BULK}[host.a]\npolicy = \"x\"\n{policies}[sweep]\n\"host.a.policy\" = [\"x\", \"y\"]\n"),
        format!(
            "{BULK}[host.a]\npolicy = \"rfc\"\n{profile}[sweep]\n\"host.a.policy\" = [\"rfc\", \"mobile-ip\"]\n"
        ),
        format!("burst = 5\n{BULK}[sweep]\n\"network.wifi.loss\" = [0, 0.1]\n"),
        format!("burst = 5\n{BULK}[[event]]\nat = 1\nnetwork = \"wifi\"\nwhat = \"loss\"\nvalue = 0.1\n"),
        format!("{CELL}{BULK}[motion]\n{STAND}"),
        format!("{CELL}{BULK}[host.a]\n[host.a.motion]\n{STAND}"),
        format!("{BULK}[host.a]\n{profile}[host.b]\nkind = \"tcp\"\nnetworks = [\"wifi\"]\n"),
    ] {
        assert_eq!(said(&rest), "", "{rest}");
    }
}

/// The chain that makes bursts loses 0.999 at most, however long they are.
#[test]
fn more_than_bursts_can_lose_is_refused() {
    let loss = |mean: &str, burst: &str| said(&format!("loss = {mean}\nburst = {burst}\n{BULK}"));
    let error = loss("0.9995", "1_000_000");
    assert!(error.contains("in bursts of 1000000 packets at most 0.999 can be lost; say less"), "{error}");
    assert_eq!((loss("0.999", "1_000_000"), loss("0.666", "2")), (String::new(), String::new()));
    assert!(loss("0.667", "2").contains("at most 0.666 can be lost"));
}
