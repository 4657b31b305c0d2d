use super::*;

use proptest::prelude::*;

const RTO: Duration = Duration::from_millis(200);
const RAISE: Duration = Duration::from_secs(600);

fn config() -> PmtuConfig {
    PmtuConfig { base: 1200, max: 1452, search: PmtuSearch::Probe { raise_after: RAISE }, cut_for: None }
}

/// A path that carries packets of up to `mtu` bytes, with a round trip of 10 ms.
struct Network {
    now: Instant,
    mtu: usize,
    /// Whether a router says what it dropped.
    icmp: bool,
    probes: Vec<usize>,
}

impl Network {
    fn new(mtu: usize) -> Self {
        Self { now: Instant::ZERO, mtu, icmp: false, probes: Vec::new() }
    }

    /// Runs until nothing is due before `until`.
    fn run(&mut self, path: &mut PathMtu, until: Duration) {
        let until = Instant::ZERO + until;
        while let Some(deadline) = path.deadline().filter(|&at| at <= until) {
            self.now = self.now.max(deadline);
            path.on_probe_lost(self.now);
            let Some(size) = path.probe_due(self.now) else { continue };
            path.on_probe_sent(size, self.now, RTO);
            self.probes.push(size);
            assert!(self.probes.len() < 1000, "endless probing");
            if size <= self.mtu {
                self.now += Duration::from_millis(10);
                path.on_probe_acked(size, self.now);
            } else if self.icmp {
                self.now += Duration::from_millis(10);
                path.on_packet_too_big(self.mtu, self.now);
            }
            path.invariants();
        }
    }
}

/// RFC 8899 §5.2, §5.3.2: the base size is confirmed, then the largest is tried; §4.2: a probe that is answered is believed.
#[test]
fn ordinary_path_needs_two_probes() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1500);
    assert_eq!(path.size(), 1200);
    network.run(&mut path, Duration::from_secs(10_000));
    assert_eq!((path.size(), network.probes), (1452, vec![1200, 1452]));
    assert_eq!(path.deadline(), None);
}

/// RFC 8899 §5.3.1, §5.3.2, §5.1.1 (PMTU_RAISE_TIMER).
#[test]
fn narrow_path_is_found_within_one_percent_and_searched_again_after_the_raise_timer() {
    for mtu in (1200..1452).step_by(4) {
        let mut path = PathMtu::new(&config(), false);
        let mut network = Network::new(mtu);
        network.run(&mut path, Duration::from_secs(60));
        assert!(path.size() <= mtu && path.size() + LEAST_GAIN > mtu, "{} for {mtu}", path.size());
        assert!(network.probes.len() <= 1 + 5 * 3, "{:?}", network.probes);
        let probes = network.probes.len();
        network.run(&mut path, Duration::from_secs(500));
        assert_eq!(network.probes.len(), probes);
        network.mtu = 1452;
        network.run(&mut path, Duration::from_secs(700));
        assert_eq!(path.size(), 1452);
    }
}

/// A router's word saves the guessing (RFC 8899 §4.6.2), but the size it names is probed, not believed.
#[test]
fn packet_too_big_names_the_next_probe() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1402);
    network.icmp = true;
    network.run(&mut path, Duration::from_secs(60));
    assert_eq!((path.size(), network.probes), (1400, vec![1200, 1452, 1400]));
}

#[test]
fn packet_too_big_below_the_size_in_use_goes_back_to_base() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1500);
    network.run(&mut path, Duration::from_secs(1));
    path.on_packet_too_big(1300, network.now);
    assert_eq!(path.size(), 1200);
    network.mtu = 1300;
    network.probes.clear();
    network.run(&mut path, Duration::from_secs(60));
    assert_eq!((path.size(), network.probes), (1300, vec![1200, 1300]));
}

/// RFC 8899 §4.6.1, §4.6.2; RFC 5927 tells of attackers who try this.
#[test]
fn implausible_packet_too_big_changes_nothing() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1500);
    network.run(&mut path, Duration::from_secs(1));
    for reported in [0, 68, 547, 1452, 1453, 9000, usize::MAX] {
        path.on_packet_too_big(reported, network.now);
        assert_eq!((path.size(), path.deadline()), (1452, None), "{reported}");
    }
}

/// A message about a size that was not dropped (PL_PTB_SIZE ≥ PROBED_SIZE) leaves the probe in flight alone.
#[test]
fn packet_too_big_of_the_probes_own_size_is_inconsistent() {
    let mut path = PathMtu::new(&config(), false);
    path.on_probe_sent(1200, Instant::ZERO, RTO);
    path.on_probe_acked(1200, Instant::ZERO);
    path.on_probe_sent(1452, Instant::ZERO, RTO);
    path.on_packet_too_big(1452, Instant::ZERO);
    assert_eq!(
        (path.probe_due(Instant::ZERO), path.deadline()),
        (None, Some(Instant::ZERO + SHORTEST_PROBE_TIMER))
    );
    path.on_packet_too_big(1448, Instant::ZERO);
    assert_eq!(path.probe_due(Instant::ZERO), Some(1448));
}

/// RFC 8899 §5.1.1, §5.1.2: the PROBE_TIMER is a second at least, and MAX_PROBES probes decide.
#[test]
fn isolated_loss_does_not_end_the_search() {
    let mut path = PathMtu::new(&config(), false);
    let mut now = Instant::ZERO;
    for _ in 0..2 {
        assert_eq!(path.probe_due(now), Some(1200));
        path.on_probe_sent(1200, now, RTO);
        assert_eq!(path.probe_due(now), None);
        assert_eq!(path.deadline(), Some(now + Duration::from_secs(1)));
        path.on_probe_lost(now + Duration::from_millis(999));
        assert_eq!(path.probe_due(now), None);
        now += Duration::from_secs(1);
        path.on_probe_lost(now);
    }
    assert_eq!(path.probe_due(now), Some(1200));
    path.on_probe_sent(1200, now, RTO);
    path.on_probe_acked(1200, now);
    assert_eq!(path.probe_due(now), Some(1452));
    path.on_probe_sent(1452, now, Duration::from_secs(3));
    assert_eq!(path.deadline(), Some(now + Duration::from_secs(3)));
}

/// RFC 8899 §4.2, §6.2.1.3: whenever it comes, an answer confirms the size of its probe, and only sizes that were probed.
#[test]
fn late_answer_counts() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1200);
    network.run(&mut path, Duration::from_secs(60));
    assert_eq!(path.size(), 1200);
    path.on_probe_acked(1452, network.now);
    assert_eq!((path.size(), path.deadline()), (1452, None));
    path.on_probe_acked(9000, network.now);
    path.on_probe_acked(1300, network.now);
    assert_eq!(path.size(), 1452);
}

/// RFC 8899 §4.3: a timeout throws doubt on a size above the base, which a probe of it dispels.
#[test]
fn a_timeout_leads_back_to_base_until_the_size_is_proved_again() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1400);
    network.run(&mut path, Duration::from_secs(60));
    let found = path.size();
    network.probes.clear();
    path.on_timeout(1452);
    assert_eq!(path.size(), 1200);
    network.run(&mut path, Duration::from_secs(61));
    assert_eq!((path.size(), &network.probes[..]), (found, &[found][..]));
}

/// A path that carries small packets only is known by what is answered between two timeouts.
#[test]
fn below_the_base_only_with_proof_that_small_packets_pass() {
    for (answered, ipv6, size) in [(false, false, 1200), (true, false, 548), (true, true, 1200)] {
        let mut path = PathMtu::new(&config(), ipv6);
        let mut network = Network::new(1500);
        network.run(&mut path, Duration::from_secs(1));
        for _ in 0..3 {
            path.on_timeout(1452);
            if answered {
                path.on_heartbeat_answered();
            }
            path.invariants();
        }
        assert_eq!(path.size(), size, "answered {answered}, IPv6 {ipv6}");
    }
}

/// An answer from before the first timeout, or from before a probe's, says nothing about what was lost since.
#[test]
fn an_early_answer_proves_nothing() {
    let mut path = PathMtu::new(&config(), false);
    path.on_heartbeat_answered();
    path.on_timeout(1452);
    path.on_timeout(1452);
    path.on_heartbeat_answered();
    path.on_probe_acked(1200, Instant::ZERO);
    path.on_timeout(1452);
    assert_eq!(path.size(), 1200);
}

/// RFC 8899 §5.3.2: the search goes on below the base, and up again when the path has grown.
#[test]
fn a_size_below_the_base_is_found_and_left_again() {
    for mtu in [560, 700, 900, 1172, 1196] {
        let mut path = PathMtu::new(&config(), false);
        let mut network = Network::new(1500);
        network.run(&mut path, Duration::from_secs(1));
        network.mtu = mtu;
        for _ in 0..3 {
            path.on_timeout(1452);
            path.on_heartbeat_answered();
        }
        network.run(&mut path, Duration::from_secs(60));
        assert!(path.size() <= mtu && path.size() + LEAST_GAIN > mtu, "{} for {mtu}", path.size());
        network.mtu = 1500;
        network.run(&mut path, Duration::from_secs(700));
        assert_eq!(path.size(), 1452);
    }
}

/// RFC 8899 §4.6.2: a router may name a size below the base.
#[test]
fn packet_too_big_below_the_base_is_believed() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1500);
    network.run(&mut path, Duration::from_secs(1));
    path.on_packet_too_big(700, network.now);
    path.invariants();
    assert_eq!(path.size(), 700);
}

/// RFC 8899 §5.2: a dead path is probed every 15 s, keeps the base size, and recovers.
#[test]
fn error_state_probes_slowly_and_ends_when_base_passes() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(0);
    network.run(&mut path, Duration::from_secs(62));
    assert_eq!(path.size(), 1200);
    assert!((6..=12).contains(&network.probes.len()), "{:?}", network.probes);
    assert!(network.probes.iter().all(|&size| size == 1200));
    network.mtu = 1500;
    network.run(&mut path, Duration::from_secs(100));
    assert_eq!(path.size(), 1452);
}

#[test]
fn without_search_the_maximum_is_used_and_only_a_router_lowers_it() {
    let mut path = PathMtu::new(&PmtuConfig { search: PmtuSearch::Off, ..config() }, false);
    assert_eq!((path.size(), path.deadline(), path.probe_due(Instant::ZERO)), (1452, None, None));
    (0..10).for_each(|_| path.on_timeout(1452));
    path.on_probe_acked(1300, Instant::ZERO);
    assert_eq!(path.size(), 1452);
    path.on_packet_too_big(500, Instant::ZERO);
    assert_eq!(path.size(), 1452);
    path.on_packet_too_big(1401, Instant::ZERO);
    assert_eq!((path.size(), path.deadline()), (1400, None));
}

#[derive(Clone, Debug)]
enum Event {
    Wait(u64),
    Probe,
    Ack(usize),
    TooBig(usize),
    Timeouts(u32),
    Answered,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0_u64..20).prop_map(Event::Wait),
        (0_u64..2000).prop_map(Event::Wait),
        Just(Event::Probe),
        Just(Event::Probe),
        (500_usize..1600).prop_map(Event::Ack),
        (500_usize..1600).prop_map(Event::TooBig),
        (0_u32..4).prop_map(Event::Timeouts),
        Just(Event::Answered),
    ]
}

proptest! {
    /// No sequence of events breaks the invariants, and a working path is always found again afterwards.
    #[test]
    fn any_history_ends_well(events in proptest::collection::vec(event(), 0..100), off in any::<bool>()) {
        let search = if off { PmtuSearch::Off } else { config().search };
        let mut path = PathMtu::new(&PmtuConfig { search, ..config() }, false);
        let mut network = Network::new(1500);
        for event in events {
            match event {
                Event::Wait(seconds) => network.now += Duration::from_secs(seconds),
                Event::Probe => if let Some(size) = path.probe_due(network.now) {
                    path.on_probe_sent(size, network.now, RTO);
                },
                Event::Ack(size) => path.on_probe_acked(size, network.now),
                Event::TooBig(size) => path.on_packet_too_big(size, network.now),
                Event::Timeouts(count) => (0..count).for_each(|_| path.on_timeout(1452)),
                Event::Answered => path.on_heartbeat_answered(),
            }
            path.on_probe_lost(network.now);
            path.invariants();
        }
        let end = network.now - Instant::ZERO + RAISE * 2;
        network.run(&mut path, end);
        prop_assert!(off || path.size() == 1452);
    }
}

fn lost(sizes: &[usize]) -> PacketSizes {
    let least_lost = sizes.iter().copied().min().unwrap_or(usize::MAX);
    PacketSizes { arrived: 0, lost: sizes.len() as u32, least_lost }
}

fn arrived(size: usize) -> PacketSizes {
    PacketSizes { arrived: size, ..PacketSizes::default() }
}

/// RFC 8899 §4.3: packets of some size are lost and smaller ones arrive. What happens is told in the order of time.
#[test]
fn large_packets_that_vanish_beside_small_ones_throw_doubt_on_their_size() {
    let said: [(&[PacketSizes], usize); 7] = [
        (&[lost(&[1452, 1300]), arrived(1150), lost(&[1452])], 1200),
        (&[lost(&[1452, 1452, 1452])], 1200),
        // The base size does not pass either.
        (&[lost(&[1452, 1452]), arrived(1000), lost(&[1180])], 548),
        // One as large has arrived.
        (&[lost(&[1452, 1452]), arrived(1452), lost(&[1452])], 1452),
        (&[PacketSizes { arrived: 1452, ..lost(&[1452, 1452, 1452, 1452]) }], 1452),
        // A small one was lost, too.
        (&[lost(&[1452, 1452]), lost(&[500, 1452])], 1452),
        (&[lost(&[548, 548, 548, 548])], 1452),
    ];
    for (all, size) in said {
        let mut path = PathMtu::new(&config(), false);
        let mut network = Network::new(1500);
        network.run(&mut path, Duration::from_secs(1));
        let smaller = all.iter().filter(|sizes| path.on_packets(sizes)).count();
        path.invariants();
        assert_eq!((path.size(), smaller), (size, usize::from(size < 1452)), "{all:?}");
        assert_eq!(path.is_in_doubt(), size < 1452);
        network.run(&mut path, Duration::from_secs(2));
        assert_eq!((path.size(), path.is_in_doubt()), (1452, false), "{all:?}");
    }
}

/// Without a search there is nothing to fall back to.
#[test]
fn a_size_that_is_not_searched_for_is_not_doubted() {
    let mut path = PathMtu::new(&PmtuConfig { search: PmtuSearch::Off, ..config() }, false);
    assert!(!path.on_packets(&lost(&[1452, 1452, 1452])));
    assert_eq!(path.size(), 1452);
}

/// Two timeouts speak against the base size only if nothing as large as what they lost has arrived between them.
#[test]
fn what_has_arrived_between_two_timeouts_clears_the_base() {
    for (lost, between, size) in
        [(1028, 0, 548), (1028, 800, 548), (1028, 1028, 1200), (1200, 1200, 1200), (548, 0, 1200)]
    {
        let mut path = PathMtu::new(&config(), false);
        // Nothing padded is answered: the base is in use, without proof.
        path.on_timeout(lost);
        path.on_heartbeat_answered();
        path.on_packets(&arrived(between));
        path.on_timeout(lost);
        assert_eq!(path.size(), size, "{lost} bytes lost, {between} arrived");
    }
}

/// A packet of the size in use has arrived: it is in doubt no longer.
#[test]
fn data_of_the_size_in_use_ends_the_doubt() {
    let mut path = PathMtu::new(&config(), false);
    path.on_timeout(1200);
    path.on_packets(&arrived(1196));
    assert!(path.is_in_doubt());
    path.on_packets(&arrived(1200));
    assert!(!path.is_in_doubt());
}

#[path = "pmtu_outage_tests.rs"]
mod outages;
