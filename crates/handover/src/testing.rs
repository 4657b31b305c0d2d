//! A model of a host, its association and its peer, just good enough to try policies on: it carries out decisions, and checks
//! each of them against what must never happen.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{
    Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Links, ReceivedPower, Route,
};
use whimbrel_proto::path::congestion::CongestionPhase;
use whimbrel_proto::{Delay, PathCounters, PathId, PathQuality, PathState, PathView, PeerAddressChange};

use crate::{Action, Decision, Fact, LocalAddress, Policy, Standing, View};

/// The address of interface `n`.
pub(crate) fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, n, 1], 9899))
}

pub(crate) fn ip(n: u8) -> IpAddr {
    address(n).ip()
}

pub(crate) const fn seconds(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}

pub(crate) fn about(n: u8, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(n.into()), fact }
}

/// What the peer makes of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Agrees,
    Refuses,
    /// It has no room for further addresses; everything else is fine.
    RefusesAdditions,
    /// It chooses by itself where it sends; everything else is fine.
    RefusesPrimaries,
    Silent,
}

pub(crate) struct Model<P> {
    pub policy: P,
    pub now: Instant,
    pub peer: Peer,
    pub dynamic: bool,
    pub log: Vec<(Instant, Decision)>,
    /// When requests were made. All that a host asks for at once that has lost every address the peer knows is one request.
    pub requested: Vec<Instant>,
    /// Where the peer sends; `None` while nobody has asked.
    pub peer_sends_to: Option<IpAddr>,
    links: Links,
    known: Vec<(SocketAddr, Standing)>,
    pub paths: Vec<PathView>,
    pub remotes: Vec<SocketAddr>,
    requests: Vec<Action>,
    next_path: u32,
}

impl<P: Policy> Model<P> {
    /// An association over the addresses of `interfaces`, the first one primary. Each interface is of the kind given.
    pub(crate) fn new(policy: P, interfaces: &[(u8, InterfaceKind)]) -> Self {
        let mut model = Self {
            policy,
            now: Instant::ZERO + seconds(100.0),
            peer: Peer::Agrees,
            dynamic: true,
            log: Vec::new(),
            requested: Vec::new(),
            peer_sends_to: None,
            links: Links::default(),
            known: Vec::new(),
            paths: Vec::new(),
            remotes: vec![SocketAddr::from(([192, 0, 2, 1], 9899))],
            requests: Vec::new(),
            next_path: 0,
        };
        for &(n, kind) in interfaces {
            model.links.apply(&LinkFact::AddressOn { interface: InterfaceId(n.into()), address: ip(n) });
            model.links.apply(&about(n, InterfaceFact::Up(kind)));
            model.links.apply(&LinkFact::AddressUp(address(n)));
            model.known.push((address(n), Standing::Present));
            model.add_path(n, PathState::Active);
        }
        model.observe(&Fact::Begun);
        model
    }

    fn add_path(&mut self, n: u8, state: PathState) {
        let id = PathId::from_number(self.next_path);
        self.next_path += 1;
        let remote = self.remotes[0];
        self.paths.push(PathView {
            id,
            route: Route { local: address(n), remote },
            state,
            primary: self.paths.is_empty(),
            in_use: false,
            srtt: Some(Duration::from_millis(50)),
            rto: Duration::from_millis(200),
            cwnd: 12_000,
            phase: CongestionPhase::SlowStart,
            ssthresh: usize::MAX,
            flight_size: 0,
            pacing_rate: None,
            packet_size: 1200,
            quality: PathQuality {
                delay: Some(Delay {
                    least: Duration::from_millis(50),
                    most: Duration::from_millis(50),
                    waiting: Duration::ZERO,
                    at: Instant::ZERO,
                }),
                ..PathQuality::default()
            },
            capacity: None,
            available: None,
            error_count: 0,
            counters: PathCounters::default(),
        });
    }

    /// Shows `look` what a policy would see now.
    pub(crate) fn with_view(&self, look: impl FnOnce(&View<'_>)) {
        look(&View {
            interfaces: self.links.interfaces(),
            addresses: &self.addresses(),
            paths: &self.paths,
            remotes: &self.remotes,
            dynamic: self.dynamic,
        });
    }

    fn addresses(&self) -> Vec<LocalAddress> {
        let usable: Vec<(SocketAddr, InterfaceId)> = self.links.usable().collect();
        let standing =
            |ip| self.known.iter().find(|(a, _)| a.ip() == ip).map_or(Standing::Absent, |(_, s)| *s);
        let mut all: Vec<LocalAddress> = usable
            .iter()
            .map(|&(address, interface)| LocalAddress {
                address,
                interface,
                up: true,
                standing: standing(address.ip()),
            })
            .collect();
        for &(address, standing) in &self.known {
            if !usable.iter().any(|(up, _)| *up == address) {
                let interface = self.links.interface_of(address.ip()).unwrap_or(InterfaceId(u32::MAX));
                all.push(LocalAddress { address, interface, up: false, standing });
            }
        }
        all
    }

    pub(crate) fn observe(&mut self, fact: &Fact) {
        let addresses = self.addresses();
        let interfaces = self.links.interfaces().to_vec();
        let paths = self.paths.clone();
        let view = View {
            interfaces: &interfaces,
            addresses: &addresses,
            paths: &paths,
            remotes: &self.remotes,
            dynamic: self.dynamic,
        };
        let decisions = self.policy.observe(self.now, fact, &view);
        check(&decisions, &view);
        assert!(self.policy.next_deadline().is_none_or(|at| at > self.now), "a deadline in the past");
        let requests = decisions.iter().filter(|d| !matches!(d.action, Action::UsePath(_))).count();
        let stranded = addresses.iter().filter(|l| l.standing != Standing::Absent).all(|local| !local.up);
        let requests = if stranded { requests.min(1) } else { requests };
        self.requested.extend(core::iter::repeat_n(self.now, requests));
        for decision in decisions {
            self.log.push((self.now, decision));
            self.carry_out(decision.action);
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::UsePath(path) => self.paths.iter_mut().for_each(|p| p.primary = p.id == path),
            Action::AddAddress(address) => {
                self.known.push((address, Standing::Adding));
                self.requests.push(action);
            }
            Action::DeleteAddress(ip) => {
                if let Some((_, standing)) = self.known.iter_mut().find(|(a, _)| a.ip() == ip) {
                    *standing = Standing::Deleting;
                }
                self.requests.push(action);
            }
            Action::AskPrimary(_) => self.requests.push(action),
            Action::ShapePath { .. } | Action::RetransmitLost(_) => {}
        }
    }

    /// The peer answers one request.
    pub(crate) fn answer_one(&mut self) {
        if self.requests.is_empty() || self.peer == Peer::Silent {
            return;
        }
        let request = self.requests.remove(0);
        let accepted = match self.peer {
            Peer::Agrees => true,
            Peer::RefusesAdditions => !matches!(request, Action::AddAddress(_)),
            Peer::RefusesPrimaries => !matches!(request, Action::AskPrimary(_)),
            Peer::Refuses | Peer::Silent => false,
        };
        match request {
            Action::AddAddress(address) => {
                self.known.retain(|(a, _)| accepted || *a != address);
                if let Some((_, standing)) = self.known.iter_mut().find(|(a, _)| *a == address) {
                    *standing = Standing::Present;
                }
                let IpAddr::V4(v4) = address.ip() else { unreachable!() };
                if accepted {
                    self.add_path(v4.octets()[2], PathState::Unconfirmed);
                }
                self.observe(&Fact::Added { address, accepted });
                let up = self.links.usable().any(|(a, _)| a == address);
                if accepted && up {
                    self.path(v4.octets()[2], PathState::Active);
                }
            }
            Action::DeleteAddress(address) => {
                if accepted {
                    self.known.retain(|(a, _)| a.ip() != address);
                    self.remove_paths(address);
                } else if let Some((_, standing)) = self.known.iter_mut().find(|(a, _)| a.ip() == address) {
                    *standing = Standing::Present;
                }
                self.observe(&Fact::Deleted { address, accepted });
            }
            Action::AskPrimary(address) => {
                if accepted {
                    self.peer_sends_to = Some(address);
                }
                self.observe(&Fact::PrimaryAsked { address, accepted });
            }
            _ => {}
        }
    }

    fn remove_paths(&mut self, ip: IpAddr) {
        let primary_gone = self.paths.iter().any(|p| p.primary && p.route.local.ip() == ip);
        self.paths.retain(|path| path.route.local.ip() != ip);
        if primary_gone && let Some(path) = self.paths.first_mut() {
            path.primary = true;
        }
    }

    /// The peer answers everything.
    pub(crate) fn answer(&mut self) {
        while !self.requests.is_empty() && self.peer != Peer::Silent {
            self.answer_one();
        }
    }

    /// The paths from interface `n` change their state.
    pub(crate) fn path(&mut self, n: u8, state: PathState) {
        let ids: Vec<PathId> =
            self.paths.iter().filter(|p| p.route.local.ip() == ip(n)).map(|p| p.id).collect();
        for id in ids {
            if let Some(path) = self.paths.iter_mut().find(|p| p.id == id && p.state != state) {
                path.state = state;
                self.observe(&Fact::Path { path: id, state });
            }
        }
    }

    /// The peer's wish has made the path from address `n` the primary one.
    pub(crate) fn peer_moves_us(&mut self, n: u8) {
        self.paths.iter_mut().for_each(|path| path.primary = path.route.local.ip() == ip(n));
        if let Some(path) = self.paths.iter().find(|path| path.primary).map(|path| path.id) {
            self.observe(&Fact::PathInUse { path });
        }
    }

    /// The same, and the policy is told first that it was the peer's wish, as it is by the protocol.
    pub(crate) fn peer_asks_us_to(&mut self, n: u8) {
        self.paths.iter_mut().for_each(|path| path.primary = path.route.local.ip() == ip(n));
        let address = self.remotes[0];
        self.observe(&Fact::PeerAddress { address, change: PeerAddressChange::MadePrimary });
        self.peer_moves_us(n);
    }

    pub(crate) fn link(&mut self, fact: LinkFact) {
        self.links.apply(&fact);
        self.observe(&Fact::Link(fact));
    }

    pub(crate) fn up(&mut self, n: u8, kind: InterfaceKind) {
        self.link(LinkFact::AddressOn { interface: InterfaceId(n.into()), address: ip(n) });
        self.link(about(n, InterfaceFact::Up(kind)));
        self.link(LinkFact::AddressUp(address(n)));
        self.answer();
        self.path(n, PathState::Active);
    }

    pub(crate) fn down(&mut self, n: u8) {
        self.link(LinkFact::AddressDown(address(n)));
        self.path(n, PathState::Inactive);
        self.answer();
    }

    pub(crate) fn signal(&mut self, n: u8, dbm: f64) {
        self.link(about(n, InterfaceFact::Signal(ReceivedPower::from_dbm(dbm))));
    }

    /// Lets time pass, deadlines included.
    pub(crate) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        let mut wakes = 0;
        while let Some(at) = self.policy.next_deadline().filter(|&at| at <= until) {
            self.now = at;
            self.observe(&Fact::Deadline);
            self.answer();
            wakes += 1;
            assert!(wakes < 100_000, "woken for nothing");
        }
        self.now = until;
    }

    /// The interface of the primary path.
    pub(crate) fn primary(&self) -> Option<IpAddr> {
        self.paths.iter().find(|path| path.primary).map(|path| path.route.local.ip())
    }

    pub(crate) fn knows(&self, n: u8) -> bool {
        self.known.iter().any(|&(a, standing)| a == address(n) && standing == Standing::Present)
    }

    /// The peer has been told of this address, too, which no path leads from.
    pub(crate) fn tell_peer(&mut self, address: SocketAddr) {
        self.known.push((address, Standing::Present));
    }

    /// When the primary path was changed.
    pub(crate) fn moves(&self) -> Vec<Instant> {
        self.log.iter().filter(|(_, d)| matches!(d.action, Action::UsePath(_))).map(|(at, _)| *at).collect()
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        self.log.iter().map(|(_, decision)| decision.action).collect()
    }
}

/// What must never be decided.
fn check(decisions: &[Decision], view: &View<'_>) {
    let has = |action| decisions.iter().any(|decision| decision.action == action);
    let any_usable = view.addresses.iter().any(|local| view.usable_path(local.address.ip()).is_some());
    let added = decisions.iter().find_map(|decision| match decision.action {
        Action::AddAddress(address) => Some(address.ip()),
        _ => None,
    });
    let mut left: Vec<IpAddr> = view
        .addresses
        .iter()
        .filter(|local| local.standing == Standing::Present)
        .map(|local| local.address.ip())
        .collect();
    for (at, decision) in decisions.iter().enumerate() {
        match decision.action {
            Action::UsePath(path) => {
                let path = view.paths.iter().find(|known| known.id == path).expect("a path there is");
                assert_eq!(path.state, PathState::Active, "a path that does not work made primary");
                assert!(view.address(path.route.local.ip()).is_none_or(|local| local.up));
            }
            Action::AskPrimary(ip) => {
                let works = view.usable_path(ip).is_some();
                let nothing_else = !any_usable && added == Some(ip);
                // RFC 5061 §5.4: the peer obeys once it works.
                let before = at.checked_sub(1).map(|before| decisions[before].action);
                let just_added = matches!(before, Some(Action::AddAddress(new)) if new.ip() == ip);
                assert!(works || nothing_else || just_added, "asked for {ip}, which does not work");
                assert!(view.dynamic);
            }
            Action::AddAddress(address) => {
                let local = view.address(address.ip()).expect("an address there is");
                assert!(local.up && local.standing == Standing::Absent && view.dynamic);
            }
            Action::DeleteAddress(ip) => {
                assert!(view.dynamic);
                assert!(left.contains(&ip), "deleted twice, or never there");
                left.retain(|&other| other != ip);
                assert!(!left.is_empty() || added.is_some(), "the last address deleted");
                let moves_away = decisions.iter().any(|d| matches!(d.action, Action::UsePath(_)));
                let in_use = view.primary() == Some(ip) && view.usable_path(ip).is_some();
                assert!(!in_use || moves_away, "the address in use deleted");
                assert!(!has(Action::AskPrimary(ip)), "asked for and deleted");
            }
            Action::ShapePath { .. } | Action::RetransmitLost(_) => {}
        }
    }
}
