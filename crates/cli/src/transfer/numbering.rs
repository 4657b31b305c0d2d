//! Names for what may not have the name it was offered under: `film.mkv.1`, `film.mkv.2`, …

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::names::MAX_NAME;

/// A name with a number behind it, cut where it would be too long.
pub(super) fn numbered(name: &OsStr, number: u32) -> Vec<u8> {
    let suffix = format!(".{number}");
    let mut out = name.as_bytes().to_vec();
    out.truncate(MAX_NAME - suffix.len());
    out.extend_from_slice(suffix.as_bytes());
    out
}

/// A number that is free while the one below it is taken. Where numbers are taken from 1 on without a gap it is the
/// lowest one. Asks twice per binary digit of the answer, not once per number: names are taken by the ten thousand.
pub(super) fn free_number(mut taken: impl FnMut(u32) -> io::Result<bool>) -> io::Result<u32> {
    let (mut below, mut free) = (0, 1_u32);
    while taken(free)? {
        below = free;
        free = free.checked_mul(2).ok_or(io::ErrorKind::AlreadyExists)?;
    }
    while free - below > 1 {
        let middle = below + (free - below) / 2;
        if taken(middle)? { below = middle } else { free = middle }
    }
    Ok(free)
}

#[cfg(test)]
#[path = "numbering_tests.rs"]
mod tests;
