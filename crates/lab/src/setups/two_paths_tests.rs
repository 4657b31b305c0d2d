//! SCTP against the closed form of slow start: in round trip k after the first, the packets W (2^k - 1) + 1 to W (2^(k+1) - 1)
//! arrive, where W packets are the initial window.

use super::*;
use crate::profile;
use crate::setups::Arrivals;
use crate::setups::traffic::Traffic;
use whimbrel_proto::{BurstLimit, InitialWindow};

const PACKETS: u32 = 63;
const ONE_WAY: Duration = Duration::from_millis(50);

/// Full packets, all at once.
struct Burst(u32);

impl Traffic for Burst {
    fn offer(&mut self, _: Instant, _: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        (0..core::mem::take(&mut self.0)).for_each(|_| send(1452));
        None
    }
}

/// Round trips after the first packet in which the others arrive; no packet is in a hurry to the nearest 5 ms.
fn round_trips(window: u32) -> Vec<u32> {
    let papers = Papers::load().unwrap();
    let mut config = profile::config(&papers.profile("b08").unwrap(), 1452).unwrap();
    config.congestion.initial_window = InitialWindow::Packets(window);
    config.limits.receive_buffer = 1 << 20;
    // No more than four packets in a row would be another theory.
    config.congestion.burst = BurstLimit::Packets(1000);
    let network = AccessNetwork { rate: 1e9, delay: ONE_WAY, kind: InterfaceKind::Other };
    let wire = LinkConfig::default();
    let mut bed = TwoPaths::new(1, Hosts::Plain(config), [network; 2], wire, 1000, |peer| {
        User::sender(Instant::ZERO, peer, Box::new(Burst(PACKETS)))
    });
    let (arrivals, watch) = Arrivals::at(mn_address(0));
    bed.world.set_intruder(Some(watch));
    bed.world.run_until_or(Instant::ZERO + Duration::from_secs(60), |_| {
        arrivals.read().first_from(PACKETS - 1).is_some()
    });
    let at = |number| arrivals.read().first_from(number).expect("it arrived");
    let after = |number| (at(number) - at(0)).as_secs_f64() / (2.0 * ONE_WAY.as_secs_f64());
    let whole = |number| {
        let trips: f64 = after(number);
        assert!((trips - trips.round()).abs() < 0.05, "packet {number} after {trips} round trips");
        trips.round() as u32
    };
    (0..PACKETS).map(whole).collect()
}

#[test]
fn slow_start_takes_as_many_round_trips_as_in_theory() {
    for window in [1, 2, 4, 10] {
        let theory = |packet: u32| (packet / window + 1).ilog2();
        let expected: Vec<u32> = (0..PACKETS).map(theory).collect();
        assert_eq!(round_trips(window), expected, "an initial window of {window}");
    }
}
