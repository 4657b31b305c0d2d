use std::fs;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::figures;
use crate::scenario::Papers;

/// Whoever opens the file alone knows what is in it.
#[test]
fn columns_say_what_they_are() {
    let (dir, papers) = (tempfile::tempdir().unwrap(), Papers::load().unwrap());
    let says = |experiment: &dyn Experiment, column: &str| {
        let rows: Vec<Row> = Vec::new();
        let bytes = |name: &str| {
            let path = dir.path().join(name);
            write(File::create(&path).unwrap(), experiment, &rows).unwrap();
            fs::read(path).unwrap()
        };
        assert_eq!(bytes("once"), bytes("twice"), "no order of a hash is in it");
        let file = File::open(dir.path().join("once")).unwrap();
        let schema = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone();
        let metadata = schema.field_with_name(column).unwrap().metadata().clone();
        ["unit", "definition"].map(|key| metadata.get(key).cloned().unwrap_or_default())
    };
    let fig07 = figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let [unit, definition] = says(&*fig07, "failover_latency");
    assert!(unit == "s" && definition.starts_with("break -> instant the sender promotes"), "{definition}");
    let [unit, definition] = says(&*fig07, "qs");
    assert_eq!(
        (unit.as_str(), definition.as_str()),
        ("packets", "packets that wait at most for an access network")
    );
    let [unit, definition] = says(&*fig07, "spurious_fraction");
    assert!(unit.is_empty() && definition.starts_with("share of runs"), "{definition}");
    let [_, definition] = says(&*fig07, "series");
    assert!(definition.contains("seamless: Config::mobile() and the seamless policy"), "{definition}");
    let warning = crate::own::load("w.toml", include_str!("../../../../docs/lab/warning.toml")).unwrap();
    let axis = warning.axes()[0].to_string();
    let [unit, definition] = says(&*warning, &axis);
    assert!(unit == "s" && !definition.is_empty(), "{axis}: {unit}; {definition}");
    // Each column of everything there is.
    for experiment in figures::all(&papers).unwrap() {
        for column in experiment.axes().iter().chain(&experiment.metrics()) {
            let [unit, definition] = says(&*experiment, column);
            let meaning = experiment.meaning(column);
            assert_eq!((unit, definition), (meaning.unit, meaning.definition), "{column}");
        }
    }
}
