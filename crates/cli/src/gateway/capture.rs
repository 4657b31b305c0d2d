//! SIP as a gateway says and hears it, for Wireshark.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc::UnboundedSender;
use whimbrel_gateway::{GatewayNews, Transport, Witness, Witnessed};
use whimbrel_machine::{Ecn, Route};
use whimbrel_netsim::{Captured, Pcapng};

/// A file that gets each message as one UDP datagram, whatever has carried it: what TLS and TCP put around it says nothing to who reads SIP.
pub(super) struct SipCapture {
    file: Pcapng<Box<dyn Write + Send>>,
    begin: Instant,
    /// Who is told, once, why nothing more is written.
    trouble: Option<UnboundedSender<GatewayNews>>,
}

impl SipCapture {
    /// Begins a file that its owner alone may read: it shows who has called whom.
    pub(super) fn create(path: &Path, trouble: UnboundedSender<GatewayNews>) -> io::Result<Self> {
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // One that is there already may be everybody's.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Self::of(Box::new(file), trouble)
    }

    fn of(out: Box<dyn Write + Send>, trouble: UnboundedSender<GatewayNews>) -> io::Result<Self> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut file = Pcapng::new(out, u64::try_from(since.as_nanos()).unwrap_or_default())?;
        file.add_interface("sip")?;
        Ok(Self { file, begin: Instant::now(), trouble: Some(trouble) })
    }

    fn write(&mut self, message: &Witnessed<'_>) -> io::Result<()> {
        let comment = match message.over {
            Transport::Udp => None,
            Transport::Tcp => Some("over TCP"),
            Transport::Tls => Some("over TLS"),
        };
        let captured = Captured {
            route: Route { local: message.from, remote: message.to },
            ecn: Ecn::NotCapable,
            payload: message.message,
            inbound: message.inbound,
            comment,
        };
        let at = whimbrel_machine::Instant::ZERO + self.begin.elapsed();
        self.file.write(0, at, &captured)
    }
}

impl Witness for SipCapture {
    fn sip(&mut self, message: &Witnessed<'_>) {
        if self.trouble.is_some()
            && let Err(error) = self.write(message)
            && let Some(trouble) = self.trouble.take()
        {
            let text = format!("--capture: nothing more is written: {error}");
            // Who would hear it may have gone.
            let _ = trouble.send(GatewayNews::Trouble { text });
        }
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
