use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;
use crate::runner::{self, Progress, Sweep};
use crate::scenario::Papers;

fn small() -> (Box<dyn Experiment>, Sweep) {
    let papers = Papers::load().unwrap();
    let experiment = crate::figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let mut sweep = Sweep { repetitions: 2, ..Sweep::whole(&*experiment, 2) };
    // One of the paper's with an error counter to look at, and one that lacks an axis.
    sweep.cells.retain(|_, cell| {
        cell.word("src") == "cbr45" && cell.word("pair") == "umts-wlan" && cell.count("qs") == 10
    });
    sweep.cells.retain(|_, cell| cell.series != "paper" || cell.count("pmr") == 1);
    (experiment, sweep)
}

fn run(experiment: &dyn Experiment, sweep: &Sweep) -> Vec<Row> {
    let mut cells = std::collections::BTreeMap::new();
    runner::run(experiment, sweep, |progress| {
        if let Progress::Cell(number, rows) = progress {
            cells.insert(number, rows);
        }
        true
    });
    cells.into_values().flatten().collect()
}

#[test]
fn rows_come_back_as_they_were_written() {
    let (experiment, sweep) = small();
    let rows = run(&*experiment, &sweep);
    assert_eq!(rows.len(), 3 * 2);
    let dir = tempfile::tempdir().unwrap();
    assert!(read(dir.path(), &*experiment).unwrap().is_none());
    write(dir.path(), &*experiment, &rows).unwrap();
    assert_eq!(read(dir.path(), &*experiment).unwrap().unwrap(), rows);

    let file = File::open(dir.path().join("b08_fig07.parquet")).unwrap();
    let parquet = SerializedFileReader::new(file).unwrap();
    assert_eq!(parquet.metadata().file_metadata().num_rows(), 6);
    let first = parquet.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let text = first.to_string();
    let latency = rows[0].metrics.iter().find(|(name, _)| name == "failover_latency").unwrap().1;
    assert!(
        text.contains("series: \"paper\"") && text.contains(&format!("failover_latency: {latency}")),
        "{text}"
    );
}

#[test]
fn a_journal_gives_back_complete_cells_and_forgets_other_sweeps() {
    let (experiment, sweep) = small();
    let rows = run(&*experiment, &sweep);
    let dir = tempfile::tempdir().unwrap();
    let (mut journal, done) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    assert!(done.is_empty());
    journal.add(3, &rows[..2]).unwrap();
    journal.add(5, &rows[2..4]).unwrap();
    drop(journal);
    // The program was killed while it wrote the second line.
    let path = dir.path().join("b08_fig07.journal");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 10]).unwrap();
    let (journal, done) = Journal::open(dir.path(), &*experiment, &sweep).unwrap();
    assert_eq!(done.into_iter().collect::<Vec<_>>(), [(3, rows[..2].to_vec())]);
    drop(journal);
    let other = Sweep { repetitions: 3, ..sweep };
    let (_, done) = Journal::open(dir.path(), &*experiment, &other).unwrap();
    assert!(done.is_empty());
}

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
    journal.add(0, &[]).unwrap();
    drop(journal);
    assert_eq!(open(text, dir.path()).1.len(), 1);
    assert_eq!(open(&text.replace("rate = ", "rate = 1"), dir.path()).1.len(), 0);
}
