use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, InterfaceKind, Route};
use whimbrel_proto::{Delay, PathQuality, PathState};

use crate::testing::Model;
use crate::{Action, Blemish, Fact, Failover, Pace, Reason, Seamless};

const NETWORKS: [(u8, InterfaceKind); 2] = [(1, InterfaceKind::WirelessLan), (2, InterfaceKind::Cellular)];

fn quality(millis: u64, at: u64) -> PathQuality {
    let delay = Duration::from_millis(millis);
    let at = Instant::ZERO + Duration::from_millis(at);
    PathQuality {
        delay: Some(Delay { least: delay, most: delay, waiting: Duration::ZERO, at }),
        ..PathQuality::default()
    }
}

/// The reasons for which paths were made primary when path 0, in use, and path 1 are like this.
fn reasons(in_use: PathQuality, other: PathQuality) -> Vec<Reason> {
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &NETWORKS);
    model.log.clear();
    model.paths[0].quality = in_use;
    model.paths[1].quality = other;
    let path = model.paths[0].id;
    model.observe(&Fact::PathQuality { path });
    let moves = model.log.iter().filter(|(_, decided)| matches!(decided.action, Action::UsePath(_)));
    moves.map(|(_, decided)| decided.reason).collect()
}

#[test]
fn a_path_is_left_if_it_takes_far_longer_than_another() {
    assert_eq!(reasons(quality(400, 0), quality(60, 0)), [Reason::Slow]);
    assert_eq!(reasons(quality(190, 0), quality(60, 0)), []);
    // Both are slow.
    assert_eq!(reasons(quality(400, 0), quality(300, 0)), []);
}

#[test]
fn what_was_found_long_ago_is_not_believed() {
    assert_eq!(reasons(quality(400, 2_000), quality(60, 1_600)), [Reason::Slow]);
    assert_eq!(reasons(quality(400, 2_000), quality(60, 1_400)), []);
}

#[test]
fn a_queue_of_ones_own_is_no_reason() {
    let saturated = PathQuality { saturated: true, ..quality(400, 0) };
    assert_eq!(reasons(saturated, quality(60, 0)), []);
}

/// 20 ms of it are the network's.
#[test]
fn what_waits_for_a_network_waits_for_it_on_each_of_its_paths() {
    let mut waiting = quality(400, 0);
    waiting.delay.as_mut().expect("it is known").waiting = Duration::from_millis(380);
    assert_eq!(reasons(waiting, quality(60, 0)), [Reason::Slow]);
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &NETWORKS);
    model.paths[1].route.local = model.paths[0].route.local;
    (model.paths[0].quality, model.paths[1].quality) = (waiting, quality(60, 0));
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[0]), Blemish::None));
    model.paths[0].quality = quality(400, 0);
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[0]), Blemish::Slow));
}

#[test]
fn a_path_is_left_if_it_loses_much_and_another_does_not() {
    let lossy = PathQuality { lossy: true, ..quality(20, 0) };
    assert_eq!(reasons(lossy, quality(60, 0)), [Reason::Lossy]);
    assert_eq!(reasons(lossy, PathQuality { lossy: true, ..quality(60, 0) }), []);
}

#[test]
fn failover_leaves_such_a_path_too() {
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &NETWORKS);
    model.log.clear();
    model.paths[0].quality = PathQuality { lossy: true, ..quality(20, 0) };
    let path = model.paths[0].id;
    model.observe(&Fact::PathQuality { path });
    assert!(model.log.iter().any(|(_, decided)| decided.reason == Reason::Lossy), "{:?}", model.log);
}

/// It may be the network that they have in common.
#[test]
fn who_shares_an_address_is_suspected() {
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &NETWORKS);
    let remote = model.paths[0].route.remote;
    assert_eq!(model.paths[1].route.remote, remote, "one address of the peer");
    model.paths[0].quality.lossy = true;
    model.with_view(|view| {
        assert_eq!(view.blemish(&view.paths[0]), Blemish::Lossy);
        assert_eq!(view.blemish(&view.paths[1]), Blemish::Suspected);
        assert_eq!(view.blemish(&view.paths[1]).reason(), None);
    });
    model.paths[0].state = PathState::Inactive;
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[1]), Blemish::None));
}

/// Where the peer has one address every path has it: a third path that is slow does not speak against the second.
#[test]
fn an_address_over_which_the_path_in_use_does_well_is_not_to_blame() {
    let networks = [NETWORKS[0], NETWORKS[1], (3, InterfaceKind::Other)];
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &networks);
    model.paths[0].quality = quality(20, 0);
    model.paths[1].quality = quality(60, 0);
    model.paths[2].quality = quality(900, 0);
    model.with_view(|view| {
        let blemishes: Vec<Blemish> = view.paths.iter().map(|path| view.blemish(path)).collect();
        assert_eq!(blemishes, [Blemish::None, Blemish::None, Blemish::Slow]);
    });
    // Once the path in use is bad itself, what it shares is suspected again.
    model.paths[0].quality.lossy = true;
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[1]), Blemish::Suspected));
}

/// Two addresses of ours and two of the peer: paths 0 and 1 lead to the first, 2 and 3 to the second.
fn two_by_two() -> Model<crate::Governed<Seamless>> {
    let networks = [NETWORKS[0], NETWORKS[1], (3, InterfaceKind::Other), (4, InterfaceKind::Other)];
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &networks);
    let second = SocketAddr::from(([192, 0, 2, 2], 9899));
    for at in [2, 3] {
        model.paths[at].route = Route { local: model.paths[at - 2].route.local, remote: second };
    }
    model
}

fn blemishes(model: &Model<crate::Governed<Seamless>>) -> Vec<Blemish> {
    let mut all = Vec::new();
    model.with_view(|view| all.extend(view.paths.iter().map(|path| view.blemish(path))));
    all
}

/// The address in common is to blame unless the other ends are.
#[test]
fn who_shares_an_address_is_not_suspected_if_another_is_to_blame() {
    let mut model = two_by_two();
    // The cellular network is in use, by the first of the peer's addresses; all that leads to the second is slow.
    for (at, millis) in [(0, 20), (1, 60), (2, 260), (3, 300)] {
        model.paths[at].quality = quality(millis, 0);
        model.paths[at].primary = at == 1;
    }
    assert_eq!(blemishes(&model), [Blemish::None, Blemish::None, Blemish::Slow, Blemish::Slow]);
    // Once only one of them is slow nobody knows by which end.
    model.paths[3].quality = quality(60, 0);
    assert_eq!(blemishes(&model), [Blemish::Suspected, Blemish::None, Blemish::Slow, Blemish::Suspected]);
}

#[test]
fn what_carries_too_little_is_no_alternative() {
    let in_use = PathQuality { carries: 250_000, ..quality(400, 0) };
    let thin = PathQuality { limit: Some(120_000), ..quality(60, 0) };
    assert_eq!(reasons(in_use, thin), []);
    assert_eq!(reasons(PathQuality { carries: 100_000, ..in_use }, thin), [Reason::Slow]);
    let lossy = PathQuality { lossy: true, carries: 250_000, ..quality(20, 0) };
    assert_eq!(reasons(lossy, thin), []);
}

#[test]
fn a_path_that_carries_too_little_is_left_for_one_that_carried_more() {
    let thin = PathQuality { carries: 100_000, limit: Some(100_000), ..quality(60, 0) };
    let carried = |carries, limit| PathQuality { carries, limit, ..quality(60, 0) };
    assert_eq!(reasons(thin, carried(250_000, None)), [Reason::Thin]);
    assert_eq!(reasons(thin, carried(130_000, None)), [], "that is not far more");
    assert_eq!(reasons(thin, carried(250_000, Some(90_000))), [], "it does not carry that any more");
    assert_eq!(reasons(thin, PathQuality { lossy: true, ..carried(250_000, None) }), []);
    assert_eq!(reasons(PathQuality { limit: None, ..thin }, carried(250_000, None)), []);
}

/// What was found on one path of a network holds for the others.
#[test]
fn a_thin_network_is_thin_by_whichever_path() {
    let mut model = two_by_two();
    for (at, millis) in [(0, 400), (1, 60), (2, 400), (3, 60)] {
        model.paths[at].quality = PathQuality { carries: 250_000, ..quality(millis, 0) };
    }
    assert_eq!(blemishes(&model)[0], Blemish::Slow);
    model.paths[3].quality.limit = Some(120_000);
    assert_eq!(blemishes(&model)[0], Blemish::None);
    // What has failed meanwhile says nothing: nobody would hear that it carries more.
    model.paths[3].state = PathState::Inactive;
    assert_eq!(blemishes(&model)[0], Blemish::Slow);
    model.paths[3].state = PathState::Active;
    // But an address that the path in use has itself does not limit it.
    model.paths[3].quality.limit = None;
    model.paths[2].quality.limit = Some(120_000);
    assert_eq!(blemishes(&model)[0], Blemish::Slow);
}

/// Behind a wired interface it is the peer's network that is short, and another address of the peer may be in another one.
#[test]
fn what_waits_for_the_peers_network_does_not_wait_for_all_of_them() {
    let mut waiting = quality(400, 0);
    waiting.delay.as_mut().expect("it is known").waiting = Duration::from_millis(380);
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &[(1, InterfaceKind::Wired), NETWORKS[1]]);
    let second = SocketAddr::from(([192, 0, 2, 2], 9899));
    model.paths[1].route = Route { local: model.paths[0].route.local, remote: second };
    (model.paths[0].quality, model.paths[1].quality) = (waiting, quality(60, 0));
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[0]), Blemish::Slow));
    let mut model = Model::new(Seamless::policy(Pace::MOBILE), &[(1, InterfaceKind::Wired), NETWORKS[1]]);
    (model.paths[0].quality, model.paths[1].quality) = (waiting, quality(60, 0));
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[0]), Blemish::None));
    // Eight times as much is worth a try.
    model.paths[0].quality.delay.as_mut().expect("it is known").waiting *= 8;
    model.paths[0].quality.delay.as_mut().expect("it is known").least *= 8;
    model.with_view(|view| assert_eq!(view.blemish(&view.paths[0]), Blemish::Slow));
}
