//! `policies` and `[policy.NAME]`: what decides when and where to move, with its parameters.

use core::ops::RangeInclusive;
use core::time::Duration;

use serde::Deserialize;
use toml::Table;
use whimbrel_handover::{
    Aisle, AisleParameters, Failover, FastestNetwork, Governed, Hysteresis, Judge, LayerTwoHandover, Pace,
    Policy, Seamless, SignalStrength, Thresholds,
};
use whimbrel_machine::{ReceivedPower, Seed};

use super::file::File;
use super::limits::{DBM, SECONDS};
use super::parameters::{Parameter, Settings};

/// `[policy.NAME]`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct PolicyTable {
    /// Which policy it is; the one that is called so unless given.
    kind: Option<String>,
    /// What it changes in the profile of its hosts.
    pub(super) profile: Option<Table>,
    #[serde(flatten)]
    parameters: Table,
}

/// What decides when and where to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `Config::mobile()` and the policy that users have.
    Seamless,
    /// `Config::mobile()`, away from what has failed.
    Failover,
    /// `Config::mobile()`, to the fastest network.
    FastestNetwork,
    /// `Config::mobile()` and address management by signal strength, as c04 has it.
    SignalStrength,
    /// `Config::mobile()` with packet trains, among paths by what they can carry (AISLE, b08), at whichever end sends.
    Aisle,
    /// `Config::rfc()`: timers alone.
    Rfc,
    /// TCP over Mobile IP, instead of SCTP.
    MobileIp,
}

const KINDS: [(&str, Kind); 7] = [
    ("seamless", Kind::Seamless),
    ("failover", Kind::Failover),
    ("fastest-network", Kind::FastestNetwork),
    ("signal-strength", Kind::SignalStrength),
    ("aisle", Kind::Aisle),
    ("rfc", Kind::Rfc),
    ("mobile-ip", Kind::MobileIp),
];

const COUNT: RangeInclusive<f64> = 1.0..=1e6;

/// Of all policies that are carried out in measure.
fn pace() -> Vec<Parameter> {
    vec![
        Parameter::real("dwell", "s; time after a move in which nothing is left for mere advantage", SECONDS),
        Parameter::real("settle", "s; time for which an advantage lasts before it is worth a move", SECONDS),
        Parameter::real(
            "longest_shun",
            "s; most for which an address is shunned that was left in a hurry",
            SECONDS,
        ),
        Parameter::whole("moves", "moves that may follow each other at once", COUNT),
        Parameter::real("move_every", "s; time for each move after those", SECONDS),
        Parameter::whole("requests", "requests about addresses that may be made at once", COUNT),
        Parameter::real("request_every", "s; time for each request after those", SECONDS),
        Parameter::real("forget_after", "s; time after which an address that is gone is deleted", SECONDS),
    ]
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    pub(super) fn parameters(self) -> Vec<Parameter> {
        let own = match self {
            Self::Seamless => vec![
                Parameter::real("low_below", "dBm; signal below which a network is left", DBM),
                Parameter::real("high_from", "dBm; signal from which a network is good again", DBM),
                Parameter::real("horizon", "s; how far ahead a falling signal is followed", SECONDS),
            ],
            Self::FastestNetwork => vec![
                Parameter::real("floor", "dBm; signal below which nothing is received", DBM),
                Parameter::real("margin", "s; time by which a network is left earlier than needed", SECONDS),
            ],
            Self::SignalStrength => vec![
                Parameter::real("reception", "dBm; signal below which nothing is received (c04: L2-TH)", DBM),
                Parameter::real(
                    "primary",
                    "dBm; signal below which a network is left (c04: Primary-TH)",
                    DBM,
                ),
            ],
            Self::Aisle => vec![
                Parameter::real("theta", "times as much that another path must carry", 0.0..=1000.0),
                Parameter::real("hysteresis", "s; time after a swap in which there is none (T_h)", SECONDS),
                Parameter::real(
                    "validity",
                    "s; time for which it is known what a path carries (T_d)",
                    SECONDS,
                ),
            ],
            Self::Failover => Vec::new(),
            Self::Rfc | Self::MobileIp => return Vec::new(),
        };
        own.into_iter().chain(pace()).collect()
    }
}

/// The meaning of a parameter, of whichever policy.
pub(super) fn meaning(name: &str) -> Option<&'static str> {
    let mut all = KINDS.iter().flat_map(|(_, kind)| kind.parameters());
    all.find(|parameter| parameter.name == name).map(|parameter| parameter.says)
}

/// A policy as a file has it.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) kind: Kind,
    settings: Settings,
    /// What [`Kind::SignalStrength`] is told of the radio.
    handover: LayerTwoHandover,
}

impl Chosen {
    /// The policy that a file calls `name`; `whose` says where it does.
    pub(super) fn named(file: &File, name: &str, whose: &str) -> Result<Self, String> {
        let table = file.policy.get(name);
        let kind = table.and_then(|table| table.kind.as_deref()).unwrap_or(name);
        let known = || KINDS.map(|(known, _)| known).join(", ");
        let Some(kind) = Kind::named(kind) else {
            return Err(match table {
                Some(_) => format!("policy.{name}: its kind is {kind}, and may be {}", known()),
                None => format!(
                    "{whose}: there is no policy called {name}; there are: {}, and what [policy.NAME] describes",
                    known()
                ),
            });
        };
        let place = format!("policy.{name}");
        let none = Table::new();
        let given = table.map_or(&none, |table| &table.parameters);
        let settings = Settings::read(&place, kind.name(), given, &kind.parameters())?;
        if kind == Kind::MobileIp && table.is_some_and(|table| table.profile.is_some()) {
            return Err(format!("{place}.profile: a profile is SCTP's, and mobile-ip carries TCP"));
        }
        let low = settings.number_or("low_below", LOW) <= settings.number_or("high_from", HIGH);
        let heard = settings.number_or("reception", RECEPTION) <= settings.number_or("primary", LOW);
        if !low || !heard {
            let (less, more) = if low { ("reception", "primary") } else { ("low_below", "high_from") };
            return Err(format!("{place}: {less} must not be above {more}"));
        }
        // A hard handover tells it that all other networks are gone.
        if kind == Kind::SignalStrength && file.has_more_than_a_hard_radio() {
            return Err(format!(
                "{place}: signal-strength takes all networks for cells of one radio; with a hard one beside others it would never hear of those \
                 again: give the radio handover = \"soft\", or all networks that radio"
            ));
        }
        let handover =
            if file.has_hard_handovers() { LayerTwoHandover::Hard } else { LayerTwoHandover::Soft };
        Ok(Self { kind, settings, handover })
    }

    /// One for an association; nothing where timers alone decide. What it draws comes of the seed of its host.
    pub(super) fn policy(&self, seed: &Seed) -> Option<Box<dyn Policy>> {
        let Self { settings, .. } = self;
        let dbm = |name, usual| ReceivedPower::from_dbm(settings.number_or(name, usual));
        match self.kind {
            Kind::Seamless => {
                let signal =
                    Hysteresis { low_below: dbm("low_below", LOW), high_from: dbm("high_from", HIGH) };
                let horizon = settings.seconds_or("horizon", Duration::from_secs(1));
                Some(self.governed(Seamless::new(signal, horizon), Pace::MOBILE))
            }
            Kind::Failover => Some(self.governed(Failover, Pace::MOBILE)),
            Kind::FastestNetwork => {
                let margin = settings.seconds_or("margin", Duration::from_millis(100));
                let pace = Pace { settle: Duration::ZERO, ..Pace::MOBILE };
                Some(self.governed(FastestNetwork::new(dbm("floor", RECEPTION), margin), pace))
            }
            Kind::SignalStrength => {
                let thresholds =
                    Thresholds { reception: dbm("reception", RECEPTION), primary: dbm("primary", LOW) };
                Some(self.governed(SignalStrength::new(thresholds, self.handover), Pace::AT_ONCE))
            }
            Kind::Aisle => {
                let usual = AisleParameters::default();
                let parameters = AisleParameters {
                    advantage: settings.number_or("theta", usual.advantage),
                    hysteresis: settings.seconds_or("hysteresis", usual.hysteresis),
                    validity: settings.seconds_or("validity", usual.validity),
                };
                let draws = seed.stream(Aisle::STREAM, 0);
                Some(Box::new(Aisle::policy(parameters, self.pace(Pace::MOBILE), draws)))
            }
            Kind::Rfc | Kind::MobileIp => None,
        }
    }

    fn governed<J: Judge + 'static>(&self, judge: J, usual: Pace) -> Box<dyn Policy>
    where
        Governed<J>: Policy,
    {
        Box::new(Governed::new(judge, self.pace(usual)))
    }

    /// The pace, where a file says nothing else as `usual`.
    fn pace(&self, usual: Pace) -> Pace {
        let Self { settings, .. } = self;
        let count = |name, usual: u32| settings.number(name).map_or(usual, |number| number as u32);
        Pace {
            dwell: settings.seconds_or("dwell", usual.dwell),
            settle: settings.seconds_or("settle", usual.settle),
            longest_shun: settings.seconds_or("longest_shun", usual.longest_shun),
            moves: count("moves", usual.moves),
            move_every: settings.seconds_or("move_every", usual.move_every),
            requests: count("requests", usual.requests),
            request_every: settings.seconds_or("request_every", usual.request_every),
            forget_after: settings.seconds_or("forget_after", usual.forget_after),
        }
    }
}

/// As [`Seamless::policy`] has it; dBm.
const LOW: f64 = -82.0;
const HIGH: f64 = -76.0;
/// As cells have it unless told otherwise, and [`FastestNetwork::policy`].
const RECEPTION: f64 = -90.0;

#[cfg(test)]
#[path = "policies_tests.rs"]
mod tests;
