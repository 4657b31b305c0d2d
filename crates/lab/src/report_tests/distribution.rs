use super::*;

/// Ten runs, of which one is slower than the others.
fn skewed(slowest: f64) -> Vec<Row> {
    let row = |repetition: u64| {
        let places = [
            ("pair", "wlan-umts".into()),
            ("src", "cbr45".into()),
            ("qs", Value::from(10)),
            ("pmr", 1.into()),
        ];
        let latency = if repetition == 9 { slowest } else { 0.1 + 0.001 * repetition as f64 };
        let axes =
            places.into_iter().map(|(name, value): (&'static str, Value)| (name.into(), value)).collect();
        let metrics = vec![("failover_latency".into(), latency)];
        Row { series: PAPER.into(), axes, repetition, seed: 0, metrics }
    };
    (0..10).map(row).collect()
}

fn charts(slowest: f64) -> (Chart, Option<Chart>) {
    let papers = Papers::load().unwrap();
    let experiment = figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let groups = summarise(&*experiment, &skewed(slowest));
    let plot = &experiment.plots()[0];
    (Chart::of(&*experiment, plot, &groups), Chart::distribution(&*experiment, plot, &groups))
}

#[test]
fn a_mean_in_the_interval_of_the_median_is_typical() {
    let (chart, distribution) = charts(0.2);
    assert!(chart.lines[0].points[0].median.is_none() && distribution.is_none());
}

#[test]
fn where_the_mean_hangs_on_a_few_runs_the_median_and_all_runs_are_shown() {
    let papers = Papers::load().unwrap();
    let experiment = figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let mut rows = skewed(0.109);
    // Two of thirty runs take fifty times as long.
    for (number, row) in rows.clone().into_iter().cycle().take(20).enumerate() {
        let metrics = vec![("failover_latency".into(), if number < 2 { 5.0 } else { 0.1 })];
        rows.push(Row { repetition: 10 + number as u64, metrics, ..row });
    }
    let groups = summarise(&*experiment, &rows);
    let plot = &experiment.plots()[0];
    let chart = Chart::of(&*experiment, plot, &groups);
    let median = chart.lines[0].points[0].median.unwrap();
    assert!((0.1..0.11).contains(&median), "{median}");
    let values = values::Values::of(&chart, 30).unwrap();
    assert!(values.rows[0].1[0].ends_with(", median 0.1"), "{:?}", values.rows[0]);
    let all = Chart::distribution(&*experiment, plot, &groups).unwrap();
    assert_eq!(all.lines[0].label, "timers, CBR-45 (queue 10), pmr = 1");
    let points = &all.lines[0].points;
    assert_eq!((points.len(), points[0].y, points[30].y), (31, 0.0, 100.0));
    assert!(points.is_sorted_by(|a, b| a.x <= b.x && a.y < b.y));
    assert_eq!(points[30].x, 5.0);
    assert!(all.lines[0].stepped);
}
