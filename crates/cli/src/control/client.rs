use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::place::{self, SUFFIX};
use super::protocol::{ANSWER_BYTES_MAX, Question, Report, VERSION};

/// How long a process may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What this user's processes have to say, by process number. Sockets of processes that are gone are removed.
///
/// # Errors
/// The directory is not ours alone, so that nothing in it can be trusted.
pub(crate) async fn ask_all() -> io::Result<Vec<Report>> {
    ask_all_in(&place::directory()).await
}

pub(super) async fn ask_all_in(directory: &Path) -> io::Result<Vec<Report>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    place::check(directory)?;
    let mut sockets: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == SUFFIX) {
            sockets.push(path);
        }
    }
    let asked: Vec<_> =
        sockets.into_iter().map(|path| tokio::spawn(async move { ask(&path).await })).collect();
    let mut reports = Vec::new();
    for one in asked {
        reports.extend(one.await.ok().flatten());
    }
    reports.sort_by_key(|report: &Report| report.pid);
    Ok(reports)
}

/// One process's answer; `None` if it has none.
async fn ask(path: &Path) -> Option<Report> {
    let stream = match timeout(PATIENCE, UnixStream::connect(path)).await.ok()? {
        Ok(stream) => stream,
        Err(error) => {
            // Nobody listens any more: the process died without tidying up.
            if error.kind() == io::ErrorKind::ConnectionRefused {
                let _ = std::fs::remove_file(path);
            }
            return None;
        }
    };
    let report: Report = timeout(PATIENCE, converse(stream)).await.ok()?.ok()?;
    (report.version == VERSION).then_some(report)
}

async fn converse(mut stream: UnixStream) -> io::Result<Report> {
    let mut question = serde_json::to_vec(&Question::Paths)?;
    question.push(b'\n');
    stream.write_all(&question).await?;
    let mut line = Vec::new();
    BufReader::new(stream).take(ANSWER_BYTES_MAX as u64).read_until(b'\n', &mut line).await?;
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
