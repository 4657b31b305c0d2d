use core::time::Duration;

use whimbrel_machine::{Instant, Seed};

use super::bed::{Bed, Totals};
use super::contender::Contender;
use super::measure::{self, Measured, Spans};
use super::place::{Place, Trouble};
use super::{Measurement, columns, mbit, scenario, share};
use crate::experiment::{Cell, Outcome, Sample, Watch};
use crate::scenario::Scenario;

/// How long flows share the bottleneck, and what is left aside of it.
const SPANS: Spans = Spans { whole: Duration::from_secs(60), warm_up: Duration::from_secs(10) };
/// Flows begin at any time within this.
const STARTS: Duration = Duration::from_secs(1);

/// Several flows through one bottleneck.
pub struct Fairness {
    scenario: Scenario,
}

impl Default for Fairness {
    fn default() -> Self {
        Self { scenario: scenario("grid_fairness", "flows that share a bottleneck") }
    }
}

/// Flows of one or two kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mix {
    /// How many of the kind that is asked about.
    pub(super) first: (usize, Contender),
    /// And of the kind beside it.
    pub(super) second: Option<(usize, Contender)>,
}

impl Mix {
    /// Each of ours among its like, and beside TCP; TCP with itself for comparison.
    pub(super) fn all() -> Vec<Self> {
        let alone = |contender| Self { first: (4, contender), second: None };
        let beside = |(count, ours), other| Self { first: (count, ours), second: Some((count, other)) };
        let alike = Contender::ON_ONE.map(alone);
        let tcp = [Contender::TcpCubic, Contender::TcpReno];
        let two = Contender::OURS.into_iter().flat_map(|ours| tcp.map(|other| beside((2, ours), other)));
        let one = tcp.map(|other| beside((1, Contender::Mobile), other));
        let others = beside((2, Contender::TcpCubic), Contender::TcpReno);
        alike.into_iter().chain(two).chain(one).chain([others]).collect()
    }

    /// What uses two paths, both of them through the bottleneck, beside TCP connections; what uses one for comparison.
    pub(super) fn on_two() -> Vec<Self> {
        let ours = [Contender::Mobile, Contender::Reno].into_iter().chain(Contender::ON_TWO);
        let others = [(4, Contender::TcpReno), (1, Contender::TcpReno), (1, Contender::TcpCubic)];
        ours.flat_map(|ours| others.map(|second| Self { first: (1, ours), second: Some(second) })).collect()
    }

    /// Its name in rows.
    pub(super) fn name(&self) -> String {
        let kind = |(count, contender): (usize, Contender)| format!("{count} {}", contender.name());
        match self.second {
            Some(second) => format!("{} + {}", kind(self.first), kind(second)),
            None => kind(self.first),
        }
    }

    fn contenders(&self) -> Vec<Contender> {
        let kinds = core::iter::once(self.first).chain(self.second);
        kinds.flat_map(|(count, contender)| core::iter::repeat_n(contender, count)).collect()
    }
}

/// Where flows meet.
fn places(rate: u64) -> impl Iterator<Item = Place> {
    let of = move |rtt| [1.0, 4.0].map(|queue| Place { rate, rtt, queue, trouble: Trouble::Loss(0.0) });
    [20, 100].into_iter().flat_map(of)
}

/// A bottleneck that is never full: each packet is as likely to be lost as any other, which coupled windows are made for (RFC 6356 §3).
const LOSSY: Place = Place { rate: 100, rtt: 20, queue: 1.0, trouble: Trouble::Loss(0.001) };

/// Who meets where. Windows that grow by a packet in each round trip need minutes for what they are in the long run where there is room for many.
fn meetings() -> impl Iterator<Item = (Place, Mix)> {
    let of = |place: Place, mixes: Vec<Mix>| mixes.into_iter().map(move |mix| (place, mix));
    let one = places(100).flat_map(move |place| of(place, Mix::all()));
    let two = places(10).flat_map(move |place| of(place, Mix::on_two()));
    let few = Mix::on_two().into_iter().filter(|mix| mix.contenders().len() == 2).collect();
    one.chain(two).chain(of(LOSSY, few))
}

impl Measurement for Fairness {
    const METRICS: &'static [(&'static str, &'static str)] = &columns::FAIRNESS;

    fn set_up(&self) -> &Scenario {
        &self.scenario
    }

    fn all(&self) -> Vec<Cell> {
        meetings().map(|(place, mix)| Cell { series: mix.name().into(), axes: place.axes() }).collect()
    }

    fn measure(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mix = Mix::all().into_iter().chain(Mix::on_two()).find(|mix| mix.name() == cell.series);
        let Some((place, mix)) = Place::of(cell).zip(mix) else { return Outcome::default() };
        let mut starts = Seed::from_u64(seed).stream("grid.starts", 0);
        let flows: Vec<_> = mix
            .contenders()
            .into_iter()
            .map(|contender| (contender, Instant::ZERO + starts.duration_below(STARTS)))
            .collect();
        let mut bed = Bed::new(seed, place, &flows);
        let _ = bed.watch(watch);
        let measured = measure::run(&mut bed, place, SPANS);
        let _ = bed.world.finish();
        let sample = measured.map(|measured| sample(place, mix, &measured)).unwrap_or_default();
        Outcome::of(sample, bed.world.trace_hash())
    }
}

fn sample(place: Place, mix: Mix, measured: &Measured) -> Sample {
    let time = SPANS.whole - SPANS.warm_up;
    let goodput = |(before, after): &(Totals, Totals)| mbit(after.delivered - before.delivered, time);
    let all: Vec<f64> = measured.flows.iter().map(goodput).collect();
    let sum: f64 = all.iter().sum();
    let (first, second) = all.split_at(mix.first.0.min(all.len()));
    let fair = sum / all.len().max(1) as f64;
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64 / fair;
    let count = |of: fn(&Totals) -> u64| measured.flows.iter().map(|(_, after)| of(after)).sum::<u64>();
    let mut sample = Sample::default();
    sample.put("jain", jain(&all));
    sample.put("first", mean(first));
    sample.put_some("second", (!second.is_empty()).then(|| mean(second)));
    sample.put("used", sum / place.rate as f64);
    sample.put("queueing", measured.queueing.0.as_secs_f64());
    sample.put("retransmitted", share(count(|totals| totals.retransmitted), count(|totals| totals.sent)));
    sample
}

/// (Σx)² / (n Σx²), Jain et al. 1984.
pub(super) fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
}
