//! The receiver's directory: what is there, and how a finished file gets to its place.
//!
//! A file is renamed into place when its content is verified: a name in DIR always has its whole content. Every name
//! is resolved one component at a time, relative to an open directory and without following symbolic links, so
//! nothing that is or appears in DIR can lead a peer out of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::hashing::{FromDisk, Hashes, Stamp};
use super::names::{BadName, RelativePath};
use super::numbering::{free_number, numbered};
use super::partial::Partial;
use super::partials::{DIRECTORY, Found, Partials, Room, Start};
use super::protocol::Offer;
use super::rules::{Existing, Hidden, Rules};

/// How often another writer may take the number that was free a moment ago.
const RACES: usize = 16;

/// A directory that receives files.
pub(crate) struct Store {
    root: OwnedFd,
    rules: Rules,
    hashes: Hashes,
    partials: Arc<Partials>,
}

/// What is known about an offered file.
#[derive(Debug)]
pub(crate) enum Look {
    /// Nothing of it is here.
    Fresh,
    /// An unfinished transfer left this.
    Partial(Found),
    /// A file of this name and size is in place.
    SameSize,
    /// Something of this name is in place and may not be replaced.
    Exists,
    /// What is no file has this name, and stays: no option replaces it. In words.
    InTheWay(&'static str),
    /// It cannot fit: bytes needed, and what there is.
    NoSpace(u64, Room),
}

/// What a sender has turned out not to have the content of.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tried {
    /// What is in place.
    pub(crate) in_place: bool,
    /// Unfinished copies, a bit each.
    pub(crate) copies: u8,
}

/// Where a finished file went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Under its own name.
    AsOffered,
    /// Under another name, because of [`Existing::Rename`].
    Renamed(RelativePath),
    /// Nowhere: another connection has brought the same content under this name in the meantime.
    SameContent,
    /// Nowhere: the name has been taken in the meantime. The content stays among the unfinished files.
    Taken,
}

impl Store {
    /// Opens `directory`, which must exist.
    pub(crate) fn open(directory: &Path, rules: Rules) -> io::Result<Arc<Self>> {
        let root =
            rustix::fs::open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let partials = Partials::open(root.try_clone()?, rules.partial_space)?;
        Ok(Arc::new(Self { root, rules, hashes: Hashes::default(), partials }))
    }

    /// Whether differing content in place may make way for a new file.
    pub(crate) fn may_replace(&self) -> bool {
        self.rules.existing != Existing::Refuse
    }

    /// Bytes read from the disk to compare them with what senders claim to have.
    pub(crate) fn bytes_compared(&self) -> u64 {
        self.hashes.bytes_read()
    }

    /// Whether a file or directory of this name may be written.
    pub(crate) fn accepts(&self, path: &RelativePath) -> Result<(), BadName> {
        path.check()?;
        match self.rules.hidden {
            Hidden::Refuse if path.is_hidden() => Err(BadName::Hidden),
            _ => Ok(()),
        }
    }

    /// What there is of an offered file, but for what was `tried`.
    pub(crate) fn look(&self, offer: &Offer, tried: Tried) -> io::Result<Look> {
        match self.in_place(&offer.path)? {
            Some((FileType::RegularFile, size)) if size == offer.size && !tried.in_place => {
                return Ok(Look::SameSize);
            }
            Some((FileType::RegularFile, _)) if self.may_replace() => {}
            Some(_) if self.rules.existing == Existing::Rename => {}
            Some((FileType::RegularFile, _)) => return Ok(Look::Exists),
            Some((FileType::Directory, _)) => {
                return Ok(Look::InTheWay(
                    "a directory of this name is there (the receiver can run with --rename)",
                ));
            }
            Some(_) => {
                return Ok(Look::InTheWay(
                    "what is neither file nor directory has this name there (the receiver can run with --rename)",
                ));
            }
            None => {}
        }
        let found = self.partials.find(offer, tried.copies)?;
        let needed = offer.size - found.as_ref().map_or(0, |found| found.length);
        let room = self.partials.room(offer, found.as_ref().map(|found| found.copy))?;
        Ok(match found {
            _ if needed > room.bytes => Look::NoSpace(needed, room),
            None => Look::Fresh,
            Some(found) => Look::Partial(found),
        })
    }

    /// The hash of the file in place, which is read from the disk while it is `wanted`, and once.
    pub(crate) fn hash_in_place(&self, offer: &Offer, wanted: impl Fn() -> bool) -> io::Result<blake3::Hash> {
        let parent = self.parent(&offer.path, false)?.ok_or(io::ErrorKind::NotFound)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&parent, offer.path.name(), flags, Mode::empty())?);
        self.hashes.of(&file, wanted)
    }

    /// The hash state of an unfinished copy, which is read from the disk, while it is `wanted`, only if an earlier
    /// process has left it.
    pub(crate) fn hash_partial(
        &self,
        offer: &Offer,
        found: Found,
        wanted: impl Fn() -> bool,
    ) -> io::Result<Box<blake3::Hasher>> {
        let Found { copy, length, state: None } = found else {
            return found.state.ok_or_else(|| io::ErrorKind::NotFound.into());
        };
        let file = self.partials.read(offer, copy)?;
        let stamp = Stamp::of(&file)?;
        let known = || self.partials.state(offer, copy, length);
        match self.hashes.read_when_due(&file, length, known, wanted)? {
            FromDisk::Known(state) => Ok(state),
            FromDisk::Read(state) => {
                self.partials.park(offer, copy, stamp, state.clone());
                Ok(state)
            }
        }
    }

    /// Opens the unfinished file of an offer for writing; `None` if others write it, or if what was proved is not
    /// there any more.
    pub(crate) fn begin(&self, offer: &Offer, start: Start) -> io::Result<Option<Partial>> {
        self.partials.begin(offer, start)
    }

    /// See [`Partials::is_held`].
    pub(crate) fn is_held(&self, offer: &Offer, copy: u8) -> bool {
        self.partials.is_held(offer, copy)
    }

    /// Puts a complete file, whose content has the hash `hash`, in its place.
    pub(crate) fn finish(&self, partial: Partial, offer: &Offer, hash: blake3::Hash) -> io::Result<Placed> {
        partial.finish(|file, directory, name| {
            set_mtime(file, offer.mtime);
            if self.rules.sync {
                file.sync_data()?;
            }
            let placed = self.place(directory, name, offer, hash)?;
            let stays = placed == Placed::Taken;
            if !stays && let Ok(stamp) = Stamp::of(file) {
                self.hashes.remember(stamp, hash);
            }
            Ok((placed, !stays))
        })
    }

    fn place(&self, partial: &OwnedFd, key: &str, offer: &Offer, hash: blake3::Hash) -> io::Result<Placed> {
        let parent = self.parent(&offer.path, true)?.ok_or(io::ErrorKind::NotFound)?;
        if self.rules.existing == Existing::Overwrite {
            rustix::fs::renameat(partial, key, &parent, offer.path.name())?;
            return Ok(Placed::AsOffered);
        }
        if place(partial, key, parent.as_fd(), offer.path.name())? {
            return Ok(Placed::AsOffered);
        }
        if matches!(self.in_place(&offer.path)?, Some((FileType::RegularFile, size)) if size == offer.size)
            && self.hash_in_place(offer, || true).is_ok_and(|there| there == hash)
        {
            rustix::fs::unlinkat(partial, key, AtFlags::empty())?;
            return Ok(Placed::SameContent);
        }
        if self.rules.existing == Existing::Rename {
            for _ in 0..RACES {
                let name = |number| numbered(offer.path.name(), number);
                let free =
                    free_number(|number| Ok(stat(&parent, OsStr::from_bytes(&name(number)))?.is_some()))?;
                if place(partial, key, parent.as_fd(), OsStr::from_bytes(&name(free)))? {
                    return Ok(Placed::Renamed(offer.path.with_name(name(free))));
                }
            }
        }
        Ok(Placed::Taken)
    }

    /// Makes an offered directory and those above it.
    pub(crate) fn make_directory(&self, offer: &Offer) -> io::Result<()> {
        let parent = self.parent(&offer.path, true)?.ok_or(io::ErrorKind::NotFound)?;
        let mode = Mode::from_raw_mode(u32::from(offer.mode & 0o777) | 0o700);
        make_directory(parent.as_fd(), offer.path.name(), mode)?;
        match rustix::fs::openat(&parent, offer.path.name(), DIRECTORY, Mode::empty()) {
            Ok(_) => Ok(()),
            Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                Err(io::Error::other("what has this name there is no directory"))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn in_place(&self, path: &RelativePath) -> io::Result<Option<(FileType, u64)>> {
        match self.parent(path, false)? {
            Some(parent) => stat(parent.as_fd(), path.name()),
            None => Ok(None),
        }
    }

    /// The directory a path lies in; `None` if it does not exist and is not to be made.
    fn parent(&self, path: &RelativePath, make: bool) -> io::Result<Option<OwnedFd>> {
        self.accepts(path).map_err(io::Error::other)?;
        let mut directory = self.root.try_clone()?;
        for name in path.parents() {
            if make {
                make_directory(directory.as_fd(), name, Mode::from_raw_mode(0o777))?;
            }
            directory = match rustix::fs::openat(&directory, name, DIRECTORY, Mode::empty()) {
                Ok(next) => next,
                Err(Errno::NOENT) if !make => return Ok(None),
                Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                    return Err(io::Error::other(
                        "a directory of the path is a symbolic link or a file here",
                    ));
                }
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Some(directory))
    }
}

/// Renames unless the name is taken; says whether it did.
fn place(partial: &OwnedFd, key: &str, parent: impl AsFd, name: &OsStr) -> io::Result<bool> {
    match rustix::fs::renameat_with(partial, key, &parent, name, RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(true),
        Err(Errno::EXIST) => return Ok(false),
        // Some file systems have no such rename (NFS, FUSE): a hard link is as exclusive.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        Err(error) => return Err(error.into()),
    }
    match rustix::fs::linkat(partial, key, &parent, name, AtFlags::empty()) {
        Ok(()) => {
            rustix::fs::unlinkat(partial, key, AtFlags::empty())?;
            Ok(true)
        }
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn stat(directory: impl AsFd, name: &OsStr) -> io::Result<Option<(FileType, u64)>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some((FileType::from_raw_mode(stat.st_mode), stat.st_size as u64))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn make_directory(parent: impl AsFd, name: &OsStr, mode: Mode) -> io::Result<()> {
    match rustix::fs::mkdirat(parent, name, mode) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A time that cannot be set is not worth failing for.
fn set_mtime(file: &File, seconds: i64) {
    let time = match u64::try_from(seconds) {
        Ok(after) => SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(after)),
        Err(_) => SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(seconds.unsigned_abs())),
    };
    if let Some(time) = time {
        let _ = file.set_modified(time);
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
