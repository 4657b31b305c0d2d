use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::rows::Row;
use super::*;

fn screen(rows: &[Row], width: u16, height: u16) -> String {
    screen_with(rows, &[], width, height)
}

fn screen_with(rows: &[Row], failures: &[String], width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, rows, failures, &mut TableState::default())).unwrap();
    terminal.backend().to_string()
}

fn row() -> Row {
    let mut cells: [String; HEADER.len()] = Default::default();
    cells[2] = "192.0.2.7%wlan0".into();
    cells[4] = "active".into();
    Row { cells, tone: Tone::InUse }
}

#[test]
fn the_table_has_its_lines_and_says_how_to_leave() {
    let text = screen(&[row()], 140, 10);
    assert!(
        text.contains("192.0.2.7%wlan0") && text.contains("active") && text.contains("PROCESS"),
        "{text}"
    );
    assert!(text.contains("1 path") && text.contains("q quits"), "{text}");
    assert!(screen(&[], 140, 10).contains("no associations"));
    assert!(screen(&[], 80, 10).contains("of the same user)"), "all of the sentence is to be read");
}

#[test]
fn processes_that_do_not_answer_are_shown() {
    let many: Vec<String> = (0..9).map(|n| format!("process {n} does not answer")).collect();
    let text = screen_with(&[row()], &many, 140, 20);
    assert!(text.contains("192.0.2.7%wlan0") && text.contains("process 4 does not answer"), "{text}");
    assert!(!text.contains("process 5"), "there is an end to it: {text}");
    assert!(!screen_with(&[], &many, 140, 20).contains("no associations"));
    for (width, height) in [(1, 1), (5, 2), (20, 3)] {
        screen_with(&[row()], &many, width, height);
    }
}

#[test]
fn eighty_columns_show_all_of_a_path() {
    let cells = [
        "4711 send",
        "3 40000→7878",
        "192.0.2.7%wlan0",
        "203.0.113.1:9899",
        "potentially failed",
        "in use, primary",
        "12.3 ms",
        "15 KiB",
        "10.0 M / 54 k",
        "9.4 M / 10.0 M",
        "-97 dBm metered",
    ];
    let row = Row { cells: cells.map(str::to_owned), tone: Tone::InUse };
    let text = screen(&[row.clone(), row], 80, 12);
    for cell in cells {
        assert!(text.contains(cell), "{cell}: {text}");
    }
    assert_eq!(text.matches("potentially failed").count(), 2, "{text}");
}

/// No terminal is too small to live.
#[test]
fn tiny_terminals_do_no_harm() {
    for (width, height) in [(1, 1), (5, 2), (20, 3), (300, 1)] {
        screen(&[row(), row()], width, height);
        screen(&[], width, height);
    }
}

#[test]
fn these_keys_end_it() {
    let key = |code, modifiers| ends(KeyEvent::new(code, modifiers));
    assert!(key(KeyCode::Char('q'), KeyModifiers::NONE) && key(KeyCode::Esc, KeyModifiers::NONE));
    assert!(key(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(!key(KeyCode::Char('c'), KeyModifiers::NONE) && !key(KeyCode::Down, KeyModifiers::NONE));
}
