//! A machine that just sends and receives numbered packets, and apps that make traffic with it.
#![allow(dead_code, reason = "each test file uses its part")]

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{
    Ecn, Fragmentation, Input, Instant, IpProtocol, LinkFact, Links, Machine, Route, Sink, Transmit,
    Unreachable,
};
use whimbrel_netsim::{App, Context};

pub(crate) const HEADER: usize = 16;

/// What the user can wish.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Send `count` datagrams of `bytes` each in one train.
    Send { route: Route, bytes: usize, count: usize },
    /// Call back after this time, by the machine's own deadline.
    Alarm(Duration),
}

/// What the machine tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Received { route: Route, number: u64, sent: Instant, bytes: usize, intact: bool },
    Unreachable { route: Route, reason: Unreachable, quoted: usize },
    Alarm,
    Fact(LinkFact),
}

/// Numbers the datagrams it sends; answers each datagram with an equal one if it is an echo.
#[derive(Debug, Default)]
pub(crate) struct Toy {
    pub echo: bool,
    pub sent: u64,
    pub received: u64,
    alarm: Option<Instant>,
    links: Links,
    buffer: Vec<u8>,
}

impl Toy {
    pub(crate) fn echo() -> Self {
        Self { echo: true, ..Self::default() }
    }

    fn write(&mut self, now: Instant, bytes: usize) {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&self.sent.to_le_bytes());
        self.buffer.extend_from_slice(&now.as_nanos().to_le_bytes());
        self.buffer.resize(start + bytes.max(HEADER), 0xa5);
        self.sent += 1;
    }
}

fn parse(route: Route, bytes: &[u8]) -> Event {
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let sent = Instant::from_nanos(u64::from_le_bytes(bytes[8..16].try_into().unwrap()));
    let intact = bytes[HEADER..].iter().all(|&byte| byte == 0xa5);
    Event::Received { route, number, sent, bytes: bytes.len(), intact }
}

impl Machine for Toy {
    type Command = Command;
    type Event = Event;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, Command>>,
        sink: &mut impl Sink<Event>,
    ) -> Option<Instant>
    where
        Command: 'a,
    {
        for input in inputs {
            match input {
                Input::Datagrams { route, bytes, segment, .. } => {
                    assert_eq!(segment, bytes.len(), "one packet per input");
                    self.received += 1;
                    sink.event(parse(route, bytes));
                    if self.echo {
                        let transmit = Transmit {
                            route,
                            ecn: Ecn::NotCapable,
                            fragmentation: Fragmentation::Forbidden,
                            protocol: IpProtocol::Sctp,
                            segment,
                        };
                        sink.transmit(&transmit, bytes);
                    }
                }
                Input::Unreachable { route, reason, quoted } => {
                    sink.event(Event::Unreachable { route, reason, quoted: quoted.len() });
                }
                Input::Command(Command::Send { route, bytes, count }) => {
                    self.buffer.clear();
                    for _ in 0..count {
                        self.write(now, bytes);
                    }
                    let transmit = Transmit {
                        route,
                        ecn: Ecn::Ect0,
                        fragmentation: Fragmentation::Forbidden,
                        protocol: IpProtocol::Sctp,
                        segment: bytes.max(HEADER),
                    };
                    sink.transmit(&transmit, &self.buffer);
                }
                Input::Command(Command::Alarm(after)) => self.alarm = Some(now + after),
                Input::Links(links) => {
                    self.links.follow(links).into_iter().map(Event::Fact).for_each(|event| sink.event(event));
                }
                Input::Timeout => {}
            }
        }
        if self.alarm.is_some_and(|alarm| alarm <= now) {
            self.alarm = None;
            sink.event(Event::Alarm);
        }
        self.alarm
    }

    fn links(&self) -> Links {
        self.links.clone()
    }
}

/// Sends datagrams of `bytes` at intervals, until `count` are sent.
#[derive(Debug)]
pub(crate) struct Source {
    pub route: Route,
    pub bytes: usize,
    pub count: u64,
    pub gap: Gap,
}

/// Time between two datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gap {
    Constant(Duration),
    /// Exponential with this mean: Poisson arrivals.
    Exponential(Duration),
}

/// What a host's app does, and what it has seen.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub source: Option<Source>,
    pub events: Vec<(Instant, Event)>,
    pub sent: u64,
}

impl Log {
    pub(crate) fn sending(source: Source) -> Self {
        Self { source: Some(source), ..Self::default() }
    }

    /// Numbers of the datagrams received, in order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.received().map(|(_, number, _)| number).collect()
    }

    /// Arrival, number and time of sending of each datagram received.
    pub(crate) fn received(&self) -> impl Iterator<Item = (Instant, u64, Instant)> {
        self.events.iter().filter_map(|(at, event)| match event {
            Event::Received { number, sent, .. } => Some((*at, *number, *sent)),
            _ => None,
        })
    }

    fn send_next(&mut self, context: &mut Context<'_, Command>) {
        let Some(source) = &self.source else { return };
        if self.sent == source.count {
            return;
        }
        self.sent += 1;
        context.command(Command::Send { route: source.route, bytes: source.bytes, count: 1 });
        let gap = match source.gap {
            Gap::Constant(gap) => gap,
            Gap::Exponential(mean) => mean.mul_f64(-(1.0 - context.rng().unit()).ln()),
        };
        context.wake_at(context.now() + gap, 0);
    }
}

impl App<Toy> for Log {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        self.send_next(context);
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        self.events.push((context.now(), event));
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, Command>) {
        self.send_next(context);
    }
}

pub(crate) fn ip(text: &str) -> core::net::IpAddr {
    text.parse().unwrap()
}

/// A route between two addresses, over UDP.
pub(crate) fn route(local: &str, remote: &str) -> Route {
    let at = |text: &str| SocketAddr::new(ip(text), 9899);
    Route { local: at(local), remote: at(remote) }
}
