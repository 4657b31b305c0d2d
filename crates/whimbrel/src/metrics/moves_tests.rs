use whimbrel_proto::{AssociationState, PathId};

use super::*;

fn route(last: u8) -> Route {
    Route { local: ([192, 0, 2, last], 9899).into(), remote: ([203, 0, 113, 1], 9899).into() }
}

/// An association of an endpoint that nobody has: events need a name.
fn id() -> whimbrel_proto::AssociationId {
    let config = std::sync::Arc::new(whimbrel_proto::Config::rfc());
    let mut endpoint = whimbrel_proto::Endpoint::new(
        config,
        whimbrel_machine::Seed::from_bytes([7; 32]),
        vec![route(1).local],
    );
    endpoint.handle_command(
        Instant::ZERO,
        whimbrel_proto::Command::Connect {
            token: whimbrel_proto::ConnectToken(1),
            remote: vec![route(1).remote],
            remote_port: 5001,
            local_port: None,
        },
    );
    let (id, state) = endpoint.associations().next().unwrap();
    assert_eq!(state, AssociationState::CookieWait);
    id
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

#[test]
fn a_gap_is_from_the_last_acknowledgement_before_a_handover_to_the_first_after() {
    let (mut moves, mut metrics, association) = (Moves::new(route(1)), Metrics::default(), id());
    let sent = Event::Sent { association, bytes: 1, room: 1 };
    let moved = |to: u8| {
        let path = PathId::from_number(u32::from(to));
        Event::PathInUse { association, path, route: route(to) }
    };
    moves.count(at(10), &sent, &mut metrics);
    moves.count(at(100), &moved(1), &mut metrics);
    assert_eq!(metrics.handovers, 0, "it was there before");
    moves.count(at(110), &moved(2), &mut metrics);
    moves.count(at(120), &moved(3), &mut metrics);
    moves.count(at(250), &sent, &mut metrics);
    moves.count(at(260), &sent, &mut metrics);
    assert_eq!((metrics.handovers, metrics.handover_gaps.count()), (2, 1));
    assert_eq!(metrics.handover_gaps.sum(), Duration::from_millis(240));
}

#[test]
fn who_has_nothing_on_its_way_waits_for_nothing() {
    let (mut moves, mut metrics, association) = (Moves::new(route(1)), Metrics::default(), id());
    let sent = Event::Sent { association, bytes: 1, room: 1 };
    moves.count(at(10), &sent, &mut metrics);
    moves.idle();
    let moved = Event::PathInUse { association, path: PathId::from_number(2), route: route(2) };
    moves.count(at(5000), &moved, &mut metrics);
    moves.count(at(6000), &sent, &mut metrics);
    assert_eq!((metrics.handovers, metrics.handover_gaps.count()), (1, 0));

    moves.idle();
    moves.busy(at(7000));
    moves.busy(at(7100));
    let moved = Event::PathInUse { association, path: PathId::from_number(3), route: route(3) };
    moves.count(at(7200), &moved, &mut metrics);
    moves.count(at(7300), &sent, &mut metrics);
    assert_eq!(metrics.handover_gaps.sum(), Duration::from_millis(300), "since there was data");
}

/// The path is given up long after data has found another way.
#[test]
fn a_gap_may_be_over_before_the_handover_is_known() {
    let (mut moves, mut metrics, association) = (Moves::new(route(1)), Metrics::default(), id());
    let sent = Event::Sent { association, bytes: 1, room: 1 };
    let moved = |to: u8| {
        let path = PathId::from_number(u32::from(to));
        Event::PathInUse { association, path, route: route(to) }
    };
    for (busy, acknowledged) in [(8000, 8400), (8410, 8411)] {
        moves.busy(at(busy));
        moves.count(at(acknowledged), &sent, &mut metrics);
        moves.idle();
    }
    moves.count(at(8600), &moved(2), &mut metrics);
    assert_eq!(metrics.handover_gaps.sum(), Duration::from_millis(400));
    moves.busy(at(9000));
    moves.count(at(9001), &sent, &mut metrics);
    moves.idle();
    moves.count(at(20_000), &moved(3), &mut metrics);
    assert_eq!((metrics.handovers, metrics.handover_gaps.count()), (2, 1), "that was long ago");
}
