//! Lines on stdout and stderr, without the panics of `println` and `eprintln`. A reader that has gone away is no failure, it has what
//! it wanted; a full disk under stdout is one, since whoever reads the file later would take half of it for all.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;
use std::time::SystemTime;

use serde_json::Value;

/// The first error, other than a closed pipe, that writing met. One for the process, as stdout is.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Letters of a line on stderr: an error may quote a file.
const LONGEST: usize = 1000;

/// Writes a line; what goes wrong is said at the end, by [`outcome`].
pub(crate) fn line(line: &str) {
    text(format!("{}\n", printable(line)).as_bytes());
}

/// Writes an event for programs, as [`text`] does: an object with its kind, and the time in seconds since 1970.
pub(crate) fn json_line(event: &str, mut fields: Value) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    fields["event"] = event.into();
    fields["time"] = (now.as_millis() as f64 / 1e3).into();
    text(format!("{}\n", printable(&fields.to_string())).as_bytes())
}

/// Writes text as it is, and says whether somebody still reads.
pub(crate) fn text(text: &[u8]) -> bool {
    let mut out = io::stdout().lock();
    note(out.write_all(text).and_then(|()| out.flush()))
}

/// Writes a line on stderr. Where that cannot be written to, nobody can be told.
pub(crate) fn complain(text: &str) {
    let lines = text.lines().map(|line| match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let _ = writeln!(io::stderr().lock(), "{}", printable(&text));
}

/// Names of files, and words in them, may hold what makes a terminal do things, or turns the direction of text (Unicode Annex 9): that is
/// written out as in JSON (RFC 8259 §7), for lines of JSON come this way, too.
fn printable(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| {
        (letter.is_control() && !"\n\t".contains(letter))
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(acts) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if acts(letter) {
            // All of them are in the basic plane.
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    out.into()
}

fn note(result: io::Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) => {
            if error.kind() != ErrorKind::BrokenPipe {
                let _ = FAILED.set(error);
            }
            false
        }
    }
}

/// Whether everything that was to be written has been.
///
/// # Errors
/// The first reason why something could not be.
pub(crate) fn outcome() -> anyhow::Result<()> {
    match FAILED.get() {
        Some(error) => Err(anyhow::anyhow!("cannot write to standard output: {error}")),
        None => Ok(()),
    }
}
