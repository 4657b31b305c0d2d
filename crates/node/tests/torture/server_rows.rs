//! Rows in which it is the server whose networks misbehave: both of them, or the one that is in use, which is the last that the user named.

use whimbrel_netsim::{Change, InFlight, Loss, Oversize};

use super::places::{Families, Network};
use super::rows::{ONCE, Table, delay_of, one, secs, two};
use super::world::{Start, Torture, Way};

const USED: Network = Network::Core2;
const OTHER: Network = Network::Core;

pub(super) fn add_to(table: &mut Table) {
    table.row("silent_servers_8", two, 8.0, |hosts| {
        [USED, OTHER].into_iter().for_each(|core| hosts.silence(ONCE, core, secs(8.0)));
    });
    table.row("unplugged_servers_8", two, 8.0, |hosts| {
        [USED, OTHER].into_iter().for_each(|core| hosts.unplug(ONCE, core, secs(8.0)));
    });
    table.row("silent_one_server_8", two, 0.0, |hosts| hosts.silence(ONCE, OTHER, secs(8.0)));
    for (name, start) in [("", two as fn(Way) -> Start), ("_wifi_alone", one)] {
        silences(table, name, start);
        renumbered(table, name, start);
        troubles(table, name, start);
    }
}

fn silences(table: &mut Table, name: &str, start: fn(Way) -> Start) {
    for seconds in [1.0, 8.0, 20.0] {
        table.row(&format!("server_silent_{seconds}{name}"), start, seconds, move |hosts| {
            hosts.silence(ONCE, USED, secs(seconds));
        });
    }
    table.row(&format!("server_unplugged_8{name}"), start, 8.0, |hosts| {
        hosts.unplug(ONCE, USED, secs(8.0));
    });
    for (direction, way) in [("forth", Way::Up), ("back", Way::Down)] {
        table.row(&format!("server_{direction}_8{name}"), start, 8.0, move |hosts| {
            hosts.change_one(ONCE, USED, way, Change::Down(InFlight::Lost));
            hosts.change_one(secs(8.0), USED, way, Change::Up);
        });
    }
    // One after the other, and the first is back when the second goes.
    table.row(&format!("server_silent_in_turn{name}"), start, 12.0, |hosts| {
        hosts.silence(ONCE, USED, secs(6.0));
        hosts.silence(secs(6.0), OTHER, secs(6.0));
    });
}

fn renumbered(table: &mut Table, name: &str, start: fn(Way) -> Start) {
    table.row(&format!("server_renumbered{name}"), start, 0.0, |hosts| hosts.renumber(ONCE, USED));
    table.row(&format!("server_address_goes{name}"), start, 8.0, |hosts| {
        hosts.leave(ONCE, USED, Families::Both);
        hosts.join(secs(8.0), USED, Families::V4);
    });
    // Where a pair of addresses stays.
    table.row(&format!("server_and_mobile_renumbered{name}"), start, 0.0, |hosts| {
        hosts.renumber(ONCE, Network::Wifi);
        hosts.renumber(ONCE, USED);
    });
}

fn troubles(table: &mut Table, name: &str, start: fn(Way) -> Start) {
    let row = |what: &str| format!("server_{what}{name}");
    for percent in [5.0, 20.0] {
        table.row(&row(&format!("loses_{percent}")), start, 30.0, move |hosts| {
            hosts.change(ONCE, USED, Change::Loss(Loss::Bernoulli(percent / 100.0)));
            hosts.change(secs(30.0), USED, Change::Loss(Loss::None));
        });
    }
    table.row(&row("grows_slow"), start, 20.0, |hosts| {
        hosts.change(ONCE, USED, Change::Delay(secs(0.2)));
        hosts.change(secs(20.0), USED, Change::Delay(delay_of(USED)));
    });
    // Half of what there is to say fits.
    table.row(&row("grows_thin"), start, 20.0, |hosts| {
        hosts.change(ONCE, USED, Change::Rate(Some(1_400_000)));
        hosts.change(secs(20.0), USED, Change::Rate(Some(1_000_000_000)));
    });
    for mtu in [1280, 576] {
        let large = move |way| Start { record: 4000, interval: secs(0.016), ..start(way) };
        table.row(&row(&format!("black_hole_{mtu}")), large, 8.0, move |hosts| {
            swallow(hosts, mtu);
        });
    }
}

fn swallow(hosts: &mut Torture, mtu: u32) {
    hosts.change(ONCE, USED, Change::Mtu(mtu));
    hosts.change(ONCE, USED, Change::Oversize(Oversize::Swallowed));
}
