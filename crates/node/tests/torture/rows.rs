//! The rows: what happens, and what is promised.

use core::time::Duration;

use whimbrel_netsim::{Change, Loss, Oversize, QueueLimit, Reorder};

use super::places::{Families, Network, Translation};
use super::world::{Start, Torture, Way};
use super::{family_rows, network_rows, preference_rows, server_rows, silence_rows};

/// A row of the torture table.
pub(super) struct Row {
    pub name: String,
    pub start: Start,
    /// From the beginning of the trouble to its end.
    pub lasts: Duration,
    pub happen: Box<dyn Fn(&mut Torture)>,
}

pub(super) fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

pub(super) fn two(way: Way) -> Start {
    Start {
        networks: &[Network::Wifi, Network::Lte],
        cores: &[Network::Core, Network::Core2],
        record: 1000,
        interval: Duration::from_millis(4),
        ways: way.only(),
        families: [Families::V4; 3],
        translation: Translation::None,
        prefix_told_after: Duration::ZERO,
    }
}

pub(super) fn one(way: Way) -> Start {
    Start { networks: &[Network::Wifi], ..two(way) }
}

/// Records that fit the send buffer for a quarter of an hour.
pub(super) fn rare_on_two(way: Way) -> Start {
    Start { record: 100, interval: Duration::from_millis(50), ..two(way) }
}

pub(super) fn rare_on_one(way: Way) -> Start {
    Start { networks: &[Network::Wifi], ..rare_on_two(way) }
}

/// Records that fit it for a day.
pub(super) fn daily_on_two(way: Way) -> Start {
    Start { interval: secs(5.0), ..rare_on_two(way) }
}

fn daily_on_one(way: Way) -> Start {
    Start { networks: &[Network::Wifi], ..daily_on_two(way) }
}

/// When the trouble begins.
pub(super) const ONCE: Duration = Duration::ZERO;

/// Rows that last no longer than so many seconds are there with records in both directions, too.
const BOTH_WAYS: f64 = 45.0;

#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn row(
        &mut self,
        name: &str,
        start: impl Fn(Way) -> Start,
        lasts: f64,
        happen: impl Fn(&mut Torture) + Copy + 'static,
    ) {
        for (way, suffix) in [(Way::Up, "up"), (Way::Down, "down")] {
            let name = format!("{name}/{suffix}");
            self.rows.push(Row { name, start: start(way), lasts: secs(lasts), happen: Box::new(happen) });
        }
        if lasts <= BOTH_WAYS {
            let start = Start { ways: &[Way::Up, Way::Down], ..start(Way::Up) };
            let name = format!("{name}/both");
            self.rows.push(Row { name, start, lasts: secs(lasts), happen: Box::new(happen) });
        }
    }

    fn outages(&mut self) {
        for seconds in [1.0, 3.0, 8.0, 12.0, 15.0, 20.0, 40.0, 180.0, 900.0, 86400.0] {
            let lasts = secs(seconds);
            let [one, two]: [fn(Way) -> Start; 2] = match seconds {
                ..14.0 => [one, two],
                ..1000.0 => [rare_on_one, rare_on_two],
                _ => [daily_on_one, daily_on_two],
            };
            self.row(&format!("silent_both_{seconds}"), two, seconds, move |hosts| {
                for network in hosts.networks() {
                    hosts.silence(ONCE, *network, lasts);
                }
            });
            self.row(&format!("silent_one_{seconds}"), two, seconds, move |hosts| {
                hosts.silence(ONCE, Network::Wifi, lasts);
            });
            self.row(&format!("silent_only_{seconds}"), one, seconds, move |hosts| {
                hosts.silence(ONCE, Network::Wifi, lasts);
            });
            self.row(&format!("unplugged_both_{seconds}"), two, seconds, move |hosts| {
                for network in hosts.networks() {
                    hosts.unplug(ONCE, *network, lasts);
                }
            });
            self.row(&format!("unplugged_one_{seconds}"), two, seconds, move |hosts| {
                hosts.unplug(ONCE, Network::Wifi, lasts);
            });
            self.row(&format!("unplugged_only_{seconds}"), one, seconds, move |hosts| {
                hosts.unplug(ONCE, Network::Wifi, lasts);
            });
        }
    }

    fn one_way_outages(&mut self) {
        for seconds in [1.0, 8.0, 12.0] {
            for (name, way) in [("forth", Way::Up), ("back", Way::Down)] {
                let down = Change::Down(whimbrel_netsim::InFlight::Lost);
                let lasts = secs(seconds);
                self.row(&format!("{name}_both_{seconds}"), two, seconds, move |hosts| {
                    for network in hosts.networks() {
                        hosts.change_one(ONCE, *network, way, down);
                        hosts.change_one(lasts, *network, way, Change::Up);
                    }
                });
                self.row(&format!("{name}_one_{seconds}"), two, seconds, move |hosts| {
                    hosts.change_one(ONCE, Network::Wifi, way, down);
                    hosts.change_one(lasts, Network::Wifi, way, Change::Up);
                });
            }
        }
    }

    /// Networks that take 300 ms each way.
    fn far(&mut self) {
        let down = Change::Down(whimbrel_netsim::InFlight::Lost);
        self.row("far_jump", two, 30.0, move_away);
        for (name, ways) in
            [("silent", &[Way::Up, Way::Down][..]), ("forth", &[Way::Up]), ("back", &[Way::Down])]
        {
            for (which, networks) in [("one", &[Network::Wifi][..]), ("both", &[Network::Wifi, Network::Lte])]
            {
                self.row(&format!("far_{name}_{which}"), two, 48.0, move |hosts| {
                    move_away(hosts);
                    for (&network, &way) in
                        networks.iter().flat_map(|at| ways.iter().map(move |way| (at, way)))
                    {
                        hosts.change_one(secs(40.0), network, way, down);
                        hosts.change_one(secs(48.0), network, way, Change::Up);
                    }
                });
            }
        }
    }

    fn flaps(&mut self) {
        for hertz in [0.1, 0.5, 2.0, 5.0, 20.0] {
            let half = secs(0.5 / hertz);
            let seconds = f64::max(10.0, 2.0 / hertz);
            let times = (seconds * hertz) as u32;
            for (name, start) in [("one", two as fn(Way) -> Start), ("only", one)] {
                self.row(&format!("flaps_silent_{name}_{hertz}_hz"), start, seconds, move |hosts| {
                    (0..times).for_each(|n| hosts.silence(half * 2 * n, Network::Wifi, half));
                });
                self.row(&format!("flaps_unplugged_{name}_{hertz}_hz"), start, seconds, move |hosts| {
                    (0..times).for_each(|n| hosts.unplug(half * 2 * n, Network::Wifi, half));
                });
            }
        }
    }

    fn sizes(&mut self) {
        for mtu in [1280, 1200, 900, 576] {
            let happen = move |hosts: &mut Torture| {
                let small = whimbrel_netsim::LinkConfig {
                    mtu,
                    oversize: Oversize::Swallowed,
                    ..whimbrel_testbed::link(20, 10)
                };
                hosts.change(ONCE, Network::Wifi, Change::Config(small));
            };
            let large = |way| Start { record: 4000, interval: Duration::from_millis(16), ..two(way) };
            let large_only = |way| Start { networks: &[Network::Wifi], ..large(way) };
            self.row(&format!("black_hole_one_{mtu}"), large, 8.0, happen);
            self.row(&format!("black_hole_only_{mtu}"), large_only, 8.0, happen);
            // Each record is alone in its packet, and nothing smaller is under way.
            let rare = |way| Start { record: 1000, interval: Duration::from_millis(100), ..one(way) };
            self.row(&format!("rare_black_hole_{mtu}"), rare, 8.0, happen);
        }
        let shrink = |hosts: &mut Torture, after: Duration, network: Network, mtu: u32| {
            hosts.change(after, network, Change::Mtu(mtu));
            hosts.change(after, network, Change::Oversize(Oversize::Swallowed));
        };
        for mtu in [1280, 900, 576] {
            let large = |way| Start { record: 4000, interval: Duration::from_millis(16), ..two(way) };
            self.row(&format!("both_move_hole_{mtu}"), large, 1.0, move |hosts| {
                for network in [Network::Wifi, Network::Lte, Network::Core2] {
                    shrink(hosts, ONCE, network, mtu);
                }
                hosts.renumber(secs(1.0), Network::Wifi);
                hosts.renumber(secs(1.0), Network::Core);
            });
            self.row(&format!("hole_in_outage_{mtu}"), large, 8.0, move |hosts| {
                for &network in hosts.networks() {
                    hosts.silence(ONCE, network, secs(8.0));
                    shrink(hosts, secs(4.0), network, mtu);
                }
            });
        }
    }

    fn quality(&mut self) {
        self.row("calm", two, 30.0, |_| ());
        self.row("loss_ramp_one", two, 18.0, |hosts| loss_ramp(hosts, &[Network::Wifi]));
        self.row("loss_ramp_both", two, 18.0, |hosts| loss_ramp(hosts, &[Network::Wifi, Network::Lte]));
        for (name, ways) in [("", &[Way::Up, Way::Down][..]), ("_forth", &[Way::Up]), ("_back", &[Way::Down])]
        {
            self.row(&format!("rtt_jump_one{name}"), two, 10.0, move |hosts| {
                for &way in ways {
                    slow(hosts, Network::Wifi, way);
                }
            });
            self.row(&format!("rtt_jump_both{name}"), two, 10.0, move |hosts| {
                for &network in hosts.networks() {
                    ways.iter().for_each(|&way| slow(hosts, network, way));
                }
            });
        }
        self.row("jitter_one", two, 15.0, |hosts| jitter(hosts, &[Network::Wifi]));
        self.row("jitter_both", two, 15.0, |hosts| jitter(hosts, &[Network::Wifi, Network::Lte]));
        for percent in [3, 10] {
            let row = format!("reordering_one_{percent}");
            self.row(&row, two, 60.0, move |hosts| reordering(hosts, &[Network::Wifi], percent));
            let row = format!("reordering_both_{percent}");
            let both = &[Network::Wifi, Network::Lte];
            self.row(&row, two, 60.0, move |hosts| reordering(hosts, both, percent));
        }
        self.row("bloat_forth", two, 15.0, |hosts| bloat(hosts, Way::Up));
        self.row("bloat_back", two, 15.0, |hosts| bloat(hosts, Way::Down));
        self.row("bloat_only", one, 15.0, |hosts| bloat(hosts, Way::Up));
        self.row("crowded_only", one, 15.0, |hosts| crowd(hosts, Way::Up));
        let alone = |way| Start { cores: &[Network::Core], ..one(way) };
        self.row("crowded_alone", alone, 15.0, |hosts| crowd(hosts, Way::Up));
    }
}

pub(super) fn delay_of(network: Network) -> Duration {
    Duration::from_millis(match network {
        Network::Core | Network::Core2 => 0,
        Network::Wifi => 10,
        _ => 30,
    })
}

/// All networks take 300 ms each way from now on.
fn move_away(hosts: &mut Torture) {
    for &network in hosts.networks() {
        hosts.change(ONCE, network, Change::Delay(Duration::from_millis(300)));
    }
}

/// 200 ms one way for ten seconds.
fn slow(hosts: &mut Torture, network: Network, way: Way) {
    hosts.change_one(ONCE, network, way, Change::Delay(Duration::from_millis(200)));
    hosts.change_one(secs(10.0), network, way, Change::Delay(delay_of(network)));
}

/// From 0 to 30 % in 15 s, and back to none after 3 s more.
fn loss_ramp(hosts: &mut Torture, networks: &[Network]) {
    for &network in networks {
        for step in 1..=10 {
            let loss = Loss::Bernoulli(f64::from(step) * 0.03);
            hosts.change(secs(1.5) * (step - 1), network, Change::Loss(loss));
        }
        hosts.change(secs(18.0), network, Change::Loss(Loss::None));
    }
}

/// Up to 100 ms more for each packet, and 1 % lost. Nothing that calls for a move.
fn jitter(hosts: &mut Torture, networks: &[Network]) {
    for &network in networks {
        hosts.change(ONCE, network, Change::Jitter(Duration::from_millis(100)));
        hosts.change(ONCE, network, Change::Loss(Loss::Bernoulli(0.01)));
        hosts.change(secs(15.0), network, Change::Jitter(Duration::ZERO));
        hosts.change(secs(15.0), network, Change::Loss(Loss::None));
    }
}

/// So many packets arrive 100 ms after those that were sent behind them. Nothing is lost.
fn reordering(hosts: &mut Torture, networks: &[Network], percent: u32) {
    let extra = Duration::from_millis(100);
    for &network in networks {
        let detour = Reorder { probability: f64::from(percent) / 100.0, extra };
        hosts.change(ONCE, network, Change::Reorder(detour));
        hosts.change(secs(60.0), network, Change::Reorder(Reorder::default()));
    }
}

/// Somebody else floods a buffer of two seconds in front of the Wi-Fi with 24 Mbit/s: what is left to the records is less than they need.
fn bloat(hosts: &mut Torture, way: Way) {
    let before = QueueLimit::packets(1000);
    hosts.change_one(ONCE, Network::Wifi, way, Change::Rate(Some(1_400_000)));
    hosts.change_one(ONCE, Network::Wifi, way, Change::Queue(QueueLimit::packets(350)));
    hosts.change_one(secs(15.0), Network::Wifi, way, Change::Rate(Some(20_000_000)));
    hosts.change_one(secs(15.0), Network::Wifi, way, Change::Queue(before));
}

/// Somebody else sends 28 Mbit/s where 20 fit, behind a buffer of two seconds: it fills, and then two in seven packets are lost, whoever sends them.
fn crowd(hosts: &mut Torture, way: Way) {
    for step in 1..=10 {
        let delay = delay_of(Network::Wifi) + Duration::from_millis(200) * step;
        hosts.change_one(secs(0.5) * step, Network::Wifi, way, Change::Delay(delay));
    }
    hosts.change_one(secs(5.0), Network::Wifi, way, Change::Loss(Loss::Bernoulli(2.0 / 7.0)));
    hosts.change_one(secs(15.0), Network::Wifi, way, Change::Loss(Loss::None));
    hosts.change_one(secs(15.0), Network::Wifi, way, Change::Delay(delay_of(Network::Wifi)));
}

pub(super) fn all() -> Vec<Row> {
    let mut table = Table::default();
    table.outages();
    table.one_way_outages();
    table.far();
    table.flaps();
    table.sizes();
    table.quality();
    family_rows::add_to(&mut table);
    network_rows::add_to(&mut table);
    silence_rows::add_to(&mut table);
    preference_rows::add_to(&mut table);
    server_rows::add_to(&mut table);
    table.rows
}
