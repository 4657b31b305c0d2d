use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixDatagram;

use super::line::{LINE_BYTES_MAX, apply};
use super::source::Run;
use super::{Interfaces, LineError, LinkSource, LinkSourceError, Publisher};

/// Link facts from a Unix datagram socket: whoever may write to it (the owner) sends one line per datagram.
///
/// The socket is made with mode 0600 and removed when the source ends. See the [module](super) for the lines.
///
/// ```text
/// python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
///   .sendto(b"{\"interface\": \"wlan0\", \"signal_dbm\": -71}", "/run/user/1000/links")'
/// ```
#[derive(Debug)]
pub struct FactSocket {
    path: PathBuf,
    socket: std::os::unix::net::UnixDatagram,
}

impl FactSocket {
    /// Makes the socket. One that a dead process has left behind is replaced.
    ///
    /// # Errors
    /// Something else is at that path, another process listens there, or the directory cannot be written.
    pub fn bind(path: impl Into<PathBuf>) -> Result<Self, LinkSourceError> {
        let path = path.into();
        let open = || {
            remove_stale(&path)?;
            let socket = std::os::unix::net::UnixDatagram::bind(&path)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        match open() {
            Ok(socket) => Ok(Self { path, socket }),
            Err(cause) => Err(LinkSourceError { source_name: describe(&path), cause }),
        }
    }
}

fn describe(path: &Path) -> String {
    format!("the link facts from {}", path.display())
}

/// Removes the socket of a process that is gone.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something else of that name"));
    }
    let probe = std::os::unix::net::UnixDatagram::unbound()?;
    match probe.connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        _ => Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there")),
    }
}

impl Drop for FactSocket {
    fn drop(&mut self) {
        // Somebody may have removed it already.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl LinkSource for FactSocket {
    fn name(&self) -> String {
        describe(&self.path)
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        Box::pin(async move {
            let error = |cause| LinkSourceError { source_name: describe(&self.path), cause };
            let socket = self.socket.try_clone().and_then(UnixDatagram::from_std).map_err(error)?;
            let mut known = Interfaces::default();
            publisher.publish(known.clone());
            let mut buffer = vec![0; LINE_BYTES_MAX + 1];
            loop {
                let count = socket.recv(&mut buffer).await.map_err(error)?;
                match apply(&mut known, &buffer[..count]) {
                    Ok(()) => publisher.publish(known.clone()),
                    Err(reason) => publisher.reject(LineError { line: None, reason }),
                }
            }
        })
    }
}

#[cfg(test)]
#[path = "fact_socket_tests.rs"]
mod tests;
