//! Files that say whom this host trusts: a line each, and changed by nobody but their owner.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, ensure};

/// Bytes of such a file at most.
const LONGEST: u64 = 1 << 20;

/// Nobody else reads and writes the file while this is held.
pub(super) fn lock(path: &Path) -> anyhow::Result<File> {
    let name = || path.display().to_string();
    let directory = path.parent().context("the file has no directory")?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).with_context(name)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path.with_extension("lock"));
    let file = file.with_context(name)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).with_context(name)?;
    Ok(file)
}

/// What is in the file; nothing if there is none.
pub(super) fn read_text(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let mut text = String::new();
    // The file that it leads to, if it leads to another.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // Something that is no file must not hold this up.
    let opened =
        File::options().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
    let file = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(text),
        file => file.with_context(|| shown.to_string())?,
    };
    let metadata = file.metadata().with_context(|| shown.to_string())?;
    ensure!(metadata.is_file(), "{shown} is no file");
    let ours = [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid());
    ensure!(ours, "{shown} belongs to somebody else, who could let himself in");
    let open = "can be changed by others, who could let themselves in: chmod go-w";
    ensure!(metadata.mode() & 0o022 == 0, "{shown} {open} {shown}");
    if let Some(directory) = path.parent() {
        let mode = std::fs::metadata(directory).map_or(0, |metadata| metadata.mode());
        let directory = directory.display();
        ensure!(mode & 0o022 == 0 || mode & 0o1000 != 0, "{directory} {open} {directory}");
    }
    file.take(LONGEST + 1).read_to_string(&mut text).with_context(|| shown.to_string())?;
    ensure!(text.len() as u64 <= LONGEST, "{shown} is longer than any such file ({LONGEST} bytes)");
    Ok(text)
}

/// The lines but those that are `gone`; comments stay.
pub(super) fn without(text: &str, gone: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| !(is_entry(line) && gone(line))).map(|line| format!("{line}\n")).collect()
}

pub(super) fn is_entry(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}
