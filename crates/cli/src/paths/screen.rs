//! The live table on a terminal.

use std::io;
use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Row as Cells, Table, TableState, Wrap};
use tokio::runtime::Handle;

use super::narrow;
use super::rows::{HEADER, NOTHING, Row, Sample, Tone, widths};
use crate::control::ask_all;

/// How long a key may wait.
const KEY: Duration = Duration::from_millis(100);

/// Processes that do not answer, shown at most.
const FAILURES_SHOWN: u16 = 5;

/// Shows the table until q, Esc or Ctrl-C. Whatever ends it, a panic too, the terminal is given back as it was.
pub(super) fn show(runtime: &Handle, interval: Duration) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let outcome = (|| {
        let mut sample = Sample::take(runtime.block_on(ask_all())?, None);
        let mut looked = Instant::now();
        let mut state = TableState::default();
        loop {
            let rows = sample.rows();
            let failures = sample.failures();
            terminal.draw(|frame| draw(frame, &rows, &failures, &mut state))?;
            if event::poll(KEY)? {
                match event::read()? {
                    Event::Key(key) if ends(key) => return Ok(()),
                    Event::Key(key) if key.kind != KeyEventKind::Release => scroll(key.code, &mut state),
                    _ => {}
                }
            }
            if looked.elapsed() >= interval {
                looked = Instant::now();
                sample = Sample::take(runtime.block_on(ask_all())?, Some(&sample));
            }
        }
    })();
    ratatui::try_restore()?;
    outcome
}

fn ends(key: KeyEvent) -> bool {
    key.kind != KeyEventKind::Release
        && (matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
            || (key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)))
}

fn scroll(key: KeyCode, state: &mut TableState) {
    match key {
        KeyCode::Down | KeyCode::Char('j') => state.select_next(),
        KeyCode::Up | KeyCode::Char('k') => state.select_previous(),
        KeyCode::Home => state.select_first(),
        KeyCode::End => state.select_last(),
        _ => {}
    }
}

fn draw(frame: &mut Frame<'_>, rows: &[Row], failures: &[String], state: &mut TableState) {
    let room = u16::try_from(failures.len()).unwrap_or(u16::MAX).min(FAILURES_SHOWN);
    let heights =
        [Constraint::Length(1), Constraint::Min(1), Constraint::Length(room), Constraint::Length(1)];
    let [title, body, below, footer] = Layout::vertical(heights).areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let heading = format!("whimbrel paths: {} path{}", rows.len(), if rows.len() == 1 { "" } else { "s" });
    frame.render_widget(Line::styled(heading, bold), title);
    frame.render_widget(Line::styled("q quits, arrows scroll", Style::new().fg(Color::DarkGray)), footer);
    frame.render_widget(Paragraph::new(failures.join("\n")).style(Style::new().fg(Color::Yellow)), below);
    if rows.is_empty() {
        let text = if failures.is_empty() { NOTHING } else { "" };
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), body);
        return;
    }
    let room = usize::from(body.width);
    if narrow::table_width(rows) > room {
        let before = core::iter::once(None).chain(rows.iter().map(Some));
        let lines = rows.iter().zip(before).map(|(row, before)| {
            let lines = narrow::lines(row, before, room);
            let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
            Cells::new([lines.join("\n")]).height(height).style(style(row.tone))
        });
        let list = Table::new(lines, [Constraint::Fill(1)])
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        frame.render_stateful_widget(list, body, state);
        return;
    }
    let columns = widths(rows).map(|width| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
    let lines = rows.iter().map(|row| Cells::new(row.cells.clone()).style(style(row.tone)));
    let table = Table::new(lines, columns)
        .header(Cells::new(HEADER).style(bold))
        .column_spacing(narrow::GAP as u16)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, body, state);
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::InUse => Style::new().fg(Color::Green),
        Tone::Standby => Style::new(),
        Tone::Doubtful => Style::new().fg(Color::Yellow),
        Tone::Dead => Style::new().fg(Color::Red),
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
