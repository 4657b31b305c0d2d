use std::sync::{Arc, Weak};

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use tokio::task::JoinSet;
use whimbrel_machine::{Input, Instant, Links, Machine, Record, Sink, Transmit};
use whimbrel_node::Node;
use whimbrel_proto::{CloseReason, Command, Event};

use crate::anticipation::Anticipation;
use crate::clock::Clock;
use crate::delivery::Deliverer;
use crate::endpoint::AssociationView;
use crate::endpoint_events::EndpointEvent;
use crate::interfaces::{Board, Interfaces, LinkWriter};
use crate::locals::Locals;
use crate::mailbox::Mailbox;
use crate::recorder::Recorder;
use crate::registry::Registry;
use crate::shared::{Client, Request, Shared, Wishes};
use crate::socket::{LocalAddress, NetworkError, ReceiveBuffers};
use crate::timer::Timer;

/// Rounds before other tasks of the runtime get their turn.
const ROUNDS: usize = 8;

/// How long an endpoint without associations may wait for its sockets to take what is left.
const LINGER: core::time::Duration = core::time::Duration::from_secs(1);

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
    locals: Locals,
    /// The address that is read first; moves on each round, so that a busy one does not starve the others.
    first_local: usize,
    sources: Sources,
    buffers: ReceiveBuffers,
    errors: Vec<NetworkError>,
    wishes: Wishes,
    /// Carried out before the packets of the next step.
    first: Vec<Command>,
    /// The links, if they have changed since the machine was told of them; told before packets too.
    links: Option<Links>,
    /// Bytes that users have taken since the last step; given back with the next, whatever causes it.
    releases: Vec<Command>,
    events: Vec<Event>,
    registry: Registry,
    anticipation: Anticipation,
    recorder: Option<Box<dyn Recorder>>,
    /// No handle is left.
    unattended: bool,
    /// Until when the last words may wait for room in the sockets.
    lingers_until: Option<Instant>,
    finished: bool,
}

/// Where the endpoint learns about the host's links.
pub(crate) struct Sources {
    pub(crate) board: Arc<Board>,
    /// Their tasks, which end with the driver.
    pub(crate) running: JoinSet<()>,
    pub(crate) writer: LinkWriter,
}

impl Driver {
    /// `interfaces` is what the host's links were like when `locals` were opened.
    pub(crate) fn new(
        node: Node,
        shared: Arc<Shared>,
        client: Weak<Client>,
        locals: Locals,
        mut sources: Sources,
        interfaces: &Interfaces,
        recorder: Option<Box<dyn Recorder>>,
    ) -> Self {
        let clock = Clock::start();
        // It knows the open addresses, and nothing of their interfaces.
        let mut links = node.links();
        sources.writer.write(interfaces, &mut links);
        Self {
            node,
            clock,
            timer: Timer::new(clock),
            shared,
            client,
            locals,
            first_local: 0,
            sources,
            buffers: ReceiveBuffers::new(),
            errors: Vec::new(),
            wishes: Wishes::default(),
            first: Vec::new(),
            links: Some(links),
            releases: Vec::new(),
            events: Vec::new(),
            registry: Registry::default(),
            unattended: false,
            anticipation: Anticipation::default(),
            recorder,
            lingers_until: None,
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
        self.follow_links();
        let urgent = self.registry.take_urgent() || self.links.is_some();
        if !(due || urgent || wishes || !self.buffers.is_empty() || !self.errors.is_empty()) {
            return false;
        }
        if !self.buffers.is_empty() {
            self.anticipation.received();
        }
        self.step(now);
        self.deliver();
        true
    }

    fn receive(&mut self, cx: &mut Context<'_>) {
        self.buffers.clear();
        let locals = self.locals.all();
        let count = locals.len();
        for offset in 0..count {
            let local = &mut locals[(self.first_local + offset) % count];
            local.exchange(cx, &mut self.buffers, &mut self.errors);
        }
        self.first_local = (self.first_local + 1) % count.max(1);
    }

    /// Opens and closes sockets as the host's addresses come and go, and draws up the links for the next step.
    fn follow_links(&mut self) {
        if !self.sources.board.has_news() {
            return;
        }
        let news = self.sources.board.take();
        let mut events: Vec<_> = news
            .complaints
            .into_iter()
            .map(|complaint| EndpointEvent::LinkSource { source: complaint.source, text: complaint.text })
            .collect();
        if let Some(interfaces) = news.interfaces {
            let mut links = self.links.take().unwrap_or_else(|| self.node.links());
            // Those that are open first: of very many addresses not all are known.
            links.set_open(&self.locals.follow(&interfaces, &mut events));
            self.sources.writer.write(&interfaces, &mut links);
            self.links = Some(links).filter(|links| *links != self.node.links());
            self.shared.set_addresses(self.locals.addresses());
            self.shared.set_interfaces(interfaces);
        }
        for event in &events {
            self.shared.subscribers.publish(event);
        }
    }

    fn step(&mut self, now: Instant) {
        let Self {
            node,
            locals,
            buffers,
            errors,
            wishes,
            first,
            links,
            releases,
            events,
            registry,
            anticipation,
            recorder,
            ..
        } = self;
        let count = wishes.commands.len().min(COMMANDS_PER_STEP);
        let network = errors.iter().map(|error| Input::Unreachable {
            route: error.route,
            reason: error.reason,
            quoted: &error.quoted,
        });
        let commands = releases.drain(..).chain(wishes.commands.drain(..count)).map(Input::Command);
        // Packets before errors and wishes: a peer that closes properly and goes may be out of reach by the time its last
        // word is read.
        let links = links.take();
        let inputs = links
            .iter()
            .map(Input::Links)
            .chain(first.drain(..).map(Input::Command))
            .chain(buffers.inputs())
            .chain(network)
            .chain(commands)
            // Tells the machine the time even if nothing else is left.
            .chain([Input::Timeout]);
        let locals = locals.all();
        let mut output = Output { now, locals, events, anticipation, recorder };
        let deadline = node.step(now, inputs, &mut output);
        self.timer.set(deadline);
        locals.iter_mut().for_each(LocalAddress::send_gathered);
        errors.clear();
        for decided in node.take_decisions() {
            if let Some(mailbox) = registry.get(decided.association) {
                mailbox.decided(decided.decision);
            }
        }
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
                Request::Overview(reply) => {
                    let _ = reply.send(overview(&self.node, &self.registry));
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

    /// Whether last words (an ABORT behind a full socket buffer, say) still have to leave, and may.
    fn lingers(&mut self) -> bool {
        if !self.locals.all().iter_mut().any(LocalAddress::has_unsent) {
            return false;
        }
        let now = self.clock.now();
        let until = *self.lingers_until.get_or_insert(now + LINGER);
        self.timer.set(Some(until));
        now < until
    }

    /// Makes sure that the task is woken by whatever comes next. False if something has come already.
    fn park(&mut self, cx: &mut Context<'_>) -> bool {
        let mut errors = false;
        for local in self.locals.all() {
            errors |= local.watch_errors(cx);
        }
        // News that came before the waker was in place woke nobody.
        !errors && !self.timer.arm(cx) && self.shared.park(cx.waker()) && !self.sources.board.has_news()
    }

    /// Closes the sockets and tells everyone.
    fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.sources.running.abort_all();
            self.locals.close();
            self.registry.fail_all(&CloseReason::Refused("the endpoint is gone"));
            // Whoever waits for the endpoint's end finds everything recorded.
            self.recorder = None;
            self.shared.finish();
        }
    }
}

fn overview(node: &Node, registry: &Registry) -> Vec<AssociationView> {
    let one = |mailbox: Arc<Mailbox>| AssociationView {
        id: mailbox.id,
        local_port: mailbox.setup.local_port,
        remote_port: mailbox.setup.remote_port,
        mobility: mailbox.changes.mobility(),
        paths: node.paths(mailbox.id),
        stats: node.stats(mailbox.id).unwrap_or_default(),
    };
    registry.all().into_iter().map(one).collect()
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        for _ in 0..ROUNDS {
            if this.round(cx) {
                continue;
            }
            if this.is_done() && !this.lingers() {
                this.finish();
                return Poll::Ready(());
            }
            if this.park(cx) {
                if this.anticipation.look_again() {
                    // Wakes this task when the runtime has looked for packets without waiting for any.
                    let _ = core::pin::pin!(tokio::task::yield_now()).poll(cx);
                }
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
    now: Instant,
    locals: &'a mut [LocalAddress],
    events: &'a mut Vec<Event>,
    anticipation: &'a mut Anticipation,
    recorder: &'a mut Option<Box<dyn Recorder>>,
}

impl Sink<Event> for Output<'_> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.anticipation.sent(bytes);
        // A handful of addresses at most. A machine that sends from an address that is not ours sends nowhere.
        if let Some(local) = self.locals.iter_mut().find(|local| local.local() == transmit.route.local) {
            local.send(transmit, bytes);
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn trace(&mut self, record: Record) {
        if let Some(recorder) = self.recorder {
            recorder.record(self.now.saturating_since(Instant::ZERO), record);
        }
    }

    fn traces(&self) -> bool {
        self.recorder.is_some()
    }
}
