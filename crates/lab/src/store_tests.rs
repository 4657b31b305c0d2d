use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;

use super::*;
use crate::runner::{self, Done, Run, Sweep};
use crate::scenario::Papers;

fn small() -> (Box<dyn Experiment>, Sweep) {
    let papers = Papers::load().unwrap();
    let experiment = crate::figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let mut sweep = Sweep { repetitions: 2, ..Sweep::whole(&*experiment, 2) };
    // One of the paper's with an error counter to look at, and one that lacks an axis.
    sweep.cells.retain(|_, cell| {
        cell.word("src") == "cbr45" && cell.word("pair") == "umts-wlan" && cell.count("qs") == 10
    });
    sweep.cells.retain(|_, cell| {
        cell.series == "paper" && cell.count("pmr") == 1 || cell.series.starts_with("seamless")
    });
    (experiment, sweep)
}

fn runs(experiment: &dyn Experiment, sweep: &Sweep) -> Done {
    runner::run(experiment, sweep, Done::new(), |_, _| true)
}

fn run(experiment: &dyn Experiment, sweep: &Sweep) -> Vec<Row> {
    runs(experiment, sweep).into_values().flatten().collect()
}

#[test]
fn rows_come_back_as_they_were_written() {
    let (experiment, sweep) = small();
    let rows = run(&*experiment, &sweep);
    assert_eq!(rows.len(), 3 * 2);
    let dir = tempfile::tempdir().unwrap();
    assert!(read(dir.path(), &*experiment).unwrap().is_none());
    write(dir.path(), &*experiment, &rows).unwrap();
    let text = fs::read_to_string(csv_path(dir.path(), &*experiment)).unwrap();
    assert_eq!(csv::read(&text, &*experiment).unwrap(), rows);
    assert_eq!(versions(dir.path(), &*experiment).unwrap(), [crate::VERSION.to_owned()].into());
    let error = read(dir.path(), &*experiment).unwrap_err().to_string();
    assert!(error.contains("places are missing"), "{error}");

    let file = File::open(dir.path().join("b08_fig07.parquet")).unwrap();
    let table =
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap();
    assert_eq!(table.num_rows(), 6);
    let column = |name| table.column_by_name(name).unwrap();
    assert_eq!(column("series").as_string::<i32>().value(0), "paper");
    let latencies = column("failover_latency").as_primitive::<Float64Type>();
    for (at, row) in rows.iter().enumerate() {
        let latency = row.metrics.iter().find(|(name, _)| name == "failover_latency").unwrap().1;
        assert_eq!(latencies.value(at), latency);
    }
    let counted = column("err_reset_ok");
    assert_eq!((counted.is_null(0), counted.is_null(5)), (false, true), "what was not measured is nothing");
}

#[test]
fn a_journal_gives_back_complete_runs_and_forgets_other_sweeps() {
    let (experiment, sweep) = small();
    let all = runs(&*experiment, &sweep);
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, done) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    assert!(done.is_empty());
    for (&run, rows) in all.iter().take(3) {
        journal.add(run, rows).unwrap();
    }
    drop(journal);
    // The program was killed while it wrote the third line.
    let path = dir.path().join("b08_fig07.journal");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 10]).unwrap();
    let (journal, done) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    assert_eq!(done, all.clone().into_iter().take(2).collect());
    assert_eq!(runner::run(&*experiment, &sweep, done, |_, _| true), all);
    drop(journal);
    let other = Sweep { repetitions: 3, ..sweep };
    let (_, done) = Journal::open(dir.path(), &*experiment, &other).unwrap();
    assert!(done.is_empty());
}

/// The first run of the first cell.
const FIRST: Run = Run { cell: 0, repetition: 0 };

/// An experiment of one's own whose file has been changed since: what was run before is another experiment.
#[test]
fn a_journal_forgets_what_was_set_up_otherwise() {
    let text = include_str!("../../../docs/lab/warning.toml");
    let open = |text: &str, dir| {
        let experiment = crate::own::load("warning.toml", text).unwrap();
        let sweep = Sweep { repetitions: 1, ..Sweep::whole(&*experiment, 1) };
        Journal::open(dir, &*experiment, &sweep).unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, _) = open(text, dir.path());
    journal.add(FIRST, &[]).unwrap();
    drop(journal);
    assert_eq!(open(text, dir.path()).1.len(), 1);
    assert_eq!(open(&text.replace("rate = ", "rate = 1"), dir.path()).1.len(), 0);
}

/// An experiment of one's own, run twice, and its file.
fn own() -> (Box<dyn Experiment>, tempfile::TempDir, String) {
    let text = include_str!("../../../docs/lab/warning.toml").replace("duration = 60", "duration = 3");
    let experiment = crate::own::load("warning.toml", &text).unwrap();
    let cells = experiment.cells().into_iter();
    let row = |cell: crate::Cell, repetition| Row {
        series: cell.series,
        axes: cell.axes,
        repetition,
        seed: experiment.seed(repetition),
        metrics: vec![(experiment.metrics()[0].clone(), 1.5)],
    };
    let rows: Vec<Row> = cells.flat_map(|cell| [row(cell.clone(), 0), row(cell, 1)]).collect();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &*experiment, &rows).unwrap();
    assert_eq!(read(dir.path(), &*experiment).unwrap().unwrap(), rows);
    let text = fs::read_to_string(csv_path(dir.path(), &*experiment)).unwrap();
    (experiment, dir, text)
}

#[test]
fn a_file_that_is_not_as_it_was_written_is_refused() {
    let (experiment, dir, text) = own();
    let error = |text: &str| {
        fs::write(csv_path(dir.path(), &*experiment), text).unwrap();
        read(dir.path(), &*experiment).unwrap_err().to_string()
    };
    let lines: Vec<&str> = text.lines().collect();
    let without = |number: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != number);
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let last = lines.len() - 1;
    for (text, expected) in [
        (text[..text.len() - 3].to_owned(), "the last line is cut off"),
        (without(last), "one place has 2 repetitions and another has 1"),
        (
            without(last).lines().take(last - 1).map(|line| format!("{line}\n")).collect(),
            "places are missing",
        ),
        (lines[0].to_owned() + "\n", "it has no rows"),
        (without(0), "other columns"),
        (format!("{text}{}\n", lines[last]), "this row is there twice"),
        (format!("{text}{},7\n", lines[last]), "cannot be read"),
        (text.replacen("warning,", "other,", 1), "line 2 cannot be read"),
        (text.replacen(",1.5", ",oops", 1), "line 2 cannot be read"),
        (text.replacen(crate::VERSION, "0.1\u{1b}[31m+1.2", 1), "is no version of the program"),
        (text.replacen("warning,seamless", "warning,nobody", 1), "no such place"),
        (text.replacen(&experiment.seed(0).to_string(), "77", 1), "the seed"),
    ] {
        let error = error(&text);
        assert!(error.contains(expected) && error.contains("warning.csv"), "{expected}: {error}");
    }
}

/// Runs that yield a row for each packet or step, once each: whichever row is missing, it is noticed.
#[test]
fn no_row_of_a_run_can_be_missing() {
    let papers = Papers::load().unwrap();
    let names = ["b08_dar".to_owned(), "b08_fig12".to_owned()];
    for experiment in crate::figures::named(&papers, &names).unwrap() {
        let rows = run(&*experiment, &Sweep { repetitions: 1, ..Sweep::whole(&*experiment, 2) });
        assert!(rows.len() > experiment.cells().len());
        assert_eq!(check::complete(&*experiment, &rows), Ok(()));
        for missing in 0..rows.len() {
            let (mut left, at) = (rows.clone(), &rows[missing]);
            left.remove(missing);
            let error = check::complete(&*experiment, &left).expect_err(&format!("{at:?}"));
            assert!(error.contains("missing") || error.contains("lack"), "{error}");
        }
        let step = |row: &Row| {
            let named = |axis: &str, is: &str| {
                row.axes.iter().any(|(name, value)| name == axis && value.to_string() == is)
            };
            named("case", "C") && named("step", "s4")
        };
        if let Some(missing) = rows.iter().position(step) {
            let mut left = rows.clone();
            left.remove(missing);
            let error = check::complete(&*experiment, &left).unwrap_err();
            assert_eq!(error, "paper case=C, repetition 0: the row step=s4 is missing");
        }
    }
}

/// Where nothing says which rows a run yields, its repetitions say it; hosts are known in any case.
#[test]
fn runs_of_one_place_have_the_same_rows() {
    let text = include_str!("../../../docs/lab/neighbour.toml");
    let experiment = crate::own::load("neighbour.toml", text).unwrap();
    let row = |cell: &crate::Cell, axis: &'static str, value: &str, repetition| {
        let mut axes = cell.axes.clone();
        axes.push((axis.into(), value.into()));
        let seed = experiment.seed(repetition);
        Row { series: cell.series.clone(), axes, repetition, seed, metrics: Vec::new() }
    };
    for (axis, repetitions) in [("host", 1), ("host", 2), ("another", 2)] {
        let cells = experiment.cells();
        let mut rows: Vec<Row> = cells
            .iter()
            .flat_map(|cell| (0..repetitions).map(move |repetition| (cell, repetition)))
            .flat_map(|(cell, repetition)| {
                ["caller", "neighbour"].map(|host| row(cell, axis, host, repetition))
            })
            .collect();
        assert_eq!(check::complete(&*experiment, &rows), Ok(()));
        rows.pop();
        let error = check::complete(&*experiment, &rows).unwrap_err();
        let last = format!("repetition {}: the row {axis}=neighbour is missing", repetitions - 1);
        assert!(error.ends_with(&last), "{error}");
    }
}

/// Somebody keeps results elsewhere, or lays a trap in a directory that many write to.
#[test]
#[cfg(unix)]
fn links_are_replaced_and_not_followed() {
    let (experiment, dir, text) = own();
    let victim = dir.path().join("victim");
    for name in [
        "warning.csv",
        "warning.csv.whimbrel-new",
        "warning.parquet",
        "warning.parquet.whimbrel-new",
        "warning.journal",
    ] {
        let link = dir.path().join(name);
        let _ = fs::remove_file(&link);
        fs::write(&victim, "").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
    }
    let rows = csv::read(&text, &*experiment).unwrap();
    write(dir.path(), &*experiment, &rows).unwrap();
    let sweep = Sweep::whole(&*experiment, 1);
    let (mut journal, _) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    journal.add(FIRST, &rows[..1]).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "");
    assert_eq!(read(dir.path(), &*experiment).unwrap().unwrap(), rows);
    assert_eq!(Journal::open(dir.path(), &*experiment, &sweep).unwrap().1.len(), 1);
    fs::remove_file(csv_path(dir.path(), &*experiment)).unwrap();
    fs::create_dir(csv_path(dir.path(), &*experiment)).unwrap();
    let error = read(dir.path(), &*experiment).unwrap_err().to_string();
    assert!(error.contains("no regular file"), "{error}");
}

/// What a user names himself: a link leads to where he wants it, and nothing else is taken away.
#[test]
#[cfg(unix)]
fn outputs_go_where_their_names_lead() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("real"), "old").unwrap();
    std::os::unix::fs::symlink(at("real"), at("link")).unwrap();
    write_to(&at("link"), b"new").unwrap();
    assert_eq!(fs::read_to_string(at("real")).unwrap(), "new");
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    std::os::unix::fs::symlink("/dev/null", at("null")).unwrap();
    write_to(&at("null"), b"gone").unwrap();
    assert!(fs::symlink_metadata(at("null")).unwrap().is_symlink());
    let error = write_to(dir.path(), b"").unwrap_err().to_string();
    assert_eq!(error, "it is a directory");
    let names = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(names, 3, "nothing is left beside");
    // A directory of files like any other, in the place where devices are.
    if let Ok(dir) = tempfile::tempdir_in("/dev/shm") {
        for content in ["longer", "short"] {
            write_to(&dir.path().join("file"), content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), content);
        }
    }
}

/// Whoever wrote the rows was ended before it had removed the journal, or before both files were there.
#[test]
fn what_an_end_at_a_bad_time_leaves_is_cleared() {
    let (experiment, sweep) = small();
    let all = runs(&*experiment, &sweep);
    let dir = tempfile::tempdir().unwrap();
    let path = journal::path(dir.path(), &*experiment, None);
    let (mut journal, _) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    for (at, (&run, rows)) in all.iter().enumerate() {
        Journal::clear(dir.path(), &*experiment, &sweep).unwrap();
        assert!(path.exists(), "it has {at} runs and is not whole");
        journal.add(run, rows).unwrap();
    }
    drop(journal);
    Journal::clear(dir.path(), &*experiment, &sweep).unwrap();
    assert!(!path.exists());
    Journal::clear(dir.path(), &*experiment, &sweep).unwrap();
}

/// Both files are there, or the run is made again.
#[test]
fn a_sweep_is_complete_when_both_files_are_whole() {
    let (experiment, dir, text) = own();
    let sweep = Sweep { repetitions: 2, ..Sweep::whole(&*experiment, 1) };
    let complete = || {
        let earlier = Earlier::find(dir.path(), &*experiment).unwrap()?;
        earlier.is_all_of(&sweep).then_some(earlier.rows)
    };
    let rows = csv::read(&text, &*experiment).unwrap();
    write(dir.path(), &*experiment, &rows).unwrap();
    assert_eq!(complete(), Some(rows.len()));
    let earlier = Earlier::find(dir.path(), &*experiment).unwrap().unwrap();
    assert_eq!(earlier.repetitions, [0, 1].into());
    let fewer = Sweep { repetitions: 1, ..Sweep::whole(&*experiment, 1) };
    let more = Sweep { repetitions: 3, ..Sweep::whole(&*experiment, 1) };
    assert_eq!([&fewer, &sweep, &more].map(|sweep| earlier.goes_beyond(sweep)), [true, false, false]);
    let columns = parquet_path(dir.path(), &*experiment);
    let whole = fs::read(&columns).unwrap();
    fs::write(&columns, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(complete(), None, "cut off");
    fs::remove_file(&columns).unwrap();
    assert_eq!(complete(), None, "gone");
}

#[test]
fn what_is_not_the_labs_keeps_its_place() {
    let (experiment, dir, _) = own();
    let path = csv_path(dir.path(), &*experiment);
    Earlier::find(dir.path(), &*experiment).unwrap();
    fs::write(&path, "").unwrap();
    Earlier::find(dir.path(), &*experiment).unwrap();
    fs::write(&path, "date,amount\n").unwrap();
    let error = Earlier::find(dir.path(), &*experiment).unwrap_err().to_string();
    assert!(error.contains("warning.csv is no table of the lab's; move it"), "{error}");
    fs::write(&path, [0xff]).unwrap();
    let error = Earlier::find(dir.path(), &*experiment).unwrap_err().to_string();
    assert!(error.contains("warning.csv is no table"), "{error}");
}

#[test]
fn a_journal_that_was_edited_is_refused() {
    let (experiment, sweep) = small();
    let (second, rows) = runs(&*experiment, &sweep).into_iter().nth(1).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    journal.add(second, &rows).unwrap();
    drop(journal);
    let path = dir.path().join("b08_fig07.journal");
    let text = fs::read_to_string(&path).unwrap();
    let open = |text: &str| {
        fs::write(&path, text).unwrap();
        Journal::open(dir.path(), &*experiment, &sweep).map(|(_, done)| done.len())
    };
    for (edited, line) in [
        (text.replace("\"repetition\":1", "\"repetition\":7"), "line 2 "),
        (text.replace("\"first\":0", "\"first\":1"), "line 1 "),
        (format!("hello\n{text}"), "line 1 "),
    ] {
        assert_ne!(edited, text);
        let error = open(&edited).unwrap_err().to_string();
        assert!(error.contains(line) && error.contains("remove it to begin again"), "{error}");
    }
    assert_eq!(open(&text).unwrap(), 1);
    assert_eq!(open("").unwrap(), 0, "nothing had been written yet");
}

/// What another program has begun is another sweep, however alike.
#[test]
fn a_journal_of_other_code_is_not_gone_on_with() {
    let (experiment, sweep) = small();
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    journal.add(FIRST, &[]).unwrap();
    drop(journal);
    let path = dir.path().join("b08_fig07.journal");
    let text = fs::read_to_string(&path).unwrap();
    let (before, code) = crate::VERSION.split_once('+').unwrap();
    assert!(code.len() == 16 && text.contains(code));
    journal::rewrite(&path, &|json| json.replace(code, "0123456789abcdef"));
    assert!(fs::read_to_string(&path).unwrap().contains(&format!("{before}+0123456789abcdef")));
    assert_eq!(Journal::open(dir.path(), &*experiment, &sweep).unwrap().1.len(), 0);
}

#[test]
fn a_directory_is_for_one_run_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = Lock::of(dir.path(), None).unwrap();
    let error = Lock::of(dir.path(), None).unwrap_err();
    assert!(error.to_string().contains("another run writes there"), "{error}");
    drop(first);
    let _first = Lock::of(dir.path(), None).unwrap();
    // Shards have files of their own.
    let shards = ["1/2", "2/2"].map(|shard| Some(shard.parse().unwrap()));
    let _held = shards.map(|shard| Lock::of(dir.path(), shard).unwrap());
    let error = Lock::of(dir.path(), shards[1]).unwrap_err();
    assert!(error.to_string().contains("another run writes there"), "{error}");
}
