use super::super::{Journal, csv_path, parquet_path, read, write};
use super::*;
use crate::runner;

const OWN: &str = "title = \"mine\"\nrepetitions = 3\nduration = 2\npolicies = [\"failover\", \"rfc\"]\n\
    [network.wifi]\nrate = 1\ndelay = 5\nkind = \"wlan\"\n\
    [traffic]\nkind = \"constant-rate\"\nsize = 100\nrate = 0.01\n";

struct Place {
    dir: tempfile::TempDir,
    experiment: Box<dyn Experiment>,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), experiment: own::load("a b/mine.toml", OWN).unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn sweep(&self, shard: Option<&str>) -> Sweep {
        let shard = shard.map(|shard| shard.parse().unwrap());
        Sweep { shard, ..Sweep::whole(&*self.experiment, 1) }
    }

    /// Runs a sweep until so many more runs are done, and leaves the journal.
    fn run(&self, dir: &str, sweep: &Sweep, most: usize) -> PathBuf {
        let (mut journal, done) = Journal::open(&self.at(dir), &*self.experiment, sweep).unwrap();
        let mut left = most;
        if left > 0 {
            runner::run(&*self.experiment, sweep, done, |run, rows| {
                journal.add(run, rows).unwrap();
                left -= 1;
                left > 0
            });
        }
        journal.path().to_owned()
    }

    fn all(&self, dir: &str, of: u64) -> Vec<PathBuf> {
        (1..=of)
            .map(|number| self.run(dir, &self.sweep(Some(&format!("{number}/{of}"))), usize::MAX))
            .collect()
    }

    /// What becomes of the shards in some directories, of one experiment.
    fn merge(&self, dirs: &[&str]) -> Result<Whole, MergeError> {
        let dirs: Vec<PathBuf> = dirs.iter().map(|dir| self.at(dir)).collect();
        let found = Shards::find(&dirs)?;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name(), "mine");
        found[0].merge(&Papers::load().unwrap())
    }

    fn error(&self, dirs: &[&str]) -> String {
        let error = self.merge(dirs).map(|whole| whole.rows).unwrap_err().to_string();
        error.replace(self.dir.path().to_str().unwrap(), "DIR")
    }
}

#[test]
fn all_shards_make_the_files_of_one_run() {
    let place = Place::new();
    let sweep = place.sweep(None);
    let done = runner::run(&*place.experiment, &sweep, Done::new(), |_, _| true);
    let rows: Vec<Row> = done.into_values().flatten().collect();
    write(&place.at("plain"), &*place.experiment, &rows).unwrap();
    // One, some, and more than there are runs; in one directory and in several.
    place.all("1", 1);
    place.all("4", 4);
    place.all("20", 20);
    let moved = place.at("4/mine.3-of-4.shard");
    fs::create_dir(place.at("elsewhere")).unwrap();
    fs::rename(moved, place.at("elsewhere/called-otherwise.shard")).unwrap();
    for (dirs, shards) in [(&["1"][..], 1), (&["elsewhere", "4"], 4), (&["20"], 20)] {
        let whole = place.merge(dirs).unwrap();
        assert_eq!((whole.shards, whole.sweep.repetitions, whole.sweep.shard), (shards, 3, None));
        assert_eq!(whole.rows, rows);
        write(&place.at("merged"), &*whole.experiment, &whole.rows).unwrap();
        for path in [csv_path, parquet_path] {
            let bytes = |dir: &str| fs::read(path(&place.at(dir), &*place.experiment)).unwrap();
            assert_eq!(bytes("merged"), bytes("plain"));
        }
    }
}

/// Whoever reads results, or goes on with a run, does not find them.
#[test]
fn shards_are_no_results() {
    let place = Place::new();
    let files = place.all("parts", 1);
    assert_eq!(files, [place.at("parts/mine.1-of-1.shard")]);
    assert!(read(&place.at("parts"), &*place.experiment).unwrap().is_none());
    let (_, done) = Journal::open(&place.at("parts"), &*place.experiment, &place.sweep(None)).unwrap();
    assert!(done.is_empty());
    // A journal of a plain run is no shard.
    assert!(files[0].exists());
    fs::remove_file(&files[0]).unwrap();
    assert!(Shards::find(&[place.at("parts")]).unwrap().is_empty());
}

#[test]
fn a_shard_that_was_interrupted_goes_on() {
    let place = Place::new();
    place.all("parts", 2);
    let sweep = place.sweep(Some("2/2"));
    assert_eq!(sweep.share(), 3);
    fs::remove_file(place.at("parts/mine.2-of-2.shard")).unwrap();
    let path = place.run("parts", &sweep, 2);
    assert_eq!(
        place.error(&["parts"]),
        "mine: shard 2/2 has 2 of its 3 runs; this goes on with it: whimbrel lab run 'a b/mine.toml' --shard 2/2 --out DIR/parts"
    );
    // It was killed while it wrote the second one.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 1]).unwrap();
    assert!(place.error(&["parts"]).contains("has 1 of its 3 runs"));
    let (_, done) = Journal::open(&place.at("parts"), &*place.experiment, &sweep).unwrap();
    assert_eq!(done.len(), 1);
    place.run("parts", &sweep, usize::MAX);
    assert_eq!(place.merge(&["parts"]).unwrap().rows.len(), 6);
}

#[test]
fn what_is_missing_is_said_with_the_command_that_makes_it() {
    let place = Place::new();
    place.all("parts", 9);
    for (gone, said) in [
        (
            &[4][..],
            "mine: shard 4/9 is missing; this makes it: whimbrel lab run 'a b/mine.toml' --shard 4/9 --out DIR/parts",
        ),
        (
            &[2, 6, 7, 8],
            "mine: of 9 shards these are missing: 2,4,6-8; this makes the first of them: whimbrel lab run 'a b/mine.toml' --shard 2/9 \
             --out DIR/parts",
        ),
    ] {
        for number in gone {
            fs::remove_file(place.at(&format!("parts/mine.{number}-of-9.shard"))).unwrap();
        }
        assert_eq!(place.error(&["parts"]), said);
    }
    // Both sorts at once, of other repetitions.
    let some = |shard| Sweep { repetitions: 2, first: 7, ..place.sweep(Some(shard)) };
    place.run("some", &some("3/3"), 1);
    place.run("some", &some("2/3"), 0);
    let error = place.error(&["some"]);
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines[0].contains("shard 1/3 is missing"), "{error}");
    assert!(lines[1].contains("shard 2/3 has 0 of its"), "{error}");
    assert!(error.contains("'a b/mine.toml' --reps 2 --seed 7 --shard 1/3 --out"), "{error}");
}

#[test]
fn shards_of_different_runs_are_kept_apart() {
    let place = Place::new();
    place.run("parts", &place.sweep(Some("1/2")), usize::MAX);
    let beside = |sweep: Sweep| {
        let path = place.run("other", &sweep, 0);
        let error = place.error(&["other", "parts"]);
        fs::remove_file(path).unwrap();
        assert!(
            error.contains("DIR/other/mine.") && error.contains("DIR/parts/mine.1-of-2.shard"),
            "{error}"
        );
        error
    };
    let shard = || place.sweep(Some("2/2"));
    for (sweep, expected) in [
        (place.sweep(Some("2/3")), "they are shards 2/3 and 1/2"),
        (Sweep { repetitions: 4, ..shard() }, "they have 4 repetitions and 3 repetitions"),
        (Sweep { first: 5, ..shard() }, "they have 3 repetitions from number 5 on and 3 repetitions"),
        (place.sweep(Some("1/2")), "shard 1/2 is there twice"),
    ] {
        let error = beside(sweep);
        assert!(error.contains(expected), "{error}");
    }
    // The file was changed in between.
    let changed = own::load("mine.toml", &OWN.replace("delay = 5", "delay = 6")).unwrap();
    Journal::open(&place.at("parts"), &*changed, &place.sweep(Some("2/2"))).unwrap();
    let error = place.error(&["parts"]);
    assert!(error.contains("do not belong together: their set-ups differ"), "{error}");
}

#[test]
fn shards_of_another_program_are_refused() {
    let place = Place::new();
    let paths = place.all("parts", 2);
    let (_, code) = crate::VERSION.split_once('+').unwrap();
    let other = |json: &str| json.replace(code, "0123456789abcdef");
    journal::rewrite(&paths[0], &other);
    let error = place.error(&["parts"]);
    assert!(
        error.contains("they were made by whimbrel 0.") && error.contains("+0123456789abcdef and 0."),
        "{error}"
    );
    journal::rewrite(&paths[1], &other);
    let error = place.error(&["parts"]);
    assert!(error.contains("was made by whimbrel 0.") && error.contains(crate::VERSION), "{error}");
    assert!(error.contains("merge with that version"), "{error}");
}

#[test]
fn what_is_no_shard_is_refused() {
    let place = Place::new();
    let path = place.run("parts", &place.sweep(Some("1/1")), usize::MAX);
    let text = fs::read_to_string(&path).unwrap();
    let error = |text: &str| {
        fs::write(&path, text).unwrap();
        place.error(&["parts"])
    };
    for (text, expected) in [
        (text.replace("\"repetition\":2", "\"repetition\":3"), "is not as it was written; remove it"),
        (text.replacen("mine", "yours", 1), "line 1 is not as it was written"),
        (String::new(), "it does not say which part it is of what"),
    ] {
        let error = error(&text);
        assert!(error.contains(expected) && error.contains("mine.1-of-1.shard"), "{error}");
    }
    // With checksums that are right.
    for (from, to, expected) in [
        ("\"shard\":[1,1]", "\"shard\":null", "it does not say which part"),
        ("\"shard\":[1,1]", "\"shard\":[2,1]", "it does not say which part"),
        ("rfc", "seamless", "its set-up is not the one"),
        ("title = ", "titel = ", "unknown field `titel`"),
        ("a b/mine.toml", "mine", "there is no experiment called mine"),
        (
            "\"seed\":900000001",
            "\"seed\":900000007",
            "cell 0, repetition 1: the seed is not that of the repetition; remove it",
        ),
        ("\"cell\":1", "\"cell\":0", "line 5 is a run that is there already; remove it"),
        ("\"cell\":1", "\"cell\":9", "it has a run that is none of its own: cell 9, repetition 0; remove it"),
        (
            "\"repetition\":2",
            "\"repetition\":3",
            "it has a run that is none of its own: cell 0, repetition 3",
        ),
        ("\"series\":\"rfc\"", "\"series\":\"failover\"", "cell 1, repetition 0: a row is of another place"),
        (
            "\"goodput\"",
            "\"goodness\"",
            "cell 0, repetition 0: there is no metric called \"goodness\"; remove it",
        ),
        ("\"moves\"", "\"goodput\"", "the metric goodput is there twice"),
        ("\"axes\":[]", "\"axes\":[[\"speed\",3]]", "there is no axis called \"speed\""),
        ("\"repetitions\":3", "\"repetitions\":0", "its repetitions are none"),
    ] {
        fs::write(&path, &text).unwrap();
        journal::rewrite(&path, &|json| json.replace(from, to));
        assert_ne!(fs::read_to_string(&path).unwrap(), text);
        let error = place.error(&["parts"]);
        assert!(error.contains(expected), "{from}: {error}");
    }
    let (head, rest) = text.split_once('\n').unwrap();
    fs::write(&path, [head.as_bytes(), b"\n\xff", rest.as_bytes()].concat()).unwrap();
    let error = place.error(&["parts"]);
    assert!(
        error.contains("mine.1-of-1.shard: line 2 is no text (UTF-8)") && error.contains("remove it"),
        "{error}"
    );
    // What was cut off in the middle of a letter is forgotten like any last line that was cut off.
    fs::write(&path, [text.as_bytes(), b"00000000 {\"series\":\"\xc3"].concat()).unwrap();
    assert_eq!(place.merge(&["parts"]).unwrap().rows.len(), 6);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = Shards::find(&[place.at("parts")]).unwrap_err().to_string();
    assert!(error.contains("no regular file"), "{error}");
    let error = Shards::find(&[place.at("nowhere")]).unwrap_err().to_string();
    assert!(error.contains("nowhere: No such file"), "{error}");
}

/// As with tables: a shard with other repetitions does not go unasked.
#[test]
fn a_shard_with_other_repetitions_is_in_the_way() {
    let place = Place::new();
    let there = |sweep: &Sweep| in_the_way(&place.at("parts"), &*place.experiment, sweep).unwrap();
    let sweep = place.sweep(Some("1/2"));
    assert_eq!(there(&sweep), None);
    place.run("parts", &sweep, 0);
    for (repetitions, first, lost) in
        [(3, 0, None), (4, 0, None), (2, 0, Some(3)), (3, 1, Some(3)), (1_000, 1, Some(3))]
    {
        assert_eq!(there(&Sweep { repetitions, first, ..sweep.clone() }), lost, "{repetitions} from {first}");
    }
    assert_eq!(there(&Sweep { repetitions: 1, ..place.sweep(Some("2/2")) }), None);
    // Of another text it is worth nothing any more.
    let changed = own::load("mine.toml", &OWN.replace("delay = 5", "delay = 6")).unwrap();
    assert_eq!(in_the_way(&place.at("parts"), &*changed, &Sweep { repetitions: 1, ..sweep }).unwrap(), None);
}
