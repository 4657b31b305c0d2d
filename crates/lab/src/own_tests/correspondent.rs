//! Correspondent nodes with one address, and with one behind each network.

use core::net::IpAddr;

use whimbrel_netsim::Mixed;
use whimbrel_proto::PathState;

use super::load;
use super::residents::{TOP, WIFI, metric, rows};
use crate::own::file::File;
use crate::own::world::Place;

const PER_NETWORK: &str = "[correspondent]\naddresses = \"per-network\"\n";
const SECOND: &str = "[network.z]\nrate = 8\ndelay = 20\nkind = \"cellular\"\nrank = 1\n";
const BULK: &str = "[traffic]\nkind = \"bulk\"\nsize = 1400\n";

/// RFC 9260 has one path per destination: whoever sends to one address has nowhere else to go.
#[test]
fn a_host_with_timers_alone_leaves_a_silent_network_if_the_other_end_has_another_address() {
    let time = |correspondent: &str| {
        let file = "[traffic]\nkind = \"file\"\nsize = 2_000_000\nfrom = \"mn\"\nstart = 1\n";
        let silent = "[[event]]\nat = 3\nnetwork = \"wifi\"\nwhat = \"break\"\n";
        let profile = "[profile]\nPath.Max.Retrans = 0\n";
        let text = TOP.replace("seamless", "rfc") + WIFI + SECOND + correspondent + profile + silent + file;
        metric(&rows(&text)[0], "completion_time")
    };
    assert_eq!(time(""), None);
    let time = time(PER_NETWORK).unwrap();
    assert!((4.0..10.0).contains(&time), "{time}");
}

#[test]
fn paths_share_nothing_from_end_to_end() {
    let text = TOP.to_owned() + WIFI + SECOND + PER_NETWORK + BULK;
    let file: File = toml::from_str(&text).unwrap();
    let mut place = Place::new(&file, "seamless", 1).unwrap();
    place.run();
    let resident = &place.residents[0];
    let (Mixed::First(user), Mixed::First(node)) =
        (place.world.app(resident.sender), place.world.machine(resident.sender))
    else {
        panic!("no SCTP")
    };
    let paths = node.paths(user.association().unwrap());
    let ends = |path: &whimbrel_proto::PathView| [path.route.local.ip(), path.route.remote.ip()];
    let active: Vec<[IpAddr; 2]> =
        paths.iter().filter(|path| path.state == PathState::Active).map(ends).collect();
    let pair = |far: [u8; 4], near: [u8; 4]| [IpAddr::from(far), IpAddr::from(near)];
    assert_eq!(active, [pair([198, 19, 0, 1], [10, 0, 0, 2]), pair([198, 19, 0, 2], [10, 0, 1, 2])]);
    assert_eq!(paths.len(), 4, "each with each, of which two lead nowhere");
}

/// Moving works as well, with a NAT box and without, and TCP finds the address behind its network.
#[test]
fn hosts_move_and_tcp_has_its_network() {
    let lost = "[[event]]\nat = 10\nnetwork = \"wifi\"\nwhat = \"lose\"\n";
    for nat in ["", "nat = 60\n"] {
        let text = TOP.to_owned() + WIFI + nat + SECOND + nat + PER_NETWORK + BULK + lost;
        let row = &rows(&text)[0];
        assert_eq!(metric(row, "moves"), Some(1.0), "{nat}");
        assert!(
            metric(row, "longest_silence").unwrap() < 0.5 && metric(row, "goodput").unwrap() > 6e6,
            "{nat}"
        );
    }
    let hosts = "[host.a]\n[host.c]\nkind = \"tcp\"\nnetworks = [\"z\"]\n";
    let rows = rows(&(TOP.to_owned() + WIFI + SECOND + PER_NETWORK + BULK + hosts));
    assert!(rows.iter().all(|row| metric(row, "goodput").unwrap() > 6e6), "{rows:?}");
}

#[test]
fn it_can_be_swept_and_mobile_ip_cannot_be_had_with_it() {
    let text = TOP.to_owned() + WIFI + SECOND + BULK;
    let sweep = "[sweep]\n\"correspondent.addresses\" = [\"one\", \"per-network\"]\n";
    let experiment = load("mine", &(text.clone() + sweep)).unwrap();
    assert_eq!(experiment.cells().len(), 2);
    assert!(!experiment.meaning("correspondent.addresses").definition.is_empty());
    let mobile_ip = text.replace("\"seamless\"", "\"mobile-ip\"") + PER_NETWORK;
    let Err(error) = load("mine", &mobile_ip) else { panic!("taken") };
    assert!(error.to_string().contains("mobile-ip needs a place where all networks meet"), "{error}");
}
