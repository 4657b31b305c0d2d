use super::super::rows::{Tone, plain};
use super::*;

fn row(cells: [&str; 11]) -> Row {
    Row { cells: cells.map(str::to_owned), tone: Tone::Standby }
}

/// The longest of everything.
fn longest() -> Row {
    row([
        "4194304 perf server",
        "18446744073709551615 65535→65535",
        "2001:db8:1111:2222:3333:4444:5555:6666%wlp0s20f3abcde",
        "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
        "potentially failed",
        "in use, primary, by the network",
        "123456.7 ms",
        "1048576 KiB",
        "999.9 M / 999.9 M",
        "9.99 G / 99.99 G",
        "-101 dBm metered",
    ])
}

#[test]
fn nothing_is_wider_than_eighty_columns() {
    let all = lines(&longest(), None, 80);
    assert!(all.iter().all(|line| line.chars().count() <= 80), "{all:#?}");
    for width in [1, 7, 20, 40] {
        let narrow = lines(&longest(), None, width);
        assert!(narrow.iter().all(|line| line.chars().count() <= width.max(5)), "{narrow:#?}");
    }
    let text = all.join("\n");
    for cell in &longest().cells {
        assert!(text.contains(cell.as_str()), "{cell} is missing in\n{text}");
    }
}

#[test]
fn what_is_said_where_there_is_nothing_fits_too() {
    for text in [plain(&[], &[], Some(60)), plain(&[], &["process 1 ".repeat(20)], Some(80))] {
        assert!(text.lines().count() > 1 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert_eq!(plain(&[], &[], None).lines().count(), 1, "programs look for lines");
}

#[test]
fn an_association_is_named_once() {
    let first = row([
        "7 send",
        "3 5→6",
        "192.0.2.7%if0",
        "203.0.113.1:9899",
        "active",
        "in use, primary",
        "12.3 ms",
        "15 KiB",
        "",
        "",
        "",
    ]);
    let mut second = first.clone();
    second.cells[2] = "198.51.100.7%if1".into();
    assert_eq!(
        lines(&first, None, 80),
        [
            "7 send  3 5→6",
            "  192.0.2.7%if0  → 203.0.113.1:9899",
            "    active  in use, primary  RTT 12.3 ms  cwnd 15 KiB"
        ]
    );
    assert_eq!(lines(&second, Some(&first), 80)[0], "  198.51.100.7%if1  → 203.0.113.1:9899");
    second.cells[1] = "4 5→6".into();
    assert_eq!(lines(&second, Some(&first), 80)[0], "7 send  4 5→6");
}
