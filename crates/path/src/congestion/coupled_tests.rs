use whimbrel_machine::Instant;

use super::super::{InitialWindow, Reno, RenoParameters};
use super::*;

const MSS: usize = 1000;

const ALL: [Coupling; 3] = [Coupling::Lia, Coupling::Olia, Coupling::ResourcePooling];

fn new_path() -> NewPath {
    NewPath { pmdcs: MSS, ipv6: false, initial_window: InitialWindow::Packets(10), ssthresh: None, seed: 0 }
}

/// Paths with these windows and round trips that are all in congestion avoidance.
struct Paths {
    controllers: Vec<Coupled>,
    round_trips: Vec<Duration>,
}

impl Paths {
    fn new(coupling: Coupling, windows: &[(usize, u64)]) -> Self {
        let controller = |&(cwnd, _): &(usize, u64)| {
            let mut controller = Coupled::new(&new_path(), CoupledParameters::new(coupling));
            controller.install(cwnd, cwnd - 1);
            controller
        };
        let round_trips = windows.iter().map(|&(_, millis)| Duration::from_millis(millis)).collect();
        Self { controllers: windows.iter().map(controller).collect(), round_trips }
    }

    fn tell(&mut self) {
        let paths: Vec<SharedPath> = self
            .controllers
            .iter()
            .zip(&self.round_trips)
            .map(|(controller, &round_trip)| SharedPath {
                cwnd: controller.cwnd(),
                round_trip,
                between_losses: controller.between_losses(),
            })
            .collect();
        for (own, controller) in self.controllers.iter_mut().enumerate() {
            controller.on_shared(&Shared { paths: &paths, own });
        }
    }

    /// For a second each path carries its window in each round trip.
    fn pass_a_second(&mut self) {
        let mut due: Vec<Duration> = vec![Duration::ZERO; self.controllers.len()];
        loop {
            let next = (0..due.len()).min_by_key(|&n| due[n]).expect("a path");
            let round_trip = self.round_trips[next];
            due[next] += round_trip * MSS as u32 / self.controllers[next].cwnd() as u32;
            if due[next] > Duration::from_secs(1) {
                return;
            }
            self.tell();
            self.controllers[next].on_acked(&Acked::of(Instant::ZERO, MSS));
        }
    }

    fn windows(&self) -> Vec<usize> {
        self.controllers.iter().map(|controller| controller.cwnd()).collect()
    }
}

/// A single path grows as Reno's does.
#[test]
fn alone_it_is_reno() {
    for coupling in ALL {
        let mut paths = Paths::new(coupling, &[(20 * MSS, 100)]);
        let mut reno = Reno::new(&new_path(), RenoParameters::default());
        reno.install(20 * MSS, 20 * MSS - 1);
        for _ in 0..500 {
            paths.tell();
            paths.controllers[0].on_acked(&Acked::of(Instant::ZERO, MSS));
            reno.on_acked(&Acked::of(Instant::ZERO, MSS));
        }
        let (coupled, reno) = (paths.windows()[0], reno.cwnd());
        assert!(coupled.abs_diff(reno) <= 2 * MSS, "{coupling:?}: {coupled} and {reno}");
        let losses: [fn(&mut dyn CongestionControl); 2] =
            [|path| path.on_fast_retransmit(), |path| path.on_timeout()];
        for loss in losses {
            let mut coupled = Coupled::new(&new_path(), CoupledParameters::new(coupling));
            let mut alone = Reno::new(&new_path(), RenoParameters::default());
            for path in [&mut coupled as &mut dyn CongestionControl, &mut alone] {
                path.install(40 * MSS, 0);
                loss(path);
            }
            assert_eq!((coupled.cwnd(), coupled.ssthresh()), (alone.cwnd(), alone.ssthresh()));
        }
    }
}

/// Two equal paths grow by no more together than one would: by ten packets in ten round trips, not by twenty.
#[test]
fn together_they_grow_as_one() {
    for coupling in ALL {
        let mut paths = Paths::new(coupling, &[(50 * MSS, 100), (50 * MSS, 100)]);
        paths.pass_a_second();
        let grown: usize = paths.windows().iter().map(|window| window - 50 * MSS).sum();
        // With LIA a quarter of a packet each, for the two together carry twice what one of them does. OLIA gives some of it back wherever the larger
        // window is not that of the better path, which changes with each packet here.
        let expected = match coupling {
            Coupling::Lia => 4 * MSS..6 * MSS,
            Coupling::Olia => 1..6 * MSS,
            Coupling::ResourcePooling => 9 * MSS..11 * MSS,
        };
        assert!(expected.contains(&grown), "{coupling:?}: {grown}");
    }
}

/// RFC 6356 §3: no window grows faster than it would alone, however quick the other path is.
#[test]
fn none_grows_faster_than_alone() {
    let mut paths = Paths::new(Coupling::Lia, &[(4 * MSS, 10), (100 * MSS, 100)]);
    let mut alone = Paths::new(Coupling::Lia, &[(100 * MSS, 100)]);
    for _ in 0..5 {
        paths.pass_a_second();
        alone.pass_a_second();
    }
    assert!(paths.windows()[1] <= alone.windows()[0], "{:?} and {:?}", paths.windows(), alone.windows());
}

/// OLIA: the path that has carried more between losses, with the smaller window, wins what the other one loses.
#[test]
fn olia_moves_windows_to_the_better_path() {
    let mut paths = Paths::new(Coupling::Olia, &[(20 * MSS, 100), (60 * MSS, 100)]);
    paths.controllers[0].between = [10_000_000, 0];
    paths.pass_a_second();
    let windows = paths.windows();
    let mut lia = Paths::new(Coupling::Lia, &[(20 * MSS, 100), (60 * MSS, 100)]);
    lia.pass_a_second();
    assert!(
        windows[0] > lia.windows()[0] && windows[1] < lia.windows()[1],
        "{windows:?}, {:?}",
        lia.windows()
    );
}

/// CMT/RPv2: a loss takes half of what all paths carry from the one that it is found on, but for the least window.
#[test]
fn resource_pooling_halves_the_sum() {
    let mut paths = Paths::new(Coupling::ResourcePooling, &[(90 * MSS, 100), (30 * MSS, 100)]);
    paths.tell();
    let controllers = &mut paths.controllers;
    controllers.iter_mut().for_each(Coupled::on_fast_retransmit);
    assert_eq!(paths.windows(), [30 * MSS, 4 * MSS]);
}

/// Whatever the windows, nothing overflows, and no window falls below a packet.
#[test]
fn extremes() {
    for coupling in ALL {
        for (cwnd, micros) in [(1, 0), (MSS, 1), (u32::MAX as usize, 1), (u32::MAX as usize, 1 << 40)] {
            let mut controller = Coupled::new(&new_path(), CoupledParameters::new(coupling));
            controller.install(cwnd, 0);
            let round_trip = Duration::from_micros(micros);
            let own = SharedPath { cwnd: controller.cwnd(), round_trip, between_losses: u64::MAX };
            let other = SharedPath { cwnd: u32::MAX as usize, round_trip: Duration::ZERO, between_losses: 0 };
            controller.on_shared(&Shared { paths: &[other, own], own: 1 });
            controller.on_acked(&Acked::of(Instant::ZERO, 1 << 24));
            controller.on_fast_retransmit();
            assert!(controller.cwnd() >= MSS);
        }
    }
}
