use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
use std::io::{self, Write};
use std::sync::Arc;

use whimbrel_machine::{Instant, LinkFact, Machine, Nat64Prefix, Rng, Seed};

use crate::event_queue::Due;
use crate::fabric::Fabric;
use crate::hash::TraceHash;
use crate::nat::Nat;
use crate::trace::Trace;
use crate::{
    App, Attachment, Change, DirectionStats, DropReason, HostId, InterfaceId, Intruder, LinkConfig,
    LinkDirection, LinkId, Pattern, RouterId, SharedMedium, Side,
};

mod run;
mod sleep;

use self::sleep::Missed;

/// Something that happens to a world from outside, now or at a set time.
#[derive(Debug)]
pub enum Action<M: Machine, A> {
    /// A link changes.
    Link(LinkId, Side, Change),
    /// A host learns something about its links. A change of a link tells the hosts at its ends nothing by itself:
    /// a cut somewhere in the network is not seen, the loss of one's own carrier is.
    Fact(HostId, LinkFact),
    /// The user of a host gives a command, past the app.
    Command(HostId, M::Command),
    /// An interface gets an address; whoever had it loses it. The host is not told.
    AddAddress(InterfaceId, IpAddr),
    /// An interface loses an address. The host is not told.
    RemoveAddress(InterfaceId, IpAddr),
    /// The NAT box at an interface forgets whom it has let out, and gives them other ports from now on.
    ForgetMappings(InterfaceId),
    /// The `b` end of a link moves, as a mobile's link from one access router to the next. What is on its way comes
    /// out at the new place; take the link down first if it shall be lost.
    Reattach(LinkId, Attachment),
    /// A host stops without a word: its machine and app are never called again.
    Crash(HostId),
    /// A host sleeps: nothing that comes to it is heard, its timers stand still, and what it is told of its links it learns when it wakes.
    Suspend(HostId),
    /// A host that sleeps wakes up, late for everything that was due meanwhile.
    Resume(HostId),
    /// A host begins anew with this machine and this app, whether it had crashed or not.
    Restart(HostId, Box<(M, A)>),
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The given time has come.
    Reached,
    /// Nothing is left that will ever happen.
    Idle,
    /// The condition holds.
    Satisfied,
    /// A million things happened at one instant: some machine or app goes round in circles.
    Livelock,
}

struct Host<M, A> {
    machine: M,
    app: A,
    running: bool,
    /// What has been missed, while the host sleeps.
    asleep: Option<Missed>,
    /// How often it has been started; tells the wake-ups of former lives.
    life: u16,
    deadline: Option<Instant>,
    /// The earliest timer event in the queue; later ones are void.
    timer_at: Instant,
    rng: Rng,
}

/// What machines and apps put out during a step, kept between steps for its memory.
struct Scratch<M: Machine> {
    events: Vec<M::Event>,
    commands: Vec<M::Command>,
    wakes: Vec<(Instant, u64)>,
    notes: Vec<(&'static str, u64)>,
}

/// Hosts, links between them, and a clock that jumps from event to event.
///
/// Build it with the `add_*` methods, schedule what shall happen, and run it. A datagram that a machine sends
/// leaves by the interface that owns `route.local`, crosses links towards the interface that owns `route.remote`,
/// and becomes one [`Input::Datagrams`](whimbrel_machine::Input::Datagrams) there. Two things at one instant happen
/// in the order in which they were caused.
pub struct World<M: Machine, A> {
    now: Instant,
    hosts: Vec<Host<M, A>>,
    fabric: Fabric,
    actions: Vec<Option<Action<M, A>>>,
    vacant_actions: Vec<u32>,
    scratch: Scratch<M>,
    seed: Seed,
    intruder: Option<Box<dyn Intruder>>,
    /// Events and steps at the present instant.
    busy: u32,
    livelock: bool,
}

impl<M: Machine, A: App<M>> World<M, A> {
    /// An empty world at [`Instant::ZERO`].
    pub fn new(seed: Seed) -> Self {
        Self {
            now: Instant::ZERO,
            hosts: Vec::new(),
            fabric: Fabric::new(seed.clone()),
            actions: Vec::new(),
            vacant_actions: Vec::new(),
            scratch: Scratch {
                events: Vec::new(),
                commands: Vec::new(),
                wakes: Vec::new(),
                notes: Vec::new(),
            },
            seed,
            intruder: None,
            busy: 0,
            livelock: false,
        }
    }

    /// The seed, to give the machines children of: `world.seed().child("host", 0)`.
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Adds a host, which begins to run at the present time, after everything already due.
    pub fn add_host(&mut self, name: &str, machine: M, app: A) -> HostId {
        let host = self.hosts.len() as u32;
        let rng = self.seed.stream("app", u64::from(host));
        let timer_at = Instant::FAR_FUTURE;
        self.hosts.push(Host {
            machine,
            app,
            running: true,
            asleep: None,
            life: 0,
            deadline: None,
            timer_at,
            rng,
        });
        self.fabric.host_names.push(name.to_owned());
        self.fabric.events.push(self.now, Due::Start { host, life: 0 });
        HostId(host)
    }

    /// Adds an interface with the given addresses to a host. An address belongs to one interface in the world.
    pub fn add_interface(
        &mut self,
        host: HostId,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> InterfaceId {
        let interface = self.fabric.topology.add_interface(host);
        for address in addresses {
            self.fabric.topology.add_address(interface, address);
        }
        interface
    }

    /// Puts a NAT box at an interface: the world sees it by the address `public` and a port for each pair of addresses, and only who has
    /// been sent something may answer, for as long as nothing has gone out for less than `idle` (RFC 4787: address and port dependent
    /// in mapping and filtering). Links and captures are beyond the box. It translates UDP alone. An [`Intruder`] stands
    /// behind it.
    pub fn add_nat(&mut self, interface: InterfaceId, public: IpAddr, idle: Duration) {
        self.fabric.topology.add_address(interface, public);
        self.fabric.nats.insert(interface.0, Nat::new(public, idle));
    }

    /// As [`Self::add_nat`], and from inside everything with an IPv4 address is reached by an IPv6 address of `prefix`, too
    /// (NAT64, RFC 6146, RFC 6052). IPv6 is not translated among itself.
    pub fn add_nat64(
        &mut self,
        interface: InterfaceId,
        prefix: Nat64Prefix,
        public: Ipv4Addr,
        idle: Duration,
    ) {
        self.fabric.topology.add_address(interface, public.into());
        let nat = Nat::new(public.into(), idle).with_prefix(prefix);
        self.fabric.nats.insert(interface.0, nat);
    }

    /// Adds a router. With one router that all access links lead to, every pair of addresses is connected; with two,
    /// the paths through one are disjoint from those through the other.
    pub fn add_router(&mut self) -> RouterId {
        self.fabric.topology.add_router()
    }

    /// Adds a router that a host's machine runs: what comes out of a link there is given to the machine, with the route of who sent it seen from
    /// the other end, whoever it is for; and what the machine sends, from whatever address, starts there. So a packet goes on if the machine
    /// sends it again on the route reversed, and no further if not. The host's own addresses are those of an interface, linked to the router, by which others find the way.
    pub fn add_relay(&mut self, host: HostId) -> RouterId {
        self.fabric.topology.add_relay(host)
    }

    /// Links two interfaces, or an interface and a router, or two routers.
    pub fn add_link(
        &mut self,
        a: impl Into<Attachment>,
        b: impl Into<Attachment>,
        a_to_b: LinkConfig,
        b_to_a: LinkConfig,
    ) -> LinkId {
        self.fabric.add_link([a.into(), b.into()], [a_to_b, b_to_a])
    }

    /// Has directions of links share a medium, such as a cell of IEEE 802.11 ([`Dcf`](crate::Dcf)), each as the station with the number given: an access
    /// point's side of all its stations' links is one station. Queues and rate are the medium's then; delay and loss of the links come after it.
    pub fn share(
        &mut self,
        medium: impl SharedMedium + Send + 'static,
        stations: impl IntoIterator<Item = (LinkId, Side, usize)>,
    ) {
        self.fabric.share(Box::new(medium), stations);
    }

    /// Lets somebody into the network; who was there before is gone.
    pub fn set_intruder(&mut self, intruder: Option<Box<dyn Intruder>>) {
        self.intruder = intruder;
    }

    /// Has `action` happen at time `at`, or now if that has passed.
    pub fn schedule(&mut self, at: Instant, action: Action<M, A>) {
        let index = match self.vacant_actions.pop() {
            Some(index) => {
                self.actions[index as usize] = Some(action);
                index
            }
            None => {
                self.actions.push(Some(action));
                (self.actions.len() - 1) as u32
            }
        };
        self.fabric.events.push(at.max(self.now), Due::Action { index });
    }

    /// Has a link change over time.
    pub fn schedule_link(
        &mut self,
        link: LinkId,
        side: Side,
        changes: impl IntoIterator<Item = (Instant, Change)>,
    ) {
        for (at, change) in changes {
            self.schedule(at, Action::Link(link, side, change));
        }
    }

    /// Has one direction of a link, or both, follow a pattern from now on.
    pub fn follow(&mut self, link: LinkId, side: Side, pattern: &Arc<Pattern>) {
        for direction in side.directions(link) {
            self.fabric.directions[direction as usize].follow(self.now, Arc::clone(pattern));
        }
    }

    /// Limits how many packets are in flight in the whole world (a million unless told otherwise); more are dropped.
    pub fn limit_packets(&mut self, packets: usize) {
        self.fabric.packets.set_limit(packets);
    }

    /// Writes everything that happens from now on to `out`, one JSON object per line, with the time in nanoseconds
    /// as `at` and the kind as `what`; among it what machines record ([`Sink::trace`](whimbrel_machine::Sink::trace)). Call [`World::finish`] at the end.
    pub fn trace_to(&mut self, out: impl Write + Send + 'static) {
        self.fabric.trace = Some(Trace::new(Box::new(out)));
    }

    /// Captures links to `out` as pcapng, as their `a` ends see them: what `a` sends, when it sends it and even if
    /// it is lost then, and what arrives at `a`. Each link is an interface of the capture, by the name given. What has no UDP ports is of
    /// the IP protocol that its sender says ([`IpProtocol`](whimbrel_machine::IpProtocol)).
    /// Call [`World::finish`] at the end.
    ///
    /// # Errors
    /// What the writer says.
    pub fn capture(&mut self, links: &[(LinkId, &str)], out: impl Write + Send + 'static) -> io::Result<()> {
        let links: Vec<_> = links.iter().map(|&(link, name)| (link, name.to_owned())).collect();
        self.fabric.captures.add(&links, Box::new(out))
    }

    /// Flushes the trace and the captures.
    ///
    /// # Errors
    /// The first error since the last call, from any of the writers.
    pub fn finish(&mut self) -> io::Result<()> {
        if let Some(trace) = &mut self.fabric.trace {
            trace.finish()?;
        }
        self.fabric.captures.finish()
    }

    /// The time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// A fingerprint of everything delivered so far: times, hosts, routes, bytes, changes, notes. It is equal for
    /// equal seeds on every machine. 0 after [`Self::forgo_trace_hash`].
    pub const fn trace_hash(&self) -> u64 {
        self.fabric.hash.value()
    }

    /// Does without the fingerprint from now on: [`Self::trace_hash`] is 0 then. It takes a twelfth of a run.
    pub fn forgo_trace_hash(&mut self) {
        self.fabric.hash = TraceHash::Forgone;
    }

    /// The machine of a host.
    pub fn machine(&self, host: HostId) -> &M {
        &self.hosts[host.index()].machine
    }

    /// The app of a host.
    pub fn app(&self, host: HostId) -> &A {
        &self.hosts[host.index()].app
    }

    /// The app of a host, to change or to empty it.
    pub fn app_mut(&mut self, host: HostId) -> &mut A {
        &mut self.hosts[host.index()].app
    }

    /// One direction of a link; `Both` is taken for `AtoB`.
    pub fn direction(&self, link: LinkId, side: Side) -> &LinkDirection {
        &self.fabric.directions[link.index() * 2 + usize::from(side == Side::BtoA)]
    }

    /// What one direction of a link has seen; `Both` is taken for `AtoB`.
    pub fn stats(&self, link: LinkId, side: Side) -> &DirectionStats {
        self.direction(link, side).stats()
    }

    /// Packets and bytes that wait now in front of one direction of a link, without the packet being sent; `Both` is taken for `AtoB`.
    pub fn waiting(&mut self, link: LinkId, side: Side) -> (usize, u64) {
        self.fabric.directions[link.index() * 2 + usize::from(side == Side::BtoA)].waiting(self.now)
    }

    /// Packets dropped for `reason` that were on no link: no interface with their source address, no way to their
    /// destination, nobody at home.
    pub fn stray_drops(&self, reason: DropReason) -> u64 {
        self.fabric.strays[reason as usize]
    }

    /// Packets in flight.
    pub fn packets_in_flight(&self) -> usize {
        self.fabric.packets.in_use()
    }

    /// Events in the queue, void ones included.
    pub fn events_pending(&self) -> usize {
        self.fabric.events.len()
    }
}
