//! Unfinished files, in `DIR/.whimbrel-partial/`.
//!
//! A file is named by a hash of the path and size it was offered with, so that it is found again by whoever offers
//! them. That does not make it the same content: each content has a copy of its own, up to [`COPIES`], and a sender
//! goes on with one only after it has proved to have the same beginning. So no sender touches what another has sent.
//!
//! Space is limited: before more is taken, copies that nobody gets on with go, those that have rested longest first.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::hashing::Stamp;
use super::names::PARTIAL_DIRECTORY;
use super::partial::{Partial, Writer};
use super::partial_files::{free_space, is_named, left_behind, length, narrow, open, own};
use super::partial_index::{Beginning, Index};
use super::protocol::{COPIES, Offer};

/// A copy whose writer has not got on for this long may be gone on with by another, who has proved the same
/// beginning, and makes way for other content of the same name.
const HELD: Duration = Duration::from_secs(3);
/// One whose writer has not got on for this long makes way where space is needed.
const STALLED: Duration = Duration::from_secs(60);
/// Unfinished files; the hash state of each is kept.
const FILES_MAX: usize = 4096;

pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The unfinished files of a directory.
pub(crate) struct Partials {
    root: OwnedFd,
    limit: u64,
    index: Mutex<Index>,
}

/// Who writes an unfinished file. The open file moves to whoever goes on with it.
pub(crate) struct Slot {
    pub(super) writer: Mutex<Option<Writer>>,
}

/// A copy that may be gone on with.
#[derive(Debug)]
pub(crate) struct Found {
    /// Its number.
    pub(crate) copy: u8,
    /// Its length, at least one and at most the offered size.
    pub(crate) length: u64,
    /// The hash state of its content, if this process wrote it or has read it.
    pub(crate) state: Option<Box<blake3::Hasher>>,
}

/// What an unfinished file may still take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    pub(crate) bytes: u64,
    /// Whether it is the limit on unfinished files that leaves no more, rather than the disk.
    limited: bool,
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, limited } = self;
        match limited {
            true => {
                write!(f, "{bytes} left of what unfinished files may take (the receiver's --partial-space)")
            }
            false => write!(f, "{bytes} available"),
        }
    }
}

/// How an accepted file is to be written.
#[derive(Default)]
pub(crate) struct Start {
    /// The copy whose beginning was proved; a new one if there is none.
    pub(crate) copy: Option<u8>,
    /// The hash state of that beginning.
    pub(crate) hasher: Box<blake3::Hasher>,
}

impl Start {
    /// Where content begins.
    pub(crate) fn offset(&self) -> u64 {
        self.hasher.count()
    }
}

impl Partials {
    /// The unfinished files below `root`, which may together take `limit` bytes; nine tenths of what they take and
    /// what is free now, if none is given.
    pub(crate) fn open(root: OwnedFd, limit: Option<u64>) -> io::Result<Arc<Self>> {
        let mut partials = Self { root, limit: u64::MAX, index: Mutex::default() };
        let directory = partials.directory()?;
        let mut index = Index::default();
        for (name, bytes) in left_behind(&directory)? {
            index.found(name, bytes);
        }
        partials.limit = match limit {
            Some(limit) => limit,
            None => (free_space(&directory)?.saturating_add(index.bytes()) / 10).saturating_mul(9),
        };
        partials.index = Mutex::new(index);
        Ok(Arc::new(partials))
    }

    /// The longest copy that a sender may have the beginning of; `tried` are copies that it has not.
    pub(crate) fn find(&self, offer: &Offer, tried: u8) -> io::Result<Option<Found>> {
        let mut best: Option<Found> = None;
        for copy in (0..COPIES).filter(|copy| tried & (1 << copy) == 0) {
            let Some(found) = self.look(offer, copy)? else { continue };
            if best.as_ref().is_none_or(|best| best.length < found.length) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// What there is of a copy.
    fn look(&self, offer: &Offer, copy: u8) -> io::Result<Option<Found>> {
        let name = name(offer, copy);
        let known = || {
            let index = lock(&self.index);
            index.get(&name).map_or((None, None), |known| (known.writer.clone(), known.parked.clone()))
        };
        let possible = |length: &u64| (1..=offer.size).contains(length);
        let (mut writer, mut parked) = known();
        // The index is free again: whoever writes waits for it with the writer locked.
        while let Some(slot) = writer.take() {
            if let Some(writer) = lock(&slot.writer).as_ref() {
                let state = Some(writer.hasher.clone()).filter(|state| possible(&state.count()));
                return Ok(state.map(|state| Found { copy, length: state.count(), state: Some(state) }));
            }
            // Its writer has just left it, or another has taken it. One that is being put in its place still has this
            // writer, and no beginning to go on from.
            (writer, parked) = known();
            if writer.as_ref().is_some_and(|now| Arc::ptr_eq(now, &slot)) {
                return Ok(None);
            }
        }
        let directory = self.directory()?;
        let Some(length) = length(&directory, &name)?.filter(possible) else { return Ok(None) };
        let state = parked.and_then(|(stamp, state)| {
            let file = open(&directory, &name, OFlags::RDONLY).ok()?;
            (Stamp::of(&file).ok()? == stamp).then_some(state)
        });
        Ok(Some(Found { copy, length, state }))
    }

    /// What an offer may still take: what is free or can be made so, within the limit.
    pub(crate) fn room(&self, offer: &Offer, copy: Option<u8>) -> io::Result<Room> {
        let free = free_space(&self.directory()?)?;
        let except = copy.map(|copy| name(offer, copy)).unwrap_or_default();
        let index = lock(&self.index);
        let evictable: u64 = index.idle(STALLED, &except).iter().map(|(_, bytes)| bytes).sum();
        let within = self.limit.saturating_sub(index.bytes());
        Ok(Room { bytes: free.min(within).saturating_add(evictable), limited: within < free })
    }

    /// The hash state of a copy of this length, if it is known by now.
    pub(crate) fn state(&self, offer: &Offer, copy: u8, length: u64) -> Option<Box<blake3::Hasher>> {
        self.look(offer, copy).ok()??.state.filter(|state| state.count() == length)
    }

    /// Opens a copy for reading.
    pub(crate) fn read(&self, offer: &Offer, copy: u8) -> io::Result<File> {
        open(&self.directory()?, &name(offer, copy), OFlags::RDONLY)
    }

    /// Keeps what reading a copy has yielded.
    pub(crate) fn park(&self, offer: &Offer, copy: u8, stamp: Stamp, state: Box<blake3::Hasher>) {
        let mut index = lock(&self.index);
        if let Some(known) = index.get_mut(&name(offer, copy)).filter(|known| known.writer.is_none()) {
            known.parked = Some((stamp, state));
        }
    }

    /// Whether somebody writes this copy, and gets on.
    pub(crate) fn is_held(&self, offer: &Offer, copy: u8) -> bool {
        lock(&self.index).is_held(&name(offer, copy), HELD)
    }

    /// Opens the copy of an offer for writing; `None` if others write all that it could be, or if what was proved is
    /// not there any more.
    pub(crate) fn begin(self: &Arc<Self>, offer: &Offer, start: Start) -> io::Result<Option<Partial>> {
        let directory = self.directory()?;
        let mut index = lock(&self.index);
        let offset = start.offset();
        let beginning = if start.copy.is_some() { Beginning::GoesOn } else { Beginning::Anew };
        let taken = match start.copy {
            Some(copy) => {
                let name = name(offer, copy);
                match index.is_held(&name, HELD) {
                    true => None,
                    false => self.take(&index, &directory, &name)?.map(|file| (name, file)),
                }
            }
            None => self.fresh(&mut index, &directory, offer)?,
        };
        let Some((name, file)) = taken else { return Ok(None) };
        if file.metadata()?.len() < offset {
            return Ok(None);
        }
        file.set_len(offset)?;
        narrow(&file, offer.mode)?;
        let slot = Arc::new(Slot { writer: Mutex::new(Some(Writer { file, hasher: start.hasher })) });
        let bytes = index.get(&name).map_or(offset, |known| known.bytes.min(offset));
        index.begin(name.clone(), bytes, Arc::clone(&slot), beginning);
        Ok(Some(Partial::new(slot, name, Arc::clone(self))))
    }

    /// A file for content of which nothing is here: a new copy, or else the shortest that nobody gets on with.
    fn fresh(
        &self,
        index: &mut Index,
        directory: &OwnedFd,
        offer: &Offer,
    ) -> io::Result<Option<(String, File)>> {
        if index.count() >= FILES_MAX {
            // The smallest: many files of one byte each must not drive out what took hours.
            let mut idle = index.idle(STALLED, "");
            idle.sort_by_key(|(_, bytes)| *bytes);
            let gone = idle.iter().any(|(name, _)| self.remove(index, directory, name));
            if !gone {
                return Err(io::Error::new(io::ErrorKind::StorageFull, "too many unfinished files"));
            }
        }
        // The process's umask takes away what it should, here as with any other new file.
        let mode = Mode::from_raw_mode(own(offer.mode));
        let new = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);
        let mut there = Vec::new();
        for name in (0..COPIES).map(|copy| name(offer, copy)) {
            match rustix::fs::openat(directory, name.as_str(), new, mode) {
                Ok(file) => {
                    let file = File::from(file);
                    file.try_lock().map_err(|_| io::ErrorKind::WouldBlock)?;
                    return Ok(Some((name, file)));
                }
                Err(Errno::EXIST) => there.push(name),
                Err(error) => return Err(error.into()),
            }
        }
        there.retain(|name| !index.is_held(name, HELD));
        there.sort_by_key(|name| length(directory, name).ok().flatten());
        for name in there {
            if let Some(file) = self.take(index, directory, &name)? {
                file.set_len(0)?;
                return Ok(Some((name, file)));
            }
        }
        Ok(None)
    }

    /// Takes a copy away from whoever writes it, or opens it; `None` if it is gone or being put in its place.
    fn take(&self, index: &Index, directory: &OwnedFd, name: &str) -> io::Result<Option<File>> {
        let mut file = None;
        if let Some(slot) = index.get(name).and_then(|known| known.writer.as_ref()) {
            // The slot's owner finds its file gone and gives up. While it puts the file in its place, which takes as
            // long as the disk does, there is nothing to be taken.
            match slot.writer.try_lock() {
                Ok(mut writer) => file = writer.take().map(|writer| writer.file),
                Err(_) => return Ok(None),
            }
        }
        let file = match file {
            Some(file) => file,
            None => match open(directory, name, OFlags::RDWR) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        // Opened a moment ago is not locked: another process may have put this very file in its place meanwhile,
        // where not a byte of it may change.
        let lost = file.try_lock().is_err() || !is_named(&file, directory, OsStr::new(name))?;
        Ok((!lost).then_some(file))
    }

    /// Removes an unfinished file unless somebody gets on with it; whether it did.
    fn remove(&self, index: &mut Index, directory: &OwnedFd, name: &str) -> bool {
        match self.take(index, directory, name) {
            Ok(None) if length(directory, name).is_ok_and(|length| length.is_some()) => return false,
            Ok(Some(_)) => {
                if rustix::fs::unlinkat(directory, name, AtFlags::empty()).is_err() {
                    return false;
                }
            }
            // Another process has removed it.
            Ok(None) => {}
            Err(_) => return false,
        }
        index.forget(name);
        true
    }

    /// Counts bytes that are about to be written for a file.
    ///
    /// # Errors
    /// They are more than fits, and nothing can go.
    pub(super) fn charge(&self, name: &str, bytes: u64, taking_space: u64) -> io::Result<()> {
        let over = lock(&self.index).bytes().saturating_add(taking_space).saturating_sub(self.limit);
        if over > 0 && !self.make_room(name, over)? {
            let text = format!("unfinished files may take {} bytes together (--partial-space)", self.limit);
            return Err(io::Error::new(io::ErrorKind::StorageFull, text));
        }
        lock(&self.index).arrived(name, bytes, taking_space);
        Ok(())
    }

    /// Removes files that nobody gets on with, those that have rested longest first, until they yield `bytes`;
    /// whether they did.
    pub(super) fn make_room(&self, except: &str, bytes: u64) -> io::Result<bool> {
        let directory = self.directory()?;
        let mut index = lock(&self.index);
        let mut yielded = 0;
        for (name, size) in index.idle(STALLED, except) {
            if yielded >= bytes {
                break;
            }
            if self.remove(&mut index, &directory, &name) {
                yielded += size;
            }
        }
        Ok(yielded >= bytes)
    }

    /// The account, for whoever gives a file back.
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    /// The directory of unfinished files. Opened anew each time: another process may remove it when it is empty.
    pub(super) fn directory(&self) -> io::Result<OwnedFd> {
        match rustix::fs::mkdirat(&self.root, PARTIAL_DIRECTORY, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(rustix::fs::openat(&self.root, PARTIAL_DIRECTORY, DIRECTORY, Mode::empty())?)
    }
}

impl Drop for Partials {
    /// Leaves no empty directory behind.
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.root, PARTIAL_DIRECTORY, AtFlags::REMOVEDIR);
    }
}

/// The name of a copy. Path and size are in it, so an interrupted transfer is found again whoever resumes it.
pub(super) fn name(offer: &Offer, copy: u8) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in offer.path.components() {
        hasher.update(name);
        hasher.update(&[0]);
    }
    hasher.update(&offer.size.to_be_bytes());
    let stem = &hasher.finalize().to_hex()[..32];
    match copy {
        0 => format!("{stem}.part"),
        copy => format!("{stem}.{copy}.part"),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "partials_tests.rs"]
mod tests;
