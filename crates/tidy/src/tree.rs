//! The text files of the repository.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Built, downloaded, generated or written by others.
const SKIPPED_DIRECTORIES: [&str; 6] = ["target", "build", "corpus", "artifacts", "vendor", "node_modules"];

/// What a text file here is called; files without an extension are scripts, licences or Makefiles.
const EXTENSIONS: [&str; 12] = ["", "c", "css", "h", "html", "js", "md", "py", "rs", "sh", "toml", "txt"];

/// A text file.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// All text files, sorted by path.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Tree {
    /// Reads the repository.
    pub(crate) fn read() -> io::Result<Self> {
        let mut sources = Vec::new();
        walk(&root(), "", &mut sources)?;
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { sources })
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.path == path)
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.is_rust())
    }
}

fn walk(directory: &Path, prefix: &str, sources: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let hidden = name.starts_with('.') && name != ".ci" && name != ".cargo";
            if !hidden && !SKIPPED_DIRECTORIES.contains(&name.as_str()) {
                walk(&entry.path(), &format!("{path}/"), sources)?;
            }
        } else if kind.is_file() && is_text(&path) {
            // Not UTF-8: a binary, whatever it is called.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                sources.push(Source { path, text });
            }
        }
    }
    Ok(())
}

fn is_text(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    // A page in the root is one that the demo has written.
    EXTENSIONS.contains(&extension) && (extension != "html" || path.contains('/'))
}
