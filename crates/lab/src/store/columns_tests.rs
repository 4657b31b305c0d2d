use super::*;
use crate::experiment::Axes;
use crate::own;

/// Values of all three kinds on axes of a file, of which each part has but some.
const MIXED: &str = r#"
title = "Mixed"
repetitions = 1
duration = 1
policies = ["rfc"]
[network.wifi]
rate = 10
delay = 5
kind = "wlan"
[traffic]
kind = "bulk"
size = 1000
[sweep]
"network.wifi.delay" = [5, 7.5]
"network.wifi.rank" = [0, 1]
"network.wifi.queue" = ["drop-tail", "per-flow"]
"#;

/// Whoever puts parts one behind the other must find columns that fit.
#[test]
fn a_part_has_the_types_of_the_whole() {
    let experiment = own::load("mixed", MIXED).unwrap();
    let row = |cell: Cell| Row {
        series: cell.series,
        axes: cell.axes,
        repetition: 0,
        seed: experiment.seed(0),
        metrics: Vec::new(),
    };
    let rows: Vec<Row> = experiment.cells().into_iter().map(row).collect();
    let whole = of(&*experiment, &rows).unwrap().schema();
    let types: Vec<String> = ["delay", "queue", "rank"]
        .map(|axis| whole.field_with_name(&format!("network.wifi.{axis}")).unwrap().data_type().to_string())
        .into();
    assert_eq!(types, ["Float64", "Utf8", "Int64"]);
    for part in rows.chunks(1).chain([&rows[..0]]) {
        assert_eq!(of(&*experiment, part).unwrap().schema(), whole);
    }
}

/// Rows may have values that no cell has, where one run yields several.
#[test]
fn rows_have_their_say() {
    let experiment = own::load("mixed", MIXED).unwrap();
    let axes: Axes = vec![("network.wifi.rank".into(), Value::Number(0.5))];
    let row = Row { series: "rfc".into(), axes, repetition: 0, seed: 0, metrics: Vec::new() };
    let table = of(&*experiment, &[row]).unwrap();
    let ranks: &Float64Array =
        table.column_by_name("network.wifi.rank").unwrap().as_any().downcast_ref().unwrap();
    assert_eq!(ranks.value(0).to_bits(), 0.5_f64.to_bits());
}
