use core::time::Duration;

use whimbrel_machine::{Input, Instant, LinkFact, Machine, Record, Sink, Transmit};

use super::{Action, Host, Stopped, World};
use crate::event_queue::Due;
use crate::fabric::Fabric;
use crate::nat::Nat;
use crate::packets::Content;
use crate::trace::Line;
use crate::{App, Context, DropReason, HostId, Overheard};

/// Events and steps at one instant before a run is taken to go round in circles.
const BUSY_MAX: u32 = 1_000_000;

/// Marks in the trace hash, so that different kinds of happenings with equal numbers differ.
const HASH_DELIVER: u64 = 1;
const HASH_UNREACHABLE: u64 = 2;
const HASH_EVENT: u64 = 3;
const HASH_FACT: u64 = 4;
const HASH_NOTE: u64 = 5;
const HASH_LIFE: u64 = 6;

/// Takes what a machine puts out during a step.
struct Outbox<'a, E> {
    now: Instant,
    host: u32,
    fabric: &'a mut Fabric,
    events: &'a mut Vec<E>,
}

impl<E> Sink<E> for Outbox<'_, E> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.fabric.send(self.now, self.host, transmit, bytes);
    }

    fn event(&mut self, event: E) {
        self.fabric.hash.numbers(&[HASH_EVENT, self.now.as_nanos(), u64::from(self.host)]);
        self.events.push(event);
    }

    fn trace(&mut self, record: Record) {
        let Record { name, subject, path, value } = record;
        if let Some(trace) = &mut self.fabric.trace {
            let host = &self.fabric.host_names[self.host as usize];
            trace.line(self.now, Line::Record { host, name, subject, path, value });
        }
    }

    fn traces(&self) -> bool {
        self.fabric.trace.is_some()
    }
}

impl<M: Machine, A: App<M>> World<M, A> {
    /// Runs until `time`, everything due at that very instant included.
    pub fn run_until(&mut self, time: Instant) -> Stopped {
        self.run_until_or(time, |_| false)
    }

    /// Runs for `duration` from now.
    pub fn run_for(&mut self, duration: Duration) -> Stopped {
        self.run_until(self.now + duration)
    }

    /// Runs until `condition` holds after some event, but not beyond `time`.
    pub fn run_until_or(&mut self, time: Instant, mut condition: impl FnMut(&Self) -> bool) -> Stopped {
        loop {
            if self.livelock {
                return Stopped::Livelock;
            }
            match self.fabric.events.next_at() {
                Some(at) if at <= time => {
                    self.run_next();
                    if condition(self) {
                        return Stopped::Satisfied;
                    }
                }
                next => {
                    self.now = self.now.max(time);
                    return if next.is_none() { Stopped::Idle } else { Stopped::Reached };
                }
            }
        }
    }

    /// Has `action` happen now.
    pub fn act(&mut self, action: Action<M, A>) {
        match action {
            Action::Link(link, side, change) => self.fabric.change(self.now, link, side, change),
            Action::Fact(host, fact) => self.tell_fact(host, fact),
            Action::Command(host, command) => self.step_host(host.0, [Input::Command(command)]),
            Action::AddAddress(interface, address) => self.fabric.topology.add_address(interface, address),
            Action::RemoveAddress(interface, address) => {
                self.fabric.topology.remove_address(interface, address)
            }
            Action::ForgetMappings(interface) => {
                self.fabric.nats.get_mut(&interface.0).into_iter().for_each(Nat::forget);
            }
            Action::Reattach(link, attachment) => self.fabric.topology.reattach(link, attachment),
            Action::Crash(host) => self.crash(host),
            Action::Suspend(host) => self.suspend(host),
            Action::Resume(host) => self.resume(host),
            Action::Restart(host, fresh) => self.restart(host, *fresh),
        }
    }

    /// Does the next thing due, if any.
    fn run_next(&mut self) {
        let Some((at, due)) = self.fabric.events.pop() else { return };
        debug_assert!(at >= self.now, "time runs backwards: {at} after {}", self.now);
        if at > self.now {
            self.now = at;
            self.busy = 0;
        }
        self.count_busy();
        match due {
            Due::Packet { slot, generation, .. } => {
                if let Some(host) = self.fabric.arrive(at, slot, generation) {
                    self.deliver(host, slot);
                }
            }
            Due::Service { direction } => self.fabric.serve(at, direction),
            Due::Medium { medium } => self.fabric.air(at, medium),
            Due::Timer { host } => self.timer(host),
            Due::Wake { host, life, token } => self.wake(host, life, token),
            Due::Start { host, life } => self.start(host, life),
            Due::Action { index } => {
                if let Some(action) = self.actions[index as usize].take() {
                    self.vacant_actions.push(index);
                    self.act(action);
                }
            }
        }
    }

    fn count_busy(&mut self) {
        self.busy += 1;
        self.livelock |= self.busy > BUSY_MAX;
    }

    fn deliver(&mut self, host: u32, slot: u32) {
        if !self.hosts[host as usize].running {
            return self.fabric.discard(self.now, slot, DropReason::HostDown);
        }
        self.show_intruder(host, slot);
        self.note_delivery(host, slot);
        let packet = &mut self.fabric.packets[slot];
        let (content, route, ecn) = (packet.content, packet.route, packet.ecn);
        let bytes = core::mem::take(&mut packet.bytes);
        match content {
            Content::Datagram | Content::Forged => {
                let (route, segment) = (route.reversed(), bytes.len());
                self.step_host(host, [Input::Datagrams { route, ecn, bytes: &bytes, segment }]);
            }
            Content::Unreachable(reason) => {
                self.step_host(host, [Input::Unreachable { route, reason, quoted: &bytes }]);
            }
            Content::Vacant => {}
        }
        self.fabric.packets[slot].bytes = bytes;
        self.fabric.packets.release(slot);
    }

    /// Whoever sits in the network has the last word about a datagram. What is forged is not shown: who forged it knows it.
    fn show_intruder(&mut self, host: u32, slot: u32) {
        let Some(intruder) =
            self.intruder.as_mut().filter(|_| self.fabric.packets[slot].content == Content::Datagram)
        else {
            return;
        };
        let transit = self.fabric.is_transit(host, slot);
        let packet = &mut self.fabric.packets[slot];
        let mut forgeries = Vec::new();
        let overheard = Overheard { route: packet.route, bytes: &mut packet.bytes, transit };
        intruder.on_packet(self.now, overheard, &mut forgeries);
        for forgery in &forgeries {
            self.fabric.forge(self.now, forgery);
        }
    }

    fn note_delivery(&mut self, host: u32, slot: u32) {
        let fabric = &mut self.fabric;
        let packet = &fabric.packets[slot];
        let kind = match packet.content {
            Content::Unreachable(_) => HASH_UNREACHABLE,
            _ => HASH_DELIVER,
        };
        let ports = u64::from(packet.route.local.port()) << 16 | u64::from(packet.route.remote.port());
        let hosts = u64::from(host) << 32 | u64::from(packet.source);
        fabric.hash.numbers(&[kind, self.now.as_nanos(), hosts, ports | (packet.ecn as u64) << 32]);
        for address in [packet.route.local.ip(), packet.route.remote.ip()] {
            match address {
                core::net::IpAddr::V4(v4) => fabric.hash.numbers(&[u64::from(v4.to_bits())]),
                core::net::IpAddr::V6(v6) => {
                    let bits = v6.to_bits();
                    fabric.hash.numbers(&[(bits >> 64) as u64, bits as u64]);
                }
            }
        }
        fabric.hash.bytes(&packet.bytes);
        if let Some(trace) = &mut fabric.trace {
            let host = &fabric.host_names[host as usize];
            let (local, remote) = (packet.route.local, packet.route.remote);
            let line = match packet.content {
                Content::Unreachable(reason) => {
                    Line::Unreachable { host, local, remote, reason: format!("{reason:?}") }
                }
                _ => Line::Deliver {
                    packet: packet.number,
                    host,
                    local: remote,
                    remote: local,
                    bytes: packet.ip_bytes,
                },
            };
            trace.line(self.now, line);
        }
    }

    fn timer(&mut self, host: u32) {
        let this = &mut self.hosts[host as usize];
        if !this.running || this.timer_at != self.now {
            return;
        }
        this.timer_at = Instant::FAR_FUTURE;
        if this.deadline.is_some_and(|deadline| deadline <= self.now) {
            self.step_host(host, [Input::Timeout]);
        } else {
            self.arm_timer(host);
        }
    }

    /// Sees to it that a timer event comes no later than the machine's deadline. It may come earlier, from a
    /// deadline that has been put off since: putting off is common and costs nothing this way.
    pub(super) fn arm_timer(&mut self, host: u32) {
        let this = &mut self.hosts[host as usize];
        if let Some(deadline) = this.deadline {
            let at = deadline.max(self.now);
            if at < this.timer_at {
                this.timer_at = at;
                self.fabric.events.push(at, Due::Timer { host });
            }
        }
    }

    fn wake(&mut self, host: u32, life: u16, token: u64) {
        let this = &mut self.hosts[host as usize];
        if this.life != life {
            return;
        }
        if let Some(missed) = &mut this.asleep {
            missed.wakes.push(token);
        } else if this.running {
            self.call_app(host, |app, context| app.on_wake(token, context));
            self.settle(host);
        }
    }

    fn start(&mut self, host: u32, life: u16) {
        if !self.hosts[host as usize].running || self.hosts[host as usize].life != life {
            return;
        }
        self.note_life(host, |host| Line::Start { host });
        self.step_host(host, [Input::Timeout]);
        self.call_app(host, App::on_start);
        self.settle(host);
    }

    fn crash(&mut self, host: HostId) {
        self.hosts[host.index()].running = false;
        self.note_life(host.0, |host| Line::Crash { host });
    }

    fn restart(&mut self, host: HostId, (machine, app): (M, A)) {
        let this = &mut self.hosts[host.index()];
        let life = this.life.wrapping_add(1);
        let rng = this.rng.clone();
        *this = Host {
            machine,
            app,
            running: true,
            asleep: None,
            life,
            deadline: None,
            timer_at: Instant::FAR_FUTURE,
            rng,
        };
        self.start(host.0, life);
    }

    pub(super) fn tell_fact(&mut self, host: HostId, fact: LinkFact) {
        if let Some(missed) = &mut self.hosts[host.index()].asleep {
            missed.facts.push(fact);
            return;
        }
        let text = format!("{fact:?}");
        self.fabric.hash.numbers(&[HASH_FACT, self.now.as_nanos(), u64::from(host.0)]);
        self.fabric.hash.bytes(text.as_bytes());
        if let Some(trace) = &mut self.fabric.trace {
            let host = &self.fabric.host_names[host.index()];
            trace.line(self.now, Line::Fact { host, fact: text });
        }
        let mut links = self.hosts[host.index()].machine.links();
        links.apply(&fact);
        self.step_host(host.0, [Input::Links(&links)]);
    }

    pub(super) fn note_life(&mut self, host: u32, line: impl FnOnce(&str) -> Line<'_>) {
        self.fabric.hash.numbers(&[HASH_LIFE, self.now.as_nanos(), u64::from(host)]);
        if let Some(trace) = &mut self.fabric.trace {
            trace.line(self.now, line(&self.fabric.host_names[host as usize]));
        }
    }

    /// One step of a host's machine, and whatever its app makes of it. A host that is down does nothing.
    pub(super) fn step_host<'a>(&mut self, host: u32, inputs: impl IntoIterator<Item = Input<'a, M::Command>>)
    where
        M::Command: 'a,
    {
        if self.hosts[host as usize].running {
            self.step_machine(host, inputs);
            self.settle(host);
        }
    }

    fn step_machine<'a>(&mut self, host: u32, inputs: impl IntoIterator<Item = Input<'a, M::Command>>)
    where
        M::Command: 'a,
    {
        let this = &mut self.hosts[host as usize];
        let mut outbox =
            Outbox { now: self.now, host, fabric: &mut self.fabric, events: &mut self.scratch.events };
        this.deadline = this.machine.step(self.now, inputs, &mut outbox);
    }

    /// Carries events to the app and commands to the machine until there are none, then sets the timer.
    pub(super) fn settle(&mut self, host: u32) {
        while !self.scratch.events.is_empty() || !self.scratch.commands.is_empty() {
            self.count_busy();
            if self.livelock {
                break;
            }
            let mut events = core::mem::take(&mut self.scratch.events);
            self.call_app(host, |app, context| {
                for event in events.drain(..) {
                    app.on_event(event, context);
                }
            });
            // The step below collects the next events; give it the old memory.
            self.scratch.events = events;
            let mut commands = core::mem::take(&mut self.scratch.commands);
            if !commands.is_empty() {
                self.step_machine(host, commands.drain(..).map(Input::Command));
            }
            self.scratch.commands = commands;
        }
        self.scratch.events.clear();
        self.scratch.commands.clear();
        self.arm_timer(host);
    }

    pub(super) fn call_app(&mut self, host: u32, call: impl FnOnce(&mut A, &mut Context<'_, M::Command>)) {
        let this = &mut self.hosts[host as usize];
        let mut context = Context {
            now: self.now,
            host: HostId(host),
            commands: &mut self.scratch.commands,
            wakes: &mut self.scratch.wakes,
            notes: &mut self.scratch.notes,
            rng: &mut this.rng,
        };
        call(&mut this.app, &mut context);
        for (at, token) in self.scratch.wakes.drain(..) {
            self.fabric.events.push(at.max(self.now), Due::Wake { host, life: this.life, token });
        }
        for (name, value) in self.scratch.notes.drain(..) {
            self.fabric.hash.numbers(&[HASH_NOTE, self.now.as_nanos(), u64::from(host), value]);
            if let Some(trace) = &mut self.fabric.trace {
                let host = &self.fabric.host_names[host as usize];
                trace.line(self.now, Line::Note { host, name, value });
            }
        }
    }
}
