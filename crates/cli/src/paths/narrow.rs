//! The paths where a table is wider than the screen: a few short lines for each.

use super::rows::{Row, widths};

/// Between two cells.
pub(super) const GAP: usize = 2;

/// Columns that the table takes.
pub(super) fn table_width(rows: &[Row]) -> usize {
    let widths = widths(rows);
    widths.iter().sum::<usize>() + GAP * (widths.len() - 1)
}

/// The lines of a path. Its process and association come first, unless they are those of the path `before` it.
pub(super) fn lines(row: &Row, before: Option<&Row>, width: usize) -> Vec<String> {
    let [process, association, local, remote, rest @ ..] = &row.cells;
    let mut out = Vec::new();
    if before.is_none_or(|before| before.cells[..2] != row.cells[..2]) {
        out.extend(wrap(&[process.clone(), association.clone()], 0, width));
    }
    out.extend(wrap(&[local.clone(), format!("→ {remote}")], 2, width));
    let [state, role, rtt, cwnd, rates, estimates, signal] = rest;
    let named =
        |name: &str, cell: &String| if cell.is_empty() { String::new() } else { format!("{name} {cell}") };
    let facts = [
        state.clone(),
        role.clone(),
        named("RTT", rtt),
        named("cwnd", cwnd),
        named("out/in", rates),
        named("available/capacity", estimates),
        signal.clone(),
    ];
    out.extend(wrap(&facts, 4, width));
    out
}

/// Cells one after the other, in as many lines as they need. What is longer than a line is broken.
fn wrap(cells: &[String], indent: usize, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let room = width.saturating_sub(indent).max(1);
    for cell in cells.iter().filter(|cell| !cell.is_empty()) {
        let needed = GAP + cell.chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + needed <= width => {
                line.push_str("  ");
                line.push_str(cell);
            }
            _ => {
                let letters: Vec<char> = cell.chars().collect();
                let pieces = letters.chunks(room).map(|piece| piece.iter().collect::<String>());
                lines.extend(pieces.map(|piece| format!("{:indent$}{piece}", "")));
            }
        }
    }
    lines
}

/// A sentence in lines of `width`, broken between words.
pub(super) fn sentence(text: &str, width: usize) -> String {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
#[path = "narrow_tests.rs"]
mod tests;
