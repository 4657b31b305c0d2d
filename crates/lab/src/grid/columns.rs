//! What columns of rows mean.

/// Each axis of the grid with its unit and meaning.
pub(super) const AXES: [(&str, &str); 4] = [
    ("rate", "Mbit/s; rate of the bottleneck"),
    ("rtt", "ms; round-trip time without a queue"),
    ("queue", "size of the bottleneck's queue in bandwidth-delay products, four packets at least"),
    (
        "trouble",
        "what is wrong with the path: losses one by one or in bursts of ten (mean 1 %), jitter of 5 ms with reordering, a satellite, an access point",
    ),
];

/// Each metric of the grid.
pub(super) const METRICS: [(&str, &str); 10] = [
    ("goodput", "Mbit/s; user data delivered per time, from the first data on"),
    (
        "goodput_settled",
        "Mbit/s; the same without the first second, or 20 round trips if that is longer, but half of the run at most",
    ),
    ("bound", "Mbit/s; rate × (1 - loss)"),
    (
        "half_rate",
        "s; from the first data on until half the rate arrives over a round trip (20 packets at least)",
    ),
    ("half_rate_limit", "s; ⌈log2(BDP / 10 packets)⌉ + 2 round trips"),
    ("queueing", "s; how long a packet that comes waits at the bottleneck, mean over the run"),
    ("queueing_max", "s; the longest that a packet waited"),
    ("retransmitted", "share of chunks or segments sent that had been sent before"),
    (
        "needless",
        "share of chunks sent that came twice, of SCTP: retransmissions for which there was no need",
    ),
    ("timeouts", "expirations of the retransmission timer"),
];

/// Each metric of flows beside each other.
pub(super) const FAIRNESS: [(&str, &str); 6] = [
    ("jain", "Jain's index of the flows' goodput, the first ten seconds aside: 1 where all have the same"),
    ("first", "mean goodput of the flows that the series names first, in fair shares"),
    ("second", "mean goodput of the others, in fair shares"),
    ("used", "goodput of all flows in the rate of the bottleneck"),
    ("queueing", "s; how long a packet that comes waits at the bottleneck, mean over the run"),
    ("retransmitted", "share of chunks or segments sent that had been sent before, all flows together"),
];
