use std::net::SocketAddr;

use tokio::sync::mpsc;

use super::*;

fn say(capture: &mut SipCapture, over: Transport) {
    let (from, to): (SocketAddr, SocketAddr) =
        ("10.1.0.1:5061".parse().unwrap(), "10.1.0.50:5061".parse().unwrap());
    capture.sip(&Witnessed { from, to, over, inbound: false, message: b"OPTIONS sip:a SIP/2.0\r\n\r\n" });
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

#[test]
fn what_is_said_is_in_the_file_which_is_its_owners() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("sip.pcapng");
    std::fs::write(&path, "of somebody else").unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let (news, _told) = mpsc::unbounded_channel();
    let mut capture = SipCapture::create(&path, news).unwrap();
    say(&mut capture, Transport::Tls);
    let bytes = std::fs::read(&path).unwrap();
    assert!(contains(&bytes, b"OPTIONS sip:a") && contains(&bytes, b"over TLS"), "{bytes:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A disk with so much room.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk that is full ends the capture and not the gateway.
#[test]
fn that_nothing_more_can_be_written_is_told_once() {
    let (news, mut told) = mpsc::unbounded_channel();
    let mut capture = SipCapture::of(Box::new(Disk(350)), news).unwrap();
    for _ in 0..5 {
        say(&mut capture, Transport::Udp);
    }
    let Ok(GatewayNews::Trouble { text }) = told.try_recv() else { panic!("nothing was told") };
    assert!(text.starts_with("--capture: nothing more is written: "), "{text}");
    assert!(told.try_recv().is_err(), "it is told again");
}
