use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::line::{LINE_BYTES_MAX, apply};
use super::source::Run;
use super::{Interfaces, LineError, LinkSource, LinkSourceError, Publisher};

/// How often the file is looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// Bytes read at a time; a long file is read over several periods.
const READ_BYTES: usize = 64 << 10;

/// Bytes at the beginning, and before the place reached, by which a file that was written anew is told from one that was
/// appended to.
const MARK_BYTES: usize = 4096;

/// Link facts from a file that somebody appends lines to, as `tail -f` reads it.
///
/// The file must exist. One that is cut short, replaced or written anew is read from its beginning, and what the old one said
/// no longer counts. See the [module](super) for the lines.
#[derive(Debug)]
pub struct FactFile {
    path: PathBuf,
}

impl FactFile {
    /// Facts from this file.
    ///
    /// # Errors
    /// The file cannot be opened, or is no regular file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LinkSourceError> {
        let file = Self { path: path.into() };
        let metadata = std::fs::metadata(&file.path).map_err(|cause| file.error(cause))?;
        if !metadata.is_file() {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(file.error(cause));
        }
        Ok(file)
    }

    fn error(&self, cause: io::Error) -> LinkSourceError {
        LinkSourceError { source_name: describe(&self.path), cause }
    }
}

fn describe(path: &Path) -> String {
    format!("the link facts in {}", path.display())
}

/// Opens a file to read. A pipe would make the caller wait for its writer, and a device might never end.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(any(target_os = "linux", target_os = "android"))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
    let file = options.read(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

impl LinkSource for FactFile {
    fn name(&self) -> String {
        describe(&self.path)
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            let mut tail = Tail::open(&self.path).map_err(|cause| self.error(cause))?;
            loop {
                // A local file's next lines: as short as any other work of a task.
                let more = tail.read(&publisher).map_err(|cause| self.error(cause))?;
                if more {
                    tokio::task::yield_now().await;
                } else {
                    publisher.publish(tail.known.clone());
                    tokio::time::sleep(PERIOD).await;
                    tail.follow(&self.path).map_err(|cause| self.error(cause))?;
                }
            }
        })
    }
}

/// An open file and what its lines have said so far.
struct Tail {
    file: File,
    known: Interfaces,
    /// The beginning of a line whose end has not been written yet.
    partial: Vec<u8>,
    /// The line that `partial` belongs to was too long; its rest is skipped.
    skipping: bool,
    line: u64,
    position: u64,
    /// The first bytes of what has been read, and the last.
    head: Vec<u8>,
    tail: Vec<u8>,
    /// When it was last changed, as far as that has been noticed.
    modified: Option<SystemTime>,
}

impl Tail {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: open_regular(path)?,
            known: Interfaces::default(),
            partial: Vec::new(),
            skipping: false,
            line: 1,
            position: 0,
            head: Vec::new(),
            tail: Vec::new(),
            modified: None,
        })
    }

    /// Reads what has been appended. True if there may be more at once.
    fn read(&mut self, publisher: &Publisher) -> io::Result<bool> {
        let mut buffer = vec![0; READ_BYTES];
        self.file.seek(SeekFrom::Start(self.position))?;
        let count = self.file.read(&mut buffer)?;
        self.position += count as u64;
        self.remember(&buffer[..count]);
        for piece in buffer[..count].split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            self.take(text, publisher);
            if ended {
                self.end_line(publisher);
            }
        }
        Ok(count == READ_BYTES)
    }

    fn remember(&mut self, bytes: &[u8]) {
        let room = MARK_BYTES - self.head.len();
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(MARK_BYTES)..]);
        let excess = self.tail.len().saturating_sub(MARK_BYTES);
        self.tail.drain(..excess);
    }

    /// Whether the file still begins, and goes on to the place reached, as it did.
    fn is_what_was_read(&mut self) -> io::Result<bool> {
        let mut there = vec![0; MARK_BYTES];
        for (start, known) in [(0, &self.head), (self.position - self.tail.len() as u64, &self.tail)] {
            self.file.seek(SeekFrom::Start(start))?;
            let there = &mut there[..known.len()];
            match self.file.read_exact(there) {
                Ok(()) if there == known.as_slice() => {}
                Ok(()) => return Ok(false),
                // It is being written this moment.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn take(&mut self, text: &[u8], publisher: &Publisher) {
        if self.skipping {
            return;
        }
        self.partial.extend_from_slice(text);
        if self.partial.len() > LINE_BYTES_MAX {
            self.apply(publisher);
            self.skipping = true;
        }
    }

    fn end_line(&mut self, publisher: &Publisher) {
        if !core::mem::take(&mut self.skipping) {
            self.apply(publisher);
        }
        self.line += 1;
    }

    fn apply(&mut self, publisher: &Publisher) {
        if let Err(reason) = apply(&mut self.known, &self.partial) {
            publisher.reject(LineError { line: Some(self.line), reason });
        }
        self.partial.clear();
    }

    /// Begins anew if the file has been replaced or cut short. One that is missing for a moment is waited for.
    fn follow(&mut self, path: &Path) -> io::Result<()> {
        let there = match std::fs::metadata(path) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let modified = there.modified().ok();
        // As long as before and yet newer: somebody wrote it anew with as many bytes.
        let rewritten =
            there.len() == self.position && self.modified.is_some_and(|seen| Some(seen) != modified);
        let replaced = !same_file(&there, &self.file.metadata()?) || there.len() < self.position;
        let longer = !replaced && there.len() > self.position;
        if replaced || rewritten || (longer && !self.is_what_was_read()?) {
            *self = Self::open(path)?;
        }
        self.modified = modified;
        Ok(())
    }
}

#[cfg(unix)]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    one.created().ok() == other.created().ok()
}

#[cfg(test)]
#[path = "fact_file_tests.rs"]
mod tests;
