//! A terminal goes where message 7A sends it: layer 2 by a command of the user's, address and route by the kernel.

use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;
use tokio::time::timeout;
use whimbrel_ufa::sip::{AppliConfig, TerminalSettings};

/// How long the command may take. The gateway there waits for 40 s.
const ATTACHING: Duration = Duration::from_secs(30);

/// How long each part has taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Settled {
    pub(crate) attach: Duration,
    pub(crate) settle: Duration,
}

/// Goes there. An error is a sentence.
pub(crate) async fn go(
    command: Option<&str>,
    config: &AppliConfig,
    there: &TerminalSettings,
) -> Result<Settled, String> {
    let begin = Instant::now();
    if let Some(command) = command {
        attach(command, config, there).await?;
    }
    let attach = begin.elapsed();
    settle(config, there)
        .await
        .map_err(|error| format!("cannot take the address {}: {error}", config.add))?;
    Ok(Settled { attach, settle: begin.elapsed() - attach })
}

/// Runs the user's command, which knows by its environment where to go.
async fn attach(command: &str, config: &AppliConfig, there: &TerminalSettings) -> Result<(), String> {
    let child = Command::new("sh")
        .args(["-c", command])
        .env("WHIMBREL_ESSID", &there.essid)
        .env("WHIMBREL_CHANNEL", there.channel.to_string())
        .env("WHIMBREL_MAC", there.mac.to_string())
        .env("WHIMBREL_GATEWAY", there.gateway.to_string())
        .env("WHIMBREL_ADDRESS", config.add.to_string())
        .env("WHIMBREL_NETMASK", there.netmask.to_string())
        .env("WHIMBREL_OLD_ADDRESS", config.delete.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn();
    let mut child = child.map_err(|error| format!("--attach: {error}"))?;
    let group = Group(child.id());
    let outcome = timeout(ATTACHING, child.wait()).await;
    match outcome {
        Ok(Ok(status)) => {
            group.let_go();
            if status.success() {
                Ok(())
            } else {
                Err(format!("--attach: the command has failed ({status})"))
            }
        }
        Ok(Err(error)) => Err(format!("--attach: {error}")),
        Err(_) => Err(format!("--attach: the command takes longer than {} s", ATTACHING.as_secs())),
    }
}

/// The command and all that it has begun. What is not done when nobody waits for it any more is ended: it would set an address that is somebody else's by then.
struct Group(Option<u32>);

impl Group {
    fn let_go(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(leader) = leader {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Takes the address, unless the command has done that, on the interface that had the old one, and everything by the gateway.
#[cfg(target_os = "linux")]
async fn settle(config: &AppliConfig, there: &TerminalSettings) -> io::Result<()> {
    use crate::kernel::Kernel;
    use crate::values::prefix_length;

    let kernel = Kernel::connect()?;
    if kernel.link_with(config.add).await?.is_some() {
        return Ok(());
    }
    let no_interface = || io::Error::other(format!("no interface has the old address {}", config.delete));
    let link = kernel.link_with(config.delete).await?.ok_or_else(no_interface)?;
    let length = prefix_length(there.netmask).ok_or_else(|| io::Error::other("the netmask is none"))?;
    kernel.settle(link, config.add, length, there.gateway).await?;
    kernel.leave(config.delete).await
}

#[cfg(not(target_os = "linux"))]
async fn settle(_: &AppliConfig, _: &TerminalSettings) -> io::Result<()> {
    Err(io::Error::other("only on Linux does this command set addresses"))
}
