//! What any set-up over UDP takes at least: two round trips of small packets, one system call each, and nothing else.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::{End, Role};
use crate::measure::{EndReport, Meter};

/// About the mean of INIT, INIT ACK, COOKIE ECHO and COOKIE ACK.
const PACKET: usize = 200;

/// The four-way handshake.
const ROUND_TRIPS: usize = 2;

/// On loopback nothing is lost; a peer that does not answer is gone.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn run(end: &End) -> anyhow::Result<EndReport> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, end.port));
    let packets = end.setups * ROUND_TRIPS;
    let report = match end.role {
        Role::Server => answer(&bind(server)?, packets)?,
        Role::Client => {
            let socket = bind((Ipv4Addr::LOCALHOST, 0).into())?;
            socket.connect(server)?;
            ask(&socket, packets, end.inflight)?
        }
    };
    Ok(EndReport { setups: end.setups, inflight: end.inflight, ..report })
}

fn bind(address: SocketAddr) -> anyhow::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

fn answer(socket: &UdpSocket, packets: usize) -> anyhow::Result<EndReport> {
    let mut buffer = [0; 2048];
    let mut meter = None;
    for _ in 0..packets {
        let (length, client) = socket.recv_from(&mut buffer)?;
        if meter.is_none() {
            meter = Some(Meter::start()?);
        }
        socket.send_to(&buffer[..length], client)?;
    }
    meter.map_or_else(|| Ok(EndReport::default()), |meter| meter.read())
}

fn ask(socket: &UdpSocket, packets: usize, inflight: usize) -> anyhow::Result<EndReport> {
    let mut buffer = [0; 2048];
    let meter = Meter::start()?;
    let first = inflight.min(packets);
    for _ in 0..first {
        socket.send(&[0x5a; PACKET])?;
    }
    for received in 0..packets {
        socket.recv(&mut buffer)?;
        if received + first < packets {
            socket.send(&[0x5a; PACKET])?;
        }
    }
    meter.read()
}
