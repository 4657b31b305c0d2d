//! Where hosts are and when they move: drawn before the run.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use whimbrel_handover::{
    Failover, FastestNetwork, LayerTwoHandover, Pace, Policy, Seamless, SignalStrength, Thresholds,
};
use whimbrel_machine::{Instant, ReceivedPower};

use crate::draw::Draw;
use crate::kind::{Access, Kind, Movement};

/// In a gentle world an interface is one to rely on when nothing has happened to it for so long.
const SETTLED: Duration = Duration::from_secs(6);

/// The associations of most moving worlds live so long after everything has come to rest, to be looked at.
pub(crate) const REST: Duration = Duration::from_secs(100);

/// The movement of both hosts.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    /// Which interfaces each host has at the beginning.
    pub(crate) start: [Vec<bool>; 2],
    /// In the order of time.
    pub(crate) moves: Vec<(Instant, usize, Move)>,
    pub(crate) policies: [PolicyPlan; 2],
    /// Users close no association before this time.
    pub(crate) hold_until: Option<Instant>,
    /// Whether each host can always be found.
    pub(crate) gentle: bool,
}

/// Something that happens to an interface of a host, given by its number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Move {
    /// It is there, with the addresses of this generation.
    Appear(usize, u8),
    /// It is gone, and the host knows.
    Vanish(usize),
    /// Nothing gets through any more, and nobody says so.
    Cut(usize),
    /// The layer below says that it will go down, rightly or not.
    Warn(usize),
    /// Its signal is measured.
    Signal(usize, ReceivedPower),
    /// The NAT box before it forgets everything.
    Rebind(usize),
}

/// A handover policy to be made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum PolicyPlan {
    /// Links are followed as far as the endpoint does by itself.
    None,
    Failover(Pace),
    Fastest(Pace),
    Seamless(Pace),
    Signal(Pace),
}

impl PolicyPlan {
    fn draw(draw: &mut Draw, movement: Movement) -> Self {
        if movement == Movement::Gentle {
            let plans = [Self::Failover, Self::Fastest, Self::Seamless, Self::Seamless];
            return draw.one_of(&plans)(Pace::MOBILE);
        }
        let pace = draw.one_of(&[Pace::MOBILE, Pace::AT_ONCE]);
        let plans = [Self::Failover, Self::Fastest, Self::Seamless, Self::Signal];
        if draw.chance(0.1) { Self::None } else { draw.one_of(&plans)(pace) }
    }

    pub(crate) fn make(self) -> Option<Box<dyn Policy>> {
        Some(match self {
            Self::None => return None,
            Self::Failover(pace) => Box::new(Failover::policy(pace)),
            Self::Fastest(pace) => Box::new(FastestNetwork::policy(pace)),
            Self::Seamless(pace) => Box::new(Seamless::policy(pace)),
            Self::Signal(pace) => {
                let dbm = ReceivedPower::from_dbm;
                let thresholds = Thresholds { reception: dbm(-90.0), primary: dbm(-80.0) };
                Box::new(SignalStrength::policy(thresholds, LayerTwoHandover::Soft, pace))
            }
        })
    }
}

/// The address that an interface has in generation `generation`, when `first` was its first.
pub(crate) fn renumbered(first: IpAddr, generation: u8) -> IpAddr {
    match first {
        IpAddr::V4(v4) => {
            let [a, _, c, d] = v4.octets();
            IpAddr::V4(Ipv4Addr::new(a, generation, c, d))
        }
        IpAddr::V6(v6) => {
            let mut segments = v6.segments();
            segments[1] = generation.into();
            IpAddr::V6(Ipv6Addr::from(segments))
        }
    }
}

impl Motion {
    /// Everything comes to rest before `rest_at`.
    pub(crate) fn draw(draw: &mut Draw, kind: Kind, counts: [usize; 2], rest_at: Instant) -> Self {
        let movement = kind.movement;
        let start = counts.map(|count| {
            let mut start: Vec<bool> = (0..count).map(|_| draw.chance(0.6)).collect();
            start[draw.between(0, count as u64 - 1) as usize] = true;
            start
        });
        let policies = [0, 1].map(|_| PolicyPlan::draw(draw, movement));
        let mut sketch = Sketch::new(&start, kind);
        let busy = draw.magnitude(100, 6_000);
        let mut now = Instant::ZERO + Duration::from_secs(4);
        while now < rest_at {
            sketch.something(draw, now);
            now = now.max(sketch.quiet_until) + draw.millis(0, busy);
        }
        for (host, interface) in sketch.deserted() {
            sketch.put(rest_at, host, Move::Appear(interface, 0));
        }
        let mut moves = sketch.moves;
        moves.iter_mut().for_each(|(at, ..)| *at = rest_at.min(*at));
        moves.sort_by_key(|&(at, ..)| at);
        let hold_until = draw.chance(0.7).then_some(rest_at + REST);
        Self { start, moves, policies, hold_until, gentle: movement == Movement::Gentle }
    }
}

/// An interface while the plan is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Coverage {
    /// Not there, and the host knows.
    Absent,
    /// There since then.
    Present(Instant),
    /// Dead, and the host has not been told.
    Cut,
}

/// The plan while it is made.
struct Sketch {
    movement: Movement,
    access: Access,
    hosts: [Vec<(Coverage, u8)>; 2],
    moves: Vec<(Instant, usize, Move)>,
    quiet_until: Instant,
}

impl Sketch {
    fn new(start: &[Vec<bool>; 2], kind: Kind) -> Self {
        let coverage = |there: &bool| {
            let coverage = if *there { Coverage::Present(Instant::ZERO) } else { Coverage::Absent };
            (coverage, 0)
        };
        let hosts = [0, 1].map(|host: usize| start[host].iter().map(coverage).collect());
        let Kind { movement, access, .. } = kind;
        Self { movement, access, hosts, moves: Vec::new(), quiet_until: Instant::ZERO }
    }

    fn put(&mut self, at: Instant, host: usize, happens: Move) {
        self.moves.push((at, host, happens));
        match happens {
            Move::Appear(n, generation) => self.hosts[host][n] = (Coverage::Present(at), generation),
            Move::Vanish(n) => self.hosts[host][n].0 = Coverage::Absent,
            Move::Cut(n) => self.hosts[host][n].0 = Coverage::Cut,
            // The peer finds it again when it is heard from there.
            Move::Rebind(n) => {
                if let Coverage::Present(since) = &mut self.hosts[host][n].0 {
                    *since = at;
                }
            }
            Move::Warn(_) | Move::Signal(..) => {}
        }
    }

    /// Whether a host has an interface other than `but` on which the peer is sure to find it.
    fn settled(&self, now: Instant, host: usize, but: Option<usize>) -> bool {
        let good = |(n, &(coverage, _)): (usize, &(Coverage, u8))| {
            Some(n) != but && matches!(coverage, Coverage::Present(since) if since + SETTLED <= now)
        };
        self.movement == Movement::Wild || self.hosts[host].iter().enumerate().any(good)
    }

    /// An interface of each host that has none.
    fn deserted(&self) -> Vec<(usize, usize)> {
        let absent =
            |host: &usize| self.hosts[*host].iter().all(|(coverage, _)| *coverage == Coverage::Absent);
        (0..2).filter(absent).map(|host| (host, 0)).collect()
    }

    /// The same addresses as before, or new ones.
    fn generation(&self, draw: &mut Draw, host: usize, n: usize) -> u8 {
        let generation = self.hosts[host][n].1;
        if draw.chance(0.4) { (generation + 1) % 4 } else { generation }
    }

    fn something(&mut self, draw: &mut Draw, now: Instant) {
        let host = draw.between(0, 1) as usize;
        let host = if self.access == Access::BehindNat { 0 } else { host };
        let n = draw.between(0, self.hosts[host].len() as u64 - 1) as usize;
        let (coverage, before) = self.hosts[host][n];
        let can_go = self.settled(now, host, Some(n)) && self.settled(now, 1 - host, None);
        match (draw.between(0, 8), coverage) {
            (0..=3, Coverage::Absent) => {
                let generation = self.generation(draw, host, n);
                self.put(now, host, Move::Appear(n, generation));
            }
            (0..=3, Coverage::Cut) => self.put(now, host, Move::Appear(n, before)),
            (0, Coverage::Present(_)) if can_go => self.put(now, host, Move::Vanish(n)),
            (1, Coverage::Present(_)) if can_go => self.renumber(draw, now, host, n),
            (2, Coverage::Present(_)) if can_go => self.put(now, host, Move::Cut(n)),
            (3, Coverage::Present(_)) if can_go => {
                self.put(now, host, Move::Warn(n));
                self.quiet_until = now + draw.millis(0, 500);
                self.put(self.quiet_until, host, Move::Vanish(n));
            }
            (4, _) => self.put(now, host, Move::Warn(n)),
            (5 | 6, _) => {
                let power = ReceivedPower::from_dbm(-95.0 + draw.up_to(50.0));
                self.put(now, host, Move::Signal(n, power));
            }
            (7, _) if self.settled(now, 1 - host, None) => self.break_before_make(draw, now, host, n),
            (8, _) if self.access == Access::BehindNat => self.put(now, host, Move::Rebind(n)),
            (8, _) => self.both_at_once(draw, now),
            _ => {}
        }
    }

    /// An interface loses its addresses and gets others.
    fn renumber(&mut self, draw: &mut Draw, now: Instant, host: usize, n: usize) {
        let after = draw.millis(0, 300);
        let generation = (self.hosts[host][n].1 + 1) % 4;
        self.put(now, host, Move::Vanish(n));
        self.put(now + after, host, Move::Appear(n, generation));
        self.quiet_until = now + after;
    }

    /// Everything is lost, and after a while there is one network again.
    fn break_before_make(&mut self, draw: &mut Draw, now: Instant, host: usize, n: usize) {
        self.desert(now, host);
        let outage =
            if self.movement == Movement::Wild { draw.millis(0, 20_000) } else { draw.millis(0, 1_000) };
        let generation = self.generation(draw, host, n);
        self.put(now + outage, host, Move::Appear(n, generation));
        let rest = if self.movement == Movement::Wild { Duration::ZERO } else { SETTLED * 2 };
        self.quiet_until = self.quiet_until.max(now + outage + rest);
    }

    fn desert(&mut self, now: Instant, host: usize) {
        for n in 0..self.hosts[host].len() {
            if self.hosts[host][n].0 != Coverage::Absent {
                self.put(now, host, Move::Vanish(n));
            }
        }
    }

    /// Both hosts lose an interface at one instant; in a wild world both lose everything, and may never meet again.
    fn both_at_once(&mut self, draw: &mut Draw, now: Instant) {
        if self.movement == Movement::Wild {
            for host in 0..2 {
                let n = draw.between(0, self.hosts[host].len() as u64 - 1) as usize;
                self.break_before_make(draw, now, host, n);
            }
            return;
        }
        let leaving = [0, 1].map(|host: usize| {
            let present = |n: &usize| matches!(self.hosts[host][*n].0, Coverage::Present(_));
            let mut gone = (0..self.hosts[host].len()).filter(present);
            gone.rfind(|&n| self.settled(now, host, Some(n)))
        });
        if let [Some(one), Some(other)] = leaving {
            self.put(now, 0, Move::Vanish(one));
            self.put(now, 1, Move::Vanish(other));
        }
    }
}
