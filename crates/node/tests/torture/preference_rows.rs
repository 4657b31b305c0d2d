//! Rows in which the network that is preferred is worse than the other one for a while, in part, or in one respect only.

use whimbrel_netsim::{Change, GilbertElliott, Loss};

use super::places::{Families, Network};
use super::rows::{ONCE, Table, delay_of, secs, two};
use super::world::{Start, Torture, Way};

pub(super) fn add_to(table: &mut Table) {
    // The Wi-Fi grows slow, but carries everything; the other network is quick and carries half of what there is to say.
    let of_one_core = |way| Start { cores: &[Network::Core], ..two(way) };
    for (name, start) in [("", two as fn(Way) -> Start), ("_one_core", of_one_core)] {
        table.row(&format!("slow_fat_beside_thin{name}"), start, 30.0, |hosts| {
            for step in 1..=20 {
                hosts.change(secs(0.1) * step, Network::Wifi, Change::Delay(secs(0.01) * step));
            }
            hosts.change(ONCE, Network::Lte, Change::Rate(Some(1_000_000)));
        });
    }
    // One of the server's two addresses is far away, by whichever network.
    table.row("one_core_far_after_loss", two, 30.0, |hosts| {
        hosts.change(ONCE, Network::Core2, Change::Delay(secs(0.05)));
        hosts.change(ONCE, Network::Wifi, Change::Loss(Loss::Bernoulli(0.2)));
        hosts.change(secs(3.0), Network::Wifi, Change::Loss(Loss::None));
    });
    table.row("loss_for_a_while", two, 30.0, |hosts| {
        hosts.change(ONCE, Network::Wifi, Change::Loss(Loss::Bernoulli(0.2)));
        hosts.change(secs(3.0), Network::Wifi, Change::Loss(Loss::None));
    });
    for (name, ways) in [("both", &[Way::Up, Way::Down][..]), ("forth", &[Way::Up]), ("back", &[Way::Down])] {
        table.row(&format!("slow_{name}_for_2_s"), two, 30.0, move |hosts| {
            for &way in ways {
                hosts.change_one(ONCE, Network::Wifi, way, Change::Delay(secs(0.31)));
                hosts.change_one(secs(2.0), Network::Wifi, way, Change::Delay(delay_of(Network::Wifi)));
            }
        });
    }
    // Half of what is said fits through it meanwhile.
    for (name, way) in [("forth", Way::Up), ("back", Way::Down)] {
        table.row(&format!("thin_{name}_for_2_s"), two, 60.0, move |hosts| {
            hosts.change_one(ONCE, Network::Wifi, way, Change::Rate(Some(1_400_000)));
            hosts.change_one(secs(2.0), Network::Wifi, way, Change::Rate(Some(20_000_000)));
        });
    }
    for percent in [0.5, 2.0] {
        table.row(&format!("bursts_of_10_lost_{percent}"), two, 40.0, move |hosts| {
            bursts(hosts, percent / 100.0)
        });
    }
    // More than the peer takes, none of which is there any more when the host comes into another network.
    let dual = |way| Start { families: [Families::Both; 3], ..two(way) };
    table.row("many_addresses_then_another_network", dual, 18.0, |hosts| {
        for n in 0..16 {
            hosts.join_as(secs(1.0) * u32::from(n), Network::Wifi, Families::V6, 100 + n);
        }
        for network in [Network::Wifi, Network::Lte] {
            hosts.leave(secs(17.0), network, Families::Both);
        }
        hosts.join_as(secs(18.0), Network::Lte, Families::Both, 77);
    });
}

/// Packets are lost ten at a time.
fn bursts(hosts: &mut Torture, share: f64) {
    let back = 0.1;
    let loss = Loss::GilbertElliott(GilbertElliott {
        good_to_bad: back * share / (1.0 - share),
        bad_to_good: back,
        loss_good: 0.0,
        loss_bad: 1.0,
    });
    hosts.change(ONCE, Network::Wifi, Change::Loss(loss));
}
