//! The receiver's directory: what is there, what is unfinished, and how a finished file gets to its place.
//!
//! Unfinished files live in `DIR/.whimbrel-partial/`, named by a hash of path and size, and are renamed into place
//! when their content is verified: a name in DIR always has its whole content. Every name is resolved one
//! component at a time, relative to an open directory and without following symbolic links, so nothing that is or
//! appears in DIR can lead a peer out of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::names::{BadName, MAX_NAME, PARTIAL_DIRECTORY, RelativePath};
use super::protocol::Offer;
use super::rules::{Existing, Hidden, Rules};

/// A partial file that its owner has not touched for this long may be taken over by a newer connection.
const IDLE: Duration = Duration::from_secs(3);

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that receives files.
pub(crate) struct Store {
    root: OwnedFd,
    rules: Rules,
    active: Mutex<BTreeMap<String, Arc<Slot>>>,
}

/// What is known about an offered file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing of it is here.
    Fresh,
    /// An unfinished transfer left this many bytes, at least one and at most the offered size.
    Partial(u64),
    /// A file of this name and size is in place.
    SameSize,
    /// Something of this name is in place and may not be replaced.
    Exists,
    /// It cannot fit: bytes needed, bytes there.
    NoSpace(u64, u64),
}

/// Who writes a partial file. The open file moves to whoever takes the transfer over.
struct Slot {
    file: Mutex<Option<File>>,
    touched: Mutex<Instant>,
}

/// An unfinished file, open for writing.
pub(crate) struct Partial {
    slot: Arc<Slot>,
    key: String,
    store: Arc<Store>,
}

/// Where a finished file went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Under its own name.
    AsOffered,
    /// Under another name, because of [`Existing::Rename`].
    Renamed(RelativePath),
    /// Nowhere: the name has been taken in the meantime. The content stays among the unfinished files.
    Taken,
}

impl Store {
    /// Opens `directory`, which must exist.
    pub(crate) fn open(directory: &Path, rules: Rules) -> io::Result<Arc<Self>> {
        let root =
            rustix::fs::open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let store = Self { root, rules, active: Mutex::default() };
        store.partial()?;
        Ok(Arc::new(store))
    }

    /// Whether differing content in place may make way for a new file.
    pub(crate) fn may_replace(&self) -> bool {
        self.rules.existing != Existing::Refuse
    }

    /// Whether a file or directory of this name may be written.
    pub(crate) fn accepts(&self, path: &RelativePath) -> Result<(), BadName> {
        path.check()?;
        match self.rules.hidden {
            Hidden::Refuse if path.is_hidden() => Err(BadName::Hidden),
            _ => Ok(()),
        }
    }

    /// What there is of an offered file. `replace` passes over a file in place of the same size.
    pub(crate) fn look(&self, offer: &Offer, replace: bool) -> io::Result<Look> {
        match self.in_place(&offer.path)? {
            Some((FileType::RegularFile, size)) if size == offer.size && !replace => {
                return Ok(Look::SameSize);
            }
            Some((FileType::RegularFile, _)) if self.may_replace() => {}
            Some(_) if self.rules.existing == Existing::Rename => {}
            Some(_) => return Ok(Look::Exists),
            None => {}
        }
        let partial = self.partial()?;
        let length = match stat(&partial, OsStr::new(&key(offer)))? {
            Some((FileType::RegularFile, length)) if length <= offer.size => length,
            _ => 0,
        };
        let needed = offer.size - length;
        let space = rustix::fs::fstatvfs(&partial)?;
        let available = space.f_bavail.saturating_mul(space.f_frsize);
        Ok(match length {
            _ if needed > available => Look::NoSpace(needed, available),
            0 => Look::Fresh,
            length => Look::Partial(length),
        })
    }

    /// Opens what [`Look::SameSize`] or [`Look::Partial`] spoke of, for reading.
    pub(crate) fn read(&self, offer: &Offer, look: &Look) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match look {
            Look::SameSize => {
                let parent = self.parent(&offer.path, false)?.ok_or(io::ErrorKind::NotFound)?;
                rustix::fs::openat(&parent, offer.path.name(), flags, Mode::empty())?
            }
            _ => rustix::fs::openat(self.partial()?, key(offer).as_str(), flags, Mode::empty())?,
        };
        Ok(File::from(file))
    }

    /// Opens the unfinished file of an offer for writing from `offset`; `None` if another transfer writes it, or if
    /// it is not as long as `offset` any more.
    pub(crate) fn begin(self: &Arc<Self>, offer: &Offer, offset: u64) -> io::Result<Option<Partial>> {
        let key = key(offer);
        let partial = self.partial()?;
        let mut active = lock(&self.active);
        let file = match active.get(&key) {
            Some(slot) if lock(&slot.touched).elapsed() < IDLE => return Ok(None),
            // The slot's owner finds its file gone and gives up. While it puts the file in its place, which takes as
            // long as the disk does, there is nothing to be taken over.
            Some(slot) => match slot.file.try_lock() {
                Ok(mut file) => file.take(),
                Err(_) => return Ok(None),
            },
            None => None,
        };
        let file = match file {
            Some(file) => file,
            None => {
                // The process's umask takes away what it should, here as with any other new file.
                let mode = if offer.executable { 0o777 } else { 0o666 };
                let flags =
                    OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                File::from(rustix::fs::openat(&partial, key.as_str(), flags, Mode::from_raw_mode(mode))?)
            }
        };
        // Opened a moment ago is not locked: another process may have put this very file in its place meanwhile,
        // where not a byte of it may change.
        let lost = file.try_lock().is_err()
            || file.metadata()?.len() < offset
            || !is_named(&file, &partial, OsStr::new(&key))?;
        if lost {
            return Ok(None);
        }
        file.set_len(offset)?;
        let slot = Arc::new(Slot { file: Mutex::new(Some(file)), touched: Mutex::new(Instant::now()) });
        active.insert(key.clone(), Arc::clone(&slot));
        Ok(Some(Partial { slot, key, store: Arc::clone(self) }))
    }

    /// Makes an offered directory and those above it.
    pub(crate) fn make_directory(&self, path: &RelativePath) -> io::Result<()> {
        let parent = self.parent(path, true)?.ok_or(io::ErrorKind::NotFound)?;
        make_directory(parent.as_fd(), path.name(), Mode::from_raw_mode(0o777))?;
        rustix::fs::openat(&parent, path.name(), DIRECTORY, Mode::empty())?;
        Ok(())
    }

    /// The directory of unfinished files. Opened anew each time: another process may remove it when it is empty.
    fn partial(&self) -> io::Result<OwnedFd> {
        make_directory(self.root.as_fd(), OsStr::new(PARTIAL_DIRECTORY), Mode::RWXU)?;
        Ok(rustix::fs::openat(&self.root, PARTIAL_DIRECTORY, DIRECTORY, Mode::empty())?)
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

impl Partial {
    /// Writes the next bytes. A block of zeros becomes a hole, so sparse files stay sparse.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        *lock(&self.slot.touched) = Instant::now();
        let file = lock(&self.slot.file);
        let file = file.as_ref().ok_or_else(taken_over)?;
        if bytes.len() >= 4096 && bytes.iter().all(|&byte| byte == 0) {
            return file.set_len(offset + bytes.len() as u64);
        }
        file.write_all_at(bytes, offset)
    }

    /// Gives it up together with its content.
    pub(crate) fn discard(self) {
        if lock(&self.slot.file).is_some()
            && let Ok(partial) = self.store.partial()
        {
            let _ = rustix::fs::unlinkat(partial, self.key.as_str(), AtFlags::empty());
        }
    }

    /// Puts the complete file in its place.
    pub(crate) fn finish(self, offer: &Offer) -> io::Result<Placed> {
        // Held until the file is in its place and given up there: whoever takes a partial file over may shorten it.
        let mut slot = lock(&self.slot.file);
        let file = slot.take().ok_or_else(taken_over)?;
        set_mtime(&file, offer.mtime);
        if self.store.rules.sync {
            file.sync_data()?;
        }
        self.place(offer)
    }

    fn place(&self, offer: &Offer) -> io::Result<Placed> {
        let store = &self.store;
        let partial = store.partial()?;
        let parent = store.parent(&offer.path, true)?.ok_or(io::ErrorKind::NotFound)?;
        if store.rules.existing == Existing::Overwrite {
            rustix::fs::renameat(&partial, self.key.as_str(), &parent, offer.path.name())?;
            return Ok(Placed::AsOffered);
        }
        if place(&partial, &self.key, parent.as_fd(), offer.path.name())? {
            return Ok(Placed::AsOffered);
        }
        if store.rules.existing == Existing::Rename {
            for number in 1..10_000_u32 {
                let name = numbered(offer.path.name(), number);
                if place(&partial, &self.key, parent.as_fd(), OsStr::from_bytes(&name))? {
                    return Ok(Placed::Renamed(offer.path.with_name(name)));
                }
            }
        }
        Ok(Placed::Taken)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let mut active = lock(&self.store.active);
        if active.get(&self.key).is_some_and(|slot| Arc::ptr_eq(slot, &self.slot)) {
            active.remove(&self.key);
        }
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

impl Drop for Store {
    /// Leaves no empty directory behind.
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.root, PARTIAL_DIRECTORY, AtFlags::REMOVEDIR);
    }
}

/// The unfinished file's name. Path and size are in it, so an interrupted transfer is found again whoever resumes
/// it; that its content is a prefix of what is offered must be proved each time.
fn key(offer: &Offer) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in offer.path.components() {
        hasher.update(name);
        hasher.update(&[0]);
    }
    hasher.update(&offer.size.to_be_bytes());
    format!("{}.part", &hasher.finalize().to_hex()[..32])
}

fn numbered(name: &OsStr, number: u32) -> Vec<u8> {
    let suffix = format!(".{number}");
    let mut out = name.as_bytes().to_vec();
    out.truncate(MAX_NAME - suffix.len());
    out.extend_from_slice(suffix.as_bytes());
    out
}

fn stat(directory: impl AsFd, name: &OsStr) -> io::Result<Option<(FileType, u64)>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some((FileType::from_raw_mode(stat.st_mode), stat.st_size as u64))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether an open file is the one of this name.
fn is_named(file: &File, directory: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    let open = rustix::fs::fstat(file)?;
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((open.st_dev, open.st_ino) == (named.st_dev, named.st_ino)),
        Err(Errno::NOENT) => Ok(false),
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

fn taken_over() -> io::Error {
    io::Error::other("a newer connection has taken this transfer over")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
