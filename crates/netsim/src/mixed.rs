use whimbrel_machine::{Input, Instant, Links, Machine, Record, Sink, Transmit};

use crate::{App, Context};

/// One of two kinds of machine, with its commands and events, so that hosts which speak different protocols can share a
/// world. For three kinds, `Mixed<A, Mixed<B, C>>`. A command of the other kind is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mixed<A, B> {
    /// Of the first kind.
    First(A),
    /// Of the second kind.
    Second(B),
}

impl<A, B> Mixed<A, B> {
    /// What it is, if it is of the first kind.
    pub fn first(&self) -> Option<&A> {
        match self {
            Self::First(first) => Some(first),
            Self::Second(_) => None,
        }
    }

    /// What it is, if it is of the second kind.
    pub fn second(&self) -> Option<&B> {
        match self {
            Self::First(_) => None,
            Self::Second(second) => Some(second),
        }
    }
}

/// Hands events on as those of one kind.
struct Wrapped<'s, S, F> {
    sink: &'s mut S,
    wrap: F,
}

impl<E, W, S: Sink<W>, F: Fn(E) -> W> Sink<E> for Wrapped<'_, S, F> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.sink.transmit(transmit, bytes);
    }

    fn event(&mut self, event: E) {
        self.sink.event((self.wrap)(event));
    }

    fn trace(&mut self, record: Record) {
        self.sink.trace(record);
    }

    fn traces(&self) -> bool {
        self.sink.traces()
    }
}

/// An input for a machine whose commands `unwrap` finds.
fn input<'a, C, D>(input: Input<'a, C>, unwrap: impl Fn(C) -> Option<D>) -> Option<Input<'a, D>> {
    Some(match input {
        Input::Datagrams { route, ecn, bytes, segment } => Input::Datagrams { route, ecn, bytes, segment },
        Input::Unreachable { route, reason, quoted } => Input::Unreachable { route, reason, quoted },
        Input::Timeout => Input::Timeout,
        Input::Links(links) => Input::Links(links),
        Input::Command(command) => Input::Command(unwrap(command)?),
    })
}

impl<A, B> Machine for Mixed<A, B>
where
    A: Machine<Command: 'static>,
    B: Machine<Command: 'static>,
{
    type Command = Mixed<A::Command, B::Command>;
    type Event = Mixed<A::Event, B::Event>;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, Self::Command>>,
        sink: &mut impl Sink<Self::Event>,
    ) -> Option<Instant>
    where
        Self::Command: 'a,
    {
        match self {
            Self::First(machine) => {
                let unwrap = |command| match command {
                    Mixed::First(command) => Some(command),
                    Mixed::Second(_) => None,
                };
                let inputs = inputs.into_iter().filter_map(|any| input(any, unwrap));
                machine.step(now, inputs, &mut Wrapped { sink, wrap: Mixed::First })
            }
            Self::Second(machine) => {
                let unwrap = |command| match command {
                    Mixed::First(_) => None,
                    Mixed::Second(command) => Some(command),
                };
                let inputs = inputs.into_iter().filter_map(|any| input(any, unwrap));
                machine.step(now, inputs, &mut Wrapped { sink, wrap: Mixed::Second })
            }
        }
    }

    fn links(&self) -> Links {
        match self {
            Self::First(machine) => machine.links(),
            Self::Second(machine) => machine.links(),
        }
    }
}

/// An app of either kind on a machine of the same kind. What a machine of the other kind says is ignored.
impl<A, B, X, Y> App<Mixed<A, B>> for Mixed<X, Y>
where
    A: Machine<Command: 'static>,
    B: Machine<Command: 'static>,
    X: App<A>,
    Y: App<B>,
{
    fn on_start(&mut self, context: &mut Context<'_, Mixed<A::Command, B::Command>>) {
        match self {
            Self::First(app) => context.wrapping(Mixed::First, |context| app.on_start(context)),
            Self::Second(app) => context.wrapping(Mixed::Second, |context| app.on_start(context)),
        }
    }

    fn on_event(
        &mut self,
        event: Mixed<A::Event, B::Event>,
        context: &mut Context<'_, Mixed<A::Command, B::Command>>,
    ) {
        match (self, event) {
            (Self::First(app), Mixed::First(event)) => {
                context.wrapping(Mixed::First, |context| app.on_event(event, context));
            }
            (Self::Second(app), Mixed::Second(event)) => {
                context.wrapping(Mixed::Second, |context| app.on_event(event, context));
            }
            _ => {}
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Context<'_, Mixed<A::Command, B::Command>>) {
        match self {
            Self::First(app) => context.wrapping(Mixed::First, |context| app.on_wake(token, context)),
            Self::Second(app) => context.wrapping(Mixed::Second, |context| app.on_wake(token, context)),
        }
    }
}
