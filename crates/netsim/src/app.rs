use whimbrel_machine::{Instant, Machine, Rng};

use crate::HostId;

/// What sits on a host's machine: it is told the machine's events and gives commands.
///
/// Every method gets a [`Context`], through which it gives commands, asks to be woken, draws random numbers and
/// leaves notes in the trace. The commands of one call reach the machine in one step.
pub trait App<M: Machine> {
    /// The host has begun to run.
    fn on_start(&mut self, _context: &mut Context<'_, M::Command>) {}

    /// The machine says something.
    fn on_event(&mut self, event: M::Event, context: &mut Context<'_, M::Command>);

    /// A time asked for with [`Context::wake_at`] has come.
    fn on_wake(&mut self, _token: u64, _context: &mut Context<'_, M::Command>) {}
}

/// An app that wants nothing and ignores everything.
impl<M: Machine> App<M> for () {
    fn on_event(&mut self, _event: M::Event, _context: &mut Context<'_, M::Command>) {}
}

/// What an app can do when it is called.
#[derive(Debug)]
pub struct Context<'a, C> {
    pub(crate) now: Instant,
    pub(crate) host: HostId,
    pub(crate) commands: &'a mut Vec<C>,
    pub(crate) wakes: &'a mut Vec<(Instant, u64)>,
    pub(crate) notes: &'a mut Vec<(&'static str, u64)>,
    pub(crate) rng: &'a mut Rng,
}

impl<C> Context<'_, C> {
    /// The time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The host the app runs on.
    pub const fn host(&self) -> HostId {
        self.host
    }

    /// Gives the machine a command, once this call returns.
    pub fn command(&mut self, command: C) {
        self.commands.push(command);
    }

    /// Asks for a call of [`App::on_wake`] with `token` at time `at`, or now if that has passed. Wake-ups cannot be
    /// taken back: an app that changes its mind ignores the token.
    pub fn wake_at(&mut self, at: Instant, token: u64) {
        self.wakes.push((at, token));
    }

    /// The app's own random stream.
    pub const fn rng(&mut self) -> &mut Rng {
        self.rng
    }

    /// Calls with the context of an app whose commands are of another type, which `wrap` turns into those of this one.
    pub(crate) fn wrapping<D>(&mut self, wrap: impl Fn(D) -> C, call: impl FnOnce(&mut Context<'_, D>)) {
        let mut commands = Vec::new();
        call(&mut Context {
            now: self.now,
            host: self.host,
            commands: &mut commands,
            wakes: self.wakes,
            notes: self.notes,
            rng: self.rng,
        });
        self.commands.extend(commands.into_iter().map(wrap));
    }

    /// Leaves a note in the trace and in the trace hash.
    pub fn note(&mut self, name: &'static str, value: u64) {
        self.notes.push((name, value));
    }
}
