//! Two nodes that hand each other their trains, with nothing between: what SCTP itself costs, both ends together.
//!
//! `cargo build --release -p whimbrel-node --example engine`, then
//! `valgrind --tool=callgrind target/release/examples/engine 40 65536`: the instructions of a run less those of a run of half
//! the size, divided by the difference in packets or messages that the example prints.

use std::net::SocketAddr;
use std::sync::Arc;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Seed, Sink, Transmit};
use whimbrel_node::Node;
use whimbrel_proto::{AssociationId, Command, Config, ConnectToken, Event, Message, StreamId};

/// What a step puts out.
#[derive(Default)]
struct Out {
    trains: Vec<(Transmit, std::ops::Range<usize>)>,
    bytes: Vec<u8>,
    up: Option<AssociationId>,
    /// Bytes of user data to be released.
    read: usize,
    messages: usize,
    /// Bytes that the send buffer has got back.
    acknowledged: usize,
}

impl Sink<Event> for Out {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.trains.push((*transmit, start..self.bytes.len()));
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Up { association, .. } => self.up = Some(association),
            Event::Message { received, .. } => {
                self.read += received.payload.len();
                self.messages += 1;
            }
            Event::Sent { bytes, .. } => self.acknowledged += bytes,
            _ => {}
        }
    }
}

/// Hands what one node has put out to the other.
fn deliver(now: Instant, from: &mut Out, to: &mut Node, answers: &mut Out) {
    let inputs = from.trains.iter().map(|(transmit, range)| Input::Datagrams {
        route: transmit.route.reversed(),
        ecn: Ecn::NotCapable,
        bytes: &from.bytes[range.clone()],
        segment: transmit.segment,
    });
    to.step(now, inputs, answers);
    from.trains.clear();
    from.bytes.clear();
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().expect("a number"));
    let (megabytes, size) = (arguments.next().unwrap_or(40), arguments.next().unwrap_or(65_536));
    let addresses =
        ["192.0.2.1:9899", "192.0.2.2:9899"].map(|a| a.parse::<SocketAddr>().expect("an address"));
    let config = Arc::new(Config::mobile());
    let mut nodes =
        [0, 1].map(|n| Node::new(Arc::clone(&config), Seed::from_u64(n as u64), vec![addresses[n]]));
    let (mut client, mut server) = (Out::default(), Out::default());
    let mut now = Instant::ZERO;
    let connect = Command::Connect {
        token: ConnectToken(1),
        remote: vec![addresses[1]],
        remote_port: 5000,
        local_port: None,
    };
    nodes[0].step(now, [Input::Command(connect)], &mut client);
    nodes[1].step(now, [Input::Command(Command::Listen { port: 5000 })], &mut server);
    let total = megabytes * 1_000_000 / size;
    let payload = bytes::Bytes::from(vec![7; size]);
    let (mut sent, mut acknowledged, mut packets) = (0, 0, 0);
    while server.messages < total {
        now += std::time::Duration::from_micros(100);
        let association = client.up;
        let room = (3_000_000 + acknowledged - sent * size) / size;
        let batch = if association.is_some() { room.min(total - sent) } else { 0 };
        let commands = (0..batch).filter_map(|_| {
            let message = Message::new(StreamId(0), payload.clone());
            association.map(|association| Input::Command(Command::Send { association, message }))
        });
        nodes[0].step(now, commands, &mut client);
        sent += batch;
        packets += client.trains.iter().map(|(t, range)| range.len().div_ceil(t.segment)).sum::<usize>();
        deliver(now, &mut client, &mut nodes[1], &mut server);
        if let Some(association) = server.up {
            let release = Command::Release { association, bytes: std::mem::take(&mut server.read) };
            nodes[1].step(now, [Input::Command(release)], &mut server);
        }
        deliver(now, &mut server, &mut nodes[0], &mut client);
        acknowledged += std::mem::take(&mut client.acknowledged);
        assert!(now < Instant::from_nanos(1_000_000_000_000), "the transfer goes on");
    }
    println!("{packets} packets, {total} messages");
}
