//! Several machines on one host, which tell each other facts.

use core::marker::PhantomData;
use std::collections::VecDeque;

use whimbrel_machine::{Input, Instant, Links, Machine, Record, Route, Sink, Transmit};

use crate::{App, Context};

/// Turns that the machines of a host may take in one step of the host. A round of facts that never ends is a bug.
const TURNS_MAX: usize = 10_000;

/// The machines of one host: what each of them is for, and what they tell each other.
///
/// They are numbered from 0. What arrives is for one of them, links are told to all, and a fact that one of them tells is told to all others in the
/// same step of the host.
pub trait Parts {
    /// What machines tell each other.
    type Fact: Clone;
    /// Wishes of the user.
    type Command;
    /// What the user is told.
    type Event;

    /// How many machines there are; the same as long as the host runs.
    fn count(&self) -> usize;

    /// The machine that gets what arrives on this route.
    fn owner(&self, route: Route) -> usize;

    /// The machine that a command is for.
    fn addressee(&self, command: &Self::Command) -> usize;

    /// One step of the machine `part`, as [`Machine::step`].
    fn turn<'a, S: Sink<Self::Event>>(
        &mut self,
        part: usize,
        now: Instant,
        told: impl IntoIterator<Item = Told<'a, Self::Command, Self::Fact>>,
        voice: &mut Voice<'_, S, Self::Fact>,
    ) -> Option<Instant>
    where
        Self::Command: 'a;

    /// The links as the machines were told last.
    fn links(&self) -> Links {
        Links::default()
    }
}

/// Something that one of the machines is told.
#[derive(Debug)]
pub enum Told<'a, C, F> {
    /// By the network, the clock or the user.
    Input(Input<'a, C>),
    /// By another machine of the host.
    Fact(F),
}

/// What one of the machines says: to the network, to the user and to the other machines.
pub struct Voice<'s, S, F> {
    sink: &'s mut S,
    facts: &'s mut Vec<F>,
}

impl<S, F> Voice<'_, S, F> {
    /// Tells the other machines.
    pub fn tell(&mut self, fact: F) {
        self.facts.push(fact);
    }

    /// The sink for a machine with events of another type: `hear` says what becomes of each, for the user and for the other machines.
    pub fn hearing<E, W, H>(&mut self, hear: H) -> Hearing<'_, S, F, H, W>
    where
        S: Sink<W>,
        H: FnMut(E, &mut S, &mut Vec<F>),
    {
        Hearing { sink: self.sink, facts: self.facts, hear, events: PhantomData }
    }
}

impl<E, S: Sink<E>, F> Sink<E> for Voice<'_, S, F> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.sink.transmit(transmit, bytes);
    }

    fn event(&mut self, event: E) {
        self.sink.event(event);
    }

    fn trace(&mut self, record: Record) {
        self.sink.trace(record);
    }

    fn traces(&self) -> bool {
        self.sink.traces()
    }
}

/// The sink of a machine whose events are not those of the host, which are `W`.
pub struct Hearing<'s, S, F, H, W> {
    sink: &'s mut S,
    facts: &'s mut Vec<F>,
    hear: H,
    events: PhantomData<W>,
}

impl<E, W, S: Sink<W>, F, H: FnMut(E, &mut S, &mut Vec<F>)> Sink<E> for Hearing<'_, S, F, H, W> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.sink.transmit(transmit, bytes);
    }

    fn event(&mut self, event: E) {
        (self.hear)(event, self.sink, self.facts);
    }

    fn trace(&mut self, record: Record) {
        self.sink.trace(record);
    }

    fn traces(&self) -> bool {
        self.sink.traces()
    }
}

/// A host of several machines, as one machine.
#[derive(Debug)]
pub struct Composite<P> {
    parts: P,
    deadlines: Vec<Option<Instant>>,
}

impl<P: Parts> Composite<P> {
    /// A host of these machines.
    pub fn new(parts: P) -> Self {
        // Every machine has a first turn, at the first step.
        let deadlines = vec![Some(Instant::ZERO); parts.count()];
        Self { parts, deadlines }
    }

    /// The machines.
    pub const fn parts(&self) -> &P {
        &self.parts
    }
}

impl<P: Parts> Machine for Composite<P> {
    type Command = P::Command;
    type Event = P::Event;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, P::Command>>,
        sink: &mut impl Sink<P::Event>,
    ) -> Option<Instant>
    where
        P::Command: 'a,
    {
        let count = self.deadlines.len();
        let mut told: Vec<Vec<Told<'a, P::Command, P::Fact>>> = (0..count).map(|_| Vec::new()).collect();
        for input in inputs {
            let part = match &input {
                Input::Datagrams { route, .. } | Input::Unreachable { route, .. } => self.parts.owner(*route),
                Input::Command(command) => self.parts.addressee(command),
                Input::Links(links) => {
                    told.iter_mut().for_each(|told| told.push(Told::Input(Input::Links(links))));
                    continue;
                }
                Input::Timeout => continue,
            };
            if let Some(told) = told.get_mut(part) {
                told.push(Told::Input(input));
            }
        }
        let due = |deadline: &Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        let mut turns: VecDeque<usize> =
            (0..count).filter(|&part| !told[part].is_empty() || due(&self.deadlines[part])).collect();
        let (mut facts, mut taken) = (Vec::new(), 0);
        while let Some(part) = turns.pop_front() {
            let heard = core::mem::take(&mut told[part]);
            let mut voice = Voice { sink, facts: &mut facts };
            self.deadlines[part] = self.parts.turn(part, now, heard, &mut voice);
            for fact in facts.drain(..) {
                for other in (0..count).filter(|&other| other != part) {
                    told[other].push(Told::Fact(fact.clone()));
                    if !turns.contains(&other) {
                        turns.push_back(other);
                    }
                }
            }
            taken += 1;
            debug_assert!(taken < TURNS_MAX, "the machines of a host never stop telling each other facts");
            if taken >= TURNS_MAX {
                break;
            }
        }
        self.deadlines.iter().flatten().min().copied()
    }

    fn links(&self) -> Links {
        self.parts.links()
    }
}

/// A host with a machine that apps for `M` can use.
pub trait Offers<M: Machine>: Parts {
    /// A command for that machine.
    fn wrap(command: M::Command) -> Self::Command;

    /// The machine's event, if it is one.
    fn unwrap(event: Self::Event) -> Option<M::Event>;
}

/// An app that uses one of a host's machines, and hears nothing of the others.
#[derive(Debug, Default)]
pub struct Using<M, X> {
    /// The app.
    pub app: X,
    machine: PhantomData<fn() -> M>,
}

impl<M, X> Using<M, X> {
    /// `app`, on a host of several machines.
    pub const fn new(app: X) -> Self {
        Self { app, machine: PhantomData }
    }
}

impl<P, M, X> App<Composite<P>> for Using<M, X>
where
    P: Offers<M>,
    M: Machine,
    X: App<M>,
{
    fn on_start(&mut self, context: &mut Context<'_, P::Command>) {
        context.wrapping(P::wrap, |context| self.app.on_start(context));
    }

    fn on_event(&mut self, event: P::Event, context: &mut Context<'_, P::Command>) {
        if let Some(event) = P::unwrap(event) {
            context.wrapping(P::wrap, |context| self.app.on_event(event, context));
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Context<'_, P::Command>) {
        context.wrapping(P::wrap, |context| self.app.on_wake(token, context));
    }
}
