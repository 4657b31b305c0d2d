//! `[[event]]`: what happens to a network, and what its hosts are told of it.

use core::net::SocketAddr;

use whimbrel_machine::{Instant, InterfaceFact, LinkFact, ReceivedPower};
use whimbrel_netsim::{Action, Change, InFlight, Side};
use whimbrel_testbed::Uplink;

use super::file::{Event, HostKind, What};
use super::losses::LossPlan;
use super::world::{OwnWorld, Place, START, after};

/// A `break` or `lose` of a network.
#[derive(Clone, Copy)]
struct Outage {
    network: usize,
    from: Instant,
    /// When it is over: after the time that the file says, or with a `return`.
    until: Instant,
    /// Of its event in the file. What happens at one instant happens in that order.
    number: usize,
    what: What,
}

/// When each network is out of use: it carries packets again when the last of what befell it is over, and its hosts see it again when
/// the last loss is that they saw. A file may have a million outages, so that they are not compared with each other.
struct Spans(Vec<(usize, Instant, Instant)>);

impl Spans {
    fn of<'a>(outages: impl Iterator<Item = &'a Outage>) -> Self {
        let mut spans: Vec<_> = outages.map(|outage| (outage.network, outage.from, outage.until)).collect();
        spans.sort_unstable();
        // Each has the latest end of all that began by then in the same network.
        for at in 1..spans.len() {
            if spans[at - 1].0 == spans[at].0 {
                spans[at].2 = spans[at].2.max(spans[at - 1].2);
            }
        }
        Self(spans)
    }

    /// Whether one that has begun by then ends later.
    fn go_on_after(&self, network: usize, at: Instant) -> bool {
        let begun = self.0.partition_point(|&(of, from, _)| (of, from) <= (network, at));
        begun.checked_sub(1).is_some_and(|last| self.0[last].0 == network && self.0[last].2 > at)
    }
}

impl Event {
    /// When it happens for the first time.
    pub(super) fn begins(&self) -> Instant {
        Instant::ZERO + START + after(self.at)
    }
}

impl Place<'_> {
    /// Schedules events as often as they happen before the end.
    pub(super) fn schedule(&mut self, events: &[Event]) {
        let (mut outages, mut returns) = (Vec::new(), Vec::new());
        let never = self.end + START;
        for (number, event) in events.iter().enumerate() {
            let Some(network) = self.networks.iter().position(|network| network.name == event.network) else {
                continue;
            };
            for from in times(event, self.end) {
                self.once(network, event.what, event.value.unwrap_or_default(), from);
                let until = event.lasts.map_or(never, |lasts| from + after(lasts));
                match event.what {
                    What::Break | What::Lose => {
                        outages.push(Outage { network, from, until, number, what: event.what });
                    }
                    What::Return => returns.push((network, from, number)),
                    What::Warn | What::Rate | What::Delay | What::Loss | What::Signal => {}
                }
            }
        }
        returns.sort_unstable();
        for outage in &mut outages {
            let begins = (outage.network, outage.from, outage.number);
            let later = returns.partition_point(|&back| back < begins);
            let returned = returns.get(later).filter(|(network, ..)| *network == outage.network);
            outage.until = outage.until.min(returned.map_or(never, |&(_, at, _)| at));
        }
        let all = Spans::of(outages.iter());
        let losses = Spans::of(outages.iter().filter(|outage| outage.what == What::Lose));
        for Outage { network, until, what, .. } in outages {
            if what == What::Lose && !losses.go_on_after(network, until) {
                self.tell_return(network, until);
            }
            if !all.go_on_after(network, until) {
                self.link(network, until, Change::Up);
            }
        }
    }

    fn once(&mut self, network: usize, what: What, value: f64, at: Instant) {
        let change = match what {
            What::Break => Change::Down(InFlight::Lost),
            What::Lose => {
                self.link(network, at, Change::Down(InFlight::Lost));
                self.tell(network, at, InterfaceFact::Down);
                return self.tell_addresses(network, at, LinkFact::AddressDown);
            }
            What::Return => {
                self.link(network, at, Change::Up);
                return self.tell_return(network, at);
            }
            What::Warn => return self.tell(network, at, InterfaceFact::GoingDown),
            What::Signal => {
                return self.tell(network, at, InterfaceFact::Signal(ReceivedPower::from_dbm(value)));
            }
            What::Rate => Change::Rate(Some((value * 1e6) as u64)),
            What::Delay => Change::Delay(after(value / 1e3)),
            What::Loss => Change::Loss(LossPlan::Mean(value).model(self.networks[network].plan.burst)),
        };
        self.link(network, at, change);
    }

    fn tell_return(&mut self, network: usize, at: Instant) {
        self.tell(network, at, InterfaceFact::Up(self.networks[network].plan.interface_kind()));
        self.tell_addresses(network, at, LinkFact::AddressUp);
    }

    fn link(&mut self, network: usize, at: Instant, change: Change) {
        self.world.schedule(at, Action::Link(self.networks[network].link, Side::Both, change));
    }

    /// Tells every mobile node in a network something about its interface there.
    fn tell(&mut self, network: usize, at: Instant, fact: InterfaceFact) {
        self.each(network, |uplink, world| uplink.about(world, at, fact));
    }

    /// Tells every mobile node in a network something about its address there.
    fn tell_addresses(&mut self, network: usize, at: Instant, of: fn(SocketAddr) -> LinkFact) {
        self.each(network, |uplink, world| uplink.tell(world, at, of(uplink.address)));
    }

    fn each(&mut self, network: usize, happens: impl Fn(Uplink, &mut OwnWorld)) {
        let mobile = self.residents.iter().filter(|resident| resident.kind == HostKind::Mobile);
        for uplink in mobile.filter_map(|resident| resident.uplink(network)) {
            happens(uplink, &mut self.world);
        }
    }
}

/// When an event happens, up to the end.
fn times(event: &Event, end: Instant) -> impl Iterator<Item = Instant> + use<> {
    let first = event.begins();
    let every = event.every.filter(|every| *every > 0.0).map(after);
    core::iter::successors(Some(first), move |at| every.map(|every| *at + every))
        .take_while(move |at| *at <= end)
}
