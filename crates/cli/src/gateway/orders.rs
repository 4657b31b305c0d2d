//! Orders to the gateway of this machine, by a Unix socket that only its user can reach: a line of JSON each way.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use whimbrel_gateway::Order;

use super::{MoveArgs, SessionsArgs};
use crate::control::place;
use crate::exit::Failure;
use crate::output;

/// Bytes of a line at most: a thousand sessions.
const LINE_MAX: u64 = 1 << 20;
/// For whoever asks to say what.
const PATIENCE: Duration = Duration::from_secs(10);
/// A handover ends within this, one way or the other (SIP's timers).
const HANDOVER: Duration = Duration::from_secs(120);

#[derive(Serialize, Deserialize, Debug)]
#[serde(tag = "request", rename_all = "kebab-case")]
enum Request {
    Move { terminal: IpAddr, to: Vec<String> },
    Sessions,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(tag = "answer", rename_all = "kebab-case")]
enum Answer {
    Moved { to: String },
    Sessions { sessions: Vec<SessionLine> },
    Error { text: String },
}

#[derive(Serialize, Deserialize, Debug)]
struct SessionLine {
    terminal: IpAddr,
    state: String,
    correspondent: SocketAddr,
}

fn path() -> PathBuf {
    place::directory().join("gateway.orders")
}

/// Where a gateway takes orders; it goes with this value.
pub(super) struct OrderSocket {
    path: PathBuf,
    file: Option<File>,
    serving: JoinHandle<()>,
}

impl OrderSocket {
    pub(super) fn start(orders: mpsc::Sender<Order>) -> io::Result<Self> {
        place::prepare(&place::directory())?;
        let path = path();
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let serving = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => {
                        tokio::spawn(serve(stream, orders.clone()));
                    }
                    // Out of file descriptors, for instance: that passes.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        Ok(Self { file: file(&path), path, serving })
    }
}

/// Which file is at a path: its number, which may be given to the next one, and when it was changed, in seconds and ns.
type File = (u64, i64, i64);

fn file(path: &Path) -> Option<File> {
    let about = std::fs::symlink_metadata(path).ok()?;
    Some((about.ino(), about.ctime(), about.ctime_nsec()))
}

/// Removes what is at `path`, unless it is another file than `ours` by now.
fn remove_own(path: &Path, ours: Option<File>) {
    if ours.is_some() && file(path) == ours {
        let _ = std::fs::remove_file(path);
    }
}

impl Drop for OrderSocket {
    fn drop(&mut self) {
        self.serving.abort();
        // A gateway that ends takes its time, and the next one may take orders there already.
        remove_own(&self.path, self.file);
    }
}

async fn serve(stream: UnixStream, orders: mpsc::Sender<Order>) {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    let read = async { BufReader::new(reader.take(LINE_MAX)).read_line(&mut line).await };
    if !matches!(timeout(PATIENCE, read).await, Ok(Ok(count)) if count > 0) {
        return;
    }
    let answer = match serde_json::from_str(&line) {
        Ok(request) => carry_out(request, &orders).await,
        Err(error) => Answer::Error { text: error.to_string() },
    };
    if let Ok(mut text) = serde_json::to_vec(&answer) {
        text.push(b'\n');
        // Whoever breaks off has had enough.
        let _ = timeout(PATIENCE, writer.write_all(&text)).await;
    }
}

async fn carry_out(request: Request, orders: &mpsc::Sender<Order>) -> Answer {
    let gone = || Answer::Error { text: "the gateway has ended".into() };
    match request {
        Request::Move { terminal, to } => {
            let (answer, outcome) = oneshot::channel();
            let sent = orders.send(Order::Move { terminal, to, answer }).await;
            match (sent, outcome.await) {
                (Ok(()), Ok(Ok(to))) => Answer::Moved { to },
                (Ok(()), Ok(Err(error))) => Answer::Error { text: error.to_string() },
                _ => gone(),
            }
        }
        Request::Sessions => {
            let (answer, sessions) = oneshot::channel();
            match (orders.send(Order::Sessions(answer)).await, sessions.await) {
                (Ok(()), Ok(sessions)) => {
                    let line = |view: whimbrel_gateway::SessionView| SessionLine {
                        terminal: view.terminal,
                        state: view.state.to_owned(),
                        correspondent: view.application.correspondent,
                    };
                    Answer::Sessions { sessions: sessions.into_iter().map(line).collect() }
                }
                _ => gone(),
            }
        }
    }
}

/// Asks the gateway of this machine.
async fn ask(request: &Request) -> anyhow::Result<Answer> {
    let directory = place::directory();
    if !directory.exists() {
        bail!("no gateway runs on this machine as this user (`whimbrel gateway run`)");
    }
    place::check(&directory)?;
    let stream = UnixStream::connect(path()).await;
    let stream = stream.context("no gateway runs on this machine as this user (`whimbrel gateway run`)")?;
    let (reader, mut writer) = stream.into_split();
    let mut text = serde_json::to_vec(request)?;
    text.push(b'\n');
    writer.write_all(&text).await?;
    let mut line = String::new();
    let read = async { BufReader::new(reader.take(LINE_MAX)).read_line(&mut line).await };
    timeout(HANDOVER, read).await.context("the gateway does not answer")??;
    match serde_json::from_str(&line).context("the gateway says nothing that can be understood")? {
        Answer::Error { text } => bail!("{text}"),
        answer => Ok(answer),
    }
}

pub(super) async fn move_host(args: MoveArgs) -> Result<(), Failure> {
    let MoveArgs { address, to, output: how } = args;
    let Answer::Moved { to } = ask(&Request::Move { terminal: address, to }).await? else {
        return Err(anyhow::anyhow!("the gateway has answered something else").into());
    };
    if how.json {
        output::json_line("moved", json!({ "terminal": address, "to": to }));
    } else if !how.quiet {
        output::line(&format!("{address} goes to {to}"));
    }
    Ok(())
}

pub(super) async fn show_sessions(args: SessionsArgs) -> Result<(), Failure> {
    let Answer::Sessions { sessions } = ask(&Request::Sessions).await? else {
        return Err(anyhow::anyhow!("the gateway has answered something else").into());
    };
    if args.output.json {
        output::json_line("sessions", json!({ "sessions": sessions }));
    } else if sessions.is_empty() {
        output::line("no sessions");
    } else {
        for SessionLine { terminal, state, correspondent } in sessions {
            output::line(&format!("{terminal:<39} {state:<9} with {correspondent}"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod tests;
