use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::geteuid;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use whimbrel::Endpoint;

use super::place::{self, SUFFIX};
use super::protocol::{QUESTION_BYTES_MAX, Question, Report};
use crate::network_control::OrderedMoves;
use crate::news::News;

/// Askers served at a time; more wait.
const ASKERS: usize = 8;

/// An asker that asks nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// This process's control socket; it goes with this value.
pub(crate) struct ControlSocket {
    path: PathBuf,
    serving: JoinHandle<()>,
}

impl ControlSocket {
    /// Answers questions about the endpoint's associations from now on. `None` if that is not possible, which nobody but
    /// `whimbrel paths` would miss; `news` tells why.
    pub(crate) fn start(
        command: &'static str,
        endpoint: &Endpoint,
        ordered: &OrderedMoves,
        news: &impl News,
    ) -> Option<Self> {
        match Self::start_in(&place::directory(), command, endpoint, ordered) {
            Ok(socket) => Some(socket),
            Err(error) => {
                let text = format!("`whimbrel paths` cannot show this command: {error}");
                news.event("no-control-socket", json!({ "text": text }));
                news.warn(&text);
                None
            }
        }
    }

    pub(super) fn start_in(
        directory: &Path,
        command: &'static str,
        endpoint: &Endpoint,
        ordered: &OrderedMoves,
    ) -> io::Result<Self> {
        place::prepare(directory)?;
        let path = directory.join(format!("{}.{SUFFIX}", std::process::id()));
        // Under its own name only once somebody listens: a socket that refuses is taken for a dead process's.
        let nascent = path.with_extension("new");
        let _ = std::fs::remove_file(&nascent);
        let listener = UnixListener::bind(&nascent)?;
        std::fs::set_permissions(&nascent, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&nascent, &path)?;
        let serving = tokio::spawn(serve(listener, command, endpoint.clone(), ordered.clone()));
        Ok(Self { path, serving })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.serving.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(listener: UnixListener, command: &'static str, endpoint: Endpoint, ordered: OrderedMoves) {
    let room = Arc::new(Semaphore::new(ASKERS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, for instance: that passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (endpoint, ordered) = (endpoint.clone(), ordered.clone());
        tokio::spawn(async move {
            // Whoever breaks off has had enough.
            let _ = answer(stream, command, &endpoint, &ordered).await;
            drop(permit);
        });
    }
}

async fn answer(
    stream: UnixStream,
    command: &str,
    endpoint: &Endpoint,
    ordered: &OrderedMoves,
) -> io::Result<()> {
    let asker = stream.peer_cred()?.uid();
    if asker != 0 && asker != geteuid().as_raw() {
        return Ok(());
    }
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut reader).take(QUESTION_BYTES_MAX as u64);
        let count = timeout(PATIENCE, limited.read_until(b'\n', &mut line)).await??;
        if count == 0 || line.last() != Some(&b'\n') {
            return Ok(());
        }
        let mut text = match serde_json::from_slice(&line) {
            Ok(Question::Paths) => {
                let associations = endpoint.associations().await;
                let (own, interfaces) = (endpoint.local_addresses(), endpoint.interfaces());
                let report = Report::new(command, own, &associations, &interfaces, ordered);
                serde_json::to_vec(&report)?
            }
            Err(error) => serde_json::to_vec(&json!({ "error": error.to_string() }))?,
        };
        text.push(b'\n');
        timeout(PATIENCE, writer.write_all(&text)).await??;
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
