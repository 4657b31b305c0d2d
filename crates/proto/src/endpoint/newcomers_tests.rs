use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_machine::{Route, Seed};

use super::*;
use crate::protection::testing::ToyExchanges;
use crate::{Command, Config, ConnectToken, Event, Security};

const PORT: u16 = 5001;
const NOW: Instant = Instant::ZERO;

fn endpoint(config: &Arc<Config>, address: SocketAddr) -> Endpoint {
    let seed = Seed::from_u64(u64::from(address.port())).child(&address.to_string(), 0);
    Endpoint::new(Arc::clone(config), seed, vec![address])
}

fn packets(endpoint: &mut Endpoint) -> Vec<(Route, Vec<u8>)> {
    let mut packet = Vec::new();
    let mut all = Vec::new();
    while let Some(transmit) = endpoint.poll_transmit(NOW, 1, &mut packet) {
        all.push((transmit.route, core::mem::take(&mut packet)));
    }
    all
}

/// What goes to and fro, for so many steps.
fn talk(client: &mut Endpoint, server: &mut Endpoint, address: SocketAddr, steps: usize) {
    for _ in 0..steps {
        for (route, packet) in packets(client) {
            let route = Route { local: route.remote, remote: route.local };
            server.handle_datagrams(NOW, route, &packet, packet.len());
        }
        for (route, packet) in packets(server) {
            if route.remote == address {
                let route = Route { local: route.remote, remote: route.local };
                client.handle_datagrams(NOW, route, &packet, packet.len());
            }
        }
    }
}

struct Scene {
    config: Arc<Config>,
    server: Endpoint,
    at: SocketAddr,
    /// They keep their associations, and say nothing.
    silent: Vec<Endpoint>,
}

impl Scene {
    fn new() -> Self {
        let security = Security::Required(Arc::new(ToyExchanges::default()));
        let config = Arc::new(Config { security, ..Config::mobile() });
        let at = SocketAddr::from(([192, 0, 2, 1], 9899));
        let mut server = endpoint(&config, at);
        server.handle_command(NOW, Command::Listen { port: PORT });
        Self { config, server, at, silent: Vec::new() }
    }

    fn client(&mut self, address: SocketAddr, steps: usize) -> Endpoint {
        let mut client = endpoint(&self.config, address);
        client.handle_command(
            NOW,
            Command::Connect {
                token: ConnectToken(1),
                remote: vec![self.at],
                remote_port: PORT,
                local_port: None,
            },
        );
        talk(&mut client, &mut self.server, address, steps);
        client
    }

    /// Sets up an association and then says nothing.
    fn newcomer(&mut self, address: [u8; 4]) {
        let client = self.client(SocketAddr::from((address, 9899)), 2);
        self.silent.push(client);
    }

    /// Whether somebody with the right keys gets through.
    fn admits(&mut self, address: [u8; 4]) -> bool {
        let mut client = self.client(SocketAddr::from((address, 9900)), 10);
        core::iter::from_fn(|| client.poll_event()).any(|event| matches!(event, Event::Up { .. }))
    }

    fn associations(&mut self) -> usize {
        let _ = packets(&mut self.server);
        self.server.association_count()
    }
}

/// A fleet behind one address prefix comes back at once; nobody has to wait.
#[test]
fn there_is_room_for_many_of_a_network() {
    let mut scene = Scene::new();
    (0..200).for_each(|host| scene.newcomer([10, 0, 0, host]));
    assert_eq!(scene.associations(), 200);
    assert!(scene.admits([10, 0, 0, 250]));
}

/// One network has taken all there is. Others take it from there, and who has keys gets through even in that network.
#[test]
fn who_has_most_makes_way() {
    let mut scene = Scene::new();
    scene.newcomer([10, 0, 7, 1]);
    (0..=255).for_each(|host| scene.newcomer([10, 0, 0, host]));
    assert_eq!(scene.associations(), MOST);
    (0..100).for_each(|host| scene.newcomer([10, 1, host, 1]));
    assert_eq!(scene.associations(), MOST);
    let of = |network: [u8; 3]| {
        let network = Network::of(IpAddr::from([network[0], network[1], network[2], 0]));
        scene.server.table.newcomers.0.iter().filter(|(_, other)| *other == network).count()
    };
    assert_eq!((of([10, 0, 7]), of([10, 0, 0]), of([10, 1, 99])), (1, MOST - 101, 1));
    assert!(scene.admits([10, 0, 0, 200]));
}

#[test]
fn the_oldest_of_all_makes_way() {
    let mut scene = Scene::new();
    (0..150).for_each(|host| (0..2).for_each(|network| scene.newcomer([10, host, network, 1])));
    assert_eq!(scene.associations(), MOST);
    assert!(scene.admits([10, 200, 0, 1]));
}

/// Nor is it enough to have the keys: who never says Hello is up for nobody, and would be there for good.
#[test]
fn who_has_keys_and_is_not_up_makes_way() {
    let mut with_keys = 0;
    for steps in 2..6 {
        let mut scene = Scene::new();
        (0..300_u16).for_each(|n| {
            let address = [10, (n / 200) as u8, (n % 200) as u8, 1];
            let client = scene.client(SocketAddr::from((address, 9899)), steps);
            scene.silent.push(client);
        });
        let _ = scene.associations();
        let all: Vec<_> = scene
            .server
            .table
            .indices()
            .into_iter()
            .filter_map(|index| scene.server.table.get(index))
            .collect();
        let pending = all.iter().filter(|one| one.is_pending()).count();
        assert!(pending <= MOST, "{pending} after {steps} steps");
        with_keys += all.iter().filter(|one| one.is_pending() && !one.awaits_keys()).count();
    }
    assert!(with_keys > 0, "none has got so far");
}

/// Who is up is none of them, however many there are.
#[test]
fn who_is_up_stays() {
    let mut scene = Scene::new();
    assert!((0..40).all(|host| scene.admits([10, 0, 0, host])));
    (0..300_u16).for_each(|n| scene.newcomer([10, 0, (n / 200) as u8, (n % 200) as u8 + 50]));
    assert_eq!(scene.associations(), 40 + MOST);
}
