//! The interoperation peer on dcsctp and sctp-proto, with the options and reports of the other peers of this directory. SCTP packets are
//! the payload of UDP datagrams, as RFC 6951 has them.

#[path = "../../common/assorted.rs"]
mod assorted;
mod options;
mod report;
mod session;
mod stack;

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use clap::Parser;
use options::Options;
use report::Reporter;
use serde_json::json;
use session::Session;
use stack::Stack;

fn main() {
    let options = Options::parse();
    let reporter = Reporter { started: Instant::now() };
    reporter.say("start", json!({"stack": format!("{:?}", options.stack), "pid": std::process::id()}));
    let status = run(&options, &reporter).unwrap_or_else(|error| {
        reporter.say("error", json!({"error": format!("{error:#}")}));
        1
    });
    reporter.say("exit", json!({"status": status}));
    std::process::exit(status);
}

/// Until the session is over; the exit status.
fn run(options: &Options, reporter: &Reporter) -> anyhow::Result<i32> {
    let socket = UdpSocket::bind(options.local())?;
    let mut peer: Option<SocketAddr> = options.remote();
    let mut stack = stack::open(options);
    let mut session = Session::new(options, reporter);
    if options.listen {
        reporter.say("listening", json!({"udp": options.udp}));
    }
    let give_up = reporter.started + Duration::from_secs(options.timeout);
    let mut buffer = vec![0; 65_536];
    loop {
        let now = Instant::now();
        stack.advance(now);
        // What it sends may be the end of it, which the session is to hear of; and what the session wants has to be sent.
        transmit(&mut *stack, now, &socket, peer);
        session.step(now, &mut *stack);
        transmit(&mut *stack, now, &socket, peer);
        if let Some(status) = session.status() {
            return Ok(status);
        }
        if now >= give_up {
            session.give_up();
            return Ok(3);
        }
        let next = [stack.deadline(), session.deadline()].into_iter().flatten().fold(give_up, Instant::min);
        socket.set_read_timeout(Some(next.saturating_duration_since(now).max(Duration::from_millis(1))))?;
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) if peer.is_none_or(|peer| peer == from) => {
                peer = Some(from);
                stack.handle_packet(Instant::now(), from, &buffer[..length]);
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn transmit(stack: &mut dyn Stack, now: Instant, socket: &UdpSocket, peer: Option<SocketAddr>) {
    for packet in stack.poll_packets(now) {
        if let Some(peer) = peer {
            // A refusal is news of the past (ICMP); a full buffer is a loss, which the stack can bear.
            let _ = socket.send_to(&packet, peer);
        }
    }
}
