//! One run at a time in a directory, and beside it one of each shard.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::shard::Shard;

/// Holds a directory of results, or the place of a shard there; other runs are refused until it is dropped, or the program ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the lock is on the file while it is open")] File);

impl Lock {
    /// Takes a directory, which is made if it is not there. A shard has files of its own, so that shards on many machines may be run in one.
    ///
    /// # Errors
    /// That another run has it, or what the file system says.
    pub fn of(dir: &Path, shard: Option<Shard>) -> io::Result<Self> {
        if fs::metadata(dir).is_ok_and(|there| !there.is_dir()) {
            let what = "it is a file; results go into a directory, which is made if it is not there: name another one with --out";
            return Err(io::Error::new(io::ErrorKind::NotADirectory, what));
        }
        fs::create_dir_all(dir)?;
        let path = dir.join(shard.map_or(".lock".to_owned(), |shard| format!(".{}.lock", shard.in_name())));
        if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            let what = format!("{} is no regular file; remove it", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        // The file stays: whoever removed it could remove one that somebody else has just locked.
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {
                let what = "another run writes there; wait for it, or take another directory with --out";
                Err(io::Error::new(io::ErrorKind::ResourceBusy, what))
            }
            // A file system without locks.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Self(file)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
