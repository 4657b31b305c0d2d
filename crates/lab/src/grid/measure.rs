use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;
use whimbrel_netsim::Side;

use super::bed::{Bed, Flow, Totals};
use super::place::Place;

/// So long handshakes may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a run is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    /// From the first data on; with several flows, from when all can send.
    pub(super) whole: Duration,
    /// The part at the beginning that is not settled; less than the whole.
    pub(super) warm_up: Duration,
}

/// What a run was like.
#[derive(Debug)]
pub(super) struct Measured {
    /// Each flow when it had warmed up, and at the end.
    pub(super) flows: Vec<(Totals, Totals)>,
    /// How long after the first data half the rate was reached, by what arrives at the bottleneck's other end.
    pub(super) half_rate: Option<Duration>,
    /// How long a packet waited at the bottleneck: mean over the run, and the most.
    pub(super) queueing: (Duration, Duration),
}

/// Lets the flows of a bed send. `None` if one of them does not come up.
pub(super) fn run(bed: &mut Bed, place: Place, spans: Spans) -> Option<Measured> {
    let flows: Vec<Flow> = bed.flows.clone();
    let begin = all_up(bed, place, &flows)?;
    let (end, warm) = (begin + spans.whole, begin + spans.warm_up);
    let totals = |bed: &Bed| flows.iter().map(|&flow| bed.totals(flow)).collect::<Vec<_>>();
    let mut looks = Looks::new(place, begin);
    let mut before = None;
    while bed.world.now() < end {
        if before.is_none() && bed.world.now() >= warm {
            before = Some(totals(bed));
        }
        let next = (bed.world.now() + looks.interval).min(end);
        let next = if before.is_none() { next.min(warm) } else { next };
        bed.world.run_until(next);
        looks.look(bed);
    }
    let after = totals(bed);
    let most = bed.world.stats(bed.bottleneck, Side::AtoB).queue_bytes_max;
    Some(Measured {
        flows: before.unwrap_or_default().into_iter().zip(after).collect(),
        half_rate: looks.half_rate,
        queueing: (place.sending_time(looks.mean_waiting()), place.sending_time(most)),
    })
}

/// When the last flow could send.
fn all_up(bed: &mut Bed, place: Place, flows: &[Flow]) -> Option<Instant> {
    loop {
        let ups: Option<Vec<Instant>> = flows.iter().map(|&flow| bed.up(flow)).collect();
        if let Some(last) = ups.map(|ups| ups.into_iter().max()) {
            return last;
        }
        if bed.world.now() > Instant::ZERO + PATIENCE {
            return None;
        }
        bed.world.run_for(place.round_trip() / 8);
    }
}

/// What is seen of the bottleneck from time to time.
struct Looks {
    place: Place,
    begin: Instant,
    interval: Duration,
    /// Bytes that have arrived until some times, the oldest a [`Place::glance`] ago.
    arrived: VecDeque<(Instant, u64)>,
    half_rate: Option<Duration>,
    waiting: u64,
    count: u64,
}

impl Looks {
    fn new(place: Place, begin: Instant) -> Self {
        let interval = (place.round_trip() / 8).min(Duration::from_millis(5));
        Self {
            place,
            begin,
            interval,
            arrived: VecDeque::from([(begin, 0)]),
            half_rate: None,
            waiting: 0,
            count: 0,
        }
    }

    fn look(&mut self, bed: &mut Bed) {
        self.waiting += bed.world.waiting(bed.bottleneck, Side::AtoB).1;
        self.count += 1;
        if self.half_rate.is_some() {
            return;
        }
        let (now, glance) = (bed.world.now(), self.place.glance());
        let arrived = bed.world.stats(bed.bottleneck, Side::AtoB).delivered_bytes;
        self.arrived.push_back((now, arrived));
        while self.arrived.get(1).is_some_and(|&(at, _)| at + glance <= now) {
            self.arrived.pop_front();
        }
        let Some(&(since, before)) = self.arrived.front() else { return };
        let half = self.place.rate as f64 * 1e6 / 8.0 / 2.0 * glance.as_secs_f64();
        if now - since >= glance && (arrived - before) as f64 >= half {
            self.half_rate = Some(now - self.begin);
        }
    }

    const fn mean_waiting(&self) -> u64 {
        match self.count {
            0 => 0,
            count => self.waiting / count,
        }
    }
}
