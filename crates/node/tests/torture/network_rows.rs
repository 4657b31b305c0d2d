//! Rows in which networks misbehave, addresses are replaced, and hosts sleep.

use core::time::Duration;

use whimbrel_netsim::{Change, InFlight};

use super::places::{Families, Network, Translation};
use super::rows::{ONCE, Table, daily_on_two, one, rare_on_two, secs, two};
use super::world::{Host, Start, Torture, Way};

pub(super) fn add_to(table: &mut Table) {
    renumbered(table);
    standby(table);
    uplinks(table);
    nats(table);
    captive(table);
    routes(table);
    sleepers(table);
}

fn of_two_cores(way: Way) -> Start {
    one(way)
}

fn of_one_core(way: Way) -> Start {
    Start { cores: &[Network::Core], ..one(way) }
}

/// The network that is left to the host is silent.
fn standby(table: &mut Table) {
    table.row("standby_dead_unplugged", two, 8.0, |hosts| {
        hosts.silence(ONCE, Network::Lte, secs(8.0));
        hosts.leave(secs(2.0), Network::Wifi, Families::Both);
    });
}

/// Both hosts at the same instant can be survived only where another pair of addresses stays.
fn renumbered(table: &mut Table) {
    table.row("renumbered_mobile", of_two_cores, 0.0, |hosts| hosts.renumber(ONCE, Network::Wifi));
    table.row("renumbered_mobile_of_two", two, 0.0, |hosts| hosts.renumber(ONCE, Network::Wifi));
    table.row("renumbered_server", of_two_cores, 0.0, |hosts| hosts.renumber(ONCE, Network::Core));
    table.row("renumbered_server_of_one", of_one_core, 0.0, |hosts| hosts.renumber(ONCE, Network::Core));
    table.row("renumbered_server_ahead", of_one_core, 2.0, |hosts| {
        hosts.join_as(ONCE, Network::Core, Families::V4, 77);
        hosts.leave(secs(2.0), Network::Core, Families::Both);
        hosts.join_as(secs(2.0), Network::Core, Families::V4, 77);
    });
    table.row("renumbered_in_turn", two, 1.5, |hosts| {
        hosts.renumber(ONCE, Network::Wifi);
        hosts.renumber(secs(1.5), Network::Core);
    });
    table.row("renumbered_same_instant", of_two_cores, 0.0, |hosts| {
        hosts.renumber(ONCE, Network::Wifi);
        hosts.renumber(ONCE, Network::Core);
    });
    table.row("renumbered_same_instant_of_two", two, 0.0, |hosts| {
        hosts.renumber(ONCE, Network::Wifi);
        hosts.renumber(ONCE, Network::Core);
    });
}

/// Three or four networks; all but the last go, and another one comes in its place when it goes, too.
fn uplinks(table: &mut Table) {
    use Network::{Lte, Satellite, Wifi, Wired};
    let three = |way| Start { networks: &[Wifi, Lte, Wired], ..two(way) };
    let four = |way| Start { networks: &[Wifi, Lte, Wired, Satellite], ..two(way) };
    let replaced = |hosts: &mut Torture, go: fn(&mut Torture, Duration, Network)| {
        let mut at = ONCE;
        for &network in hosts.networks() {
            go(hosts, at, network);
            at += secs(1.0);
        }
        hosts.leave(at, Wifi, Families::Both);
        hosts.change(at, Wifi, Change::Up);
        hosts.join_as(at, Wifi, Families::V4, 77);
    };
    for (name, seconds) in [("three", 3.0), ("four", 4.0)] {
        let start = move |way| if seconds == 3.0 { three(way) } else { four(way) };
        table.row(&format!("{name}_uplinks_last_replaced"), start, seconds, move |hosts| {
            replaced(hosts, |hosts, at, network| hosts.leave(at, network, Families::Both));
        });
        table.row(&format!("{name}_uplinks_last_replaced_silently"), start, seconds, move |hosts| {
            replaced(hosts, |hosts, at, network| {
                hosts.change(at, network, Change::Down(InFlight::Lost));
            });
        });
        table.row(&format!("{name}_uplinks_first_back_as_last_goes"), start, seconds - 1.0, |hosts| {
            let mut at = ONCE;
            for &network in hosts.networks() {
                hosts.change(at, network, Change::Down(InFlight::Lost));
                at += secs(1.0);
            }
            hosts.change(at - secs(1.0), Wifi, Change::Up);
        });
        table.row(&format!("{name}_uplinks_silent_8"), start, 8.0, |hosts| {
            hosts.networks().iter().for_each(|network| hosts.silence(ONCE, *network, secs(8.0)));
        });
    }
}

fn nats(table: &mut Table) {
    let public = |start: fn(Way) -> Start| move |way| Start { translation: Translation::Nats, ..start(way) };
    table.row("nat_rebinding", public(one), 0.0, |hosts| hosts.forget(ONCE, Network::Wifi));
    table.row("nat_rebinding_of_two", public(two), 0.0, |hosts| {
        hosts.networks().iter().for_each(|network| hosts.forget(ONCE, *network));
    });
    table.row("nat_rebinding_thrice", public(one), 2.0, |hosts| {
        [0.0, 1.0, 2.0].into_iter().for_each(|at| hosts.forget(secs(at), Network::Wifi));
    });
    table.row("nat_another_outside_20_times", public(one), 60.0, |hosts| {
        for turn in 0..20 {
            let to = if turn % 2 == 0 { Network::Lte } else { Network::Wifi };
            hosts.rehome(secs(3.0) * turn, Network::Wifi, to);
        }
    });
    table.row("nat_another_outside", public(one), 0.0, |hosts| {
        hosts.rehome(ONCE, Network::Wifi, Network::Lte)
    });
    table.row("nat_another_outside_of_two", public(two), 0.0, |hosts| {
        hosts.rehome(ONCE, Network::Wifi, Network::Lte)
    });
    let hidden = |way| Start { translation: Translation::PublicInside, ..one(way) };
    table.row("public_inside_another_outside", hidden, 0.0, |hosts| {
        hosts.rehome(ONCE, Network::Wifi, Network::Lte)
    });
    for (name, overlap) in [("break_before_make", 0.0), ("make_before_break", 1.0)] {
        table.row(&format!("public_inside_{name}"), hidden, overlap, move |hosts| {
            hosts.join(ONCE, Network::Lte, Families::V4);
            hosts.leave(secs(overlap), Network::Wifi, Families::Both);
        });
    }
    for seconds in [5.0, 20.0, 180.0, 900.0] {
        let start = public(if seconds < 14.0 { two } else { rare_on_two });
        table.row(&format!("nat_expiry_{seconds}"), start, seconds, move |hosts| {
            for network in hosts.networks() {
                hosts.silence(ONCE, *network, secs(seconds));
                hosts.forget(secs(seconds), *network);
            }
        });
        let alone = move |way| Start { networks: &[Network::Wifi], ..start(way) };
        table.row(&format!("nat_expiry_unplugged_{seconds}"), alone, seconds, move |hosts| {
            // Before anything leaves.
            hosts.forget(secs(seconds), Network::Wifi);
            hosts.unplug(ONCE, Network::Wifi, secs(seconds));
        });
    }
    // Nobody has anything to say for longer than the box remembers. A record is due just after the end.
    let idle = |way| Start { interval: secs(40.0), ..public(one)(way) };
    table.row("nat_idle", idle, 271.0, |_| {});
    // The next network takes nothing to the server, the one after it does.
    for (name, families) in [("captive", Families::V4), ("ipv6_alone", Families::V6)] {
        for seconds in [5.0, 60.0] {
            let name = format!("nat_then_{name}_then_other_{seconds}");
            let rare = move |way| Start { interval: secs(0.05), record: 100, ..public(one)(way) };
            table.row(&name, rare, seconds, move |hosts| {
                hosts.leave(ONCE, Network::Wifi, Families::Both);
                hosts.change(ONCE, Network::Lte, Change::Down(InFlight::Lost));
                hosts.join(ONCE, Network::Lte, families);
                hosts.join(secs(seconds), Network::Wired, Families::V4);
            });
        }
    }
}

/// A network that takes the host in and answers nothing.
fn captive(table: &mut Table) {
    let second = |way| Start { networks: &[Network::Lte], ..two(way) };
    let swallow = |hosts: &mut Torture| {
        hosts.change(ONCE, Network::Wifi, Change::Down(InFlight::Lost));
        hosts.join(ONCE, Network::Wifi, Families::V4);
    };
    table.row("captive_joins", second, 0.0, swallow);
    table.row("captive_then_alone", second, 7.0, move |hosts| {
        swallow(hosts);
        hosts.leave(secs(2.0), Network::Lte, Families::Both);
        hosts.join(secs(7.0), Network::Lte, Families::V4);
    });
    for seconds in [8.0, 180.0] {
        let start = move |way| match seconds {
            8.0 => second(way),
            _ => Start { networks: &[Network::Lte], ..rare_on_two(way) },
        };
        table.row(&format!("captive_opens_{seconds}"), start, seconds, move |hosts| {
            hosts.leave(ONCE, Network::Lte, Families::Both);
            swallow(hosts);
            hosts.change(secs(seconds), Network::Wifi, Change::Up);
        });
    }
}

/// Which way packets take changes twice a second.
fn routes(table: &mut Table) {
    for (name, start) in [("one", two as fn(Way) -> Start), ("only", one)] {
        table.row(&format!("routes_flip_{name}"), start, 8.0, |hosts| {
            for turn in 0..8 {
                hosts.reroute(secs(1.0) * turn, Network::Wifi, Way::Up);
                hosts.reroute(secs(1.0) * turn + secs(0.5), Network::Wifi, Way::Down);
            }
        });
    }
}

/// A host sleeps, and its clock has jumped when it wakes.
fn sleepers(table: &mut Table) {
    for (name, host) in [("mobile", Host::Mobile), ("server", Host::Server)] {
        for seconds in [10.0, 60.0, 600.0, 43_200.0] {
            let start = match seconds {
                ..14.0 => two,
                ..1000.0 => rare_on_two,
                _ => daily_on_two as fn(Way) -> Start,
            };
            table.row(&format!("suspended_{name}_{seconds}"), start, seconds, move |hosts| {
                hosts.sleep(ONCE, host, secs(seconds));
            });
            let behind =
                move |way| Start { networks: &[Network::Wifi], translation: Translation::Nats, ..start(way) };
            table.row(&format!("suspended_{name}_nat_{seconds}"), behind, seconds, move |hosts| {
                hosts.sleep(ONCE, host, secs(seconds));
            });
            table.row(&format!("suspended_{name}_moved_{seconds}"), start, seconds, move |hosts| {
                hosts.sleep(ONCE, host, secs(seconds));
                if host == Host::Mobile {
                    hosts.renumber(secs(seconds / 2.0), Network::Wifi);
                    hosts.renumber(secs(seconds / 2.0), Network::Lte);
                } else {
                    hosts.renumber(secs(seconds / 2.0), Network::Core);
                    hosts.renumber(secs(seconds / 2.0), Network::Core2);
                }
            });
        }
    }
}
