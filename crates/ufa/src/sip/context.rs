use super::{Dialog, Transport};
use crate::interface::Application;

/// A session as one gateway hands it to the next (message 3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// What it is for.
    pub application: Application,
    /// bit/s that the query has found to be there.
    pub throughput: u64,
    /// The terminal's address until now.
    pub old_address: core::net::IpAddr,
    /// The dialog with the terminal, as it will be when the source has carried out its part.
    pub terminal: Dialog,
    /// The dialog with the correspondent, likewise.
    pub correspondent: Dialog,
}

/// A context that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a session context that cannot be read")]
pub struct BadContext;

impl Context {
    /// As the body of a message that `carrier` carries.
    pub fn written(&self, carrier: Transport) -> String {
        let Self { application, throughput, old_address, terminal, correspondent } = self;
        let (terminal, correspondent) = (terminal.written(carrier), correspondent.written(carrier));
        format!("{application}\r\n{throughput}\r\n{old_address}\r\n{terminal}\r\n{correspondent}\r\n")
    }

    /// From the body of a message that `carrier` has carried.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str, carrier: Transport) -> Result<Self, BadContext> {
        let lines: Vec<&str> = text.lines().collect();
        let [application, throughput, old_address, terminal, correspondent] = lines[..] else {
            return Err(BadContext);
        };
        Ok(Self {
            application: application.parse().map_err(|_| BadContext)?,
            throughput: throughput.parse().map_err(|_| BadContext)?,
            old_address: old_address.parse().map_err(|_| BadContext)?,
            terminal: Dialog::read(terminal, carrier)?,
            correspondent: Dialog::read(correspondent, carrier)?,
        })
    }
}
