//! What the file system says of unfinished files.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Unfinished files of earlier processes and the space they take, the oldest first.
pub(super) fn left_behind(directory: &OwnedFd) -> io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        if name.ends_with(".part") && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            found.push(((stat.st_mtime, stat.st_mtime_nsec), name.to_owned(), stat.st_blocks as u64 * 512));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, name, bytes)| (name, bytes)).collect())
}

/// Whatever a sender's mode is, the receiver may read and write what it has received.
pub(super) fn own(mode: u16) -> u32 {
    u32::from(mode & 0o777) | 0o600
}

/// Takes away from a file what those may not who cannot read or write it at the sender.
pub(super) fn narrow(file: &File, mode: u16) -> io::Result<()> {
    let now = rustix::fs::fstat(file)?.st_mode & 0o777;
    if now & !own(mode) != 0 {
        rustix::fs::fchmod(file, Mode::from_raw_mode(now & own(mode)))?;
    }
    Ok(())
}

pub(super) fn open(directory: &OwnedFd, name: &str, access: OFlags) -> io::Result<File> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?))
}

/// The length of a regular file; `None` if there is none of that name.
pub(super) fn length(directory: &OwnedFd, name: &str) -> io::Result<Option<u64>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            Ok(Some(stat.st_size as u64))
        }
        Ok(_) | Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether an open file is the one of this name.
pub(super) fn is_named(file: &File, directory: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    let open = rustix::fs::fstat(file)?;
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((open.st_dev, open.st_ino) == (named.st_dev, named.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn free_space(directory: impl AsFd) -> io::Result<u64> {
    let space = rustix::fs::fstatvfs(directory)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}
