use whimbrel_machine::{Input, Instant, LinkFact, Machine};

use super::World;
use crate::trace::Line;
use crate::{App, HostId};

/// What a sleeping host learns when it wakes.
#[derive(Debug, Default)]
pub(super) struct Missed {
    pub(super) facts: Vec<LinkFact>,
    /// What its app wanted to be woken for, in the order in which it was due.
    pub(super) wakes: Vec<u64>,
}

impl<M: Machine, A: App<M>> World<M, A> {
    pub(super) fn suspend(&mut self, host: HostId) {
        let this = &mut self.hosts[host.index()];
        if this.running {
            this.running = false;
            this.asleep = Some(Missed::default());
            self.note_life(host.0, |host| Line::Suspend { host });
        }
    }

    /// Links first: a driver looks at them before it lets time pass.
    pub(super) fn resume(&mut self, host: HostId) {
        let this = &mut self.hosts[host.index()];
        let Some(missed) = this.asleep.take() else { return };
        this.running = true;
        // Its timer may have gone off unheard.
        this.timer_at = Instant::FAR_FUTURE;
        self.note_life(host.0, |host| Line::Resume { host });
        missed.facts.into_iter().for_each(|fact| self.tell_fact(host, fact));
        self.step_host(host.0, [Input::Timeout]);
        for token in missed.wakes {
            self.call_app(host.0, |app, context| app.on_wake(token, context));
            self.settle(host.0);
        }
    }
}
