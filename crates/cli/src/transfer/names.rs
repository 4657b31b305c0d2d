//! File names from a peer: what is allowed, and how they are shown.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// Name of the directory that holds unfinished files, inside the receiver's directory.
pub(crate) const PARTIAL_DIRECTORY: &str = ".whimbrel-partial";
/// Longest name of a file or directory, bytes (NAME_MAX nearly everywhere).
pub(crate) const MAX_NAME: usize = 255;
/// Deepest nesting.
pub(crate) const MAX_DEPTH: usize = 64;
/// Longest path in total, bytes, separators included.
pub(crate) const MAX_PATH: usize = 4000;

/// A path below the receiver's directory, as a list of names: there are no separators to be parsed.
///
/// Comes from the network unchecked; [`RelativePath::check`] must pass before it meets the file system.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RelativePath(Vec<Vec<u8>>);

/// Why a name is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum BadName {
    /// No component, or an empty one.
    #[error("a name is empty")]
    Empty,
    /// `.` or `..`.
    #[error("a name is \".\" or \"..\"")]
    Dots,
    /// A slash, backslash or NUL inside a name.
    #[error("names with /, \\ or NUL mean something else elsewhere; rename it here")]
    Separator,
    /// More than 255 bytes.
    #[error("a name is longer than {MAX_NAME} bytes")]
    TooLong,
    /// Too many components or bytes.
    #[error("the path is longer than {MAX_PATH} bytes or deeper than {MAX_DEPTH} directories")]
    TooDeep,
    /// A name that begins with a dot, where such names are not taken.
    #[error("hidden names, which begin with a dot, are refused (the receiver can run with --hidden)")]
    Hidden,
    /// It would go among our own unfinished files.
    #[error("{PARTIAL_DIRECTORY} is reserved")]
    Reserved,
}

impl RelativePath {
    /// Takes components without judging them.
    pub(crate) fn unchecked(components: Vec<Vec<u8>>) -> Self {
        Self(components)
    }

    /// A path from names of this host, checked.
    pub(crate) fn from_names<'a>(names: impl IntoIterator<Item = &'a OsStr>) -> Result<Self, BadName> {
        let path = Self(names.into_iter().map(|name| name.as_bytes().to_vec()).collect());
        path.check()?;
        Ok(path)
    }

    /// Whether it can only name something below the directory it is applied to, provided symbolic links are not
    /// followed.
    pub(crate) fn check(&self) -> Result<(), BadName> {
        if self.0.is_empty() {
            return Err(BadName::Empty);
        }
        let total: usize = self.0.iter().map(|name| name.len() + 1).sum();
        if self.0.len() > MAX_DEPTH || total > MAX_PATH {
            return Err(BadName::TooDeep);
        }
        if self.0[0].eq_ignore_ascii_case(PARTIAL_DIRECTORY.as_bytes()) {
            return Err(BadName::Reserved);
        }
        self.0.iter().try_for_each(|name| check_name(name))
    }

    /// Whether one of its names begins with a dot. Programs obey such files unasked (`.bashrc`,
    /// `.ssh/authorized_keys`), and users do not see them.
    pub(crate) fn is_hidden(&self) -> bool {
        self.0.iter().any(|name| name.starts_with(b"."))
    }

    /// The names, outermost first.
    pub(crate) fn components(&self) -> &[Vec<u8>] {
        &self.0
    }

    /// The directories above it, outermost first.
    pub(crate) fn parents(&self) -> impl Iterator<Item = &OsStr> {
        let count = self.0.len().saturating_sub(1);
        self.0[..count].iter().map(|name| OsStr::from_bytes(name))
    }

    /// The last name.
    pub(crate) fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.0.last().map_or(&[], Vec::as_slice))
    }

    /// The bytes of the path where they are not those that are shown; `None` also of one that is longer than any that is
    /// accepted.
    pub(crate) fn encoded(&self) -> Option<String> {
        let bytes = self.0.join(&b'/');
        let ambiguous = self.0.iter().any(|name| name.contains(&b'/'));
        let differs = ambiguous || self.to_string().as_bytes() != bytes;
        (differs && bytes.len() < MAX_PATH).then(|| {
            let names: Vec<String> = self.0.iter().map(|name| encoded(name)).collect();
            names.join("/")
        })
    }

    /// The same path with another last name.
    pub(crate) fn with_name(&self, name: Vec<u8>) -> Self {
        let mut components = self.0.clone();
        components.pop();
        components.push(name);
        Self(components)
    }
}

fn check_name(name: &[u8]) -> Result<(), BadName> {
    if name.is_empty() {
        return Err(BadName::Empty);
    }
    if name == b"." || name == b".." {
        return Err(BadName::Dots);
    }
    // The backslash separates on other systems: a tree received here may be copied there.
    if name.iter().any(|byte| matches!(byte, b'/' | b'\\' | 0)) {
        return Err(BadName::Separator);
    }
    if name.len() > MAX_NAME {
        return Err(BadName::TooLong);
    }
    Ok(())
}

impl fmt::Display for RelativePath {
    /// Safe for a terminal, also if it was not checked: no control characters, and no more than could be accepted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = 0;
        for (index, name) in self.0.iter().enumerate() {
            shown += name.len() + 1;
            if shown > MAX_PATH || index >= MAX_DEPTH {
                return f.write_str("/…");
            }
            if index > 0 {
                f.write_str("/")?;
            }
            f.write_str(&printable(&String::from_utf8_lossy(name)))?;
        }
        Ok(())
    }
}

/// Text from a peer made safe for a terminal: control characters, bidirectional overrides and other invisible
/// characters come out as `\u{…}`.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    out
}

/// Every byte but letters, digits and `-._~` as `%` and two hexadecimal digits (RFC 3986 §2.1, §2.3).
fn encoded(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
