use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::rows::Row;
use super::*;

fn screen(rows: &[Row], width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, rows, &mut TableState::default())).unwrap();
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
