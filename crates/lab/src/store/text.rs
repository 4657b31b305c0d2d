//! Files as text.

use std::path::Path;
use std::{fs, io};

/// What a file says; `None` if there is none. Pipes and devices may never end.
pub(crate) fn text(path: &Path) -> io::Result<Option<String>> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(error)),
        Ok(what) if !what.is_file() => {
            let what = format!("{} is no regular file", path.display());
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        }
        Ok(_) => decoded(fs::read(path).map_err(named)?).map(Some).map_err(|what| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
        }),
    }
}

/// The text in a file. A last line that was cut off, perhaps in the middle of a letter, stays one that is cut off.
fn decoded(bytes: Vec<u8>) -> Result<String, String> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let (whole, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
    if !bytes[whole..].contains(&b'\n') {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    let line = 1 + bytes[..whole].iter().filter(|byte| **byte == b'\n').count();
    Err(format!(
        "line {line} is no text (UTF-8), so that the file is not as it was written; remove it, and make it again"
    ))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
