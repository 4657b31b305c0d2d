use super::*;
use crate::profile;
use crate::scenario::{Assumption, Stated};

const PAPERS: [&str; 3] = ["b08", "e13", "c04"];

fn all() -> Vec<Assumptions> {
    let papers = Papers::load().unwrap();
    let table = data().unwrap();
    PAPERS
        .map(|paper| Assumptions {
            name: paper.to_owned(),
            scenario: scenario(paper, 1),
            entries: entries(&papers, &table, paper).unwrap(),
            known: Mutex::default(),
        })
        .into()
}

/// A slip in the data would show as an assumption without influence.
#[test]
fn every_alternative_changes_something_that_there_is() {
    let papers = Papers::load().unwrap();
    for assumptions in all() {
        assert!(assumptions.entries.len() >= 5, "{}", assumptions.name);
        assert!(assumptions.plots().len() > 1 && assumptions.plots().len() <= PANELS.len());
        let mut labels = Vec::new();
        for entry in &assumptions.entries {
            assert!(papers.leaf(&entry.leaf).is_some(), "{}", entry.leaf);
            let altered = papers.with(&entry.leaf, entry.value.clone()).unwrap();
            assert_ne!(papers.leaf(&entry.leaf), altered.leaf(&entry.leaf), "{}", entry.label);
            let experiment = figures::named(&altered, std::slice::from_ref(&entry.headline.experiment));
            let experiment = experiment.unwrap().remove(0);
            assert!(experiment.metrics().iter().any(|metric| *metric == entry.headline.metric));
            for (axis, _) in entry.headline.at.iter().chain(&entry.headline.over) {
                assert!(experiment.axes().contains(axis), "{axis}");
            }
            let label = (&entry.headline.says, &entry.label);
            assert!(!labels.contains(&label), "{label:?}");
            labels.push(label);
        }
    }
}

/// What an alternative changes it changes in a part of the run, too; the whole would take minutes here.
fn shortened(papers: &Papers) -> Papers {
    let points = Toml::Array((0..6).map(Toml::Integer).collect());
    let leaves =
        [("scenario.c04-base.traffic.file", Toml::Integer(12_000_000)), ("scenario.e13-hc.axes.mp", points)];
    leaves.into_iter().fold(papers.clone(), |papers, (leaf, value)| papers.with(leaf, value).unwrap())
}

impl Headline {
    /// Fingerprints of the runs that a repetition takes.
    fn fingerprint(&self, papers: &Papers, over: bool, repetition: u64) -> u64 {
        let experiment = figures::named(papers, std::slice::from_ref(&self.experiment)).unwrap().remove(0);
        let at = if over { self.other() } else { self.at.clone() };
        let repetition = repetition + self.first;
        Self::outcome_at(&*experiment, &at, repetition, Watch::fingerprint()).unwrap().fingerprint
    }
}

/// An alternative that leaves every packet where it was says nothing: it is tried where it cannot matter.
#[test]
fn every_alternative_changes_what_happens() {
    let papers = shortened(&Papers::load().unwrap());
    let all: Vec<Entry> = all().into_iter().flat_map(|assumptions| assumptions.entries).collect();
    let known = Mutex::new(BTreeMap::new());
    let changes = |entry: &Entry| {
        let altered = papers.with(&entry.leaf, entry.value.clone()).unwrap();
        let places = if entry.headline.over.is_empty() { 1 } else { 2 };
        let runs = (0..REPETITIONS as u64 * places).map(|run| (run % places == 1, run / places));
        let mut runs = runs.map(|(over, at)| {
            let key = (entry.headline.says.clone(), over, at);
            let before = known.lock().unwrap().get(&key).copied();
            let before = before.unwrap_or_else(|| {
                let before = entry.headline.fingerprint(&papers, over, at);
                known.lock().unwrap().insert(key, before);
                before
            });
            before != entry.headline.fingerprint(&altered, over, at)
        });
        runs.any(|differs| differs)
    };
    let next = std::sync::atomic::AtomicUsize::new(0);
    let unmoved = Mutex::new(Vec::new());
    let work = || {
        while let Some(entry) = all.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            if !changes(entry) {
                unmoved.lock().unwrap().push(format!("{}: {}", entry.headline.says, entry.label));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let unmoved = unmoved.into_inner().unwrap();
    assert!(all.len() > 80 && unmoved.is_empty(), "{unmoved:#?}");
}

#[test]
fn a_changed_value_changes_the_number_and_the_same_value_does_not() {
    let papers = Papers::load().unwrap();
    let headline = Headline {
        says: String::new(),
        experiment: "b08_fig07".to_owned(),
        metric: "failover_latency".to_owned(),
        at: [("pair", "wlan-umts"), ("src", "cbr45")]
            .map(|(axis, value)| (Name::from(axis), Value::from(value)))
            .into_iter()
            .chain([("qs".into(), Value::Integer(10)), ("pmr".into(), Value::Integer(1))])
            .collect(),
        over: Vec::new(),
        first: 0,
    };
    let leaf = "profile.b08.rto_min";
    let with = |value: f64| headline.measure(&papers.with(leaf, Toml::Float(value)).unwrap(), 0).unwrap();
    let assumed = headline.measure(&papers, 0).unwrap();
    assert_eq!(with(0.020), assumed);
    assert!(with(1.0) > 2.0 * assumed);
}

/// What the experiments of these papers assume, and where in the data.
fn assumed(papers: &Papers) -> Vec<String> {
    let mut leaves = Vec::new();
    for experiment in figures::all(papers).unwrap() {
        if !PAPERS.contains(&experiment.scenario().paper()) || experiment.name().ends_with("_assumptions") {
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
    let assumed = assumed(&papers);
    assert!(assumed.len() > 60 && assumed.contains(&"profile.tcp-e13.rto_min".to_owned()), "{assumed:#?}");
    // e13 gives no RTO; d10 does.
    assert!(assumed.contains(&"profile.rfc4960.rto_initial".to_owned()), "{assumed:#?}");
    let forgotten: Vec<&String> =
        assumed.iter().filter(|leaf| looked_into(&papers, leaf).unwrap().is_none()).collect();
    assert!(forgotten.is_empty(), "{forgotten:#?}");
}

/// A limit that the code reads and no run comes near.
const OUT_OF_REACH: &str = "profile.rfc4960.assoc_max_retrans";

/// A setting that the code does not read has no influence, whatever an alternative to it shows.
#[test]
fn profiles_have_nothing_that_is_not_read_and_not_said_so() {
    let papers = Papers::load().unwrap();
    let other = |value: &Toml| match value {
        Toml::Integer(whole) => Toml::Integer(whole + 1),
        Toml::Float(number) => Toml::Float(number * 2.0 + 0.5),
        Toml::Boolean(truth) => Toml::Boolean(!truth),
        _ => "another".into(),
    };
    for name in PAPERS {
        let made = |papers: &Papers| {
            let config = papers.profile(name).and_then(|settings| profile::config(&settings, 1452));
            config.map(|config| format!("{config:?}"))
        };
        let settings = papers.profile(name).unwrap();
        let stated = settings.stated().into_iter().map(|one| one.what);
        for what in stated.chain(settings.assumptions().into_iter().map(|one| one.what)) {
            let leaf = papers.home("profile", name, &what).unwrap();
            let altered = papers.with(&leaf, other(papers.leaf(&leaf).unwrap())).unwrap();
            let is_read = made(&papers) != made(&altered);
            let said = matches!(looked_into(&papers, &leaf).unwrap(), Some(Looked::WithoutInfluence(_)));
            let out_of_reach = leaf == OUT_OF_REACH;
            assert!(is_read != said || is_read && out_of_reach, "{leaf}: is read: {is_read}");
        }
    }
}

#[test]
fn what_has_no_influence_is_in_the_data_and_is_not_changed_all_the_same() {
    let papers = Papers::load().unwrap();
    let table = data().unwrap();
    for (leaf, why) in table["without_influence"].as_table().unwrap() {
        assert!(why.as_str().is_some_and(|why| why.len() > 20), "{leaf}");
        assert!(!leaf.contains('.') || papers.leaf(leaf).is_some() || leaf == "run.repetitions", "{leaf}");
        assert!(!matches!(looked_into(&papers, leaf).unwrap(), Some(Looked::Changed(_))), "{leaf}");
    }
}

#[test]
fn words_are_shown_where_they_differ() {
    let words = |a: &str, b: &str| spoken(&a.into(), &b.into());
    assert_eq!(words("newreno", "sack"), "newreno");
    assert_eq!(words("it registers when lost", "it registers when acquired"), "… lost");
    assert_eq!(words(&"long ".repeat(20), "short"), "long long long long long long …");
    let table = |text: &str| Toml::Table(text.parse().unwrap());
    assert_eq!(spoken(&table("a = 1\nb = 2"), &table("a = 1\nb = 3")), "b 2");
}
