//! Where control sockets live: a directory that only its owner may enter.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// How the names of sockets end.
pub(super) const SUFFIX: &str = "sock";

/// The directory; it need not exist.
pub(crate) fn directory() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = geteuid().as_raw();
    let of_user = PathBuf::from(format!("/run/user/{user}"));
    match runtime.into_iter().chain([of_user]).find(|path| path.is_dir()) {
        Some(runtime) => runtime.join("whimbrel"),
        // Everyone may write there: whose it is gets checked.
        None => std::env::temp_dir().join(format!("whimbrel-{user}")),
    }
}

/// Makes the directory unless it is there, and checks that it is ours alone.
pub(crate) fn prepare(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    check(directory)?;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700))
}

/// Whether the directory is ours and nobody else could have put anything into it.
pub(crate) fn check(directory: &Path) -> io::Result<()> {
    let metadata = std::fs::symlink_metadata(directory)?;
    let fault = if !metadata.is_dir() {
        "is no directory"
    } else if metadata.uid() != geteuid().as_raw() {
        "belongs to another user"
    } else if metadata.mode() & 0o022 != 0 {
        "can be written by others"
    } else {
        return Ok(());
    };
    let text = format!("{} {fault}; remove it", directory.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
