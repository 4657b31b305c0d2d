//! Hashing what is on disk.

use std::io::{self, Read};

/// The hash state after the first `length` bytes; an error if there are fewer.
pub(crate) fn hash_prefix(file: impl Read, length: u64) -> io::Result<Box<blake3::Hasher>> {
    let mut hasher = Box::<blake3::Hasher>::default();
    let mut left = file.take(length);
    let mut block = vec![0; 256 * 1024];
    loop {
        let read = match left.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&block[..read]);
    }
    if hasher.count() == length { Ok(hasher) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
