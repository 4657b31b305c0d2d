use whimbrel_machine::InterfaceKind::{Cellular, WirelessLan};
use whimbrel_machine::Seed;
use whimbrel_proto::{Estimate, PathState};

use super::*;
use crate::testing::{Model, ip, seconds};

/// Over a wireless LAN, which is primary, and a cellular network, of which so many Mbit/s are known.
fn model(seed: u64, here: u64, there: u64) -> Model<Aisle> {
    let draws = Seed::from_u64(seed).stream(Aisle::STREAM, 0);
    let policy = Aisle::policy(AisleParameters::default(), Pace::MOBILE, draws);
    let mut model = Model::new(policy, &[(1, WirelessLan), (2, Cellular)]);
    for (path, rate) in [(0, here), (1, there)] {
        model.paths[path].capacity = mbit(&model, rate);
    }
    model.paths[0].available = mbit(&model, here);
    model
}

fn mbit(model: &Model<Aisle>, rate: u64) -> Option<Estimate> {
    Some(Estimate { rate: rate * 1_000_000, at: model.now })
}

/// The primary path loses something.
fn lose(model: &mut Model<Aisle>) {
    let primary = model.paths.iter_mut().find(|path| path.primary).unwrap();
    primary.counters.fast_retransmits += 1;
    let path = primary.id;
    model.observe(&Fact::PathEstimates { path });
}

/// How many of a thousand hosts swap at the first loss, once `set` has changed what they know.
fn swaps(here: u64, there: u64, set: impl Fn(&mut Model<Aisle>)) -> usize {
    let swapped = |seed: &u64| {
        let mut model = model(*seed, here, there);
        set(&mut model);
        lose(&mut model);
        model.primary() == Some(ip(2))
    };
    (0..1000).filter(swapped).count()
}

#[test]
fn a_path_that_is_known_to_carry_more_is_taken_with_its_share_of_the_capacity() {
    for (here, there, share) in [(10, 10, 500), (30, 10, 250), (10, 30, 750)] {
        let better = |model: &mut Model<Aisle>| {
            model.paths[0].available = mbit(model, 1);
            model.paths[1].available = mbit(model, 2);
        };
        let swaps = swaps(here, there, better);
        assert!(swaps.abs_diff(share) < 60, "{swaps} of 1000 with {here} here and {there} there");
    }
}

/// Step 2: θ = 1.1.
#[test]
fn one_that_carries_hardly_more_is_not_taken() {
    let with = |there: u64| {
        swaps(10, 10, |model: &mut Model<Aisle>| {
            model.paths[0].available = mbit(model, 100);
            model.paths[1].available = mbit(model, there);
        })
    };
    assert_eq!(with(109), 0);
    assert!(with(112) > 400);
}

/// Step 2, where B̂₂ is unknown or older than T_d: another draw (I-14).
#[test]
fn where_it_is_unknown_what_the_other_carries_there_is_a_second_draw() {
    let unknown = swaps(10, 10, |_| {});
    assert!(unknown.abs_diff(250) < 50, "{unknown}");
    let old = |age: f64| {
        swaps(10, 10, move |model: &mut Model<Aisle>| {
            model.paths[1].available = mbit(model, 1);
            model.now += seconds(age);
        })
    };
    assert_eq!(old(119.0), 0, "it carries less");
    assert!(old(121.0).abs_diff(250) < 50, "{}", old(121.0));
}

#[test]
fn without_a_capacity_of_both_there_is_no_swap() {
    for path in [0, 1] {
        let swaps = swaps(10, 10, |model: &mut Model<Aisle>| model.paths[path].capacity = None);
        assert_eq!(swaps, 0, "path {path}");
    }
}

/// Step 1: T_h = 60 s.
#[test]
fn after_a_swap_there_is_none_for_a_minute() {
    let mut model = model(1, 1, 1000);
    for path in 0..2 {
        model.paths[path].available = None;
    }
    while model.moves().is_empty() {
        lose(&mut model);
    }
    let mut others = 0;
    for _ in 0..590 {
        model.wait(seconds(0.1));
        // Nobody would stay.
        (model.paths[0].capacity, model.paths[1].capacity) = (mbit(&model, 100_000), mbit(&model, 1));
        lose(&mut model);
        others += model.moves().len() - 1;
    }
    assert_eq!(others, 0);
    model.wait(seconds(2.0));
    for _ in 0..20 {
        lose(&mut model);
    }
    assert_eq!(model.moves().len(), 2);
    assert_eq!(model.log[0].1.reason, Reason::Congested);
}

/// (ii) of the triggers: hosts that are kept down by a tiny window lose nothing.
#[test]
fn a_tenth_of_the_capacity_is_congestion_and_more_is_none() {
    for (rate, congested) in [(1, false), (0, true)] {
        let moves = (0..100).filter(|&seed| {
            let mut model = model(seed, 10, 10);
            model.paths[0].available = mbit(&model, rate);
            model.paths[1].available = mbit(&model, 8);
            let path = model.paths[0].id;
            model.observe(&Fact::PathEstimates { path });
            !model.moves().is_empty()
        });
        assert_eq!(moves.count() > 30, congested, "{rate} of 10 Mbit/s");
    }
}

/// What is told of other paths, and what has been lost before, is no congestion of this one.
#[test]
fn only_losses_on_the_primary_path_count() {
    for seed in 0..100 {
        let mut model = model(seed, 10, 10);
        model.paths[1].available = mbit(&model, 100);
        model.paths[0].counters.timeouts = 7;
        model.observe(&Fact::Begun);
        let (here, there) = (model.paths[0].id, model.paths[1].id);
        model.paths[1].counters.timeouts = 1;
        model.observe(&Fact::PathEstimates { path: there });
        model.observe(&Fact::PathEstimates { path: here });
        assert_eq!(model.moves(), []);
    }
}

/// A path that becomes primary has losses of its own, from before.
#[test]
fn losses_from_before_a_path_was_primary_do_not_count() {
    for seed in 0..100 {
        let mut model = model(seed, 10, 10);
        model.observe(&Fact::Begun);
        model.paths[0].available = mbit(&model, 100);
        model.paths[1].available = mbit(&model, 10);
        model.paths[1].counters.timeouts = 7;
        // Before anybody has said so.
        model.paths.iter_mut().for_each(|path| path.primary = !path.primary);
        let path = model.paths[1].id;
        model.observe(&Fact::PathEstimates { path });
        assert_eq!(model.primary(), Some(ip(2)));
    }
}

#[test]
fn a_path_that_has_failed_is_no_choice_and_one_in_use_is_left_as_failover_does() {
    let failed = swaps(10, 10, |model: &mut Model<Aisle>| {
        model.paths[1].available = mbit(model, 100);
        model.path(2, PathState::Inactive);
    });
    assert_eq!(failed, 0);
    let mut model = model(1, 10, 10);
    model.down(1);
    assert_eq!(model.primary(), Some(ip(2)), "its address is gone");
}

/// The paper's hosts go by what paths carry alone.
#[test]
fn no_path_is_left_because_it_loses_much() {
    let mut model = model(1, 10, 10);
    model.paths[0].quality.lossy = true;
    let path = model.paths[0].id;
    model.observe(&Fact::PathQuality { path });
    assert_eq!(model.moves(), []);
}
