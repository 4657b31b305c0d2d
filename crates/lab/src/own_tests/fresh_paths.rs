//! What paths over a network begin with, whichever end they are seen from and whenever they appear.

use core::time::Duration;

use whimbrel_netsim::Mixed;
use whimbrel_proto::PathView;

use super::load;
use super::residents::{TOP, WIFI};
use crate::own::file::File;
use crate::own::world::Place;

/// Largest DATA chunk of a packet of 1,220 bytes.
const PMDCS: usize = 1220 - 20 - 12;

/// So little that no window is ever full, over paths whose packet size is known.
const TRICKLE: &str = "[traffic]\nkind = \"constant-rate\"\nsize = 100\nrate = 0.001\nstart = 0\n";
const PROFILE: &str = "[profile]\nPMTU = 1220\nCongestion.Control = \"reno\"\n";
const SECOND: &str = "[network.z]\nrate = 8\ndelay = 20\nkind = \"cellular\"\nrank = 1\n";

/// Both ends' paths over the second network after a run.
fn over_second(text: &str, policy: &str) -> Vec<PathView> {
    if let Err(error) = load("mine", text) {
        panic!("{error}");
    }
    let file: File = toml::from_str(text).unwrap();
    let mut place = Place::new(&file, policy, 1).unwrap();
    place.run();
    let resident = &place.residents[0];
    let ends = [resident.sender, resident.reader].map(|host| {
        let (Mixed::First(user), Mixed::First(node)) = (place.world.app(host), place.world.machine(host))
        else {
            panic!("no SCTP")
        };
        node.paths(user.association().expect("it is up"))
    });
    let second = |view: &PathView| {
        let ends = [view.route.local.ip(), view.route.remote.ip()];
        ends.iter().any(|ip| ip.to_string().starts_with("10.0.1."))
    };
    let found: Vec<PathView> = ends.into_iter().flatten().filter(second).collect();
    assert!(!found.is_empty(), "{policy}");
    found
}

#[test]
fn a_profile_counts_on_every_path_however_it_is_confirmed() {
    let text = |more: &str, profile: &str| {
        format!("{TOP}{WIFI}{SECOND}profile = {{ {profile} }}\n{PROFILE}{more}{TRICKLE}")
    };
    for (policy, more, count) in [
        // The correspondent node's path alone, which its user has vouched for.
        ("rfc", "", 1),
        ("seamless", "Path.Verification = \"off\"\n", 2),
        ("seamless", "", 2),
    ] {
        let text = text(more, "Initial.Window = 3, ssthresh = 9000");
        let text = text.replace("\"seamless\"", &format!("\"{policy}\""));
        let views = over_second(&text, policy);
        assert_eq!(views.len(), count, "{policy} {more}");
        for view in views {
            assert_eq!((view.cwnd, view.ssthresh), (3 * PMDCS, 9000), "{policy} {more}: {view:?}");
        }
    }
    // Packets are as long as those of [profile].
    let of_all = format!("{TOP}{WIFI}{SECOND}{PROFILE}Initial.Window = 3\n{TRICKLE}");
    assert!(over_second(&of_all, "seamless").iter().all(|view| view.cwnd == 3 * PMDCS));
}

/// Of the second cell nothing is known at the handshake.
#[test]
fn a_profile_counts_on_paths_that_appear_on_the_way() {
    let cell = |name: &str, at: u32| {
        format!(
            "[network.{name}]\nrate = 8\ndelay = 5\nkind = \"wlan\"\n\
             cell = {{ at = [{at}, 0], radius = 50, layer2 = 0.2, address = 0.2, radio = \"wlan\" }}\n"
        )
    };
    let walk = "[motion]\nkind = \"line\"\nfrom = [0, 0]\nto = [80, 0]\nspeed = 4\n";
    for (radio, verification) in [("soft", "on"), ("soft", "off"), ("hard", "on"), ("hard", "off")] {
        let text = format!(
            "{TOP}{}{}profile = {{ Initial.Window = 3 }}\n[radio.wlan]\nhandover = \"{radio}\"\n\
             {PROFILE}Path.Verification = \"{verification}\"\n{walk}{TRICKLE}",
            cell("a", 0),
            cell("b", 80)
        );
        let views = over_second(&text, "seamless");
        assert_eq!(views.len(), 2, "{radio} {verification}");
        assert!(views.iter().all(|view| view.cwnd == 3 * PMDCS), "{radio} {verification}: {views:?}");
    }
}

#[test]
fn an_initial_timeout_stands_until_a_round_trip_is_measured() {
    let text = |more: &str| {
        format!("{TOP}{WIFI}{SECOND}profile = {{ RTO.Initial = 2.5 }}\n{PROFILE}{more}{TRICKLE}")
    };
    let rfc = text("HB.interval = \"off\"\n").replace("seamless", "rfc");
    let rto: Vec<Duration> = over_second(&rfc, "rfc").iter().map(|view| view.rto).collect();
    assert_eq!(rto, [Duration::from_millis(2500)], "nothing was ever sent there");
    for view in over_second(&text("Path.Verification = \"off\"\n"), "seamless") {
        assert!(view.srtt.is_some() && view.rto < Duration::from_millis(500), "{view:?}");
    }
    let short = text("").replace("duration = 30", "duration = 1");
    for view in over_second(&short, "seamless") {
        assert!(view.srtt.is_some() && view.rto < Duration::from_millis(500), "just measured: {view:?}");
    }
}

#[test]
fn an_initial_timeout_out_of_bounds_is_refused() {
    for (rto, more, expected) in [
        (
            "11",
            "",
            "network.z.profile.RTO.Initial is 11, and must lie between RTO.Min and RTO.Max, which are 0.2 and 10 s",
        ),
        ("0.1", "", "network.z.profile.RTO.Initial is 0.1, and must lie between"),
        ("0.3", "RTO.Min = 0.4\n", "which are 0.4 and 10 s under seamless"),
    ] {
        let text =
            format!("{TOP}{WIFI}{SECOND}profile = {{ RTO.Initial = {rto} }}\n{PROFILE}{more}{TRICKLE}");
        let Err(error) = load("mine", &text) else { panic!("{rto} was taken") };
        assert!(error.to_string().contains(expected), "{error}");
        let swept = text.replace(&format!("RTO.Initial = {rto}"), "RTO.Initial = 1")
            + &format!("[sweep]\n\"network.z.profile.RTO.Initial\" = [1, {rto}]\n");
        let Err(error) = load("mine", &swept) else { panic!("{rto} was taken from a sweep") };
        assert!(error.to_string().contains(expected), "{error}");
    }
}
