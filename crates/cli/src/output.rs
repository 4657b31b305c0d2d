//! Lines on stdout and stderr, without the panics of `println` and `eprintln`. A reader that has gone away is no failure, it has what
//! it wanted; a full disk under stdout is one, since whoever reads the file later would take half of it for all.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// The first error, other than a closed pipe, that writing met. One for the process, as stdout is.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Writes a line; what goes wrong is said at the end, by [`outcome`].
pub(crate) fn line(text: &str) {
    let mut out = io::stdout().lock();
    note(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Writes text as it is, and says whether somebody still reads.
pub(crate) fn text(text: &[u8]) -> bool {
    let mut out = io::stdout().lock();
    note(out.write_all(text).and_then(|()| out.flush()))
}

/// Writes a line on stderr. Where that cannot be written to, nobody can be told.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
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
