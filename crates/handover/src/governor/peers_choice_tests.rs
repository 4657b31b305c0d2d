use core::net::SocketAddr;

use whimbrel_machine::InterfaceKind;
use whimbrel_proto::{PathId, PeerAddressChange};

use crate::testing::{Model, ip, seconds};
use crate::{Action, Fact, Failover, Governed, Pace, Reason};

/// One address of ours, two of the peer, which began at the first.
fn server() -> Model<Governed<Failover>> {
    let wired = InterfaceKind::Wired;
    let mut model = Model::new(Failover::policy(Pace::MOBILE), &[(1, wired), (2, wired)]);
    let second = SocketAddr::from(([192, 0, 2, 2], 9899));
    model.remotes.push(second);
    (model.paths[1].route.local, model.paths[1].route.remote) = (model.paths[0].route.local, second);
    model.log.clear();
    model
}

/// The path loses much, or no more.
fn lossy(model: &mut Model<Governed<Failover>>, at: usize, lossy: bool) {
    model.paths[at].quality.lossy = lossy;
    let path = model.paths[at].id;
    model.observe(&Fact::PathQuality { path });
}

fn moves(model: &Model<Governed<Failover>>) -> Vec<(PathId, Reason)> {
    let moves = model.log.iter().filter_map(|(_, decided)| match decided.action {
        Action::UsePath(path) => Some((path, decided.reason)),
        _ => None,
    });
    moves.collect()
}

#[test]
fn the_peers_address_is_returned_to_when_it_is_sound_again() {
    let mut model = server();
    let [first, second] = [0, 1].map(|at| model.paths[at].id);
    lossy(&mut model, 0, true);
    assert_eq!(moves(&model), [(second, Reason::Lossy)]);
    model.wait(seconds(60.0));
    assert_eq!(moves(&model).len(), 1, "it is still lossy");
    lossy(&mut model, 0, false);
    model.wait(seconds(0.4));
    assert_eq!(moves(&model).len(), 1, "that has to last");
    model.wait(seconds(0.2));
    assert_eq!(moves(&model), [(second, Reason::Lossy), (first, Reason::PeersChoice)]);
    assert_eq!(model.primary(), Some(ip(1)));
    model.wait(seconds(600.0));
    assert_eq!(moves(&model).len(), 2);
}

#[test]
fn it_takes_the_longer_the_more_often_it_had_to_be_left() {
    let mut model = server();
    for _ in 0..200 {
        lossy(&mut model, 0, true);
        model.wait(seconds(0.1));
        lossy(&mut model, 0, false);
        model.wait(seconds(0.9));
    }
    let returns = moves(&model).iter().filter(|(_, reason)| *reason == Reason::PeersChoice).count();
    assert!((3..=8).contains(&returns), "{returns} in 200 s");
}

/// Both are bad: there is nothing to return for.
#[test]
fn an_address_that_is_no_better_is_not_returned_to() {
    let mut model = server();
    lossy(&mut model, 0, true);
    lossy(&mut model, 1, true);
    model.wait(seconds(600.0));
    assert_eq!(moves(&model).len(), 1);
}

#[test]
fn a_wish_of_the_peers_comes_before_what_it_wished_earlier() {
    let mut model = server();
    lossy(&mut model, 0, true);
    let address = model.remotes[1];
    model.observe(&Fact::PeerAddress { address, change: PeerAddressChange::MadePrimary });
    lossy(&mut model, 0, false);
    model.wait(seconds(600.0));
    assert_eq!(moves(&model).len(), 1);
}

#[test]
fn an_address_that_the_peer_has_deleted_is_forgotten() {
    let mut model = server();
    lossy(&mut model, 0, true);
    let gone = model.remotes.remove(0);
    lossy(&mut model, 0, false);
    model.wait(seconds(600.0));
    model.remotes.push(gone);
    model.wait(seconds(600.0));
    lossy(&mut model, 0, false);
    assert_eq!(moves(&model).len(), 1);
}
