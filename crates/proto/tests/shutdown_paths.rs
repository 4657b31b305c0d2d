//! SHUTDOWN finds the path that works, whatever else has failed.

use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_proto::{CloseReason, Command, Config, ConnectToken, Endpoint, Event, PathPairing, PathState};

const PORT: u16 = 5001;

fn address(side: usize, network: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, network, 1 + side as u8], 9899))
}

/// Two endpoints, 10 ms apart, with two paths; networks in `dead` lose everything.
struct Pair {
    now: Instant,
    sides: [Endpoint; 2],
    events: [Vec<Event>; 2],
    flying: Vec<(Instant, usize, Route, Vec<u8>)>,
    dead: [bool; 2],
}

impl Pair {
    fn connected(config: Config) -> Self {
        let config = Arc::new(config);
        let side = |side: usize| {
            let locals = vec![address(side, 1), address(side, 2)];
            Endpoint::new(Arc::clone(&config), Seed::from_u64(side as u64), locals)
        };
        let mut pair = Self {
            now: Instant::from_nanos(1),
            sides: [side(0), side(1)],
            events: [Vec::new(), Vec::new()],
            flying: Vec::new(),
            dead: [false; 2],
        };
        pair.command(1, Command::Listen { port: PORT });
        let remote = vec![address(1, 1), address(1, 2)];
        let token = ConnectToken(1);
        pair.command(0, Command::Connect { token, remote, remote_port: PORT, local_port: Some(PORT) });
        pair.run(Duration::from_secs(5));
        pair
    }

    fn command(&mut self, side: usize, command: Command) {
        self.sides[side].handle_command(self.now, command);
        self.drain(side);
    }

    fn drain(&mut self, side: usize) {
        let endpoint = &mut self.sides[side];
        endpoint.handle_timeout(self.now);
        let mut buffer = Vec::new();
        while let Some(transmit) = endpoint.poll_transmit(self.now, 1, &mut buffer) {
            let network = (1..=2).find(|&n| {
                transmit.route.local == address(side, n) && transmit.route.remote == address(1 - side, n)
            });
            if network.is_some_and(|n| !self.dead[usize::from(n) - 1]) {
                let arrival = self.now + Duration::from_millis(10);
                self.flying.push((arrival, 1 - side, transmit.route.reversed(), buffer.clone()));
            }
            buffer.clear();
        }
        self.events[side].extend(core::iter::from_fn(|| endpoint.poll_event()));
    }

    fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        loop {
            let timers = self.sides.iter_mut().filter_map(Endpoint::next_deadline);
            let Some(at) = timers.chain(self.flying.iter().map(|f| f.0)).min().filter(|&at| at <= end) else {
                break;
            };
            self.now = at;
            let (due, later) = core::mem::take(&mut self.flying).into_iter().partition(|f| f.0 <= at);
            self.flying = later;
            let due: Vec<_> = due;
            for (_, side, route, bytes) in due {
                self.sides[side].handle_datagrams(at, route, &bytes, bytes.len());
            }
            self.drain(0);
            self.drain(1);
        }
        self.now = end;
    }

    fn closed(&self, side: usize) -> Option<&CloseReason> {
        self.events[side].iter().find_map(|event| match event {
            Event::Closed { reason, .. } => Some(reason),
            _ => None,
        })
    }
}

/// RFC 9260 §6.4, §9.2: both paths have failed, one comes back, and it need not be the one in use. How many errors each
/// has by then depends on how long that took.
#[test]
fn shutdown_finds_the_path_that_works() {
    let mobile = Config { pairing: PathPairing::PerDestination, ..Config::mobile() };
    for config in [Config::rfc(), mobile] {
        for (alive, seconds) in [0, 1].into_iter().flat_map(|alive| (0..60).map(move |s| (alive, s))) {
            closes(config.clone(), alive, Duration::from_secs(seconds));
        }
    }
}

fn closes(config: Config, alive: usize, later: Duration) {
    let limit = config.rto.max * 5;
    let mut pair = Pair::connected(config);
    let up = pair.events[0].iter().find_map(|event| match event {
        Event::Up { association, .. } => Some(*association),
        _ => None,
    });
    let association = up.expect("up");
    assert_eq!(pair.sides[0].paths(association).len(), 2);
    // Until the client has given both paths up, but not yet the association.
    pair.dead = [true; 2];
    let inactive =
        |pair: &Pair| pair.sides[0].paths(association).iter().all(|path| path.state == PathState::Inactive);
    while !inactive(&pair) {
        assert_eq!(pair.closed(0), None);
        pair.run(Duration::from_secs(1));
    }
    pair.run(later);
    if pair.closed(0).is_some() {
        return;
    }
    pair.dead[alive] = false;
    pair.command(0, Command::Shutdown { association });
    pair.run(limit);
    assert_eq!(pair.closed(0), Some(&CloseReason::Shutdown), "network {alive} {later:?} later");
}
