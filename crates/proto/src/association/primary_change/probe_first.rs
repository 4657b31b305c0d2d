use whimbrel_wire::Tsn;

use super::{PrimaryChange, Reaction};
use crate::interface::{PathId, PathState};
use crate::path::{Path, Paths};
use crate::send::Sender;
use crate::send::turn::Permit;

/// The correspondent node of the paper c04 (section 2.2): one packet never sent before goes out on the new primary path at once,
/// whatever the windows say. Its acknowledgement shows what was lost during the handover: that is sent first, in slow start, then
/// new data. The paper sends retransmissions on the primary path only, as alternates exist for a moment only.
///
/// Without new data the probe is a HEARTBEAT. A timeout ends the waiting: then things go on as without a probe.
#[derive(Debug, Default)]
pub(super) struct ProbeFirst {
    probe: Probe,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Probe {
    /// There is nothing to find out.
    #[default]
    None,
    /// To be sent.
    Due,
    /// Sent, beginning with this TSN.
    Sent(Tsn),
    /// A heartbeat on this path.
    Heartbeat(PathId),
}

impl PrimaryChange for ProbeFirst {
    fn on_changed(&mut self, sender: &Sender, _old: PathId, new: PathId) -> Reaction {
        let (probe, reaction) = if sender.is_all_acknowledged() {
            // Nothing can have been lost: slow start begins by itself.
            (Probe::None, Reaction::None)
        } else if sender.is_idle() {
            (Probe::Heartbeat(new), Reaction::Heartbeat)
        } else {
            (Probe::Due, Reaction::None)
        };
        self.probe = probe;
        reaction
    }

    fn on_sack(&mut self, sender: &Sender) -> Reaction {
        match self.probe {
            Probe::Sent(first) if sender.is_acknowledged(first) => self.reveal(),
            _ => Reaction::None,
        }
    }

    fn on_heartbeat_answered(&mut self, path: PathId) -> Reaction {
        if self.probe == Probe::Heartbeat(path) { self.reveal() } else { Reaction::None }
    }

    fn on_timeout(&mut self) {
        self.probe = Probe::None;
    }

    fn permits(&self, paths: &Paths, sender: &Sender) -> Permit {
        let active = |path: &Path| path.state == PathState::Active;
        let waiting = match self.probe {
            Probe::None => false,
            Probe::Due => {
                let usable = paths.get(paths.primary()).is_some_and(active);
                return if usable && !sender.is_idle() { Permit::Probe } else { Permit::Everything };
            }
            // Its path may be gone by now, and the probe with it.
            Probe::Sent(first) => sender.is_in_flight(first),
            Probe::Heartbeat(path) => {
                paths.get(path).is_some_and(|path| path.supervision.heartbeat.is_some())
            }
        };
        if waiting { Permit::Nothing } else { Permit::Everything }
    }

    fn on_probe_sent(&mut self, first: Tsn) {
        self.probe = Probe::Sent(first);
    }
}

impl ProbeFirst {
    /// The probe has arrived: whatever was sent on other paths before it and is not acknowledged is lost.
    fn reveal(&mut self) -> Reaction {
        self.probe = Probe::None;
        Reaction::Reveal
    }
}
