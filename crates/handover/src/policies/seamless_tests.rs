use core::net::SocketAddr;

use whimbrel_machine::InterfaceKind::{Cellular, Wired, WirelessLan};
use whimbrel_proto::PathState;

use super::*;
use crate::testing::{Model, about, ip, seconds};

fn phone() -> Model<Governed<Seamless>> {
    Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular)])
}

#[test]
fn every_address_is_added_at_once() {
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan)]);
    model.up(2, Cellular);
    assert!(model.knows(2));
    assert_eq!(model.primary(), Some(ip(1)));
}

#[test]
fn it_moves_before_the_loss_when_the_layer_below_warns() {
    let mut model = phone();
    model.link(about(1, InterfaceFact::GoingDown));
    assert_eq!(model.primary(), Some(ip(2)));
    model.answer();
    assert_eq!(model.peer_sends_to, Some(ip(2)), "both directions");
    assert_eq!(model.log[0].1.reason, Reason::GoingDown);
}

/// Half a decibel each 100 ms: it is at −82 dBm after 4.4 s, and has left a second before at the latest.
#[test]
fn it_moves_before_the_loss_when_the_signal_falls() {
    let mut model = phone();
    let mut left = None;
    for step in 0..44 {
        model.signal(1, -60.0 - 0.5 * f64::from(step));
        if left.is_none() && model.primary() == Some(ip(2)) {
            left = Some(step);
        }
        model.wait(seconds(0.1));
    }
    let left = left.expect("it has left");
    assert!((10..=38).contains(&left), "{left}");
    assert_eq!(model.moves().len(), 1);
}

#[test]
fn a_steady_signal_or_its_noise_moves_nothing() {
    let mut model = phone();
    for step in 0..600 {
        model.signal(1, if step % 2 == 0 { -64.0 } else { -65.0 });
        model.wait(seconds(0.1));
    }
    assert_eq!(model.moves(), []);
}

/// Around the threshold: away once, and not back before it is clearly better.
#[test]
fn a_signal_that_wavers_around_the_threshold_causes_one_move() {
    let mut model = phone();
    for step in 0..600 {
        model.signal(1, if step % 20 < 10 { -80.0 } else { -84.0 });
        model.wait(seconds(0.1));
    }
    assert_eq!(model.moves().len(), 1);
    model.signal(1, -70.0);
    model.wait(seconds(10.0));
    assert_eq!(model.primary(), Some(ip(1)), "it is good again");
}

#[test]
fn it_moves_at_the_first_evidence_when_nothing_warns() {
    let mut model = phone();
    model.path(1, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::PathFailed);
}

#[test]
fn it_returns_when_the_preferred_network_has_proved_itself() {
    let mut model = phone();
    model.down(1);
    model.wait(seconds(20.0));
    model.up(1, WirelessLan);
    assert_eq!(model.primary(), Some(ip(2)));
    model.wait(seconds(1.0));
    assert_eq!(model.primary(), Some(ip(1)));
    assert_eq!(model.peer_sends_to, Some(ip(1)));
}

/// A link that goes up and down every second: the more often it fails, the rarer the returns.
#[test]
fn no_ping_pong_on_a_flapping_link() {
    let mut model = phone();
    for _ in 0..300 {
        model.down(1);
        model.wait(seconds(0.4));
        model.up(1, WirelessLan);
        model.wait(seconds(0.6));
    }
    // Back after 2, 4, 8, ... 64 s and then each 64 s, and away again.
    assert!(model.moves().len() <= 20, "{} moves in five minutes", model.moves().len());
    model.wait(seconds(70.0));
    assert_eq!(model.primary(), Some(ip(1)), "once it holds it is used again");
}

#[test]
fn metered_links_are_spared_and_used_when_nothing_else_works() {
    let mut model =
        Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular), (3, Wired)]);
    model.link(about(3, InterfaceFact::Cost(Cost::Metered)));
    model.wait(seconds(10.0));
    assert_eq!(model.primary(), Some(ip(1)), "not to the metered one, however fast");
    model.path(1, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(2)));
    model.path(2, PathState::PotentiallyFailed);
    assert_eq!(model.primary(), Some(ip(3)));
    model.path(2, PathState::Active);
    model.wait(seconds(10.0));
    assert_eq!(model.primary(), Some(ip(2)), "and left as soon as possible");
}

#[test]
fn the_users_order_counts_more_than_the_kind() {
    let mut model = phone();
    model.link(about(2, InterfaceFact::Rank(0)));
    model.link(about(1, InterfaceFact::Rank(1)));
    model.wait(seconds(3.0));
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::Preferred);
}

#[test]
fn what_the_network_selects_comes_first() {
    let mut model = phone();
    model.link(about(2, InterfaceFact::Selected));
    model.wait(seconds(3.0));
    assert_eq!(model.primary(), Some(ip(2)));
    assert_eq!(model.log[0].1.reason, Reason::Selected);
    model.link(about(2, InterfaceFact::GoingDown));
    assert_eq!(model.primary(), Some(ip(1)), "as long as it works");
}

#[test]
fn twenty_moves_back_and_forth() {
    let mut model = phone();
    for round in 0..20 {
        let (from, to) = if round % 2 == 0 { (1, 2) } else { (2, 1) };
        model.link(about(from, InterfaceFact::GoingDown));
        assert_eq!(model.primary(), Some(ip(to)), "round {round}");
        model.down(from);
        model.wait(seconds(10.0));
        let kind = if from == 1 { WirelessLan } else { Cellular };
        model.up(from, kind);
        model.wait(seconds(0.1));
    }
}

/// As nl80211 gives it: twice a second, in whole decibels, up to two decibels beside `level`, and only changes are told.
/// Returns when the first network was left, in seconds.
fn on_the_radio(model: &mut Model<Governed<Seamless>>, time: u32, level: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut noise, mut told, mut left) = (1_u32, None, None);
    for half in 0..2 * time {
        let now = f64::from(half) / 2.0;
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let dbm = (level(now) + f64::from(noise >> 24) / 64.0 - 2.0).round();
        if told != Some(dbm) {
            model.signal(1, dbm);
            told = Some(dbm);
        }
        model.wait(seconds(0.5));
        if left.is_none() && model.primary() == Some(ip(2)) {
            left = Some(now);
        }
    }
    left
}

#[test]
fn who_sits_near_the_access_point_stays() {
    let mut model = phone();
    assert_eq!(on_the_radio(&mut model, 600, |_| -70.0), None);
}

/// A decibel a second: strong until 16 s, weak from 22 s on, useless from about 28 s.
#[test]
fn who_walks_out_has_moved_before_the_signal_is_useless() {
    let mut model = phone();
    let left = on_the_radio(&mut model, 40, |now| -60.0 - now).expect("it has left");
    assert!((14.0..=23.0).contains(&left), "{left} s");
    assert_eq!(model.moves().len(), 1);
}

/// At 10 m/s it is weak (-82 dBm) after 5.7 s, and no longer strong (-76 dBm) from 4.1 s on: what it was at the antenna says nothing then.
#[test]
fn a_walk_that_begins_at_the_antenna_goes_on_until_the_signal_will_be_weak() {
    let mut model = phone();
    let mut left = None;
    for tenths in 1..=90_u32 {
        model.signal(1, -90.0 - 40.0 * (f64::from(tenths) / 90.0).log10());
        model.wait(seconds(0.1));
        left = left.or_else(|| (model.primary() == Some(ip(2))).then_some(tenths));
    }
    let left = left.expect("it leaves before the signal is weak");
    assert!((46..=50).contains(&left), "left after {left} tenths of a second");
}

/// Two readings of noise are no trend, however near the threshold.
#[test]
fn who_sits_at_the_edge_moves_at_most_once() {
    for (level, moves) in [(-76.0, 0), (-77.0, 0), (-78.0, 0), (-79.0, 0), (-80.0, 1), (-82.0, 1)] {
        let mut model = phone();
        on_the_radio(&mut model, 600, |_| level);
        assert_eq!(model.moves().len(), moves, "at {level} dBm in ten minutes");
    }
}

/// An interface has an address of each family. The peer's request for one of its own brings us from one to the other; asking for that in
/// turn would bring the peer back, and so on for ever, with no request left for anything else.
#[test]
fn the_peers_wish_is_not_answered_with_one_for_the_same_interface() {
    for (interface, asks) in [(2, 0), (3, 1)] {
        let mut model =
            Model::new(Seamless::policy(Pace::MOBILE), &[(1, WirelessLan), (2, Cellular), (3, Cellular)]);
        model.link(LinkFact::AddressOn { interface: InterfaceId(interface), address: ip(3) });
        model.link(about(1, InterfaceFact::GoingDown));
        model.answer();
        assert_eq!(model.peer_sends_to, Some(ip(2)));
        model.log.clear();
        model.peer_moves_us(3);
        model.wait(seconds(0.4));
        let asked =
            model.actions().into_iter().filter(|action| *action == crate::Action::AskPrimary(ip(3))).count();
        assert_eq!(asked, asks, "interface {interface}");
    }
}

/// Both addresses of a better network are as good as each other, but for a moment's round trip. The one that reaches where the peer wants to be
/// sent to is taken, or the peer, which prefers one of its own networks, would ask again for what it has just asked for.
#[test]
fn of_two_addresses_the_one_that_reaches_the_peers_choice_is_taken() {
    let mut model =
        Model::new(Seamless::policy(Pace::MOBILE), &[(1, Cellular), (2, WirelessLan), (3, Cellular)]);
    model.link(LinkFact::AddressOn { interface: InterfaceId(2), address: ip(3) });
    let other = SocketAddr::from(([192, 0, 2, 2], 9899));
    model.remotes.push(other);
    model.paths[1].route.remote = other;
    model.paths[1].srtt = Some(Duration::from_millis(49));
    model.link(about(1, InterfaceFact::GoingDown));
    assert_eq!(model.primary(), Some(ip(3)));
}
