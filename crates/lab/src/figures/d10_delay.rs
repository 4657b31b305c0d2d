//! d10 section II.B: how long the correspondent's data stays away, by how long the network's handover takes.

use core::net::IpAddr;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_machine::Instant;
use whimbrel_netsim::Overheard;
use whimbrel_wire::{Chunk, Packet, Tsn};

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch};
use crate::hard_handover_place::HardHandoverPlace;
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, cells, described,
};
use crate::setups::gateways::Gateways;

/// A handover is looked at for so long.
const AFTER: Duration = Duration::from_secs(30);

struct Figure(HardHandoverPlace);

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure(HardHandoverPlace::new(papers, "d10-delay")?)))
}

/// What has been acknowledged, in chunks after the first of all.
#[derive(Debug, Default)]
struct Acknowledged {
    first: Option<Tsn>,
    chunks: u64,
}

impl Acknowledged {
    fn note(&mut self, packet: &Overheard<'_>) {
        let Ok(parsed) = Packet::parse(packet.bytes) else { return };
        for chunk in parsed.chunks().flatten().filter(|_| !packet.transit) {
            match (chunk, self.first) {
                (Chunk::Data(data), None) => self.first = Some(data.tsn),
                (Chunk::Sack(sack), Some(first)) if !sack.cumulative_tsn_ack.precedes(first) => {
                    let chunks = u64::from(sack.cumulative_tsn_ack.distance_from(first)) + 1;
                    self.chunks = self.chunks.max(chunks);
                }
                _ => {}
            }
        }
    }
}

/// The correspondent in the handovers of a run.
#[derive(Debug, Default)]
struct Seen {
    /// Handovers so far.
    handovers: usize,
    /// Where the terminal was before this one.
    old: Option<IpAddr>,
    /// T3 expiries before this handover, and until now.
    timeouts: [u64; 2],
    /// T3 expiries from leaving until data comes again, in all handovers.
    expiries: u64,
    /// Whether data has left on the new path of this handover.
    sent_on_new: bool,
    /// Handovers in which it left before any T3 expired.
    without: u32,
    /// Fast retransmits until then.
    fast: u64,
    recovery: Option<Recovery>,
    /// Whether the window has grown in a recovery of a handover.
    grew: bool,
}

/// The first Fast Recovery after a handover.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// It ends when so many chunks are acknowledged.
    end: u64,
    cwnd: usize,
}

impl Seen {
    fn look(&mut self, bed: &Gateways, acknowledged: &Acknowledged) {
        let Some((handovers, gap)) = bed.last_gap() else { return };
        let news = handovers != self.handovers;
        if !news && bed.world.now() > gap.left + AFTER {
            return;
        }
        let Some((timeouts, fast, sent)) = totals(bed) else { return };
        if news {
            let Self { expiries, without, grew, .. } = *self;
            let old = Some(bed.place().1);
            *self =
                Self { handovers, old, timeouts: [timeouts; 2], expiries, without, grew, ..Self::default() };
        }
        let expired = timeouts - core::mem::replace(&mut self.timeouts[1], timeouts);
        if gap.after.is_none() {
            self.expiries += expired;
        }
        let Some(cwnd) = on_new(bed).filter(|_| self.old != Some(bed.place().1)) else { return };
        if !self.sent_on_new {
            self.sent_on_new = true;
            self.fast = fast;
            self.without += u32::from(timeouts == self.timeouts[0]);
        }
        self.watch_recovery(acknowledged.chunks, fast, sent, cwnd);
    }

    fn watch_recovery(&mut self, acknowledged: u64, fast: u64, sent: u64, cwnd: usize) {
        match self.recovery {
            None if fast > self.fast => self.recovery = Some(Recovery { end: sent, cwnd }),
            Some(recovery) if acknowledged < recovery.end => self.grew |= cwnd > recovery.cwnd,
            _ => {}
        }
    }
}

/// The window of the path to where the terminal is, once it carries data.
fn on_new(bed: &Gateways) -> Option<usize> {
    let (_, address) = bed.place();
    let paths = bed.paths();
    let new = paths.iter().find(|path| path.route.remote.ip() == address)?;
    (new.counters.data_sent + new.counters.data_retransmitted > 0).then_some(new.cwnd)
}

/// T3 expiries, fast retransmits and chunks sent of the correspondent's association.
fn totals(bed: &Gateways) -> Option<(u64, u64, u64)> {
    let association = bed.world.app(bed.cn).user()?.association()?;
    let stats = bed.node(bed.cn)?.stats(association)?;
    Some((stats.timeouts, stats.fast_retransmits, stats.data_sent))
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "d10_delay"
    }

    fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["scheme", "net_ho"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        let all = ["transport_ho_delay", "t3_per_ho", "first_on_new_without_t3", "cwnd_const_in_recovery"];
        all.map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        described("Config::mobile() and the seamless policy at the terminal").into()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.scenario().axis(name));
        let axes = [axis(Part::Policy, "scheme"), axis(Part::Place, "net_ho")];
        let all = [PAPER, SEAMLESS, PROFILE_ALONE, POLICY_ALONE];
        all.into_iter().flat_map(|series| cells(series, &axes)).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let acknowledged = Arc::new(Mutex::new(Acknowledged::default()));
        let noted = Arc::clone(&acknowledged);
        let lock = |of: &Mutex<Acknowledged>, note: &mut dyn FnMut(&mut Acknowledged)| {
            note(&mut of.lock().unwrap_or_else(PoisonError::into_inner));
        };
        let mut bed = self.0.bed(cell, seed, move |_: Instant, packet| {
            lock(&noted, &mut |noted| noted.note(packet));
        });
        let mut seen = Seen::default();
        let ride = self.0.ride(cell, &mut bed, watch, &mut |bed| {
            lock(&acknowledged, &mut |acknowledged| seen.look(bed, acknowledged));
        });
        let count = self.0.handovers(cell);
        let mut sample = Sample::default();
        sample.put_some("transport_ho_delay", ride.transport_delay());
        sample.put("t3_per_ho", seen.expiries as f64 / f64::from(count));
        sample.put("first_on_new_without_t3", f64::from(seen.without) / f64::from(count));
        sample.put("cwnd_const_in_recovery", f64::from(u8::from(!seen.grew)));
        Outcome::of(sample, ride.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let word = |scheme: &str| vec![("scheme".into(), scheme.into())];
        let line = |series: &'static str, label: &str, at| Line {
            label: label.to_owned(),
            series: series.into(),
            at,
        };
        vec![Plot {
            figure: "1",
            title: "From the last packet before a handover to the first one after it".to_owned(),
            x: Quantity::axis("net_ho", "network handover (s)"),
            y: Quantity::metric("transport_ho_delay", "s"),
            lines: vec![
                line(PAPER, "m-sctp", word("m-sctp")),
                line(PAPER, "m-sctp+", word("m-sctp+")),
                line(SEAMLESS, "seamless", Vec::new()),
                line(PROFILE_ALONE, &format!("m-sctp {PROFILE_ALONE_LABEL}"), word("m-sctp")),
                line(POLICY_ALONE, POLICY_ALONE_LABEL, Vec::new()),
            ],
        }]
    }
}
