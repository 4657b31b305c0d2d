use std::collections::{BTreeMap, VecDeque};

use whimbrel_machine::{Instant, Route};

use super::{Admission, Comer, Queue};
use crate::QueueLimit;
use crate::bottleneck::Bottleneck;

/// Flows that have something waiting at a time. A packet of one more finds no room.
pub(crate) const MAX_FLOWS: usize = 1024;

/// A turn brings at least so many bytes, so that a link with a tiny MTU comes round.
const LEAST_QUANTUM: u64 = 256;

/// A queue per flow, each with the limit for itself, served in turn and fairly by bytes: deficit round robin (Shreedhar and
/// Varghese, SIGCOMM 1995), in which a flow may overdraw what a turn brings and makes up for it in the turns that follow.
///
/// A flow is there as long as something of it waits, and begins with a whole turn, behind all others.
#[derive(Debug)]
pub(crate) struct PerFlow {
    flows: BTreeMap<Route, Flow>,
    /// The flows that are there, the one whose turn it is in front.
    turns: VecDeque<Route>,
    /// Bytes that a turn brings.
    quantum: i64,
    packets: usize,
    bytes: u64,
}

#[derive(Debug)]
struct Flow {
    /// Never empty between calls: tickets and bytes.
    waiting: VecDeque<(u32, u64)>,
    bytes: u64,
    /// What it may still send in this turn; below zero if it has sent too much.
    credit: i64,
}

impl PerFlow {
    /// `longest` is the longest packet as on the link: a turn suffices for one.
    pub(crate) fn new(longest: u64) -> Self {
        let quantum = longest.max(LEAST_QUANTUM) as i64;
        Self { flows: BTreeMap::new(), turns: VecDeque::new(), quantum, packets: 0, bytes: 0 }
    }

    /// Passes the turn on until it is that of a flow with credit.
    fn turn(&mut self) -> Option<Route> {
        loop {
            let route = *self.turns.front()?;
            let flow = self.flows.get_mut(&route)?;
            if flow.credit > 0 {
                return Some(route);
            }
            flow.credit += self.quantum;
            self.turns.rotate_left(1);
        }
    }
}

impl Queue for PerFlow {
    fn admit(
        &mut self,
        now: Instant,
        comer: &Comer<'_>,
        limit: QueueLimit,
        bottleneck: &mut Bottleneck,
    ) -> Admission {
        let free = bottleneck.rate_bps.is_none() || bottleneck.busy_until <= now;
        if free && self.packets == 0 {
            return Admission::Departs(bottleneck.send(now, comer.bytes));
        }
        if !self.flows.contains_key(comer.flow) {
            if self.flows.len() >= MAX_FLOWS || limit.packets == 0 || comer.bytes > limit.bytes {
                return Admission::Full;
            }
            let flow = Flow { waiting: VecDeque::new(), bytes: 0, credit: self.quantum };
            self.flows.insert(*comer.flow, flow);
            self.turns.push_back(*comer.flow);
        }
        let Some(flow) = self.flows.get_mut(comer.flow) else { return Admission::Full };
        if flow.waiting.len() as u64 >= u64::from(limit.packets)
            || flow.bytes.saturating_add(comer.bytes) > limit.bytes
        {
            return Admission::Full;
        }
        flow.waiting.push_back((comer.ticket, comer.bytes));
        flow.bytes += comer.bytes;
        self.packets += 1;
        self.bytes += comer.bytes;
        Admission::Waits
    }

    fn serve(&mut self, now: Instant, bottleneck: &mut Bottleneck) -> Option<(u32, Instant)> {
        if bottleneck.rate_bps.is_some() && bottleneck.busy_until > now {
            return None;
        }
        let route = self.turn()?;
        let flow = self.flows.get_mut(&route)?;
        let (ticket, bytes) = flow.waiting.pop_front()?;
        flow.bytes -= bytes;
        flow.credit -= bytes as i64;
        if flow.waiting.is_empty() {
            self.flows.remove(&route);
            self.turns.pop_front();
        }
        self.packets -= 1;
        self.bytes -= bytes;
        Some((ticket, bottleneck.send_waiting(now, bytes)))
    }

    fn is_waiting(&self) -> bool {
        self.packets > 0
    }

    fn waiting(&mut self, _now: Instant) -> (usize, u64) {
        (self.packets, self.bytes)
    }

    /// What waits has no time yet.
    fn retime(&mut self, _stretch: &dyn Fn(Instant) -> Instant, _bottleneck: &Bottleneck) {}

    fn clear(&mut self) {
        self.flows.clear();
        self.turns.clear();
        (self.packets, self.bytes) = (0, 0);
    }

    fn invariants(&self, _bottleneck: &Bottleneck) {
        assert!(self.flows.len() == self.turns.len() && self.flows.len() <= MAX_FLOWS);
        assert!(self.turns.iter().all(|route| self.flows.contains_key(route)));
        let flows = || self.flows.values();
        assert!(flows().all(|flow| !flow.waiting.is_empty() && flow.credit <= self.quantum));
        assert_eq!(self.packets, flows().map(|flow| flow.waiting.len()).sum::<usize>());
        for flow in flows() {
            assert_eq!(flow.bytes, flow.waiting.iter().map(|(_, bytes)| bytes).sum::<u64>());
        }
        assert_eq!(self.bytes, flows().map(|flow| flow.bytes).sum::<u64>());
    }
}

#[cfg(test)]
#[path = "per_flow_tests.rs"]
mod tests;
