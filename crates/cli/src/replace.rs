//! Files that others read are replaced as a whole.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes `text` to the file `path`, which its owner alone can read then, whatever its mode was: all of it or nothing, so that neither a power failure
/// nor somebody who reads at that moment finds a part. A symbolic link stays, and what it leads to is replaced.
///
/// # Errors
/// If the directory cannot be written to; what was there is still there then.
pub(crate) fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = || path.display().to_string();
    let directory = path.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory).with_context(name)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).with_context(name)?;
    file.persist(&path).with_context(name)?;
    Ok(())
}
