//! An unfinished file while it is being written.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::fs::AtFlags;

use super::hashing::Stamp;
use super::partials::{Partials, Slot, lock};

/// The file, and the hash state of what was written: as many bytes as it has hashed.
pub(super) struct Writer {
    pub(super) file: File,
    pub(super) hasher: Box<blake3::Hasher>,
}

/// An unfinished file, open for writing.
pub(crate) struct Partial {
    slot: Arc<Slot>,
    name: String,
    partials: Arc<Partials>,
}

impl Partial {
    pub(super) fn new(slot: Arc<Slot>, name: String, partials: Arc<Partials>) -> Self {
        Self { slot, name, partials }
    }

    /// Writes the next bytes. A block of zeros becomes a hole, so sparse files stay sparse.
    ///
    /// # Errors
    /// The disk or the space for unfinished files is full; a newer connection has taken the file.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut writer = lock(&self.slot.writer);
        let writer = writer.as_mut().ok_or_else(taken_over)?;
        let offset = writer.hasher.count();
        let length = bytes.len() as u64;
        if bytes.len() >= 4096 && bytes.iter().all(|&byte| byte == 0) {
            self.partials.charge(&self.name, length, 0)?;
            writer.file.set_len(offset + length)?;
        } else {
            self.partials.charge(&self.name, length, length)?;
            match writer.file.write_all_at(bytes, offset) {
                Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                    if !self.partials.make_room(&self.name, length)? {
                        return Err(error);
                    }
                    writer.file.write_all_at(bytes, offset)?;
                }
                written => written?,
            }
        }
        writer.hasher.update(bytes);
        Ok(())
    }

    /// The hash of all that was written; `None` once a newer connection has taken the file.
    pub(crate) fn hash(&self) -> Option<blake3::Hash> {
        lock(&self.slot.writer).as_ref().map(|writer| writer.hasher.finalize())
    }

    /// Gives it up together with its content.
    pub(crate) fn discard(self) {
        // Open until it is gone: nobody else can lock it meanwhile.
        let writer = lock(&self.slot.writer).take();
        if writer.is_some() {
            self.unlink();
        }
    }

    /// Hands the complete file, the directory it lies in and its name there to `place`, which says whether it has
    /// moved it.
    ///
    /// # Errors
    /// Those of `place`, and that a newer connection has taken the file.
    pub(super) fn finish<T>(
        self,
        place: impl FnOnce(&File, &OwnedFd, &str) -> io::Result<(T, bool)>,
    ) -> io::Result<T> {
        // Open, and so locked, until it is in its place: whoever takes a partial file may shorten it.
        let writer = lock(&self.slot.writer).take().ok_or_else(taken_over)?;
        let (placed, moved) = place(&writer.file, &self.partials.directory()?, &self.name)?;
        if moved {
            self.partials.index().forget(&self.name);
        }
        Ok(placed)
    }

    fn unlink(&self) {
        if let Ok(directory) = self.partials.directory() {
            let _ = rustix::fs::unlinkat(directory, self.name.as_str(), AtFlags::empty());
        }
        self.partials.index().forget(&self.name);
    }
}

impl Drop for Partial {
    /// Leaves it for whoever goes on with it, and what it hashes to with it.
    fn drop(&mut self) {
        // Locked until the index has what is known of it: whoever asks meanwhile waits, and does not find a file
        // that has a writer and no content.
        let mut writer = lock(&self.slot.writer);
        if writer.as_ref().is_some_and(|writer| writer.hasher.count() == 0) {
            self.unlink();
            return *writer = None;
        }
        // A write that failed may have left a beginning.
        let parked = writer.take().and_then(|writer| {
            writer.file.set_len(writer.hasher.count()).ok()?;
            Some((Stamp::of(&writer.file).ok()?, writer.hasher))
        });
        let mut index = self.partials.index();
        if let Some(known) = index.get_mut(&self.name)
            && known.writer.as_ref().is_some_and(|writer| Arc::ptr_eq(writer, &self.slot))
        {
            (known.writer, known.parked) = (None, parked);
        }
    }
}

fn taken_over() -> io::Error {
    io::Error::other("a newer connection has taken this transfer over")
}
