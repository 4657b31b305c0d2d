use std::sync::{Arc, Weak};

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use whimbrel_machine::{Input, Instant, Machine, Sink, Transmit};
use whimbrel_node::Node;
use whimbrel_proto::{CloseReason, Command, Event};

use crate::clock::Clock;
use crate::delivery::Deliverer;
use crate::registry::Registry;
use crate::shared::{Client, Request, Shared, Wishes};
use crate::socket::{NetworkError, ReceiveBuffers, Socket};
use crate::timer::Timer;

/// Rounds before other tasks of the runtime get their turn.
const ROUNDS: usize = 8;

/// Commands carried out in one step; a burst of more is spread over several, so that packets are read in between.
const COMMANDS_PER_STEP: usize = 4096;

/// The task that owns an endpoint's machine, clock and sockets.
///
/// Each round takes everything that is ready (packets, wishes, a deadline), makes one step of the machine with it, and
/// hands what came of it to the mailboxes, waking each reader once.
pub(crate) struct Driver {
    node: Node,
    clock: Clock,
    timer: Timer,
    shared: Arc<Shared>,
    client: Weak<Client>,
    sockets: Vec<Socket>,
    /// The socket that is read first; moves on each round, so that a busy one does not starve the others.
    first_socket: usize,
    buffers: ReceiveBuffers,
    errors: Vec<NetworkError>,
    wishes: Wishes,
    /// Carried out before the packets of the next step.
    first: Vec<Command>,
    /// Bytes that users have taken since the last step; given back with the next, whatever causes it.
    releases: Vec<Command>,
    events: Vec<Event>,
    registry: Registry,
    /// No handle is left.
    unattended: bool,
    finished: bool,
}

impl Driver {
    pub(crate) fn new(node: Node, shared: Arc<Shared>, client: Weak<Client>, sockets: Vec<Socket>) -> Self {
        let clock = Clock::start();
        Self {
            node,
            clock,
            timer: Timer::new(clock),
            shared,
            client,
            sockets,
            first_socket: 0,
            buffers: ReceiveBuffers::new(),
            errors: Vec::new(),
            wishes: Wishes::default(),
            first: Vec::new(),
            releases: Vec::new(),
            events: Vec::new(),
            registry: Registry::default(),
            unattended: false,
            finished: false,
        }
    }

    /// Takes what is ready, makes a step. False if nothing was ready.
    fn round(&mut self, cx: &mut Context<'_>) -> bool {
        self.receive(cx);
        let wishes = self.shared.take_wishes(&mut self.wishes);
        let now = self.clock.now();
        let due = self.timer.is_due(now);
        if wishes {
            self.carry_out_requests();
        }
        let urgent = self.registry.take_urgent();
        if !(due || urgent || wishes || !self.buffers.is_empty() || !self.errors.is_empty()) {
            return false;
        }
        self.step(now);
        self.deliver();
        true
    }

    fn receive(&mut self, cx: &mut Context<'_>) {
        self.buffers.clear();
        let count = self.sockets.len();
        for offset in 0..count {
            let socket = &mut self.sockets[(self.first_socket + offset) % count];
            socket.flush(cx);
            socket.receive(cx, &mut self.buffers);
            self.errors.extend(socket.take_errors());
        }
        self.first_socket = (self.first_socket + 1) % count.max(1);
    }

    fn step(&mut self, now: Instant) {
        let Self { node, sockets, buffers, errors, wishes, first, releases, events, .. } = self;
        let count = wishes.commands.len().min(COMMANDS_PER_STEP);
        let network = errors.iter().map(|error| Input::Unreachable {
            route: error.route,
            reason: error.reason,
            quoted: &error.quoted,
        });
        let commands = releases.drain(..).chain(wishes.commands.drain(..count)).map(Input::Command);
        // Packets before errors and wishes: a peer that closes properly and goes may be out of reach by the time its last
        // word is read.
        let inputs = first
            .drain(..)
            .map(Input::Command)
            .chain(buffers.inputs())
            .chain(network)
            .chain(commands)
            // Tells the machine the time even if nothing else is left.
            .chain([Input::Timeout]);
        let mut output = Output { sockets, events };
        let deadline = node.step(now, inputs, &mut output);
        self.timer.set(deadline);
        sockets.iter_mut().for_each(Socket::send_gathered);
        errors.clear();
    }

    fn deliver(&mut self) {
        Deliverer {
            shared: &self.shared,
            client: &self.client,
            registry: &mut self.registry,
            releases: &mut self.releases,
            commands: &mut self.wishes.commands,
        }
        .deliver(&mut self.events);
    }

    fn carry_out_requests(&mut self) {
        for request in self.wishes.requests.drain(..) {
            match request {
                // Who asked may have given up: then the answer goes nowhere.
                Request::Paths(association, reply) => {
                    let _ = reply.send(self.node.paths(association));
                }
                Request::Stats(association, reply) => {
                    if let Some(stats) = self.node.stats(association) {
                        let _ = reply.send(stats);
                    }
                }
                Request::Listen(command) => self.first.push(command),
                Request::HandlesGone => self.unattended = true,
                Request::Close => {
                    for mailbox in self.registry.all() {
                        mailbox.shutdown(&self.shared);
                    }
                }
                Request::Abort(reason) => {
                    self.wishes.commands.extend(
                        self.registry.all().iter().map(|mailbox| Command::Abort {
                            association: mailbox.id,
                            reason: reason.clone(),
                        }),
                    );
                }
            }
        }
    }

    /// Whether there is nothing left to do, ever.
    fn is_done(&self) -> bool {
        (self.unattended || self.shared.is_closing())
            && self.registry.is_empty()
            && !self.shared.is_connecting()
    }

    /// Makes sure that the task is woken by whatever comes next. False if something has come already.
    fn park(&mut self, cx: &mut Context<'_>) -> bool {
        let mut errors = false;
        for socket in &mut self.sockets {
            errors |= socket.watch_errors(cx);
        }
        !errors && !self.timer.arm(cx) && self.shared.park(cx.waker())
    }

    /// Closes the sockets and tells everyone.
    fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.sockets.clear();
            self.registry.fail_all(&CloseReason::Refused("the endpoint is gone"));
            self.shared.finish();
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        for _ in 0..ROUNDS {
            if this.round(cx) {
                continue;
            }
            if this.is_done() {
                this.finish();
                return Poll::Ready(());
            }
            if this.park(cx) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Driver {
    /// The runtime may end before the endpoint: nobody must wait for what will not come.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Where the machine's outputs go during a step: packets straight to the sockets, events to a list.
struct Output<'a> {
    sockets: &'a mut [Socket],
    events: &'a mut Vec<Event>,
}

impl Sink<Event> for Output<'_> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        // A handful of sockets at most. A machine that sends from an address that is not ours sends nowhere.
        if let Some(socket) = self.sockets.iter_mut().find(|socket| socket.local() == transmit.route.local) {
            socket.send(transmit, bytes);
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
