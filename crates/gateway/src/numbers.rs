//! What a gateway has done, in numbers.

use std::time::Duration;

use serde::Serialize;
use whimbrel::PrometheusText;
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
            | GatewayNews::ListeningInClear { .. }
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
        let mut text = PrometheusText::default();
        let kind = |name| (name, "counter");
        text.labelled(
            kind("gateway_handovers_total"),
            "Handovers ordered here, by what became of them.",
            "end",
            [("gone", self.handed_over), ("stayed", self.stayed), ("astray", self.astray)],
        );
        text.labelled(
            kind("gateway_arrivals_total"),
            "Terminals that were expected, by whether they have come.",
            "end",
            [("come", self.arrived), ("not_come", self.not_come)],
        );
        text.labelled(
            kind("gateway_packets_held_total"),
            "Packets for terminals on their way, by what became of them.",
            "end",
            [("delivered", self.packets_waited), ("overflowed", self.packets_overflowed)],
        );
        text.labelled(
            kind("gateway_session_events_total"),
            "Sessions that have come up, could not be set up, and have ended.",
            "event",
            [("up", self.sessions_up), ("refused", self.sessions_refused), ("ended", self.sessions_ended)],
        );
        text.counter(
            "gateway_handover_agreement_seconds_total",
            "From orders to go until both ends had agreed, of all that have gone, together.",
            self.time_to_agree.as_secs_f64(),
        );
        text.gauge("gateway_sessions", "Sessions that lead through this gateway.", self.sessions);
        text.gauge("gateway_terminals_expected", "Terminals on their way to this gateway.", self.expected);
        text.gauge("gateway_held_bytes", "Bytes that wait for terminals on their way.", self.held_bytes);
        text.into_string()
    }
}

#[cfg(test)]
#[path = "numbers_tests.rs"]
mod tests;
