//! What the places of a scenario file are: units and definitions of what it sweeps.

use super::{policies, profile};
use crate::meaning::Meaning;

/// Table, what stands in it, and its unit and definition.
const PLACES: &[(&str, &str, &str)] = &[
    ("", "duration", "s; time for which there is traffic"),
    ("network", "rate", "Mbit/s; rate of the network towards the host"),
    ("network", "rate_up", "Mbit/s; rate of the network from the host"),
    ("network", "delay", "ms; delay of the network, one way"),
    ("network", "jitter", "ms; most that a packet is later than the delay"),
    ("network", "buffer", "ms; traffic at the full rate that waits at most"),
    ("buffer", "packets", "packets that wait at most"),
    ("network", "queue", "how packets of several flows wait for the network"),
    ("network", "loss", "probability that a packet is lost"),
    ("network", "burst", "packets; mean length of a burst of losses"),
    ("network", "nat", "s; time after which the NAT box forgets who has been silent"),
    ("loss", "p", "probability, for each packet, that the good state is left"),
    ("loss", "r", "probability, for each packet, that the bad state is left"),
    ("loss", "h", "probability that a packet passes in the bad state"),
    ("loss", "k", "probability that a packet passes in the good state"),
    ("network", "kind", "kind of the network"),
    ("network", "rts", "B; frame length above which RTS and CTS announce a frame"),
    ("network", "rank", "user's order of preference, 0 the best"),
    ("network", "metered", "whether the network is paid for by volume"),
    ("cell", "at", "m; place of the antenna"),
    ("cell", "radius", "m; distance up to which the cell is heard"),
    ("cell", "power", "W; transmit power"),
    ("cell", "threshold", "dBm; least signal that is received"),
    ("cell", "layer2", "s; time from when the cell is heard until packets pass"),
    ("cell", "address", "s; time after that until the address is there"),
    ("cell", "radio", "radio that hears the cell"),
    ("radio", "handover", "whether the radio leaves a cell for another: hard, or soft"),
    ("motion", "kind", "how the host moves"),
    ("motion", "at", "m; place where the host stands"),
    ("motion", "from", "m; place where the host begins"),
    ("motion", "to", "m; place where the host ends"),
    ("motion", "speed", "m/s; speed of the host"),
    ("motion", "points", "m; places that the host passes"),
    ("motion", "area", "m; corners of the area in which the host moves"),
    ("motion", "start", "m; place where the host begins"),
    ("motion", "pause", "s; time that the host stays at each place"),
    ("traffic", "kind", "kind of the traffic"),
    ("traffic", "size", "B; size of a message, or of the file"),
    ("traffic", "rate", "Mbit/s; rate of the traffic"),
    ("traffic", "frames", "1/s; messages of the video in a second"),
    ("traffic", "count", "messages of the video"),
    ("traffic", "deadline", "ms; time after which a message is late"),
    ("traffic", "from", "end that sends: cn, the correspondent node, or mn, the mobile node"),
    ("traffic", "start", "s; when the traffic begins"),
    ("traffic", "spread", "s; most that the traffic begins later, uniformly drawn"),
    ("host", "kind", "what the host speaks"),
    ("host", "count", "hosts that are alike"),
    ("host", "networks", "networks in which the host has an interface"),
    ("host", "policy", "policy of the host"),
    ("policy", "kind", "policy that it is"),
    ("correspondent", "addresses", "addresses of a correspondent node: one, or one behind each network"),
    ("event", "at", "s; when it happens"),
    ("event", "network", "network that it happens to"),
    ("event", "what", "what happens"),
    ("event", "value", "value that it sets: Mbit/s, ms, a probability or dBm"),
    ("event", "every", "s; time until it happens again"),
    ("event", "for", "s; time that it lasts"),
];

/// What is at a place of a file, such as `event.0.at` or `host.bus.motion.speed`.
pub(super) fn at(path: &str) -> Meaning {
    let steps: Vec<&str> = path.split('.').collect();
    let place = match steps.as_slice() {
        ["profile", rest @ ..] | ["host" | "network" | "policy", _, "profile", rest @ ..] => {
            return profile::meaning(&rest.join(".")).map(Meaning::parse).unwrap_or_default();
        }
        ["policy", _, leaf] if *leaf != "kind" => {
            return policies::meaning(leaf).map(Meaning::parse).unwrap_or_default();
        }
        ["network", _, table @ ("buffer" | "cell" | "loss"), leaf, ..] => (*table, *leaf),
        ["host", _, table @ ("motion" | "traffic"), leaf, ..] => (*table, *leaf),
        [table @ ("network" | "host" | "event" | "policy" | "radio"), _, leaf, ..] | [table, leaf, ..] => {
            (*table, *leaf)
        }
        [leaf] => ("", *leaf),
        [] => ("", ""),
    };
    let found = PLACES.iter().find(|(table, leaf, _)| (*table, *leaf) == place);
    found.map_or_else(Meaning::default, |(_, _, what)| Meaning::parse(what))
}

#[cfg(test)]
#[path = "quantities_tests.rs"]
mod tests;
