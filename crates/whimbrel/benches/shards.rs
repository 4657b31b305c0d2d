//! What a second shard is worth to an endpoint that receives: recorded packets of 64 associations are fed to its shards, each in a thread of its own, with
//! no sender and no socket beside them.
//!
//! `cargo bench -p whimbrel --bench shards [-- [rounds] [bytes per association] [bytes per message]]`. Prints medians of the rounds, in which one
//! shard and two take turns.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "measures real time")]

use core::net::SocketAddr;
use core::num::NonZeroU32;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};
use std::thread;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Record, Route, Seed, Sink, Transmit};
use whimbrel_node::Node;
use whimbrel_proto::{AssociationId, Command, Config, ConnectToken, Event, Message, Shard, StreamId};

const ASSOCIATIONS: u16 = 64;
const PORT: u16 = 5001;
const ROUND: Duration = Duration::from_millis(1);

/// A train of datagrams.
struct Train {
    route: Route,
    segment: usize,
    bytes: Vec<u8>,
}

/// What a shard is given in one step.
struct Step {
    now: Instant,
    trains: Vec<Train>,
}

#[derive(Default)]
struct Outputs {
    trains: Vec<Train>,
    events: Vec<Event>,
    keeps: bool,
}

impl Sink<Event> for Outputs {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        if self.keeps {
            let bytes = bytes.to_vec();
            self.trains.push(Train { route: transmit.route, segment: transmit.segment, bytes });
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn trace(&mut self, _: Record) {}
}

/// A shard of the server, whose user takes each message at once.
struct Server {
    node: Node,
    outputs: Outputs,
    releases: Vec<Command>,
    received: usize,
}

impl Server {
    fn shards(count: u32) -> Vec<Self> {
        let shards = Shard::all(NonZeroU32::new(count).expect("some"));
        let config = Arc::new(Config::mobile());
        let one = |shard| {
            let node = Node::shard(Arc::clone(&config), Seed::from_u64(1), vec![server_address()], shard);
            let releases = vec![Command::Listen { port: PORT }];
            Self { node, outputs: Outputs::default(), releases, received: 0 }
        };
        shards.map(one).collect()
    }

    fn step(&mut self, step: &Step) {
        let trains = step.trains.iter().map(|train| Input::Datagrams {
            route: train.route,
            ecn: Ecn::NotCapable,
            bytes: &train.bytes,
            segment: train.segment,
        });
        let inputs = self.releases.drain(..).map(Input::Command).chain(trains);
        self.node.step(step.now, inputs, &mut self.outputs);
        for event in self.outputs.events.drain(..) {
            if let Event::Message { association, received } = event {
                let bytes = received.payload.len();
                self.received += bytes;
                self.releases.push(Command::Release { association, bytes });
            }
        }
    }
}

struct Client {
    node: Node,
    outputs: Outputs,
    association: Option<AssociationId>,
    left: usize,
    incoming: Vec<Train>,
}

impl Client {
    fn new(number: u16, bytes: usize) -> Self {
        let address = SocketAddr::from(([10, 1, (number >> 8) as u8, number as u8], 9899));
        Self {
            node: Node::new(Arc::new(Config::mobile()), Seed::from_u64(u64::from(number) + 2), vec![address]),
            outputs: Outputs { keeps: true, ..Outputs::default() },
            association: None,
            left: bytes,
            incoming: Vec::new(),
        }
    }

    fn step(&mut self, now: Instant, commands: Vec<Command>) -> Vec<Train> {
        let incoming = core::mem::take(&mut self.incoming);
        let trains = incoming.iter().map(|train| Input::Datagrams {
            route: train.route,
            ecn: Ecn::NotCapable,
            bytes: &train.bytes,
            segment: train.segment,
        });
        let inputs = commands.into_iter().map(Input::Command).chain(trains).chain([Input::Timeout]);
        self.node.step(now, inputs, &mut self.outputs);
        for event in self.outputs.events.drain(..) {
            if let Event::Up { association, .. } = event {
                self.association = Some(association);
            }
        }
        core::mem::take(&mut self.outputs.trains)
    }
}

fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 9899))
}

/// The packets of a handshake, and those of the transfer, as each shard gets them.
struct Recording {
    handshake: Vec<Vec<Step>>,
    transfer: Vec<Vec<Step>>,
}

impl Recording {
    /// Transfers from all clients at once over a network without loss that takes a millisecond each way.
    fn make(shards: u32, bytes: usize, size: usize) -> Self {
        let mut servers = Server::shards(shards);
        servers.iter_mut().for_each(|server| server.outputs.keeps = true);
        let mut clients: Vec<_> = (0..ASSOCIATIONS).map(|number| Client::new(number, bytes)).collect();
        let by_address: BTreeMap<SocketAddr, usize> = clients
            .iter()
            .enumerate()
            .map(|(index, client)| (client.node.links().usable().next().expect("one").0, index))
            .collect();
        let steps = || (0..shards).map(|_| Vec::new()).collect::<Vec<Vec<Step>>>();
        let mut recording = Self { handshake: steps(), transfer: steps() };
        let payload = bytes::Bytes::from(vec![7; size]);
        let mut now = Instant::ZERO;
        let total = bytes / size * size * usize::from(ASSOCIATIONS);
        while servers.iter().map(|server| server.received).sum::<usize>() < total {
            now += ROUND;
            let all_up = clients.iter().all(|client| client.association.is_some());
            let mut arriving: Vec<Vec<Train>> = (0..shards).map(|_| Vec::new()).collect();
            for client in &mut clients {
                let mut commands = Vec::new();
                if now == Instant::ZERO + ROUND {
                    commands.push(Command::Connect {
                        token: ConnectToken(0),
                        remote: vec![server_address()],
                        remote_port: PORT,
                        local_port: None,
                    });
                }
                if let (true, Some(association)) = (all_up && client.left >= size, client.association) {
                    while client.left >= size {
                        client.left -= size;
                        let message = Message::new(StreamId(0), payload.clone());
                        commands.push(Command::Send { association, message });
                    }
                }
                for train in client.step(now, commands) {
                    let tag = u32::from_be_bytes(*train.bytes[4..].first_chunk().expect("a header"));
                    let route = train.route.reversed();
                    arriving[(tag % shards) as usize].push(Train { route, ..train });
                }
            }
            let steps = if all_up { &mut recording.transfer } else { &mut recording.handshake };
            for ((server, trains), steps) in servers.iter_mut().zip(arriving).zip(steps) {
                let step = Step { now, trains };
                server.step(&step);
                steps.push(step);
                for train in server.outputs.trains.drain(..) {
                    if let Some(&client) = by_address.get(&train.route.remote) {
                        let route = train.route.reversed();
                        clients[client].incoming.push(Train { route, ..train });
                    }
                }
            }
        }
        recording
    }

    /// Bytes per second that a server takes which has nothing else to do, and bytes per second of CPU time of its busiest thread.
    fn play(&self) -> [f64; 2] {
        let mut servers = Server::shards(self.handshake.len() as u32);
        let rounds = self.handshake[0].len();
        for round in 0..rounds {
            for (server, steps) in servers.iter_mut().zip(&self.handshake) {
                server.step(&steps[round]);
            }
        }
        let barrier = Barrier::new(servers.len());
        let times = thread::scope(|scope| {
            let threads: Vec<_> = servers
                .iter_mut()
                .zip(&self.transfer)
                .map(|(server, steps)| {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        let (start, before) = (std::time::Instant::now(), thread_cpu_time());
                        for step in steps {
                            server.step(step);
                        }
                        [start.elapsed(), thread_cpu_time().saturating_sub(before)]
                    })
                })
                .collect();
            let times = threads.into_iter().map(|thread| thread.join().expect("it ends well"));
            times.reduce(|one, other| [one[0].max(other[0]), one[1].max(other[1])]).expect("some")
        });
        let received: usize = servers.iter().map(|server| server.received).sum();
        times.map(|time| received as f64 / time.as_secs_f64())
    }
}

/// Bytes/s of one shard and of two, each by both clocks.
type Outcome = ([f64; 2], [f64; 2]);

fn main() {
    let arguments: Vec<usize> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    let argument = |place: usize, usual| arguments.get(place).copied().unwrap_or(usual);
    let (rounds, bytes, size) = (argument(0, 9), argument(1, 2 << 20), argument(2, 16_384));
    let recordings = [1, 2].map(|shards| Recording::make(shards, bytes, size));
    println!("{ASSOCIATIONS} associations, messages of {size} bytes, {rounds} rounds");
    let outcomes: Vec<Outcome> = (0..rounds).map(|_| (recordings[0].play(), recordings[1].play())).collect();
    for (index, clock) in ["wall-clock time", "CPU time of the busiest thread"].into_iter().enumerate() {
        let of = |rate: &dyn Fn(&Outcome) -> f64| median(outcomes.iter().map(rate).collect());
        println!(
            "by {clock}: one shard {:.0} MB/s, two {:.0} MB/s, ratio {:.2}",
            of(&|(one, _)| one[index] / 1e6),
            of(&|(_, two)| two[index] / 1e6),
            of(&|(one, two)| two[index] / one[index])
        );
    }
}

/// On a machine with other work to do, wall-clock time says how much of a processor there was.
fn thread_cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
