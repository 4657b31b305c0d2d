//! A correspondent, two gateways and a terminal that goes to and fro between them (paper d10, section VI.A): in hard handovers that the terminal finds out
//! about, or that the network prepares.

mod arrivals;
mod hard_handover;
mod network;

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, LinkFact};
use whimbrel_netsim::{Action, HostId, LinkId, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::PathView;
use whimbrel_testbed::{Notes, SipCommand, SipHost, SipRole, SipUser, Tally, Uplink};
use whimbrel_ufa::{Command, Event, Gateway};

pub use self::arrivals::{Arrivals, Gap};
pub use self::hard_handover::HardHandover;
pub use self::network::{Air, Control, Correspondence, correspondent, terminal_address};
use crate::experiment::Watch;

/// The download begins here.
pub const BEGIN: Instant = Instant::from_nanos(1_000_000_000);

/// The world of these hosts.
pub type SipWorld = World<SipHost, SipUser<Tally>>;

/// The hosts, and where the terminal is.
pub struct Gateways {
    /// Everything.
    pub world: SipWorld,
    /// The correspondent, which sends.
    pub cn: HostId,
    /// The terminal.
    pub mn: HostId,
    /// The gateways.
    pub gateways: [HostId; 2],
    radio: [Uplink; 2],
    /// From the core to each gateway.
    wires: [LinkId; 2],
    arrivals: Notes<Arrivals>,
    /// The gateway that the terminal is at, and its address there.
    at: (usize, IpAddr),
    /// How often it has gone somewhere.
    moves: u8,
    /// What its SIP has said and was looked at.
    seen: usize,
}

impl Gateways {
    /// Records the run from now on.
    pub fn record(&mut self, watch: Watch) {
        let links = [(self.radio[0].link, "gateway 0"), (self.radio[1].link, "gateway 1")];
        let _ = watch.record(&mut self.world, &links);
    }

    /// The terminal leaves where it is and comes to the other gateway `gap` later, by itself, with an address that it has then. Looks on with
    /// `look` after every event until then, and `after` that.
    pub fn go(&mut self, gap: Duration, look: &mut dyn FnMut(&Self)) {
        let next = self.next_gateway();
        let address = terminal_address(next, self.moves + 1).ip();
        self.leave();
        let arrives = self.world.now() + gap;
        self.run_until(arrives, look);
        self.come(next, address);
    }

    /// The network has the terminal go to the other gateway: the source prepares it, and `gap` after message 7A the terminal is there. False if nothing came of it by `until`.
    pub fn send_over(&mut self, gap: Duration, until: Instant, look: &mut dyn FnMut(&Self)) -> bool {
        let next = self.next_gateway();
        let candidates = vec![network::gateway_address(next)];
        let command = Command::HandOver { terminal: self.at.1, candidates };
        self.world.act(Action::Command(self.gateways[self.at.0], SipCommand::Sip(command)));
        let (mn, seen) = (self.mn, self.seen);
        let moved = |world: &SipWorld| -> Option<IpAddr> {
            world.app(mn).heard.iter().skip(seen).find_map(|(_, event)| match event {
                Event::Move(_, settings) => Some(settings.address),
                _ => None,
            })
        };
        while moved(&self.world).is_none() {
            if self.step(until, look) {
                return false;
            }
        }
        let Some(address) = moved(&self.world) else { return false };
        self.seen = self.world.app(mn).heard.len();
        self.leave();
        let arrives = self.world.now() + gap;
        self.run_until(arrives, look);
        self.come(next, address);
        true
    }

    /// Lets time pass.
    pub fn run_until(&mut self, until: Instant, look: &mut dyn FnMut(&Self)) {
        while !self.step(until, look) {}
    }

    /// The next thing that happens; true if nothing does until then.
    fn step(&mut self, until: Instant, look: &mut dyn FnMut(&Self)) -> bool {
        let stopped = self.world.run_until_or(until, |_| true);
        look(self);
        stopped != whimbrel_netsim::Stopped::Satisfied
    }

    fn next_gateway(&self) -> usize {
        1 - self.at.0
    }

    /// Nothing passes between the terminal and its gateway any more; what waits there is lost.
    fn leave(&mut self) {
        let now = self.world.now();
        let radio = self.radio[self.at.0];
        self.arrivals.read().leave(now);
        self.world.act(Action::Link(
            radio.link,
            Side::Both,
            whimbrel_netsim::Change::Down(whimbrel_netsim::InFlight::Lost),
        ));
        let address = core::net::SocketAddr::new(self.at.1, 0);
        self.world.act(Action::Fact(self.mn, LinkFact::AddressDown(address)));
    }

    /// The terminal is at a gateway, with this address.
    fn come(&mut self, gateway: usize, address: IpAddr) {
        let radio = Uplink { address: core::net::SocketAddr::new(address, 0), ..self.radio[gateway] };
        let now = self.world.now();
        self.at = (gateway, address);
        self.moves += 1;
        radio.enter(&mut self.world, now);
    }

    // ---- views

    /// The paths of the correspondent's association.
    pub fn paths(&self) -> Vec<PathView> {
        let host = self.world.machine(self.cn).parts();
        let (Some(node), Some(user)) = (&host.sctp, self.world.app(self.cn).user()) else {
            return Vec::new();
        };
        user.paths(node)
    }

    /// SCTP at a host.
    pub fn node(&self, host: HostId) -> Option<&Node> {
        self.world.machine(host).parts().sctp.as_ref()
    }

    /// A gateway's machine, where it is more than a router.
    pub fn gateway(&self, number: usize) -> Option<&Gateway> {
        match &self.world.machine(self.gateways[number]).parts().sip {
            SipRole::Gateway(gateway) => Some(gateway),
            _ => None,
        }
    }

    /// Where the terminal is, and its address there.
    pub const fn place(&self) -> (usize, IpAddr) {
        self.at
    }

    /// Bytes of IP packets that have come to the terminal.
    pub fn volume(&self) -> u64 {
        let came = |radio: Uplink| self.world.stats(radio.link, Side::AtoB).delivered_bytes;
        self.radio.map(came).iter().sum()
    }

    /// The silences around the terminal's moves.
    pub fn gaps(&self) -> Vec<Gap> {
        self.arrivals.read().gaps.clone()
    }

    /// How many moves there were, and the silence around the last.
    pub fn last_gap(&self) -> Option<(usize, Gap)> {
        let arrivals = self.arrivals.read();
        Some((arrivals.gaps.len(), *arrivals.gaps.last()?))
    }

    /// The link from the core to a gateway.
    pub const fn wire(&self, gateway: usize) -> LinkId {
        self.wires[gateway]
    }

    /// The link between a gateway and the terminal.
    pub const fn radio(&self, gateway: usize) -> LinkId {
        self.radio[gateway].link
    }
}
