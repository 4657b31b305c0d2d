//! A receiver that is begun on another host through ssh, which is trusted to say whose it is.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use whimbrel::secure::Ticket;

use crate::addresses;
use crate::destination::Destination;
use crate::exit::Failure;

/// Bytes that a login may print before the ticket, at most.
const SAID_MAX: u64 = 256 * 1024;
/// So much later than ssh a Ctrl-C may be noticed here.
const MOMENT: Duration = Duration::from_millis(100);

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

    /// Begins a receiver there with these options, and returns where and who it is. ssh may ask for a password meanwhile.
    ///
    /// # Errors
    /// ssh has failed, or what it runs.
    pub(crate) async fn receiver(
        &self,
        program: &str,
        options: &[&str],
    ) -> Result<Vec<Destination>, Failure> {
        let ticket = self.ticket(program, options).await?;
        let mut to = Vec::new();
        // What ssh has reached is better than what the host believes its addresses to be.
        if let Some(Ok(address)) = self.hostname().await.map(|name| addresses::of_peer(&name)) {
            to.push(Destination::Address(address));
        }
        to.push(Destination::Ticket(Box::new(ticket)));
        Ok(to)
    }

    async fn ticket(&self, program: &str, options: &[&str]) -> anyhow::Result<Ticket> {
        let words = options.iter().map(|option| format!(" {option}")).collect::<String>();
        let remote = format!("{program} recv --detach --once{words} --dir {}", quoted(&self.directory));
        let mut ssh = Command::new("ssh");
        // A password comes from the terminal; what standard input has is somebody else's.
        ssh.arg(&self.host).arg(&remote).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = ssh.spawn().context("cannot run ssh")?;
        let out = child.stdout.take().context("ssh has no output")?;
        let mut said = Vec::new();
        let mut out = out.take(SAID_MAX);
        // The receiver goes on by itself: ssh is of no more use as soon as the ticket is here.
        while out.read_buf(&mut said).await.context("ssh")? > 0 {
            if let Some(ticket) = ticket_in(&said) {
                return Ok(ticket.parse()?);
            }
        }
        let status = child.wait().await.context("ssh")?;
        // Ctrl-C ends ssh, too, and then that is what happened.
        tokio::time::sleep(MOMENT).await;
        match status.code() {
            Some(127) => {
                bail!(
                    "there is no command {program:?} on {}; say where it is with --remote-command",
                    self.host
                )
            }
            _ => Err(anyhow!("`ssh {} {remote}` gave no ticket ({status})", self.host)),
        }
    }

    /// The address that ssh goes to, by its configuration.
    async fn hostname(&self) -> Option<String> {
        let output = Command::new("ssh").args(["-G", &self.host]).kill_on_drop(true).output().await.ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.lines().find_map(|line| line.strip_prefix("hostname ")).map(str::to_owned)
    }
}

/// The first whole line that ends with a ticket, whatever a login prints before it.
fn ticket_in(said: &[u8]) -> Option<String> {
    let lines = said.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let lines = lines.map(|line| String::from_utf8_lossy(line).trim_end().to_owned());
    lines.into_iter().find_map(|line| {
        line.find("whm1").map(|at| line[at..].to_owned()).filter(|ticket| ticket.parse::<Ticket>().is_ok())
    })
}

/// One word for a shell.
fn quoted(text: &str) -> String {
    // A shell there makes the home directory of it, as with scp.
    let (home, rest) = match text.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", text),
    };
    // What begins with a dash is no option.
    let here = if home.is_empty() && rest.starts_with('-') { "./" } else { "" };
    format!("{home}'{here}{}'", rest.replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "ssh_tests.rs"]
mod tests;
