use super::*;
use crate::concurrent_profile::Concurrency;
use crate::figures;
use crate::profile;
use crate::scenario::{Assumption, Stated};

const PAPERS: [&str; 5] = ["b08", "e13", "c04", "b09", "d10"];

/// What the experiments of these papers assume, and where in the data.
fn assumed(papers: &Papers) -> Vec<String> {
    let mut leaves = Vec::new();
    for experiment in figures::all(papers).unwrap() {
        if !PAPERS.contains(&experiment.scenario().paper()) {
            continue;
        }
        let mut add = |(kind, id): (&str, &str), stated: Vec<Stated>, assumed: Vec<Assumption>| {
            let borrowed =
                stated.into_iter().filter(|one| papers.is_borrowed(one, experiment.scenario().paper()));
            let all = borrowed.map(|one| one.what).chain(assumed.into_iter().map(|one| one.what));
            leaves.extend(all.map(|what| papers.home(kind, id, &what).unwrap()));
        };
        for scenario in core::iter::once(experiment.scenario()).chain(experiment.others()) {
            add(("scenario", scenario.id()), scenario.stated(), scenario.assumptions());
        }
        let profiles = core::iter::once(experiment.scenario().profile());
        for name in profiles.chain(experiment.rivals().iter().copied()) {
            let profile = papers.profile(name).unwrap();
            add(("profile", name), profile.stated(), profile.assumptions());
        }
    }
    leaves.sort();
    leaves.dedup();
    leaves
}

#[test]
fn every_assumed_value_is_changed_or_said_to_have_no_influence() {
    let papers = Papers::load().unwrap();
    let (assumed, assumptions) = (assumed(&papers), Assumptions::load(&papers).unwrap());
    assert!(assumed.len() > 60 && assumed.contains(&"profile.tcp-e13.rto_min".to_owned()), "{assumed:#?}");
    // e13 gives no RTO; d10 does.
    assert!(assumed.contains(&"profile.rfc4960.rto_initial".to_owned()), "{assumed:#?}");
    let forgotten: Vec<&String> =
        assumed.iter().filter(|leaf| assumptions.looked_into(leaf).is_none()).collect();
    assert!(forgotten.is_empty(), "{forgotten:#?}");
}

/// What the code reads, and no run comes near: a limit, and what plain mSCTP has in the paper whose profile `b08_fpf` borrows.
const OUT_OF_REACH: [&str; 3] =
    ["profile.rfc4960.assoc_max_retrans", "profile.b09.pmr_msctp", "profile.b09.rtx_policy"];

/// A setting that the code does not read has no influence, whatever an alternative to it shows.
#[test]
fn profiles_have_nothing_that_is_not_read_and_not_said_so() {
    let papers = Papers::load().unwrap();
    let assumptions = Assumptions::load(&papers).unwrap();
    let other = |value: &Toml| match value {
        Toml::Integer(whole) => Toml::Integer(whole + 1),
        Toml::Float(number) => Toml::Float(number * 2.0 + 0.5),
        Toml::Boolean(truth) => Toml::Boolean(!truth),
        _ => "another".into(),
    };
    // What d10 has besides is read by its place, whose tests look at it.
    for name in PAPERS.into_iter().filter(|name| *name != "d10") {
        let made = |papers: &Papers| {
            let settings = papers.profile(name).unwrap();
            let config = profile::config(&settings, 1452).map(|config| format!("{config:?}"));
            let plain = settings.number("pmr_msctp").ok();
            (
                config,
                (name == "b09").then(|| Concurrency::new(&settings).map(|cmt| format!("{cmt:?} {plain:?}"))),
            )
        };
        let settings = papers.profile(name).unwrap();
        let stated = settings.stated().into_iter().map(|one| one.what);
        for what in stated.chain(settings.assumptions().into_iter().map(|one| one.what)) {
            let leaf = papers.home("profile", name, &what).unwrap();
            let altered = papers.with(&leaf, other(papers.leaf(&leaf).unwrap())).unwrap();
            let is_read = made(&papers) != made(&altered);
            let said = matches!(assumptions.looked_into(&leaf), Some(Looked::WithoutInfluence(_)));
            let out_of_reach = OUT_OF_REACH.contains(&&*leaf);
            assert!(is_read != said || is_read && out_of_reach, "{leaf}: is read: {is_read}");
        }
    }
}

#[test]
fn what_has_no_influence_is_in_the_data_and_is_not_changed_all_the_same() {
    let papers = Papers::load().unwrap();
    let assumptions = Assumptions::load(&papers).unwrap();
    for (leaf, why) in &assumptions.file.without_influence {
        assert!(why.len() > 20, "{leaf}");
        assert!(!leaf.contains('.') || papers.leaf(leaf).is_some() || leaf == "run.repetitions", "{leaf}");
        assert!(!matches!(assumptions.looked_into(leaf), Some(Looked::Changed)), "{leaf}");
    }
}

#[test]
fn of_several_values_those_are_shown_that_differ() {
    assert_eq!(label::spoken(&"newreno".into(), &"sack".into()), "newreno");
    let table = |text: &str| Toml::Table(text.parse().unwrap());
    assert_eq!(label::spoken(&table("a = 1\nb = 2"), &table("a = 1\nb = 3")), "b 2");
}

#[test]
fn alternatives_are_other_values_and_say_which() {
    let papers = Papers::load().unwrap();
    let assumptions = Assumptions::load(&papers).unwrap();
    let mut labels = Vec::new();
    for alternative in &assumptions.alternatives {
        let altered = alternative.apply(&papers).unwrap();
        for (leaf, _) in &alternative.changes {
            assert_ne!(papers.leaf(leaf), altered.leaf(leaf), "{}", alternative.label);
        }
        assert!(alternative.label.contains(" → "), "{}", alternative.label);
        let label = (&alternative.paper, &alternative.label);
        assert!(!labels.contains(&label), "{label:?}");
        labels.push(label);
    }
    let choice = |part: &str| {
        assumptions.alternatives.iter().find(|one| one.label.contains(part)).unwrap().is_choice()
    };
    assert!(choice("tcp-e13 variant") && !choice("wired delay"));
    assert!(choice("c04-base area"), "a strip, two discs or a line");
}

#[test]
fn fitted_values_are_those_of_the_set_ups_that_have_them_and_do_not_sweep_them() {
    let papers = Papers::load().unwrap();
    let assumptions = Assumptions::load(&papers).unwrap();
    for leaf in assumptions.file.fitted.keys() {
        assert!(papers.leaf(leaf).is_some(), "{leaf}");
    }
    let fitted = |id: &str| assumptions.fitted(&papers, &papers.scenario(id).unwrap());
    let has = |id: &str, part: &str| fitted(id).iter().any(|one| one.starts_with(part));
    assert!(has("b08-fig7", "b08-fig7 wired delay: ") && has("b08-fig7", "b08 rwnd: "));
    assert!(has("b08-fig8", "b08-fig7 wired delay: "), "it extends Figure 7's: {:?}", fitted("b08-fig8"));
    assert!(
        has("c04-fig10", "c04-base path acq: ") && !has("c04-fig6", "c04-base path acq: "),
        "Figure 6 sweeps it"
    );
    assert!(fitted("e13-lc").is_empty());
}
