//! Media that stations share, through a whole world.
mod common;

use core::net::IpAddr;
use core::time::Duration;

use common::{Command, Event, Toy, ip, route};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{
    Action, App, Change, Context, Dcf, DcfConfig, DropReason, HostId, InFlight, LinkConfig, LinkId, Phy,
    Side, Umts, UmtsConfig, World,
};

/// IP packets of 1000 bytes.
const PAYLOAD: usize = 1000 - 28;

/// Keeps some packets waiting at all times, or counts.
enum Role {
    /// To each of these hosts in turn.
    Talker {
        from: IpAddr,
        to: Vec<IpAddr>,
    },
    Listener {
        bytes: u64,
    },
}

const PERIOD: Duration = Duration::from_millis(5);

impl App<Toy> for Role {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        self.on_wake(0, context);
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, Command>) {
        let Self::Talker { from, to } = self else { return };
        for remote in to.iter() {
            let route = route(&from.to_string(), &remote.to_string());
            context.command(Command::Send { route, bytes: PAYLOAD, count: 30 });
        }
        context.wake_at(context.now() + PERIOD, 0);
    }

    fn on_event(&mut self, event: Event, _context: &mut Context<'_, Command>) {
        if let (Self::Listener { bytes }, Event::Received { .. }) = (self, event) {
            *bytes += 1000;
        }
    }
}

struct Cell {
    world: World<Toy, Role>,
    stations: Vec<HostId>,
    links: Vec<LinkId>,
    server: HostId,
}

const SERVER: &str = "192.0.2.1";

fn address(n: usize) -> String {
    format!("10.0.{}.{}", n / 200, n % 200 + 1)
}

/// Stations in a cell and a server behind it; stations send, or the server does.
fn cell(stations: usize, up: bool) -> Cell {
    let mut world = World::new(Seed::from_u64(5));
    let all: Vec<IpAddr> = (0..stations).map(|n| ip(&address(n))).collect();
    let listener = || Role::Listener { bytes: 0 };
    let role = if up { listener() } else { Role::Talker { from: ip(SERVER), to: all.clone() } };
    let server = world.add_host("server", Toy::default(), role);
    let access_point = world.add_router();
    let wire = LinkConfig::default();
    let interface = world.add_interface(server, [ip(SERVER)]);
    world.add_link(interface, access_point, wire, wire);
    let mut cell = Cell { world, stations: Vec::new(), links: Vec::new(), server };
    for own in all {
        let role = if up { Role::Talker { from: own, to: vec![ip(SERVER)] } } else { listener() };
        let host = cell.world.add_host("station", Toy::default(), role);
        let interface = cell.world.add_interface(host, [own]);
        cell.stations.push(host);
        cell.links.push(cell.world.add_link(access_point, interface, wire, wire));
    }
    cell
}

impl Cell {
    /// All in one cell of 802.11, with the access point as the last station.
    fn share_dcf(&mut self, config: DcfConfig) {
        let access_point = self.links.len();
        let down = self.links.iter().map(|&link| (link, Side::AtoB, access_point));
        let up = self.links.iter().enumerate().map(|(n, &link)| (link, Side::BtoA, n));
        let stations: Vec<_> = down.chain(up).collect();
        let medium = Dcf::new(config, self.world.seed(), 0);
        self.world.share(medium, stations);
    }

    fn run(&mut self, seconds: u64) {
        self.world.run_until(Instant::from_nanos(seconds * 1_000_000_000));
    }

    fn received(&self, host: HostId) -> u64 {
        match self.world.app(host) {
            Role::Listener { bytes } => *bytes,
            Role::Talker { .. } => 0,
        }
    }
}

/// Bit/s of saturated stations by Bianchi's model (2000), by a fixed point: `tau` is the probability that a station sends in a slot.
fn bianchi(phy: Phy, count: u32, rts: bool) -> f64 {
    let sends = |p: f64| {
        let (mut attempts, mut slots) = (0.0, 0.0);
        for stage in 0..7 {
            let window = f64::from(((phy.cw_min + 1) << stage).min(phy.cw_max + 1));
            attempts += p.powi(stage);
            slots += p.powi(stage) * (window + 1.0) / 2.0;
        }
        attempts / slots
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let tau = (low + high) / 2.0;
        let p = 1.0 - (1.0_f64 - tau).powi(count as i32 - 1);
        if sends(p) > tau { low = tau } else { high = tau }
    }
    let idle = (1.0 - low).powi(count as i32);
    let alone = f64::from(count) * low * (1.0 - low).powi(count as i32 - 1);
    let data = phy.frame(1036, phy.rate_bps);
    let reserved = if rts { phy.rts() + phy.ack() + phy.sifs * 2 } else { Duration::ZERO };
    let success = reserved + data + phy.sifs + phy.ack() + phy.difs();
    let collision = if rts { phy.rts() } else { data } + phy.eifs();
    let slot = idle * phy.slot.as_secs_f64()
        + alone * success.as_secs_f64()
        + (1.0 - idle - alone) * collision.as_secs_f64();
    alone * 8000.0 / slot
}

#[test]
fn saturated_stations_of_a_world_get_what_bianchis_model_says() {
    for phy in [Phy::A, Phy::B] {
        for (rts, rts_threshold) in [(false, 3000), (true, 400)] {
            for count in [1, 5, 10, 20, 50] {
                let mut cell = cell(count, true);
                cell.share_dcf(DcfConfig { rts_threshold, ..DcfConfig::cell(phy, count) });
                cell.run(5);
                let measured = cell.received(cell.server) as f64 * 8.0 / 5.0;
                let ratio = measured / bianchi(phy, count as u32, rts);
                assert!((0.95..1.05).contains(&ratio), "{count} stations, {phy:?}, RTS {rts}: {ratio}");
            }
        }
    }
}

/// The access point has one queue, and is one contender.
#[test]
fn an_access_point_sends_to_all_its_stations_as_one() {
    let mut cell = cell(10, false);
    cell.share_dcf(DcfConfig::cell(Phy::B, 10));
    cell.run(5);
    let all: Vec<u64> = cell.stations.iter().map(|&host| cell.received(host)).collect();
    let ratio = all.iter().sum::<u64>() as f64 * 8.0 / 5.0 / bianchi(Phy::B, 1, true);
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
    let dropped: u64 = cell
        .links
        .iter()
        .map(|&link| cell.world.stats(link, Side::AtoB).dropped_for(DropReason::Queue))
        .sum();
    assert!(dropped > 0, "400 packets wait at most");
}

/// 384 kbit/s of blocks for all users together, of which 1000 bytes take 25.
#[test]
fn a_common_channel_is_shared_by_its_users() {
    for users in [1, 4] {
        let mut cell = cell(users, false);
        let medium = Umts::new(UmtsConfig::common_channel(users), cell.world.seed(), 0);
        let stations: Vec<_> =
            cell.links.iter().enumerate().map(|(n, &link)| (link, Side::AtoB, n)).collect();
        cell.world.share(medium, stations);
        cell.run(20);
        let all: Vec<u64> = cell.stations.iter().map(|&host| cell.received(host) * 8 / 20).collect();
        let sum: u64 = all.iter().sum();
        assert!((374_000..=384_000).contains(&sum), "{all:?}");
        assert!(all.iter().all(|own| own.abs_diff(sum / users as u64) < 8000), "{all:?}");
    }
}

/// What waits for the air when its link goes down is lost, and nothing that comes later is taken for it.
#[test]
fn a_link_that_goes_down_takes_what_waits_with_it() {
    let mut cell = cell(2, true);
    cell.share_dcf(DcfConfig::cell(Phy::B, 2));
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    cell.world.schedule(at(1000), Action::Link(cell.links[0], Side::Both, Change::Down(InFlight::Lost)));
    cell.world.schedule(at(1500), Action::Link(cell.links[0], Side::Both, Change::Up));
    cell.run(3);
    let stats = *cell.world.stats(cell.links[0], Side::BtoA);
    assert!((1..=51).contains(&stats.dropped_for(DropReason::Cut)), "{stats:?}");
    assert!(stats.dropped_for(DropReason::Down) > 0);
    let sent = stats.delivered_packets + stats.dropped_packets() + 51;
    assert!(sent >= stats.offered_packets, "{stats:?}");
    let received = cell.received(cell.server) / 1000;
    let other = cell.world.stats(cell.links[1], Side::BtoA).delivered_packets;
    assert_eq!(received, stats.delivered_packets + other);
}

/// The same seed, the same fingerprint.
#[test]
fn a_shared_medium_is_as_deterministic_as_any_link() {
    let fingerprint = || {
        let mut cell = cell(20, true);
        cell.share_dcf(DcfConfig::cell(Phy::A, 20));
        cell.run(1);
        cell.world.trace_hash()
    };
    assert_eq!(fingerprint(), fingerprint());
}
