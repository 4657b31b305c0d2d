use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use whimbrel_machine::{Instant, InterfaceId, InterfaceKind, LinkFact, Seed};
use whimbrel_netsim::{Action, Change, HostId, InFlight, Side};
use whimbrel_node::Node;
use whimbrel_testbed::{SipParts, SipRole, SipUser, Uplink, User};
use whimbrel_ufa::sip::SIP_PORT;
use whimbrel_ufa::{Event, Terminal, TerminalConfig};

use crate::bed::{SipWorld, correspondent, gateway_address, link, sip, size_of, traffic};
use crate::gate::Gate;

/// The terminal is in no network for so long.
const GAP: Duration = Duration::from_millis(150);

/// A host that moves.
pub(crate) struct Mobile {
    pub(crate) host: HostId,
    pub(crate) address: IpAddr,
    pub(crate) at: usize,
    pub(crate) radios: Vec<Uplink>,
    pub(crate) network_decides: Arc<AtomicBool>,
    pub(crate) seen: usize,
    /// When it is at which gateway with which address, and whether that is where it was sent.
    pub(crate) arrives: Option<(Instant, usize, IpAddr, bool)>,
    /// Since when it has been at no gateway that knows it without deciding by itself, and how long it was so at most.
    pub(crate) without: Option<Instant>,
    pub(crate) longest_without: Duration,
    /// The same of the time when it is not on its way.
    pub(crate) without_here: Option<Instant>,
    pub(crate) longest_without_here: Duration,
    pub(crate) is_on_its_way: bool,
}

impl Mobile {
    pub(crate) fn new(
        world: &mut SipWorld,
        node: &impl Fn(&Seed, u64, SocketAddr) -> Node,
        relays: &[whimbrel_netsim::RouterId],
        number: usize,
        at: usize,
    ) -> Self {
        let address = IpAddr::from([10, at as u8 + 1, 0, 2 + number as u8]);
        let network_decides = Arc::new(AtomicBool::new(true));
        let shared = Arc::clone(&network_decides);
        let own = SocketAddr::new(address, 0);
        let node = node(world.seed(), 10 + number as u64, own)
            .with_policy(move || Box::new(Gate::new(Arc::clone(&shared))));
        let config = TerminalConfig {
            address: SocketAddr::new(address, SIP_PORT),
            gateway: gateway_address(at),
            detection: Duration::ZERO,
            sip: sip(),
        };
        let role = Terminal::new(config, &world.seed().child("terminal", number as u64));
        let user = User::sender(
            Instant::ZERO + Duration::from_millis(100),
            vec![correspondent()],
            traffic(size_of(number)),
        );
        let machine = SipParts::both(node, SipRole::Terminal(Box::new(role)));
        let host = world.add_host(&format!("terminal{number}"), machine, SipUser::new(user));
        let radio = |gateway: usize| {
            let interface = world.add_interface(host, []);
            let link = world.add_link(relays[gateway], interface, link(5), link(5));
            let (number, kind) = (InterfaceId(gateway as u32), InterfaceKind::WirelessLan);
            Uplink { host, link, interface, number, kind, address: own }
        };
        let radios: Vec<Uplink> = (0..relays.len()).map(radio).collect();
        world.act(Action::AddAddress(radios[at].interface, address));
        radios[at].name(world, Instant::ZERO);
        for (_, radio) in radios.iter().enumerate().filter(|(gateway, _)| *gateway != at) {
            radio.cut(world, Instant::ZERO);
        }
        Self {
            host,
            address,
            at,
            radios,
            network_decides,
            seen: 0,
            arrives: None,
            without: None,
            longest_without: Duration::ZERO,
            without_here: None,
            longest_without_here: Duration::ZERO,
            is_on_its_way: false,
        }
    }

    pub(crate) fn hear(&mut self, world: &mut SipWorld, event: &Event, gateways: usize, fails: bool) {
        match event {
            Event::Established(_) | Event::GatewayBack => self.decides(true),
            Event::Arrived(_) => {
                self.is_on_its_way = false;
                self.decides(true);
            }
            Event::Lost(..) => {
                self.is_on_its_way = false;
                self.decides(false);
            }
            Event::Refused(..) | Event::Ended(_) | Event::GatewaySilent => self.decides(false),
            Event::Move(_, there) => {
                let to = (0..gateways).find(|to| gateway_address(*to).ip() == there.gateway).unwrap();
                let back = (self.at, self.address);
                self.leave(world);
                self.is_on_its_way = true;
                let (to, address) = if fails { back } else { (to, there.address) };
                self.arrives = Some((world.now() + GAP, to, address, !fails));
            }
            _ => {}
        }
    }

    fn decides(&self, network: bool) {
        self.network_decides.store(network, Ordering::Relaxed);
    }

    fn leave(&self, world: &mut SipWorld) {
        let radio = self.radios[self.at];
        world.act(Action::Link(radio.link, Side::Both, Change::Down(InFlight::Lost)));
        world.act(Action::RemoveAddress(radio.interface, self.address));
        world.act(Action::Fact(self.host, LinkFact::AddressDown(SocketAddr::new(self.address, 0))));
    }

    pub(crate) fn come(&mut self, world: &mut SipWorld, gateway: usize, address: IpAddr) {
        (self.at, self.address) = (gateway, address);
        let radio = Uplink { address: SocketAddr::new(address, 0), ..self.radios[gateway] };
        world.act(Action::AddAddress(radio.interface, address));
        radio.enter(world, world.now());
    }

    /// The gateway that it is at.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }
}
