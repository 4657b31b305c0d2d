use std::time::{Duration, Instant, SystemTime};

use super::super::arrivals::Pause;
use super::super::samples::Traffic;
use super::super::{Story, Timeline};
use super::*;

fn story() -> Story {
    let begin = Instant::now();
    let at = |millis| begin + Duration::from_millis(millis);
    let millis = Duration::from_millis;
    Story {
        timeline: Timeline {
            begin,
            begin_unix: SystemTime::now(),
            cut: at(4000),
            back: Some(at(9000)),
            end: at(12_000),
        },
        pause: Pause { gap: millis(321), begin: at(3999), typical: millis(1), longest_before: millis(20) },
        traffic: Traffic {
            points: [
                vec![Point { at: 3.9, sent: 1.0, lost: true }],
                vec![Point { at: 4.3, sent: 2.0, lost: false }],
            ],
            rates: [vec![1.0, 2.0], vec![0.0, 3.0]],
            bytes: [10, 30],
            lost: 1,
        },
        overheard: [
            Overheard { packets: 3, sealed: 2, sample: b"A<b>\0".to_vec(), ..Overheard::default() },
            Overheard { packets: 4, sealed: 3, ..Overheard::default() },
        ],
        retransmitted: 1,
        bytes: 40_000_000,
        hash: blake3::hash(b"x"),
        moves: vec![(0.0, 0), (4.2, 1), (9.5, 0)],
    }
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let page = render(&story()).unwrap();
    for text in ["321 ms", "200 ms later", "0.50 s later", "(75 %)"] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("A script in this page draws the chart").count(), 3, "for who runs no scripts");
    assert!(page.contains("MIT License"), "the chart library's licence travels with it");
    assert!(!page.contains("{{"), "a placeholder was left");
    let own = page.replace(CHART_SCRIPT, "").replace(CHART_STYLE, "");
    for outside in ["src=", "href=\"http", "@import", "url("] {
        assert!(!own.contains(outside), "{outside}");
    }
}

#[test]
fn what_a_listener_has_is_shown() {
    let page = render(&story()).unwrap();
    for text in ["has 7 packets, of which 5 are sealed", "In none of them", "41 3c 62 3e 00  A&#60;b&#62;."] {
        assert!(page.contains(text), "{text}");
    }
    let mut story = story();
    story.overheard[1].revealing = 2;
    let page = render(&story).unwrap();
    assert!(page.contains("In 2 of them the file's name was found") && !page.contains("In none of them"));
}

#[test]
fn scripts_cannot_end_early() {
    let page = render(&story()).unwrap();
    let opened = page.matches("<script").count();
    assert_eq!(opened, page.matches("</script>").count());
}
