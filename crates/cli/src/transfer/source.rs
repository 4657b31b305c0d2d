//! What a sender offers: files named on the command line, and those below directories.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::names::{BadName, RelativePath, printable};
use super::protocol::{Kind, Offer};

/// A file or directory to send.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Where it is on this host.
    pub(crate) location: PathBuf,
    /// What the receiver is told. `id` is the index in the list.
    pub(crate) offer: Offer,
    /// Modification time in nanoseconds within its second, to notice a change.
    pub(crate) mtime_nanos: i64,
}

/// Why a list of files cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    /// Cannot be looked at.
    #[error("cannot read {}: {error}", printable(&path.to_string_lossy()))]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Standard input, which `-` is elsewhere.
    #[error(
        "-: standard input cannot be sent, as its size is told first; write it to a file, or say ./- for a file of that name"
    )]
    StandardInput,
    /// A directory without `-r`.
    #[error("{} is a directory; use --recursive (-r) to send it with everything in it", printable(&.0.to_string_lossy()))]
    Directory(PathBuf),
    /// A device, pipe or socket.
    #[error("{} is neither a file nor a directory", printable(&.0.to_string_lossy()))]
    Special(PathBuf),
    /// No last component, as with `/`.
    #[error("{} has no name of its own to be received under", printable(&.0.to_string_lossy()))]
    Nameless(PathBuf),
    /// Two files of the same name.
    #[error("{0} is named twice; they would overwrite each other at the receiver")]
    Twice(RelativePath),
    /// More than the protocol can number.
    #[error("more than {} files in one transfer", u32::MAX)]
    TooMany,
}

/// Everything to be sent, and what was passed over and why.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// In the order in which they are offered: directories before what is in them.
    pub(crate) list: Vec<Source>,
    /// Symbolic links and special files inside directories.
    pub(crate) skipped: Vec<String>,
    /// Files and directories whose names the protocol does not carry.
    pub(crate) unsendable: Vec<Unsendable>,
}

/// What stays behind.
#[derive(Debug)]
pub(crate) struct Unsendable {
    /// Where it is on this host.
    pub(crate) location: PathBuf,
    /// What it would be called at the receiver.
    pub(crate) path: RelativePath,
    /// What is wrong with that.
    pub(crate) error: BadName,
}

impl Sources {
    /// Looks at `paths`, and below those that are directories if `recursive`.
    pub(crate) fn collect(paths: &[PathBuf], recursive: bool) -> Result<Self, SourceError> {
        let mut sources = Self::default();
        for path in paths {
            if path.as_os_str() == "-" {
                return Err(SourceError::StandardInput);
            }
            let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
            let name = own_name(path)?;
            if metadata.is_dir() {
                if !recursive {
                    return Err(SourceError::Directory(path.clone()));
                }
                sources.walk(path, &[&name], &metadata)?;
            } else if metadata.is_file() {
                sources.add(path, &[&name], Kind::File, &metadata)?;
            } else {
                return Err(SourceError::Special(path.clone()));
            }
        }
        sources.refuse_duplicates()?;
        Ok(sources)
    }

    /// Files offered.
    pub(crate) fn files(&self) -> u64 {
        self.list.iter().filter(|source| source.offer.kind == Kind::File).count() as u64
    }

    /// Bytes offered.
    pub(crate) fn bytes(&self) -> u64 {
        // Sparse files can be larger than any disk, so their sum may be larger than any number.
        self.list.iter().fold(0, |sum, source| source.offer.size.saturating_add(sum))
    }

    /// Depth is bounded by [`super::names::MAX_DEPTH`]: a deeper path cannot be sent, and its children are not read.
    fn walk(&mut self, directory: &Path, names: &[&OsStr], metadata: &Metadata) -> Result<(), SourceError> {
        if !self.add(directory, names, Kind::Directory, metadata)? {
            return Ok(());
        }
        let entries = std::fs::read_dir(directory).map_err(|error| unreadable(directory, error))?;
        let mut entries: Vec<OsString> = entries
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<_>>()
            .map_err(|error| unreadable(directory, error))?;
        entries.sort_unstable();
        for name in entries {
            let path = directory.join(&name);
            let Some(metadata) = look_at(&path)? else {
                self.skip(&path, "gone");
                continue;
            };
            let names: Vec<&OsStr> = names.iter().copied().chain([name.as_os_str()]).collect();
            if metadata.is_dir() {
                self.walk(&path, &names, &metadata)?;
            } else if metadata.is_file() {
                self.add(&path, &names, Kind::File, &metadata)?;
            } else {
                let what =
                    if metadata.is_symlink() { "a symbolic link" } else { "neither a file nor a directory" };
                self.skip(&path, what);
            }
        }
        Ok(())
    }

    fn skip(&mut self, path: &Path, what: &str) {
        self.skipped.push(format!("{} is {what}", printable(&path.to_string_lossy())));
    }

    /// Whether it can be sent.
    fn add(
        &mut self,
        path: &Path,
        names: &[&OsStr],
        kind: Kind,
        metadata: &Metadata,
    ) -> Result<bool, SourceError> {
        let id = u32::try_from(self.list.len()).map_err(|_| SourceError::TooMany)?;
        let relative = match RelativePath::from_names(names.iter().copied()) {
            Ok(relative) => relative,
            Err(error) => {
                let names = names.iter().map(|name| name.as_bytes().to_vec()).collect();
                let (location, path) = (path.to_owned(), RelativePath::unchecked(names));
                self.unsendable.push(Unsendable { location, path, error });
                return Ok(false);
            }
        };
        let offer = Offer {
            id,
            kind,
            size: if kind == Kind::File { metadata.len() } else { 0 },
            mtime: metadata.mtime(),
            mode: (metadata.permissions().mode() & 0o777) as u16,
            path: relative,
        };
        self.list.push(Source { location: path.to_owned(), offer, mtime_nanos: metadata.mtime_nsec() });
        Ok(true)
    }

    fn refuse_duplicates(&self) -> Result<(), SourceError> {
        let mut paths: Vec<&RelativePath> = self.list.iter().map(|source| &source.offer.path).collect();
        paths.sort_unstable();
        match paths.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(SourceError::Twice(pair[0].clone())),
            None => Ok(()),
        }
    }
}

/// What an entry of a directory is; `None` if it has gone since the directory was read, which is how directories live.
fn look_at(path: &Path) -> Result<Option<Metadata>, SourceError> {
    // Not followed: a link may lead anywhere, or in a circle.
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, error)),
    }
}

/// `dir/..` and `.` have a name only after they are resolved.
fn own_name(path: &Path) -> Result<OsString, SourceError> {
    if let Some(name) = path.file_name() {
        return Ok(name.to_owned());
    }
    let resolved = path.canonicalize().map_err(|error| unreadable(path, error))?;
    resolved.file_name().map(OsStr::to_owned).ok_or_else(|| SourceError::Nameless(path.to_owned()))
}

fn unreadable(path: &Path, error: io::Error) -> SourceError {
    SourceError::Unreadable { path: path.to_owned(), error }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
