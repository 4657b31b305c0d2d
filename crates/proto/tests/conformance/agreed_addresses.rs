//! Addresses that both ends were told of without ASCONF (paper d10, section V.A).

use core::net::SocketAddr;

use whimbrel_machine::LinkFact;
use whimbrel_proto::{AgreedChange, Command, Config, PathState, PathVerification};
use whimbrel_testbed::peer::{Bench, Peer, node_address, peer_address, quiet};

fn config(verification: PathVerification) -> Config {
    let mut config = quiet();
    config.verification = verification;
    config
}

fn up(config: Config) -> (Bench, Peer) {
    let mut bench = Bench::new(config);
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[]);
    bench.take();
    (bench, peer)
}

fn agree(bench: &mut Bench, changes: &[AgreedChange]) {
    let association = bench.association();
    bench.command(Command::AgreeAddresses { association, changes: changes.to_vec() });
}

fn remotes(bench: &Bench) -> Vec<(SocketAddr, PathState)> {
    bench.paths().iter().map(|path| (path.route.remote, path.state)).collect()
}

#[test]
fn the_peers_new_address_is_a_destination_at_once_where_nothing_is_verified() {
    let (mut bench, _) = up(config(PathVerification::Omitted));
    agree(&mut bench, &[AgreedChange::AddPeer(peer_address(2))]);
    assert_eq!(remotes(&bench)[1], (peer_address(2), PathState::Active));
    assert_eq!(bench.take().len(), 0, "nobody is asked");
}

#[test]
fn it_must_answer_a_heartbeat_where_paths_are_verified() {
    let (mut bench, _) = up(config(PathVerification::Required));
    agree(&mut bench, &[AgreedChange::AddPeer(peer_address(2))]);
    assert_eq!(remotes(&bench)[1], (peer_address(2), PathState::Unconfirmed));
}

#[test]
fn the_old_address_goes_and_the_last_one_stays() {
    let (mut bench, _) = up(config(PathVerification::Omitted));
    agree(&mut bench, &[AgreedChange::DeletePeer(peer_address(1).ip())]);
    assert_eq!(remotes(&bench), [(peer_address(1), PathState::Active)], "it is the last one");
    let changes = [AgreedChange::AddPeer(peer_address(2)), AgreedChange::DeletePeer(peer_address(1).ip())];
    agree(&mut bench, &changes);
    assert_eq!(remotes(&bench), [(peer_address(2), PathState::Active)]);
}

#[test]
fn what_can_be_nobodys_address_is_left_out() {
    let (mut bench, _) = up(config(PathVerification::Omitted));
    for text in ["224.0.0.1:9899", "0.0.0.0:9899", "255.255.255.255:9899", "[2001:db8::1]:9899"] {
        agree(&mut bench, &[AgreedChange::AddPeer(text.parse().unwrap())]);
    }
    agree(&mut bench, &[AgreedChange::AddPeer(node_address(1))]);
    assert_eq!(remotes(&bench).len(), 1);
    assert_eq!(bench.closed(), None);
}

/// A hard handover of ours: the address is agreed on before it is there, and is a source once it is.
#[test]
fn our_new_address_is_a_source_when_it_is_up() {
    let (mut bench, _) = up(config(PathVerification::Omitted));
    agree(&mut bench, &[AgreedChange::AddOwn(node_address(2))]);
    assert_eq!(bench.paths().len(), 1, "it is not there yet");
    bench.link(LinkFact::AddressDown(node_address(1)));
    bench.link(LinkFact::AddressUp(node_address(2)));
    agree(&mut bench, &[AgreedChange::DeleteOwn(node_address(1).ip())]);
    let locals: Vec<SocketAddr> = bench.paths().iter().map(|path| path.route.local).collect();
    assert_eq!(locals, [node_address(2)]);
    bench.send(0, &[1; 100]);
    assert!(bench.take().iter().all(|sent| sent.route.local == node_address(2)));
    agree(&mut bench, &[AgreedChange::DeleteOwn(node_address(2).ip())]);
    assert_eq!(bench.paths().len(), 1, "the last one stays");
}
