//! JSON text sequences (RFC 7464), text by text.

use std::io::{BufRead, Read};

use anyhow::{Context, ensure};
use serde_json::Value;

/// Begins each text.
const RECORD_SEPARATOR: u8 = 0x1e;
/// Bytes of a text at most: an event has some hundred.
const TEXT_MAX: u64 = 1 << 20;

/// The texts of a sequence, each with the line where it begins.
pub(super) struct Texts<R> {
    reader: R,
    line: usize,
    buffer: Vec<u8>,
    /// The last text was not whole (RFC 7464 section 2.3): the file was being written when it was read.
    pub(super) is_cut_off: bool,
}

impl<R: BufRead> Texts<R> {
    /// # Errors
    /// It does not begin as a sequence does.
    pub(super) fn new(mut reader: R) -> anyhow::Result<Self> {
        let first = reader.fill_buf()?.first().copied();
        ensure!(first.is_some(), "it is empty");
        ensure!(
            first == Some(RECORD_SEPARATOR),
            "line 1: no JSON text sequence, which begins with the byte 1e"
        );
        reader.consume(1);
        Ok(Self { reader, line: 1, buffer: Vec::new(), is_cut_off: false })
    }

    /// The next text and its line; `None` at the end.
    ///
    /// # Errors
    /// It is no JSON, or too long, in words that name the line.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<(usize, Value)>> {
        loop {
            let line = self.line;
            self.buffer.clear();
            let limit = TEXT_MAX + 1;
            let read = self.reader.by_ref().take(limit).read_until(RECORD_SEPARATOR, &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            let is_last = self.buffer.pop_if(|byte| *byte == RECORD_SEPARATOR).is_none();
            ensure!((read as u64) < limit, "line {line}: longer than {TEXT_MAX} bytes");
            self.line += self.buffer.iter().filter(|byte| **byte == b'\n').count();
            if self.buffer.trim_ascii().is_empty() {
                continue;
            }
            if is_last && self.buffer.last() != Some(&b'\n') {
                self.is_cut_off = true;
                return Ok(None);
            }
            let text = serde_json::from_slice(&self.buffer);
            return Ok(Some((line, text.with_context(|| format!("line {line}: no JSON"))?)));
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
