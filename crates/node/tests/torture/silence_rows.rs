//! Rows in which all is silent, and something else happens besides.

use core::time::Duration;

use whimbrel_netsim::{Change, InFlight, LinkConfig, Loss, Oversize};

use super::places::{Families, Network, Translation};
use super::rows::{ONCE, Table, delay_of, one, rare_on_one, rare_on_two, secs, two};
use super::world::{Host, Start, Torture, Way};

const DOWN: Change = Change::Down(InFlight::Lost);

pub(super) fn add_to(table: &mut Table) {
    returns(table);
    crossed(table);
    sleepers(table);
    moves(table);
    quiet(table);
}

fn silence_all(hosts: &mut Torture, lasts: Duration) {
    hosts.networks().iter().for_each(|network| hosts.silence(ONCE, *network, lasts));
}

fn alone_behind_nat(way: Way) -> Start {
    Start { translation: Translation::Nats, ..one(way) }
}

/// What comes back is not what there was.
fn returns(table: &mut Table) {
    // For a moment only; the next time it stays.
    for (name, start) in [("both", two as fn(Way) -> Start), ("only", one)] {
        table.row(&format!("silent_{name}_but_for_300_ms"), start, 12.0, |hosts| {
            silence_all(hosts, secs(12.0));
            hosts.change(secs(8.0), Network::Wifi, Change::Up);
            hosts.change(secs(8.3), Network::Wifi, DOWN);
        });
    }
    // One network for a moment, then the other one.
    table.row("silent_both_but_for_300_ms_of_one", two, 9.0, |hosts| {
        silence_all(hosts, secs(40.0));
        hosts.change(secs(8.0), Network::Wifi, Change::Up);
        hosts.change(secs(8.3), Network::Wifi, DOWN);
        hosts.change(secs(9.0), Network::Lte, Change::Up);
    });
    table.row("silent_in_turn", two, 12.0, |hosts| {
        hosts.silence(ONCE, Network::Wifi, secs(12.0));
        hosts.silence(secs(4.0), Network::Lte, secs(12.0));
    });
    // More to say, and more to say again once the network is back.
    let busy = |way| Start { interval: Duration::from_millis(2), ..one(way) };
    for seconds in [8.0, 20.0] {
        table.row(&format!("silent_only_{seconds}_busy"), busy, seconds, move |hosts| {
            silence_all(hosts, secs(seconds))
        });
        table.row(&format!("unplugged_only_{seconds}_busy"), busy, seconds, move |hosts| {
            hosts.unplug(ONCE, Network::Wifi, secs(seconds));
        });
    }
    // Large packets vanish from then on.
    let large = |way| Start { record: 4000, interval: Duration::from_millis(16), ..one(way) };
    table.row("silent_only_8_then_small", large, 8.0, |hosts| {
        silence_all(hosts, secs(8.0));
        let link = whimbrel_testbed::link(20, 10);
        let small = LinkConfig { mtu: 900, oversize: Oversize::Swallowed, ..link };
        hosts.change(secs(8.0), Network::Wifi, Change::Config(small));
    });
    table.row("silent_only_8_then_lossy", rare_on_one, 8.0, |hosts| {
        silence_all(hosts, secs(8.0));
        hosts.change(secs(8.0), Network::Wifi, Change::Loss(Loss::Bernoulli(0.3)));
        hosts.change(secs(13.0), Network::Wifi, Change::Loss(Loss::None));
    });
    table.row("silent_only_8_then_slow", one, 8.0, |hosts| {
        silence_all(hosts, secs(8.0));
        hosts.change(secs(8.0), Network::Wifi, Change::Delay(secs(0.4)));
        hosts.change(secs(14.0), Network::Wifi, Change::Delay(delay_of(Network::Wifi)));
    });
    // One direction four seconds before the other.
    for (name, way) in [("forth", Way::Up), ("back", Way::Down)] {
        table.row(&format!("silent_both_8_{name}_12"), two, 12.0, move |hosts| {
            for network in hosts.networks() {
                hosts.silence(ONCE, *network, secs(8.0));
                hosts.change_one(secs(8.0), *network, way, DOWN);
                hosts.change_one(secs(12.0), *network, way, Change::Up);
            }
        });
    }
    table.row("silent_only_8_and_other_port", alone_behind_nat, 8.0, |hosts| {
        silence_all(hosts, secs(8.0));
        hosts.forget(secs(8.0), Network::Wifi);
    });
}

/// Each network works in one direction only, and not in the same one.
fn crossed(table: &mut Table) {
    for (name, ways) in [("forth_back", [Way::Up, Way::Down]), ("back_forth", [Way::Down, Way::Up])] {
        table.row(&format!("crossed_20_{name}"), two, 20.0, move |hosts| {
            for (network, way) in [Network::Wifi, Network::Lte].into_iter().zip(ways) {
                hosts.change_one(ONCE, network, way, DOWN);
                hosts.change_one(secs(20.0), network, way, Change::Up);
            }
        });
    }
}

/// The network comes back while a host sleeps.
fn sleepers(table: &mut Table) {
    for (name, host) in [("mobile", Host::Mobile), ("server", Host::Server)] {
        table.row(&format!("silent_both_20_{name}_asleep"), rare_on_two, 40.0, move |hosts| {
            silence_all(hosts, secs(20.0));
            hosts.sleep(secs(5.0), host, secs(35.0));
        });
        // It wakes before there is anything to wake up for.
        table.row(&format!("{name}_asleep_silent_only_20"), rare_on_one, 20.0, move |hosts| {
            silence_all(hosts, secs(20.0));
            hosts.sleep(secs(0.5), host, secs(15.0));
        });
    }
    table.row("both_asleep_20", two, 20.0, |hosts| {
        hosts.sleep(ONCE, Host::Mobile, secs(20.0));
        hosts.sleep(secs(1.0), Host::Server, secs(18.0));
    });
}

/// Addresses change meanwhile.
fn moves(table: &mut Table) {
    table.row("silent_only_8_renumbered", one, 8.0, |hosts| {
        hosts.renumber(secs(4.0), Network::Wifi);
        silence_all(hosts, secs(8.0));
    });
    table.row("silent_both_8_renumbered_both_ends", two, 8.0, |hosts| {
        silence_all(hosts, secs(8.0));
        hosts.renumber(secs(4.0), Network::Wifi);
        hosts.renumber(secs(4.5), Network::Core);
    });
    table.row("silent_both_8_server_renumbered", two, 8.0, |hosts| {
        silence_all(hosts, secs(8.0));
        hosts.renumber(secs(4.0), Network::Core);
    });
    // It falls silent when the peer has just been asked.
    for milliseconds in [5, 15, 25, 45] {
        table.row(&format!("renumbered_and_silent_after_{milliseconds}_ms"), one, 8.0, move |hosts| {
            hosts.renumber(ONCE, Network::Wifi);
            hosts.silence(Duration::from_millis(milliseconds), Network::Wifi, secs(8.0));
        });
    }
    // Nobody is confirmed any more by the first of them.
    table.row("cores_silent_40_mobile_renumbered", rare_on_two, 40.0, |hosts| {
        [Network::Core, Network::Core2].into_iter().for_each(|core| hosts.silence(ONCE, core, secs(40.0)));
        hosts.renumber(secs(1.0), Network::Wifi);
        hosts.renumber(secs(2.0), Network::Lte);
    });
    // At the same instants, in one network and then in the other: each has to tell before what it has told last is of the past, too.
    table.row("both_ends_renumbered_in_turn_400", two, 4.0, |hosts| {
        for n in 0..10_u8 {
            let networks =
                [[Network::Wifi, Network::Core], [Network::Lte, Network::Core2]][usize::from(n % 2)];
            let at = Duration::from_millis(400) * u32::from(n);
            for network in networks {
                hosts.leave(at, network, Families::Both);
                hosts.join_as(at, network, Families::V4, 100 + n);
            }
        }
    });
    table.row("plugged_in_before_it_works", one, 8.0, |hosts| {
        hosts.silence(ONCE, Network::Wifi, secs(8.0));
        hosts.leave(ONCE, Network::Wifi, Families::Both);
        hosts.join(secs(5.0), Network::Wifi, Families::V4);
    });
}

/// Nobody has anything to say while all is silent; the record due next comes after it.
fn quiet(table: &mut Table) {
    for seconds in [8.0, 40.0] {
        let seldom = |start: fn(Way) -> Start| move |way| Start { interval: secs(1.0), ..start(way) };
        table.row(&format!("quiet_silent_both_{seconds}"), seldom(two), seconds, move |hosts| {
            silence_all(hosts, secs(seconds));
        });
        table.row(&format!("quiet_silent_only_{seconds}"), seldom(one), seconds, move |hosts| {
            silence_all(hosts, secs(seconds));
        });
    }
}
