use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::place::{self, SUFFIX};
use super::protocol::{ANSWER_BYTES_MAX, Question, Report, VERSION};
use crate::transfer::names::printable;

/// How long a process may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What this user's processes have said.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Answers {
    /// By process number.
    pub(crate) reports: Vec<Report>,
    /// Those that should have answered and have not.
    pub(crate) failed: Vec<Failed>,
}

/// A process that cannot be asked, and why.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Failed {
    /// As the socket is called.
    pub(crate) pid: String,
    pub(crate) reason: &'static str,
}

/// Asks all processes of this user. Sockets of those that are gone are removed.
///
/// # Errors
/// The directory is not ours alone, so that nothing in it can be trusted.
pub(crate) async fn ask_all() -> io::Result<Answers> {
    ask_all_in(&place::directory()).await
}

pub(super) async fn ask_all_in(directory: &Path) -> io::Result<Answers> {
    if !directory.exists() {
        return Ok(Answers::default());
    }
    place::check(directory)?;
    let mut sockets: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == SUFFIX) {
            sockets.push(path);
        }
    }
    let ask_one = |path: PathBuf| tokio::spawn(async move { (ask(&path).await, path) });
    let asked: Vec<_> = sockets.into_iter().map(ask_one).collect();
    let mut answers = Answers::default();
    for one in asked {
        match one.await {
            Ok((Ok(report), _)) => answers.reports.extend(report),
            Ok((Err(reason), path)) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                answers.failed.push(Failed { pid: printable(&name), reason });
            }
            Err(_) => {}
        }
    }
    answers.reports.sort_by_key(|report: &Report| report.pid);
    answers.failed.sort();
    Ok(answers)
}

/// One process's answer, or why there is none; `None` if the process is gone.
async fn ask(path: &Path) -> Result<Option<Report>, &'static str> {
    const SILENT: &str = "does not answer";
    let stream = match timeout(PATIENCE, UnixStream::connect(path)).await.map_err(|_| SILENT)? {
        Ok(stream) => stream,
        Err(error) => {
            return match error.kind() {
                // Nobody listens any more: the process died without tidying up.
                io::ErrorKind::ConnectionRefused => {
                    let _ = std::fs::remove_file(path);
                    Ok(None)
                }
                // It ended while we looked.
                io::ErrorKind::NotFound => Ok(None),
                _ => Err("cannot be asked"),
            };
        }
    };
    let report = match timeout(PATIENCE, converse(stream)).await.map_err(|_| SILENT)? {
        Ok(report) => report,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err("answers in another version's words");
        }
        // It ended while it was asked, or it is full of askers.
        Err(_) => return Err(SILENT),
    };
    if report.version != VERSION {
        return Err("answers in another version's words");
    }
    Ok(Some(report))
}

async fn converse(mut stream: UnixStream) -> io::Result<Report> {
    let mut question = serde_json::to_vec(&Question::Paths)?;
    question.push(b'\n');
    stream.write_all(&question).await?;
    let mut line = Vec::new();
    BufReader::new(stream).take(ANSWER_BYTES_MAX as u64).read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
