//! Hashing what is on disk, and remembering it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files whose hash is remembered; some 10 MB. The largest stay, since they are the ones that cost.
const REMEMBERED: usize = 65_536;

/// The hash state after the first `length` bytes; an error if there are fewer, or once nobody is interested any more.
pub(crate) fn hash_prefix(
    file: impl Read,
    length: u64,
    wanted: impl Fn() -> bool,
) -> io::Result<Box<blake3::Hasher>> {
    let mut hasher = Box::<blake3::Hasher>::default();
    let mut left = file.take(length);
    let mut block = vec![0; 256 * 1024];
    while wanted() {
        let read = match left.read(&mut block) {
            Ok(0) if hasher.count() == length => return Ok(hasher),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&block[..read]);
    }
    Err(io::Error::other("nobody waits for the hash any more"))
}

/// What a file was like when its hash was taken. Whoever writes to it changes this.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Stamp {
    length: u64,
    device: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Of an open file.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let now = file.metadata()?;
        Ok(Self {
            length: now.len(),
            device: now.dev(),
            inode: now.ino(),
            modified: (now.mtime(), now.mtime_nsec()),
            changed: (now.ctime(), now.ctime_nsec()),
        })
    }
}

/// The hashes of files in place. What a sender claims costs it a few bytes, so what it makes the receiver read must
/// not grow with its claims: a file is read once, however often it is offered, and one file is read at a time.
#[derive(Default)]
pub(crate) struct Hashes {
    turn: Mutex<()>,
    known: Mutex<Known>,
    read: AtomicU64,
}

#[derive(Default)]
struct Known {
    hashes: BTreeMap<(u64, u64), (Stamp, blake3::Hash)>,
    /// The same, smallest file first.
    by_size: BTreeSet<(u64, (u64, u64))>,
}

impl Hashes {
    /// The hash of a whole file.
    ///
    /// # Errors
    /// What reading meets, and the end of `wanted`.
    pub(crate) fn of(&self, file: &File, wanted: impl Fn() -> bool) -> io::Result<blake3::Hash> {
        let stamp = Stamp::of(file)?;
        if let Some(hash) = lock(&self.known).get(&stamp) {
            return Ok(hash);
        }
        let hash = self.read_when_due(file, stamp.length, || lock(&self.known).get(&stamp), wanted)?;
        let hash = match hash {
            FromDisk::Known(hash) => return Ok(hash),
            FromDisk::Read(hasher) => hasher.finalize(),
        };
        if Stamp::of(file)? == stamp {
            self.remember(stamp, hash);
        }
        Ok(hash)
    }

    /// Reads and hashes the first `length` bytes when it is this caller's turn, unless `known` has them by then.
    ///
    /// # Errors
    /// What reading meets, and the end of `wanted`.
    pub(crate) fn read_when_due<K>(
        &self,
        file: &File,
        length: u64,
        known: impl Fn() -> Option<K>,
        wanted: impl Fn() -> bool,
    ) -> io::Result<FromDisk<K>> {
        let _turn = lock(&self.turn);
        if let Some(known) = known() {
            return Ok(FromDisk::Known(known));
        }
        self.read.fetch_add(length, Ordering::Relaxed);
        hash_prefix(file, length, wanted).map(FromDisk::Read)
    }

    /// Notes the hash of a file.
    pub(crate) fn remember(&self, stamp: Stamp, hash: blake3::Hash) {
        lock(&self.known).insert(stamp, hash);
    }

    /// Bytes read from the disk to hash them, up to now.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// What [`Hashes::read_when_due`] found.
pub(crate) enum FromDisk<K> {
    /// Somebody else has read it meanwhile.
    Known(K),
    /// It was read.
    Read(Box<blake3::Hasher>),
}

impl Known {
    fn get(&self, stamp: &Stamp) -> Option<blake3::Hash> {
        let (of, hash) = self.hashes.get(&(stamp.device, stamp.inode))?;
        (of == stamp).then_some(*hash)
    }

    fn insert(&mut self, stamp: Stamp, hash: blake3::Hash) {
        let file = (stamp.device, stamp.inode);
        if let Some((before, _)) = self.hashes.insert(file, (stamp, hash)) {
            self.by_size.remove(&(before.length, file));
        }
        self.by_size.insert((stamp.length, file));
        if self.hashes.len() > REMEMBERED
            && let Some((_, smallest)) = self.by_size.pop_first()
        {
            self.hashes.remove(&smallest);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "hashing_tests.rs"]
mod tests;
