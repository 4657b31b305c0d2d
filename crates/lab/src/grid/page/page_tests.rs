use super::*;
use crate::experiment::Row;
use crate::grid::{Contender, Place, Trouble};

/// Rows of a place, with these goodputs of TCP with CUBIC and of ours.
fn rows(place: Place, goodputs: [f64; 4]) -> Vec<Row> {
    let of = |(contender, goodput): (Contender, f64)| Row {
        series: contender.name().into(),
        axes: place.axes(),
        repetition: 0,
        seed: 1,
        metrics: vec![
            ("goodput".into(), goodput),
            ("half_rate".into(), 0.1),
            ("half_rate_limit".into(), 0.2),
            ("queueing".into(), 0.03),
            ("retransmitted".into(), 0.01),
        ],
    };
    let [ours @ .., tcp] = [Contender::Mobile, Contender::Reno, Contender::Cubic, Contender::TcpCubic];
    let all = [tcp].into_iter().chain(ours);
    all.zip(goodputs).map(of).collect()
}

fn place(rtt: u64, queue: f64) -> Place {
    Place { rate: 100, rtt, queue, trouble: Trouble::Loss(0.0) }
}

#[test]
fn cells_are_counted_and_marked() {
    // Beside 1,460 bytes of TCP 1,428 are as much; 90 are less, 50 far less.
    let mut all = rows(place(50, 1.0), [97.3, 95.2, 90.0, 50.0]);
    all.extend(rows(place(50, 4.0), [97.3, 95.2, 95.2, 95.2]));
    let page = written(&all, &[], &BTreeSet::new());
    assert!(
        page.contains("| cells with the goodput of `tcp-cubic` or more | 2 of 2 | 1 of 2 | 1 of 2 |"),
        "{page}"
    );
    assert!(page.contains("| cells with 80 % of it or more | 2 of 2 | 2 of 2 | 1 of 2 |"), "{page}");
    assert!(page.contains("| goal for goodput met | **yes** | no | no |"), "{page}");
    assert!(page.contains("| 50 | 1 | none | 100 | 97.3 | 95.2 | 90.0 ↓ | **50.0** ⇊ |"), "{page}");
    // 30 ms of queue make 80 ms of 50.
    assert!(page.contains("below 1.5 of the empty path's | 0 of 1 |"), "{page}");
    assert!(page.contains("--series cubic --cell 'rate=100,rtt=50,queue=1,trouble=none'"), "{page}");
}

/// Flows on one path and associations on two have a table each, with the places where they were measured.
#[test]
fn who_uses_two_paths_has_a_table_of_its_own() {
    let row = |series: &'static str, place: Place| Row {
        series: series.into(),
        axes: place.axes(),
        repetition: 0,
        seed: 1,
        metrics: vec![("jain".into(), 0.9), ("first".into(), 1.25), ("second".into(), 0.75)],
    };
    let lossy = Place { trouble: Trouble::Loss(0.001), ..place(20, 1.0) };
    let fairness = [row("2 tcp-cubic + 2 tcp-reno", place(100, 4.0)), row("1 rpv2 + 1 tcp-cubic", lossy)];
    let page = written(&[], &fairness, &BTreeSet::new());
    assert!(page.contains("| | 100 Mbit/s, 100 ms, 4 BDP |\n"), "{page}");
    assert!(page.contains("| 2 tcp-cubic + 2 tcp-reno | 0.90; 1.25 and 0.75 |\n"), "{page}");
    assert!(page.contains("| | 100 Mbit/s, 20 ms, loss 0.1% |\n"), "{page}");
    assert!(page.contains("| 1 rpv2 + 1 tcp-cubic | 0.90; 1.25 and 0.75 |\n"), "{page}");
}
