//! The kernel's TCP: one write call per message, one copy into the reader's buffer. TCP has no messages; the reader
//! knows their size.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use super::{End, Role};
use crate::measure::{EndReport, Meter};

const READ_BUFFER: usize = 256 * 1024;

pub(super) fn run(end: &End) -> anyhow::Result<EndReport> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, end.port));
    let (meter, bytes) = match end.role {
        Role::Server => serve(address)?,
        Role::Client => send(address, end)?,
    };
    Ok(EndReport { bytes, messages: bytes / end.size as u64, ..meter.read()? })
}

fn serve(address: SocketAddr) -> anyhow::Result<(Meter, u64)> {
    let (mut stream, _) = TcpListener::bind(address)?.accept()?;
    let meter = Meter::start()?;
    let mut buffer = vec![0; READ_BUFFER];
    let mut bytes = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok((meter, bytes)),
            count => bytes += count as u64,
        }
    }
}

fn send(address: SocketAddr, end: &End) -> anyhow::Result<(Meter, u64)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let meter = Meter::start()?;
    let message = vec![0x5a; end.size];
    let mut messages = 0;
    while messages % 64 != 0 || meter.elapsed() < Duration::from_secs(end.seconds) {
        stream.write_all(&message)?;
        messages += 1;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    // The reader has everything when it closes.
    let _ = stream.read(&mut [0])?;
    Ok((meter, messages * end.size as u64))
}
