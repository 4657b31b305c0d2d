use std::sync::{Arc, Weak};

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use whimbrel_machine::{Input, Instant, Links, Machine};
use whimbrel_node::Node;
use whimbrel_proto::{CloseReason, Command, Event};

use crate::anticipation::Anticipation;
use crate::clock::Clock;
use crate::delivery::Deliverer;
use crate::endpoint::AssociationView;
use crate::inbox::{Inbox, Wishes};
use crate::interfaces::Interfaces;
use crate::link_news::LinkNews;
use crate::locals::Locals;
use crate::mailbox::Mailbox;
use crate::metrics::Metrics;
use crate::output::Output;
use crate::registry::Registry;
use crate::shared::{Client, Request, Shared};
use crate::socket::{LocalAddress, NetworkError, ReceiveBuffers};
use crate::stuck_flows::StuckFlows;
use crate::timer::Timer;
use crate::witness::Witness;

/// Rounds before other tasks of the runtime get their turn.
const ROUNDS: usize = 8;

/// How long an endpoint without associations may wait for its sockets to take what is left.
const LINGER: core::time::Duration = core::time::Duration::from_secs(1);

/// Commands carried out in one step; a burst of more is spread over several, so that packets are read in between.
const COMMANDS_PER_STEP: usize = 4096;

/// The task that owns the machine, clock and sockets of an endpoint, or of one of its shards.
///
/// Each round takes everything that is ready (packets, wishes, a deadline), makes one step of the machine with it, and
/// hands what came of it to the mailboxes, waking each reader once.
pub(crate) struct Driver {
    node: Node,
    clock: Clock,
    timer: Timer,
    shared: Arc<Shared>,
    shard: usize,
    client: Weak<Client>,
    locals: Locals,
    /// The address that is read first; moves on each round, so that a busy one does not starve the others.
    first_local: usize,
    link_news: LinkNews,
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
    metrics: Metrics,
    witness: Witness,
    stuck: StuckFlows,
    /// No handle is left.
    unattended: bool,
    /// Has told the other shards that there is nothing left to do here.
    retired: bool,
    /// Until when the last words may wait for room in the sockets.
    lingers_until: Option<Instant>,
    finished: bool,
}

/// What a driver is made of.
pub(crate) struct Parts {
    pub(crate) node: Node,
    /// The same for all shards.
    pub(crate) clock: Clock,
    pub(crate) shared: Arc<Shared>,
    /// The number of the shard.
    pub(crate) shard: usize,
    pub(crate) client: Weak<Client>,
    pub(crate) locals: Locals,
    pub(crate) link_news: LinkNews,
    pub(crate) witness: Witness,
}

impl Driver {
    /// `interfaces` is what the host's links were like when the sockets were opened.
    pub(crate) fn new(parts: Parts, interfaces: &Interfaces) -> Self {
        let Parts { node, clock, shared, shard, client, locals, mut link_news, witness } = parts;
        // It knows the open addresses, and nothing of their interfaces.
        let mut links = node.links();
        link_news.write(interfaces, &mut links);
        Self {
            node,
            clock,
            timer: Timer::new(clock),
            shared,
            shard,
            client,
            locals,
            first_local: 0,
            link_news,
            buffers: ReceiveBuffers::new(),
            errors: Vec::new(),
            wishes: Wishes::default(),
            first: Vec::new(),
            links: Some(links),
            releases: Vec::new(),
            events: Vec::new(),
            registry: Registry::default(),
            unattended: false,
            retired: false,
            anticipation: Anticipation::default(),
            metrics: Metrics::default(),
            witness,
            stuck: StuckFlows::default(),
            lingers_until: None,
            finished: false,
        }
    }

    fn inbox(&self) -> &Inbox {
        &self.shared.inboxes()[self.shard]
    }

    /// Takes what is ready, makes a step. False if nothing was ready.
    fn round(&mut self, cx: &mut Context<'_>) -> bool {
        self.receive(cx);
        let wishes = self.shared.inboxes()[self.shard].take_wishes(&mut self.wishes);
        let now = self.clock.now();
        let due = self.timer.is_due(now);
        if wishes {
            self.carry_out_requests();
        }
        self.follow_links();
        let urgent = self.registry.take_urgent() || self.links.is_some() || !self.first.is_empty();
        if !(due || urgent || wishes || !self.buffers.is_empty() || !self.errors.is_empty()) {
            return false;
        }
        if !self.buffers.is_empty() {
            self.anticipation.received();
        }
        self.step(now);
        if self.locals.has_renewable_ports() {
            self.stuck.note(now, &self.node, &self.events);
        }
        self.deliver(now);
        if self.locals.has_renewable_ports() {
            self.stuck.renew(now, &self.node, &mut self.locals, &mut self.first);
            self.timer.no_later(self.stuck.next());
        }
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

    fn follow_links(&mut self) {
        let Self { node, locals, links, link_news, shared, shard, .. } = self;
        let followed =
            link_news.follow(*shard, shared, locals, || links.take().unwrap_or_else(|| node.links()));
        if let Some(followed) = followed {
            *links = Some(followed).filter(|links| *links != node.links());
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
            metrics,
            witness,
            shared,
            ..
        } = self;
        for hand_over in wishes.handed_over.drain(..) {
            node.handle_hand_over(now, &hand_over);
        }
        let count = wishes.commands.len().min(COMMANDS_PER_STEP);
        registry.note_senders(now, wishes.commands.iter().take(count));
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
        buffers.trains().for_each(|(bytes, segment)| metrics.received(bytes, segment));
        let mut output = Output { now, locals, events, anticipation, metrics, witness };
        let deadline = node.step(now, inputs, &mut output);
        self.timer.set(deadline);
        locals.iter_mut().for_each(LocalAddress::send_gathered);
        errors.clear();
        while let Some(hand_over) = node.poll_hand_over() {
            shared.hand_over(hand_over);
        }
        for decided in node.take_decisions() {
            if let Some(mailbox) = registry.get(decided.association) {
                mailbox.decided(decided.decision);
                witness.look(now, decided.association);
            }
        }
    }

    fn deliver(&mut self, now: Instant) {
        Deliverer {
            now,
            shared: &self.shared,
            inbox: &self.shared.inboxes()[self.shard],
            client: &self.client,
            registry: &mut self.registry,
            releases: &mut self.releases,
            commands: &mut self.wishes.commands,
            metrics: &mut self.metrics,
            witness: &mut self.witness,
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
                Request::Metrics(reply) => {
                    let _ = reply.send(self.metrics.of(&self.node));
                }
                Request::Listen(command) => {
                    self.locals.keep_ports();
                    self.first.push(command);
                }
                Request::Follow(interfaces, port) => self.link_news.told(interfaces, port),
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

    /// Whether there is nothing left to do, ever, in any shard.
    fn is_done(&mut self) -> bool {
        let idle = (self.unattended || self.inbox().is_closing())
            && self.registry.is_empty()
            && !self.inbox().is_connecting();
        if idle != self.retired {
            self.retired = idle;
            if idle {
                self.shared.retire();
            } else {
                self.shared.return_to_work();
            }
        }
        idle && self.shared.all_have_retired()
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
        if errors || self.timer.arm(cx) || !self.inbox().park(cx.waker()) {
            return false;
        }
        // News that came before the waker was in place woke nobody.
        let is_over = self.retired && self.lingers_until.is_none() && self.shared.all_have_retired();
        !is_over && !self.link_news.has_news(&self.shared)
    }

    /// Closes the sockets and tells everyone.
    fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.link_news.end();
            self.locals.close();
            self.registry.fail_all(&CloseReason::Refused("the endpoint is gone"));
            // Whoever waits for the endpoint's end finds everything recorded.
            self.witness.end(self.clock.now());
            if !self.retired {
                self.retired = true;
                self.shared.retire();
            }
            self.shared.finish(self.shard);
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
