//! A receiver that is begun on another host through ssh, which is trusted to say whose it is.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use whimbrel::secure::Ticket;

use crate::addresses;
use crate::destination::Destination;
use crate::exit::Failure;

/// Lines that a login may print before the ticket, at most.
const GREETING: usize = 200;

/// `[USER@]HOST[:DIR]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    host: String,
    directory: String,
}

impl Target {
    /// As typed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let end = text.find(']').filter(|_| text.contains("[")).unwrap_or(0);
        let (host, directory) = match text[end..].find(':') {
            Some(colon) => (&text[..end + colon], &text[end + colon + 1..]),
            None => (text, "."),
        };
        if host.is_empty() || host.starts_with('-') || host.chars().any(char::is_whitespace) {
            return Err("expected [USER@]HOST or [USER@]HOST:DIR, as for scp".into());
        }
        let directory = if directory.is_empty() { "." } else { directory };
        // ssh wants no brackets.
        let host = host.replace(['[', ']'], "");
        Ok(Self { host, directory: directory.to_owned() })
    }

    /// Begins a receiver there, and returns where and who it is. ssh may ask for a password meanwhile.
    pub(crate) async fn receiver(&self, program: &str) -> Result<Vec<Destination>, Failure> {
        let (target, program) = (self.clone(), program.to_owned());
        let ticket = tokio::task::spawn_blocking(move || target.ticket(&program)).await??;
        let mut to = Vec::new();
        // What ssh has reached is better than what the host believes its addresses to be.
        if let Some(Ok(address)) = self.hostname().map(|name| addresses::of_peer(&name)) {
            to.push(Destination::Address(address));
        }
        to.push(Destination::Ticket(Box::new(ticket)));
        Ok(to)
    }

    fn ticket(&self, program: &str) -> anyhow::Result<Ticket> {
        let remote = format!("{program} recv --detach --once --dir {}", quoted(&self.directory));
        let mut ssh = Command::new("ssh");
        ssh.arg(&self.host).arg(&remote).stdout(Stdio::piped());
        let mut child = ssh.spawn().context("cannot run ssh")?;
        let out = child.stdout.take().context("ssh has no output")?;
        let lines = BufReader::new(out).lines().take(GREETING).map_while(Result::ok);
        let mut ticket = lines.filter(|line| line.starts_with("whm1"));
        let found = ticket.next();
        drop(ticket);
        let status = child.wait().context("ssh")?;
        match found {
            Some(line) => Ok(line.trim().parse()?),
            None if status.code() == Some(127) => {
                bail!(
                    "there is no command {program:?} on {}; say where it is with --remote-command",
                    self.host
                )
            }
            None => Err(anyhow!("`ssh {} {remote}` gave no ticket ({status})", self.host)),
        }
    }

    /// The address that ssh goes to, by its configuration.
    fn hostname(&self) -> Option<String> {
        let output = Command::new("ssh").args(["-G", &self.host]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.lines().find_map(|line| line.strip_prefix("hostname ")).map(str::to_owned)
    }
}

/// One word for a shell.
fn quoted(text: &str) -> String {
    // A shell there makes the home directory of it, as with scp.
    let (home, rest) = match text.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", text),
    };
    format!("{home}'{}'", rest.replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "ssh_tests.rs"]
mod tests;
