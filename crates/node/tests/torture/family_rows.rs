//! Rows in which the family of addresses changes.

use core::time::Duration;

use super::places::{Families, Network, Translation};
use super::rows::{Table, one, rare_on_two, secs, two};
use super::world::{Start, Torture, Way};
use Families::{Both, V4, V6};

/// How the mobile host gets from one network to another.
#[derive(Clone, Copy)]
enum Step {
    /// Half a second without any.
    Break,
    /// Two seconds in both.
    Overlap,
    /// It goes back after some seconds.
    Back,
}

impl Step {
    const ALL: [Self; 3] = [Self::Break, Self::Overlap, Self::Back];

    fn name(self) -> &'static str {
        match self {
            Self::Break => "",
            Self::Overlap => "_overlapping",
            Self::Back => "_and_back",
        }
    }

    /// When the last network has been joined that the host ends in, or left without need.
    fn lasts(self) -> f64 {
        match self {
            Self::Break => 0.5,
            Self::Overlap => 2.0,
            Self::Back => 5.0,
        }
    }

    fn take(self, hosts: &mut Torture, from: Families, to: Families) {
        match self {
            Self::Break => {
                hosts.leave(Duration::ZERO, Network::Wifi, Both);
                hosts.join(secs(0.5), Network::Lte, to);
            }
            Self::Overlap => {
                hosts.join(Duration::ZERO, Network::Lte, to);
                hosts.leave(secs(2.0), Network::Wifi, Both);
            }
            Self::Back => {
                hosts.leave(Duration::ZERO, Network::Wifi, Both);
                hosts.join(secs(0.5), Network::Lte, to);
                hosts.leave(secs(4.5), Network::Lte, Both);
                hosts.join(secs(5.0), Network::Wifi, from);
            }
        }
    }
}

/// On one network; families of the mobile host, of the server, and of the addresses that name it.
fn on(families: [Families; 3], translation: Translation) -> impl Fn(Way) -> Start + Copy {
    move |way| Start { families, translation, ..one(way) }
}

pub(super) fn add_to(table: &mut Table) {
    moves(table);
    losses(table);
    translated(table);
}

fn moves(table: &mut Table) {
    for server in [V4, V6, Both] {
        for (from, to) in [V4, V6, Both].into_iter().flat_map(|from| [V4, V6, Both].map(|to| (from, to))) {
            if from == to || !from.meet(server) || !to.meet(server) {
                continue;
            }
            for step in Step::ALL {
                let name = format!("{}_to_{}_of_{}{}", from.name(), to.name(), server.name(), step.name());
                let start = on([from, server, server], Translation::None);
                table.row(&name, start, step.lasts(), move |hosts| step.take(hosts, from, to));
            }
        }
    }
    // The server tells its other addresses itself.
    for (from, to) in [(V4, V6), (V6, V4)] {
        let name = format!("{}_to_{}_untold", from.name(), to.name());
        let start = on([from, Both, from], Translation::None);
        table.row(&name, start, 0.5, move |hosts| Step::Break.take(hosts, from, to));
    }
}

/// The networks stay, and lose a family.
fn losses(table: &mut Table) {
    let servers = [Network::Core, Network::Core2];
    for (goes, stays) in [(V4, V6), (V6, V4)] {
        let lost = goes.name();
        let dual = on([Both; 3], Translation::None);
        table.row(&format!("mobile_loses_{lost}"), dual, 0.0, move |hosts| {
            hosts.leave(Duration::ZERO, Network::Wifi, goes);
        });
        table.row(&format!("server_loses_{lost}"), dual, 0.0, move |hosts| {
            servers.into_iter().for_each(|core| hosts.leave(Duration::ZERO, core, goes));
        });
        table.row(&format!("both_lose_{lost}"), dual, 0.0, move |hosts| {
            servers.into_iter().for_each(|core| hosts.leave(Duration::ZERO, core, goes));
            hosts.leave(Duration::ZERO, Network::Wifi, goes);
        });
        // One family now, the other one when the first has come back.
        table.row(&format!("server_loses_{lost}_then_the_other"), dual, 5.0, move |hosts| {
            for core in servers {
                hosts.leave(Duration::ZERO, core, goes);
                hosts.join(secs(3.0), core, goes);
                hosts.leave(secs(5.0), core, stays);
            }
        });
        // The mobile host has one family in each network; the server loses that of the network in use.
        let split = move |way| Start { families: [Both; 3], ..two(way) };
        table.row(&format!("server_loses_{lost}_of_split"), split, 2.0, move |hosts| {
            hosts.leave(Duration::ZERO, Network::Wifi, stays);
            hosts.leave(Duration::ZERO, Network::Lte, goes);
            servers.into_iter().for_each(|core| hosts.leave(secs(2.0), core, goes));
        });
        table.row(&format!("silent_{lost}_8"), rare_dual, 8.0, move |hosts| {
            hosts.silence(Duration::ZERO, Network::Wifi, secs(8.0));
            hosts.leave(secs(1.0), Network::Lte, goes);
        });
    }
}

fn rare_dual(way: Way) -> Start {
    Start { families: [Both; 3], ..rare_on_two(way) }
}

/// NATs for IPv4, and networks that are IPv6 only and translate.
fn translated(table: &mut Table) {
    for (from, to) in [(V4, V6), (V6, V4), (V4, V4)] {
        for step in Step::ALL {
            let name = format!("{}_to_{}_nat{}", from.name(), to.name(), step.name());
            let start = on([from, Both, Both], Translation::Nats);
            table.row(&name, start, step.lasts(), move |hosts| step.take(hosts, from, to));
        }
    }
    for (translation, prefix) in [(Translation::Nat64, ""), (Translation::OwnNat64, "_own_prefix")] {
        for (from, to) in [(V4, V6), (V6, V4), (V6, V6), (Both, V6)] {
            for step in Step::ALL {
                let called = |families| if families == V6 { "nat64" } else { Families::name(families) };
                let name = format!("{}_to_{}{prefix}{}", called(from), called(to), step.name());
                let start = on([from, V4, V4], translation);
                table.row(&name, start, step.lasts(), move |hosts| step.take(hosts, from, to));
            }
        }
        let behind = on([V6, V4, V4], translation);
        table.row(&format!("nat64{prefix}_silent_8"), behind, 8.0, |hosts| {
            hosts.silence(Duration::ZERO, Network::Wifi, secs(8.0));
        });
        table.row(&format!("nat64{prefix}_rebinding"), behind, 0.0, |hosts| {
            hosts.forget(Duration::ZERO, Network::Wifi);
        });
    }
    // A server with one address lists none (RFC 9260 §3.3.2.1): what DNS64 calls it is all that is said of it.
    for (to, name) in [(V4, "ipv4"), (V6, "nat64")] {
        for (translation, prefix) in [(Translation::Nat64, ""), (Translation::OwnNat64, "_own_prefix")] {
            let alone = on([V6, V4, V4], translation);
            let alone = move |way| Start { cores: &[Network::Core], ..alone(way) };
            table.row(&format!("nat64_to_{name}{prefix}_of_one_address"), alone, 0.5, move |hosts| {
                Step::Break.take(hosts, V6, to);
            });
        }
    }
    // Whoever has no prefix yet tries the well-known one, in vain.
    let late =
        move |way| Start { prefix_told_after: secs(2.0), ..on([V4, V4, V4], Translation::OwnNat64)(way) };
    table.row("ipv4_to_nat64_own_prefix_told_late", late, 2.5, |hosts| Step::Break.take(hosts, V4, V6));
}
