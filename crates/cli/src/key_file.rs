//! `--auth-key-file`: keys that both hosts know and nobody else.

use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use rustix::process::geteuid;
use whimbrel::proto::{SharedKeys, SharedSecret};

/// Bytes of a file, at most.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Bytes of a key, at least: fewer can be guessed.
const KEY_BYTES_MIN: usize = 16;

/// Bytes of a key, at most; more add nothing to an HMAC.
const KEY_BYTES_MAX: usize = 256;

/// Reads the keys. The first one is used to send, all are accepted.
pub(crate) fn read(path: &Path) -> anyhow::Result<SharedKeys> {
    let text = load(path).with_context(|| format!("cannot use the keys in {}", path.display()))?;
    parse(&text).with_context(|| format!("cannot use the keys in {}", path.display()))
}

fn load(path: &Path) -> anyhow::Result<String> {
    // A pipe would make us wait for its writer.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits())?;
    let file = std::fs::File::options().read(true).custom_flags(nonblocking).open(path)?;
    // Of the open file, so that nobody can swap it in between.
    let metadata = file.metadata()?;
    ensure!(metadata.is_file(), "not a regular file");
    ensure!(
        metadata.uid() == geteuid().as_raw() || metadata.uid() == 0,
        "the file belongs to another user, who can change the keys"
    );
    if metadata.mode() & 0o077 != 0 {
        bail!(
            "other users can read or change it (mode {:04o}); `chmod 600 {}` closes it",
            metadata.mode() & 0o7777,
            path.display()
        );
    }
    let mut text = String::new();
    match file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => bail!("not text"),
        other => other?,
    };
    ensure!(text.len() as u64 <= FILE_BYTES_MAX, "longer than {FILE_BYTES_MAX} bytes");
    Ok(text)
}

fn parse(text: &str) -> anyhow::Result<SharedKeys> {
    let mut keys: Option<SharedKeys> = None;
    let mut seen = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (id, key) = parse_line(line).with_context(|| format!("line {}", number + 1))?;
        ensure!(!seen.contains(&id), "line {}: there is a key {id} already", number + 1);
        seen.push(id);
        let secret = SharedSecret::new(key);
        match &mut keys {
            None => keys = Some(SharedKeys::new(id, secret)),
            Some(keys) => keys.set(id, secret).with_context(|| format!("line {}", number + 1))?,
        }
    }
    keys.context("no key in it; `echo \"1 $(openssl rand -hex 32)\"` makes one")
}

/// `ID HEX`, `ID hex:HEX` or `ID base64:BASE64`. Errors do not show the key.
fn parse_line(line: &str) -> anyhow::Result<(u16, Vec<u8>)> {
    const FORM: &str = "expected `ID KEY`: a number from 1 to 65535, and the key as hex or base64:…";
    let (id, key) = line.split_once(char::is_whitespace).context(FORM)?;
    let id: u16 = id.parse().ok().filter(|id| *id > 0).context(FORM)?;
    let key = key.trim();
    let bytes = match key.strip_prefix("base64:") {
        Some(text) => base64(text).context("the key is not base64")?,
        None => hex(key.strip_prefix("hex:").unwrap_or(key))
            .context("the key is not hex (put base64: before a key in base64)")?,
    };
    ensure!(
        (KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&bytes.len()),
        "the key has {} bytes; {KEY_BYTES_MIN} to {KEY_BYTES_MAX} are needed",
        bytes.len()
    );
    Ok((id, bytes))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    let complete = pairs.remainder().is_empty();
    complete.then(|| pairs.map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

/// RFC 4648 §4, with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // One letter too many, or bits that belong to no byte.
    (count < 6 && bits == 0).then_some(out)
}

#[cfg(test)]
#[path = "key_file_tests.rs"]
mod tests;
