//! Runs the built command.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Nothing here takes longer, unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn whimbrel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_whimbrel"))
}

/// A command that reports in JSON, killed when dropped.
pub(crate) struct Running {
    child: Child,
    /// Lines of stdout; read by a thread of its own, so that the command never waits for this test.
    lines: Receiver<String>,
    /// UDP address it listens on.
    pub(crate) address: String,
}

impl Running {
    /// Starts a listening command and waits until it listens.
    pub(crate) fn listen(arguments: &[&str]) -> Self {
        let mut running = Self::start(arguments);
        let event = running.event("listening");
        running.address = event["addresses"][0].as_str().expect("an address").to_owned();
        running
    }

    /// `recv` into `directory` on a free port, in clear.
    pub(crate) fn recv(directory: &Path, more: &[&str]) -> Self {
        let directory = directory.to_str().unwrap();
        let arguments = ["recv", "--json", "--no-sync", "--dir", directory];
        let who =
            if more.contains(&"--auth-key-file") { &["--insecure"][..] } else { &["--anyone", "--insecure"] };
        let listen = if more.contains(&"--listen") { &[][..] } else { &["--listen", "127.0.0.1:0"] };
        Self::listen(&[&arguments, who, listen, more].concat())
    }

    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// With these environment variables.
    pub(crate) fn start_with(arguments: &[&str], environment: &[(&str, &Path)]) -> Self {
        Self::run(&[&[env!("CARGO_BIN_EXE_whimbrel")], arguments].concat(), environment)
    }

    /// The program comes first: one that runs `whimbrel` elsewhere, perhaps.
    pub(crate) fn run(command_line: &[&str], environment: &[(&str, &Path)]) -> Self {
        let mut command = Command::new(command_line[0]);
        command.envs(environment.iter().copied());
        command.args(&command_line[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
        });
        Self { child, lines, address: String::new() }
    }

    /// The next event of a kind.
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                let mut errors = String::new();
                let _ = self.child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut errors));
                panic!("no {kind} event before the end; errors: {errors}");
            };
            let event: Value = serde_json::from_str(&line).expect("a JSON object per line");
            if event["event"] == kind {
                return event;
            }
        }
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// As Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.signal("INT");
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let arguments = [format!("-{name}"), self.id().to_string()];
        assert!(Command::new("kill").args(arguments).status().unwrap().success());
    }

    /// Its process number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end: exit code, what is left of stdout, and stderr.
    pub(crate) fn finish(&mut self) -> (i32, String, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the command hangs");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut errors = String::new();
        let output = self.lines.iter().collect::<Vec<_>>().join("\n");
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (status.code().unwrap_or(-1), output, errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends files in clear and waits; JSON events on stdout.
pub(crate) fn send(address: &str, arguments: &[&str]) -> Output {
    whimbrel()
        .args(["send", "--json", "--insecure", "--to", address])
        .args(arguments)
        .output()
        .expect("the command runs")
}

/// The events of a kind in an output.
pub(crate) fn events(output: &Output, kind: &str) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON object per line"));
    all.filter(|event| event["event"] == kind).collect()
}

/// What the only file event says.
pub(crate) fn outcome(output: &Output) -> Value {
    let mut files = events(output, "file");
    assert_eq!(files.len(), 1, "{}", String::from_utf8_lossy(&output.stdout));
    files.remove(0)
}

/// `size` bytes without a pattern.
pub(crate) fn content(size: usize, seed: u64) -> Vec<u8> {
    let mut out = vec![0; size];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut out);
    out
}

/// Bytes in the unfinished files of a directory.
pub(crate) fn partial_bytes(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory.join(".whimbrel-partial")) else { return 0 };
    entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
}

/// Waits until something is true.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}
