//! c04 section 2.1: the rules of address management, one case each.

use core::net::SocketAddr;

use whimbrel_handover::{AddressManagement, Change, LayerTwoHandover, Level, Signal, Trigger};
use whimbrel_machine::InterfaceId;

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};

/// The interface of the primary path, and another one.
const OLD: InterfaceId = InterfaceId(1);
const NEW: InterfaceId = InterfaceId(2);

struct Figure(Scenario);

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure(papers.scenario("c04-amm")?)))
}

fn address(interface: InterfaceId) -> SocketAddr {
    SocketAddr::from(([10, 0, interface.0 as u8, 1], 0))
}

/// A module, and what it has triggered.
struct Trial {
    module: AddressManagement,
    triggered: Vec<Trigger>,
}

impl Trial {
    /// In the middle of cell 1.
    fn started() -> Self {
        let mut trial =
            Self { module: AddressManagement::new(LayerTwoHandover::Soft), triggered: Vec::new() };
        trial.signals(&[Signal::MaxIn(OLD), ss(OLD, Change::AppearsStrong), Signal::L2hc(OLD), ipac(OLD)]);
        trial.module.set_primary(Some(OLD));
        trial.triggered.clear();
        trial
    }

    /// As [`Trial::started`], and in cell 2 as well, which is strong and ready.
    fn overlapping() -> Self {
        Self::started().after(&[ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW), ipac(NEW)])
    }

    /// After further signals, whatever they trigger.
    fn after(mut self, signals: &[Signal]) -> Self {
        self.signals(signals);
        self.triggered.clear();
        self
    }

    fn signals(&mut self, signals: &[Signal]) {
        for &signal in signals {
            let triggers = self.module.on_signal(signal);
            self.triggered.extend(triggers);
        }
    }

    /// Whether the signals trigger just that, in this order.
    fn triggers(&mut self, signals: &[Signal], expected: &[Trigger]) -> bool {
        self.triggered.clear();
        self.signals(signals);
        self.triggered == expected
    }
}

fn add(interface: InterfaceId) -> Trigger {
    Trigger::AddIp(interface, address(interface))
}

fn set_primary(interface: InterfaceId) -> Trigger {
    Trigger::SetPrimary(interface, address(interface))
}

fn delete(interface: InterfaceId) -> Trigger {
    Trigger::DeleteIp(interface, address(interface))
}

fn ipac(interface: InterfaceId) -> Signal {
    Signal::Ipac(interface, address(interface))
}

const fn ss(interface: InterfaceId, change: Change) -> Signal {
    Signal::L2ss(interface, change)
}

/// ADDIP (section 2.1.2).
fn additions(case: &str) -> Option<bool> {
    let (heard, attached) = (ss(NEW, Change::AppearsWeak), Signal::L2hc(NEW));
    let mut trial = Trial::started();
    Some(match case {
        "addip-l2hc-last" => {
            trial.triggers(&[heard, ipac(NEW)], &[]) && trial.triggers(&[attached], &[add(NEW)])
        }
        "addip-ipac-last" => {
            trial.triggers(&[heard, attached], &[]) && trial.triggers(&[ipac(NEW)], &[add(NEW)])
        }
        "addip-only-once" => {
            let mut trial = trial.after(&[attached, ipac(NEW)]);
            trial.triggers(&[attached, ipac(NEW), heard], &[])
        }
        _ => return None,
    })
}

/// Tables 1 and 2.
fn levels(case: &str) -> Option<bool> {
    use Change::{AppearsStrong, AppearsWeak, FadesAway, Falls, Rises, Vanishes};
    let table = [
        (AppearsWeak, 1, Level::Weak),
        (Rises, 2, Level::Strong),
        (AppearsStrong, 3, Level::Strong),
        (Falls, 4, Level::Weak),
        (FadesAway, 5, Level::None),
        (Vanishes, 6, Level::None),
    ];
    let holds = |&(change, number, level): &(Change, u8, Level)| {
        let trial = Trial::started().after(&[ss(NEW, change)]);
        change.number() == number && trial.module.level(NEW) == level
    };
    (case == "ss-table").then(|| table.iter().all(holds))
}

/// Set-Primary (section 2.1.2).
fn primaries(case: &str) -> Option<bool> {
    let falls = ss(OLD, Change::Falls);
    let ready = [Signal::L2hc(NEW), ipac(NEW), Signal::MaxIn(NEW)];
    let overlapping = Trial::overlapping;
    let weak = || Trial::started().after(&[ss(NEW, Change::AppearsWeak)]).after(&ready);
    let strongest = || overlapping().after(&[Signal::MaxIn(NEW)]);
    Some(match case {
        "set-primary-at-4" => strongest().triggers(&[falls], &[set_primary(NEW)]),
        "set-primary-at-6" => {
            strongest().triggers(&[ss(OLD, Change::Vanishes)], &[set_primary(NEW), delete(OLD)])
        }
        "no-set-primary-for-nonprimary" => {
            overlapping().triggers(&[ss(NEW, Change::Falls), ss(NEW, Change::Rises)], &[])
        }
        // Strong, attached and addressed, but not the strongest; and the strongest, but not strong.
        "strongest-required" => overlapping().triggers(&[falls], &[]) && weak().triggers(&[falls], &[]),
        "postponed-until-l2ss" => {
            let mut trial = weak();
            trial.triggers(&[falls], &[]) && trial.triggers(&[ss(NEW, Change::Rises)], &[set_primary(NEW)])
        }
        "postponed-dropped-when-recovered" => {
            let mut trial = weak();
            trial.triggers(&[falls, ss(OLD, Change::Rises)], &[])
                && trial.triggers(&[ss(NEW, Change::Rises)], &[])
        }
        _ => return late_primaries(case),
    })
}

/// Set-Primary that waits for the attachment or the address.
fn late_primaries(case: &str) -> Option<bool> {
    let (falls, last, first) = match case {
        "postponed-until-l2hc" => (ss(OLD, Change::Falls), Signal::L2hc(NEW), ipac(NEW)),
        "postponed-until-ipac" => (ss(OLD, Change::Falls), ipac(NEW), Signal::L2hc(NEW)),
        _ => return None,
    };
    let mut trial = Trial::started().after(&[ss(NEW, Change::AppearsStrong), first, Signal::MaxIn(NEW)]);
    Some(trial.triggers(&[falls], &[]) && trial.triggers(&[last], &[add(NEW), set_primary(NEW)]))
}

/// DELETEIP (sections 2.1 and 2.1.2).
fn deletions(case: &str) -> Option<bool> {
    let (falls, fades) = (Change::Falls, Change::FadesAway);
    Some(match case {
        "delete-at-5" => {
            let mut trial = Trial::overlapping().after(&[ss(NEW, falls)]);
            trial.triggers(&[ss(NEW, fades)], &[delete(NEW)])
        }
        "delete-at-6" => Trial::overlapping().triggers(&[ss(NEW, Change::Vanishes)], &[delete(NEW)]),
        "no-delete-above-l2th" => {
            let mut trial = Trial::overlapping().after(&[Signal::MaxIn(NEW)]);
            let rises = ss(OLD, Change::Rises);
            trial.triggers(&[ss(OLD, falls), rises, ss(OLD, falls)], &[set_primary(NEW)])
        }
        "delete-postponed" => {
            let mut trial = Trial::started();
            let nothing = trial.triggers(&[ss(OLD, falls), ss(OLD, fades)], &[]);
            nothing && trial.module.table().iter().any(|row| row.interface == OLD && row.delete_postponed)
        }
        "delete-with-set-primary" => {
            let gone = ss(OLD, Change::Vanishes);
            let heard = [Signal::MaxIn(NEW), ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW)];
            let mut trial = Trial::started().after(&[gone]).after(&heard);
            trial.triggers(&[ipac(NEW)], &[add(NEW), set_primary(NEW), delete(OLD)])
        }
        _ => return None,
    })
}

/// Whether the module obeys the rule of a case; `None` if there is no such case.
fn obeys(case: &str) -> Option<bool> {
    let groups: [fn(&str) -> Option<bool>; 4] = [additions, levels, primaries, deletions];
    groups.iter().find_map(|group| group(case))
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "c04_amm"
    }

    fn scenario(&self) -> &Scenario {
        &self.0
    }

    fn axes(&self) -> Vec<Name> {
        vec!["case".into()]
    }

    fn metrics(&self) -> Vec<Name> {
        vec!["ok".into()]
    }

    /// Nothing is drawn at random.
    fn repetitions(&self) -> u64 {
        1
    }

    fn cells(&self) -> Vec<Cell> {
        grid(&[("case", self.0.axis("case"))]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, _seed: u64, _watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        sample.put_some("ok", obeys(cell.word("case")).map(|obeyed| f64::from(u8::from(obeyed))));
        Outcome::of(sample, 0)
    }

    fn has_network(&self) -> bool {
        false
    }

    fn plots(&self) -> Vec<Plot> {
        vec![Plot {
            figure: "amm",
            title: "Rules of address management".to_owned(),
            x: Quantity::axis("case", "case"),
            y: Quantity::metric("ok", "obeyed"),
            lines: vec![Line { label: "policy".to_owned(), series: PAPER.into(), at: Vec::new() }],
        }]
    }
}
