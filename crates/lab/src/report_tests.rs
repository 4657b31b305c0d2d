use super::*;
use crate::figures;
use crate::runner::{self, Progress, Sweep};

#[test]
fn a_report_is_one_file_with_charts_verdicts_and_nothing_from_elsewhere() {
    let papers = Papers::load().unwrap();
    let experiment = figures::named(&papers, &["b08_fig12".to_owned()]).unwrap().remove(0);
    let mut rows = Vec::new();
    runner::run(&*experiment, &Sweep::whole(&*experiment, 2), |progress| {
        if let Progress::Cell(_, cell) = progress {
            rows.extend(cell);
        }
        true
    });
    let html = html(&papers, &Claims::load().unwrap(), &[Done { experiment, rows }]).unwrap();
    for needed in [
        "b08-fig12-wlan",
        "class=\"verdict\">holds<",
        "data-plot=\"2\"",
        "bandwidth known",
        "lab run b08_fig12",
    ] {
        assert!(html.contains(needed), "{needed} is missing");
    }
    assert!(!html.contains("src=\"") && !html.contains("href=\"http"), "the page must need nothing else");
    assert!(html.contains("slow start from 1 MTU") && page::escape("<&\">") == "&lt;&amp;&quot;&gt;");
}
