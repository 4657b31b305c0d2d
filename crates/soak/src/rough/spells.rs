//! What happens in rough worlds, spell by spell.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, Loss, Oversize, Side};

use super::turn::Turn;
use super::{Families, Sleep};
use crate::draw::Draw;
use crate::motion::Move;

/// Nothing happens so early: the association is to come up first.
const BEGINS: Duration = Duration::from_secs(4);
/// After this each host knows the addresses of the other, once nothing is in the way any more.
const SETTLED: Duration = Duration::from_secs(60);
/// The longest trouble of a world in which somebody counts timeouts, in milliseconds, and of any other.
const SHORT: u64 = 6_000;
const LONG: u64 = 900_000;

/// What happens to a link, and what it is like in the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) changes: Vec<(Instant, Side, Turn)>,
    /// It carries nothing any more since some time, that way at least.
    pub(super) dead: Option<Side>,
    /// It carries no longer packets than these.
    pub(super) hole: Option<(u32, Oversize)>,
}

/// The plan while it is made.
pub(super) struct Spells<'a> {
    families: &'a [Vec<Families>; 2],
    /// Whether a host tells its peer of new addresses.
    moves_about: [bool; 2],
    /// Somebody counts timeouts: troubles are short and come alone, and nobody moves.
    steady: bool,
    /// The generation of each interface's addresses, if it is there.
    present: [Vec<Option<u8>>; 2],
    pub(super) start: [Vec<bool>; 2],
    pub(super) moves: Vec<(Instant, usize, Move)>,
    pub(super) sleeps: Vec<Sleep>,
    /// The first host's first.
    pub(super) links: Vec<Link>,
    pub(super) now: Instant,
    /// When the last spell was over.
    pub(super) ended: Instant,
    /// The longest time from one settled state to the next.
    pub(super) longest: Duration,
}

impl<'a> Spells<'a> {
    pub(super) fn new(
        draw: &mut Draw,
        families: &'a [Vec<Families>; 2],
        moves_about: [bool; 2],
        steady: bool,
    ) -> Self {
        let links = families.iter().map(Vec::len).sum();
        // A host that moves does not tell its peer of addresses of a family that the peer lacks just then. So whose peer changes between
        // families has to stay where it is: the peer would come to where it knows no way.
        let uniform = |host: usize| families[host].iter().all(|other| *other == families[host][0]);
        let moves_about = [0, 1].map(|host: usize| moves_about[host] && uniform(1 - host));
        let everywhere = |host: usize| families[host].iter().map(|_| Some(0)).collect();
        let mut spells = Self {
            families,
            moves_about,
            steady,
            present: [0, 1].map(everywhere),
            start: [Vec::new(), Vec::new()],
            moves: Vec::new(),
            sleeps: Vec::new(),
            links: vec![Link::default(); links],
            now: Instant::ZERO + BEGINS + draw.millis(0, 4_000),
            ended: Instant::ZERO,
            longest: Duration::ZERO,
        };
        for (host, all) in families.iter().enumerate() {
            for n in 0..all.len() {
                if spells.moves_about[host] && draw.chance(0.3) && spells.meets_without(host, &[n]) {
                    spells.present[host][n] = None;
                }
            }
        }
        spells.start = [0, 1].map(|host: usize| spells.present[host].iter().map(Option::is_some).collect());
        spells.break_for_good(draw);
        spells
    }

    /// A network dies, or one or all of them carry no large packets any more.
    fn break_for_good(&mut self, draw: &mut Draw) {
        let at = self.now + draw.millis(0, 20_000);
        if !self.steady && draw.chance(0.25) {
            let (host, n) = self.any_interface(draw);
            if self.meets_without(host, &[n]) {
                let side = draw.one_of(&[Side::Both, Side::AtoB, Side::BtoA]);
                let link = self.link(host, n);
                self.links[link].dead = Some(side);
                self.change(link, at, side, Change::Down(InFlight::Lost));
            }
        }
        if draw.chance(0.3) {
            for link in self.some_links(draw) {
                let hole = self.hole(draw, link);
                self.links[link].hole = Some(hole);
                self.dig(link, at, hole);
            }
        }
    }

    // ---- views

    fn link(&self, host: usize, n: usize) -> usize {
        if host == 0 { n } else { self.families[0].len() + n }
    }

    fn host_of(&self, link: usize) -> (usize, usize) {
        let first = self.families[0].len();
        if link < first { (0, link) } else { (1, link - first) }
    }

    fn any_interface(&self, draw: &mut Draw) -> (usize, usize) {
        self.host_of(draw.between(0, self.links.len() as u64 - 1) as usize)
    }

    /// The interfaces of a host that are there and work in the end.
    fn good(&self, host: usize) -> Vec<usize> {
        let works = |n: &usize| self.links[self.link(host, *n)].dead.is_none();
        (0..self.families[host].len()).filter(|n| self.present[host][*n].is_some()).filter(works).collect()
    }

    /// Whether the hosts can reach each other without these interfaces of `host`.
    fn meets_without(&self, host: usize, but: &[usize]) -> bool {
        let mut rest = self.good(host);
        rest.retain(|n| !but.contains(n));
        rest.iter().any(|&n| self.reaches(host, n))
    }

    /// Whether an interface of `host` has a family that the other host has, too.
    fn reaches(&self, host: usize, n: usize) -> bool {
        let families = self.families[host][n];
        self.good(1 - host).iter().any(|&other| families.meet(self.families[1 - host][other]))
    }

    /// One link, all of one host, or all there are.
    fn some_links(&self, draw: &mut Draw) -> Vec<usize> {
        let (host, n) = self.any_interface(draw);
        match draw.between(0, 2) {
            0 => vec![self.link(host, n)],
            1 => (0..self.families[host].len()).map(|n| self.link(host, n)).collect(),
            _ => (0..self.links.len()).collect(),
        }
    }

    /// How large packets may be: IPv6 has no smaller links than those of 1,280 bytes (RFC 8200 §5).
    fn hole(&self, draw: &mut Draw, link: usize) -> (u32, Oversize) {
        let (host, n) = self.host_of(link);
        let mtu = draw.one_of(&[1280, 1200, 900, 760]);
        let mtu = if self.families[host][n].v6 { 1280 } else { mtu };
        // Chunks that have been cut for larger packets depend on fragments with the RFC's profile.
        let swallowed = if self.steady { Oversize::Dropped } else { Oversize::Swallowed };
        (mtu, draw.one_of(&[swallowed, Oversize::Dropped, Oversize::Reported]))
    }

    fn duration(&self, draw: &mut Draw) -> Duration {
        Duration::from_millis(draw.magnitude(500, if self.steady { SHORT } else { LONG }))
    }

    // ---- the plan

    fn change(&mut self, link: usize, at: Instant, side: Side, change: Change) {
        self.links[link].changes.push((at, side, Turn::To(change)));
    }

    fn dig(&mut self, link: usize, at: Instant, (mtu, oversize): (u32, Oversize)) {
        self.change(link, at, Side::Both, Change::Oversize(oversize));
        self.change(link, at, Side::Both, Change::Mtu(mtu));
    }

    fn put(&mut self, at: Instant, host: usize, happens: Move) {
        self.moves.push((at, host, happens));
        match happens {
            Move::Appear(n, generation) => self.present[host][n] = Some(generation),
            Move::Vanish(n) => self.present[host][n] = None,
            _ => {}
        }
    }

    /// Troubles, and a rest after which both hosts know where the other is.
    pub(super) fn spell(&mut self, draw: &mut Draw) {
        let begins = self.now;
        let mut end = begins;
        let troubles = if self.steady { 1 } else { draw.between(1, 4) };
        for _ in 0..troubles {
            let at = begins + draw.millis(0, 10_000);
            end = end.max(self.trouble(draw, at));
        }
        if !self.steady && draw.chance(0.7) {
            let at = begins + draw.millis(0, 15_000);
            end = end.max(self.move_about(draw, at));
        }
        for link in 0..self.links.len() {
            self.links[link].changes.push((end, Side::Both, Turn::Back));
            if let Some(side) = self.links[link].dead {
                self.change(link, end, side, Change::Down(InFlight::Lost));
            }
            if let Some(hole) = self.links[link].hole {
                self.dig(link, end, hole);
            }
            self.links[link].changes.sort_by_key(|&(at, ..)| at);
        }
        self.moves.sort_by_key(|&(at, ..)| at);
        self.longest = self.longest.max(end - begins);
        self.ended = end;
        self.now = end + SETTLED + draw.millis(0, 10_000);
    }

    /// Something happens to links or to a host as a whole; returns when it is over.
    fn trouble(&mut self, draw: &mut Draw, at: Instant) -> Instant {
        let side = draw.one_of(&[Side::Both, Side::Both, Side::AtoB, Side::BtoA]);
        let links = self.some_links(draw);
        let over = at + self.duration(draw);
        match draw.between(0, 8) {
            0..=2 => {
                let in_flight = draw.one_of(&[InFlight::Lost, InFlight::Delivered]);
                links.iter().for_each(|&link| self.change(link, at, side, Change::Down(in_flight)));
            }
            3 => {
                for &link in &links {
                    let hole = self.hole(draw, link);
                    self.dig(link, at, hole);
                }
            }
            4 => {
                let delay = draw.millis(100, 1_000);
                links.iter().for_each(|&link| self.change(link, at, side, Change::Delay(delay)));
            }
            5 => {
                let jitter = draw.millis(10, 300);
                links.iter().for_each(|&link| self.change(link, at, side, Change::Jitter(jitter)));
            }
            6 => return self.ramp(draw, at, &links, side),
            7 => return self.flap(draw, at, &links, side),
            _ => {
                let host = draw.between(0, 1) as usize;
                let asleep = |sleep: &Sleep| sleep.host == host && sleep.until >= at && sleep.at <= over;
                if !self.sleeps.iter().any(asleep) {
                    self.sleeps.push(Sleep { host, at, until: over });
                }
            }
        }
        over
    }

    /// Loss goes up to 30 %.
    fn ramp(&mut self, draw: &mut Draw, at: Instant, links: &[usize], side: Side) -> Instant {
        let step = if self.steady { draw.millis(100, 600) } else { draw.millis(200, 3_000) };
        for n in 1..=10_u32 {
            let loss = Change::Loss(Loss::Bernoulli(0.03 * f64::from(n)));
            links.iter().for_each(|&link| self.change(link, at + step * n, side, loss));
        }
        at + step * 12
    }

    fn flap(&mut self, draw: &mut Draw, at: Instant, links: &[usize], side: Side) -> Instant {
        let half = draw.millis(50, 1_000);
        let times = if self.steady { 3 } else { draw.between(1, 15) as u32 };
        for n in 0..times {
            for &link in links {
                self.change(link, at + half * (2 * n), side, Change::Down(InFlight::Lost));
                self.change(link, at + half * (2 * n + 1), side, Change::Up);
            }
        }
        at + half * (2 * times)
    }

    /// A host changes its addresses; returns when that is over.
    fn move_about(&mut self, draw: &mut Draw, at: Instant) -> Instant {
        let host = draw.between(0, 1) as usize;
        if !self.moves_about[host] {
            return at;
        }
        let n = draw.between(0, self.families[host].len() as u64 - 1) as usize;
        if self.links[self.link(host, n)].dead.is_some() {
            return at;
        }
        match draw.between(0, 5) {
            0 | 1 => self.leave_and_return(draw, at, host),
            2 => self.renumber(draw, at, host, n),
            3 => self.both_renumber(at),
            4 => self.blink(draw, at, host, n),
            _ => {
                self.toggle(at, host, n);
                at
            }
        }
    }

    /// Every network is gone, and after a while there are some again, perhaps others, perhaps with other addresses.
    fn leave_and_return(&mut self, draw: &mut Draw, at: Instant, host: usize) -> Instant {
        let before = self.present[host].clone();
        let gap = if draw.chance(0.3) { Duration::ZERO } else { self.duration(draw) };
        let renumbered = draw.chance(0.5);
        for (n, there) in before.iter().enumerate() {
            if there.is_some() {
                self.put(at, host, Move::Vanish(n));
            }
        }
        let mut back: Vec<usize> = (0..before.len()).filter(|_| draw.chance(0.5)).collect();
        let works = |n: &usize| self.links[self.link(host, *n)].dead.is_none() && self.reaches(host, *n);
        if !back.iter().any(works) {
            back.extend((0..before.len()).find(works));
        }
        let mut over = at + gap;
        for n in back {
            let generation = before[n].unwrap_or(0);
            let generation = if renumbered { (generation + 1) % 4 } else { generation };
            self.put(over, host, Move::Appear(n, generation));
            if draw.chance(0.3) {
                over += draw.millis(0, 2_000);
            }
        }
        over
    }

    fn renumber(&mut self, draw: &mut Draw, at: Instant, host: usize, n: usize) -> Instant {
        let Some(generation) = self.present[host][n] else { return at };
        let after = if draw.chance(0.5) { Duration::ZERO } else { draw.millis(0, 3_000) };
        self.put(at, host, Move::Vanish(n));
        self.put(at + after, host, Move::Appear(n, (generation + 1) % 4));
        at + after
    }

    /// Both hosts have another address on one interface at the same instant; by another one each can find the other.
    fn both_renumber(&mut self, at: Instant) -> Instant {
        if self.moves_about != [true; 2] {
            return at;
        }
        for one in self.good(0) {
            for other in self.good(1) {
                let stay = |host: usize, but: usize| self.good(host).into_iter().filter(move |n| *n != but);
                let meet = |a: usize, b: usize| self.families[0][a].meet(self.families[1][b]);
                if stay(0, one).any(|a| stay(1, other).any(|b| meet(a, b))) {
                    for (host, n) in [(0, one), (1, other)] {
                        let generation = self.present[host][n].unwrap_or(0);
                        self.put(at, host, Move::Vanish(n));
                        self.put(at, host, Move::Appear(n, (generation + 1) % 4));
                    }
                    return at;
                }
            }
        }
        at
    }

    /// An interface goes and comes back as it was, again and again.
    fn blink(&mut self, draw: &mut Draw, at: Instant, host: usize, n: usize) -> Instant {
        let Some(generation) = self.present[host][n] else { return at };
        let half = draw.millis(50, 2_000);
        let times = draw.between(1, 10) as u32;
        for k in 0..times {
            self.put(at + half * (2 * k), host, Move::Vanish(n));
            self.put(at + half * (2 * k + 1), host, Move::Appear(n, generation));
        }
        at + half * (2 * times)
    }

    /// A network comes, or one of several goes.
    fn toggle(&mut self, at: Instant, host: usize, n: usize) {
        match self.present[host][n] {
            None => self.put(at, host, Move::Appear(n, 0)),
            Some(_) if self.meets_without(host, &[n]) => self.put(at, host, Move::Vanish(n)),
            Some(_) => {}
        }
    }
}
