//! Where an event log goes: into one file, or into one for each association.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::events::head;

/// Begins each text of a sequence (RFC 7464 section 2.1).
const RECORD_SEPARATOR: &[u8] = b"\x1e";
/// Files of associations that live, and as many of such that have ended, open at a time; further associations are left out.
const FILES_MAX: usize = 128;

/// A place that takes events.
pub(super) trait Place: Send {
    /// Writes an event of the association `subject`. False if there is no room for that association.
    ///
    /// # Errors
    /// What the file system says.
    fn put(&mut self, subject: u64, event: &Value) -> io::Result<bool>;

    /// Nothing more comes of this association, but what has been on its way.
    fn ended(&mut self, subject: u64);

    /// What has been written can be read now.
    ///
    /// # Errors
    /// What the file system says.
    fn flush(&mut self) -> io::Result<()>;
}

/// Makes the place that `path` names: a directory if it is one, or ends as the name of one.
///
/// # Errors
/// What the file system says.
pub(super) fn at(path: &Path) -> io::Result<Box<dyn Place>> {
    let ends_as_directory = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    if ends_as_directory || path.is_dir() {
        std::fs::create_dir_all(path)?;
        return Ok(Box::new(Directory::new(path)));
    }
    Ok(Box::new(begin(File::create(path)?)?))
}

type Out = BufWriter<File>;

fn begin(file: File) -> io::Result<Out> {
    let mut out = BufWriter::new(file);
    write(&mut out, &head(SystemTime::now()))?;
    Ok(out)
}

fn write(out: &mut Out, text: &Value) -> io::Result<()> {
    out.write_all(RECORD_SEPARATOR)?;
    serde_json::to_writer(&mut *out, text)?;
    out.write_all(b"\n")
}

/// All associations in one file.
impl Place for Out {
    fn put(&mut self, _: u64, event: &Value) -> io::Result<bool> {
        write(self, event)?;
        Ok(true)
    }

    fn ended(&mut self, _: u64) {}

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(self)
    }
}

/// A file for each association.
struct Directory {
    path: PathBuf,
    /// Times in all files are since then, as in a single one.
    began: SystemTime,
    made: u64,
    open: BTreeMap<u64, Out>,
    /// Of the open ones those whose association has ended, the oldest first.
    ended: VecDeque<u64>,
}

impl Directory {
    fn new(path: &Path) -> Self {
        let (open, ended) = (BTreeMap::new(), VecDeque::new());
        Self { path: path.to_owned(), began: SystemTime::now(), made: 0, open, ended }
    }

    /// A new file; never one that is there.
    fn make(&mut self) -> io::Result<Out> {
        let seconds = self.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.made += 1;
        let name = format!("{seconds}-{}-{}.sqlog", std::process::id(), self.made);
        let mut out = BufWriter::new(File::create_new(self.path.join(name))?);
        write(&mut out, &head(self.began))?;
        Ok(out)
    }
}

impl Place for Directory {
    fn put(&mut self, subject: u64, event: &Value) -> io::Result<bool> {
        if !self.open.contains_key(&subject) {
            if self.open.len() - self.ended.len() >= FILES_MAX {
                return Ok(false);
            }
            let out = self.make()?;
            self.open.insert(subject, out);
        }
        if let Some(out) = self.open.get_mut(&subject) {
            write(out, event)?;
        }
        Ok(true)
    }

    fn ended(&mut self, subject: u64) {
        self.ended.push_back(subject);
        if self.ended.len() > FILES_MAX
            && let Some(oldest) = self.ended.pop_front()
        {
            self.open.remove(&oldest);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open.values_mut().try_for_each(Write::flush)
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
