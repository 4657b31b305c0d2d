use core::time::Duration;

use whimbrel_machine::{Instant, InterfaceKind};
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
