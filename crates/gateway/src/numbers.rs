//! What a gateway has done, in numbers.

use core::fmt::Write;
use std::time::Duration;

use serde::Serialize;
use whimbrel_ufa::Gateway as Machine;

use crate::news::GatewayNews;

/// Numbers of a gateway: totals since it began, and what is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GatewayNumbers {
    /// Sessions that have come up.
    pub sessions_up: u64,
    /// Sessions that could not.
    pub sessions_refused: u64,
    /// Sessions that have ended.
    pub sessions_ended: u64,
    /// Terminals that have gone to another gateway.
    pub handed_over: u64,
    /// Terminals that were to go and have stayed.
    pub stayed: u64,
    /// Terminals that were to go and do not answer, while their peers have been told.
    pub astray: u64,
    /// From the order until both ends had agreed, of all that have gone, together.
    pub time_to_agree: Duration,
    /// Terminals that have come from another gateway.
    pub arrived: u64,
    /// Terminals that were expected and have not come.
    pub not_come: u64,
    /// Packets that have waited for those that have come.
    pub packets_waited: u64,
    /// Packets that found no room while their terminal was expected.
    pub packets_overflowed: u64,
    /// Sessions now.
    pub sessions: u64,
    /// Terminals that are expected now.
    pub expected: u64,
    /// Bytes that wait for them.
    pub held_bytes: u64,
}

impl GatewayNumbers {
    /// Something has happened.
    pub(crate) fn count(&mut self, news: &GatewayNews) {
        match news {
            GatewayNews::SessionUp(_) => self.sessions_up += 1,
            GatewayNews::SessionRefused { .. } => self.sessions_refused += 1,
            GatewayNews::SessionEnded(_) => self.sessions_ended += 1,
            GatewayNews::HandedOver { after, .. } => {
                self.handed_over += 1;
                self.time_to_agree += *after;
            }
            GatewayNews::Stays { .. } => self.stayed += 1,
            GatewayNews::Astray { .. } => self.astray += 1,
            GatewayNews::Arrived { waited, .. } => {
                self.arrived += 1;
                self.packets_waited += *waited as u64;
            }
            GatewayNews::NotCome { .. } => self.not_come += 1,
            GatewayNews::Listening { .. }
            | GatewayNews::Expected { .. }
            | GatewayNews::Reread { .. }
            | GatewayNews::Trouble { .. } => {}
        }
    }

    /// The same with what is now.
    pub(crate) fn of(&self, machine: &Machine) -> Self {
        Self {
            packets_overflowed: machine.overflowed(),
            sessions: machine.session_count() as u64,
            expected: machine.expected().count() as u64,
            held_bytes: machine.held_bytes(),
            ..self.clone()
        }
    }

    /// All of it as the text that Prometheus reads (exposition format 0.0.4).
    #[must_use]
    pub fn prometheus(&self) -> String {
        let mut text = String::with_capacity(4096);
        let handovers = [("gone", self.handed_over), ("stayed", self.stayed), ("astray", self.astray)];
        let arrivals = [("come", self.arrived), ("not_come", self.not_come)];
        let packets = [("delivered", self.packets_waited), ("overflowed", self.packets_overflowed)];
        for (name, help, label, values) in [
            ("handovers_total", "Handovers ordered here, by what became of them.", "end", &handovers[..]),
            ("arrivals_total", "Terminals that were expected, by whether they have come.", "end", &arrivals),
            (
                "packets_held_total",
                "Packets for terminals on their way, by what became of them.",
                "end",
                &packets,
            ),
        ] {
            family(&mut text, name, "counter", help);
            for (which, value) in values {
                sample(&mut text, &format!("{name}{{{label}=\"{which}\"}}"), value);
            }
        }
        for (name, kind, help, value) in [
            ("sessions_up_total", "counter", "Sessions that have come up.", self.sessions_up),
            (
                "sessions_refused_total",
                "counter",
                "Sessions that could not be set up.",
                self.sessions_refused,
            ),
            ("sessions_ended_total", "counter", "Sessions that have ended.", self.sessions_ended),
            ("sessions", "gauge", "Sessions that lead through this gateway.", self.sessions),
            ("terminals_expected", "gauge", "Terminals on their way to this gateway.", self.expected),
            ("held_bytes", "gauge", "Bytes that wait for terminals on their way.", self.held_bytes),
        ] {
            family(&mut text, name, kind, help);
            sample(&mut text, name, &value);
        }
        let name = "handover_agreement_seconds";
        family(&mut text, name, "summary", "From the order to go until both ends had agreed.");
        sample(&mut text, &format!("{name}_sum"), &self.time_to_agree.as_secs_f64());
        sample(&mut text, &format!("{name}_count"), &self.handed_over);
        text
    }
}

/// What the lines that follow are. Writing to a string does not fail.
fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP whimbrel_gateway_{name} {help}\n# TYPE whimbrel_gateway_{name} {kind}");
}

fn sample(text: &mut String, name: &str, value: &dyn core::fmt::Display) {
    let _ = writeln!(text, "whimbrel_gateway_{name} {value}");
}

#[cfg(test)]
#[path = "numbers_tests.rs"]
mod tests;
