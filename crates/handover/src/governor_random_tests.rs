//! Whatever happens, policies are safe and act in measure.

use core::time::Duration;

use proptest::prelude::*;
use whimbrel_machine::{InterfaceFact, InterfaceKind, ReceivedPower};
use whimbrel_proto::PathState;

use super::*;
use crate::testing::{Model, Peer, about, address, ip, seconds};
use crate::{Failover, FastestNetwork, LayerTwoHandover, Policy, Seamless, SignalStrength, Thresholds};

const WIFI: InterfaceKind = InterfaceKind::WirelessLan;
const CELL: InterfaceKind = InterfaceKind::Cellular;

#[derive(Clone, Debug)]
enum Step {
    Up(u8),
    Down(u8),
    Interface(u8, InterfaceFact),
    Path(u8, PathState),
    Answer(Peer),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let n = 1..=4_u8;
    let state = prop_oneof![
        Just(PathState::Active),
        Just(PathState::PotentiallyFailed),
        Just(PathState::Inactive),
        Just(PathState::Unconfirmed),
    ];
    let fact = prop_oneof![
        Just(InterfaceFact::Up(WIFI)),
        Just(InterfaceFact::Down),
        Just(InterfaceFact::GoingDown),
        Just(InterfaceFact::HandoverComplete),
        (-95.0..-40.0_f64).prop_map(|dbm| InterfaceFact::Signal(ReceivedPower::from_dbm(dbm))),
        Just(InterfaceFact::Strongest),
        (0..4_u8).prop_map(InterfaceFact::Rank),
        Just(InterfaceFact::Selected),
    ];
    let peer = prop_oneof![Just(Peer::Agrees), Just(Peer::Refuses), Just(Peer::Silent)];
    prop_oneof![
        1 => n.clone().prop_map(Step::Up),
        1 => n.clone().prop_map(Step::Down),
        4 => (n.clone(), fact).prop_map(|(n, fact)| Step::Interface(n, fact)),
        2 => (n, state).prop_map(|(n, state)| Step::Path(n, state)),
        2 => peer.prop_map(Step::Answer),
        3 => (0..1500_u64).prop_map(Step::Wait),
    ]
}

fn play(policy: Box<dyn Policy>, pace: Pace, steps: &[Step]) {
    let mut model = Model::new(policy, &[(1, WIFI), (2, CELL)]);
    for step in steps {
        match step {
            Step::Up(n) => model.link(LinkFact::AddressUp(address(*n))),
            Step::Down(n) => {
                model.link(LinkFact::AddressDown(address(*n)));
                model.path(*n, PathState::Inactive);
            }
            Step::Interface(n, fact) => model.link(about(*n, *fact)),
            Step::Path(n, state) => model.path(*n, *state),
            Step::Answer(peer) => {
                model.peer = *peer;
                model.answer_one();
            }
            Step::Wait(millis) => model.wait(Duration::from_millis(*millis)),
        }
    }
    // A fact that is repeated without end must not be obeyed without end.
    bounded(&model.moves(), pace.moves, pace.move_every);
    bounded(&model.requested, pace.requests, pace.request_every);
}

/// In any time T no more than burst + T / every.
fn bounded(times: &[Instant], burst: u32, every: Duration) {
    for (from, &start) in times.iter().enumerate() {
        for (to, &end) in times.iter().enumerate().skip(from) {
            let allowed = u128::from(burst) + end.saturating_since(start).as_nanos() / every.as_nanos();
            assert!((to - from + 1) as u128 <= allowed, "{} in {:?}", to - from + 1, end - start);
        }
    }
}

fn policies(pace: Pace) -> [Box<dyn Policy>; 4] {
    let thresholds =
        Thresholds { reception: ReceivedPower::from_dbm(-90.0), primary: ReceivedPower::from_dbm(-75.0) };
    [
        Box::new(Failover::policy(pace)),
        Box::new(FastestNetwork::policy(pace)),
        Box::new(SignalStrength::policy(thresholds, LayerTwoHandover::Hard, pace)),
        Box::new(Seamless::policy(pace)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The last address is never deleted, nothing that does not work is made primary (checked by the model at each decision), and
    /// moves and requests are bounded in time, whatever the facts.
    #[test]
    fn no_facts_make_any_policy_unsafe_or_restless(steps in proptest::collection::vec(step(), 1..120)) {
        for pace in [Pace::MOBILE, Pace::AT_ONCE] {
            for policy in policies(pace) {
                play(policy, pace, &steps);
            }
        }
    }

    /// When the facts calm down with one address left, every policy ends up there.
    #[test]
    fn every_policy_ends_up_where_alone_it_works(steps in proptest::collection::vec(step(), 1..60)) {
        for policy in policies(Pace::MOBILE) {
            let name = format!("{policy:?}");
            let mut model = Model::new(policy, &[(1, WIFI), (2, CELL)]);
            for step in &steps {
                match step {
                    Step::Up(n) => model.up(*n, WIFI),
                    Step::Down(n) => model.down(*n),
                    Step::Interface(n, fact) => model.link(about(*n, *fact)),
                    Step::Path(n, state) if *state != PathState::Unconfirmed => model.path(*n, *state),
                    Step::Wait(millis) => model.wait(Duration::from_millis(*millis)),
                    _ => {}
                }
            }
            model.wait(seconds(30.0));
            for n in 1..=4 {
                model.link(about(n, InterfaceFact::Down));
                model.down(n);
            }
            model.wait(seconds(30.0));
            model.up(3, WIFI);
            model.signal(3, -50.0);
            model.wait(seconds(200.0));
            prop_assert_eq!(model.primary(), Some(ip(3)), "{}", name);
            prop_assert!(model.knows(3));
        }
    }
}
