use whimbrel_wire::Tsn;

use super::{Permit, PrimaryChange};
use crate::association::context::Context;
use crate::association::open::Open;
use crate::interface::{PathId, PathState};
use crate::path::Path;
use crate::path::choice::{PrimaryOnly, RetransmissionChoice};
use crate::send::outstanding::ChunkState;
use crate::timers::TimerId;

/// The correspondent node of the paper c04 (section 2.2): one packet never sent before goes out on the new primary path at once, whatever the
/// windows say. Its acknowledgement shows what was lost during the handover: that is sent first, in slow start, then new data.
/// Retransmissions use the primary path only, as alternates exist for a moment only.
///
/// Without new data the probe is a HEARTBEAT. A timeout ends the waiting: then things go on as without a probe.
#[derive(Debug, Default)]
pub(crate) struct ProbeFirst {
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
    fn on_changed(&mut self, open: &mut Open, context: &mut Context<'_>, _old: PathId) {
        if open.outstanding.is_empty() {
            // Nothing can have been lost: slow start begins by itself.
            self.probe = Probe::None;
        } else if open.streams.is_empty() {
            let primary = open.paths.primary();
            open.send_heartbeat_on(context, primary);
            self.probe = Probe::Heartbeat(primary);
        } else {
            self.probe = Probe::Due;
        }
    }

    fn on_sack(&mut self, open: &mut Open, context: &mut Context<'_>) {
        let Probe::Sent(first) = self.probe else { return };
        let arrived = open.outstanding.get(first).is_none_or(|c| c.state == ChunkState::GapAcknowledged);
        if arrived {
            self.reveal(open, context);
        }
    }

    fn on_heartbeat_answered(&mut self, open: &mut Open, context: &mut Context<'_>, path: PathId) {
        if self.probe == Probe::Heartbeat(path) {
            self.reveal(open, context);
        }
    }

    fn on_timeout(&mut self) {
        self.probe = Probe::None;
    }

    fn permits(&self, open: &Open) -> Permit {
        let active = |path: &Path| path.state == PathState::Active;
        let waiting = match self.probe {
            Probe::None => false,
            Probe::Due => {
                let usable = open.paths.get(open.paths.primary()).is_some_and(active);
                return if usable && !open.streams.is_empty() { Permit::Probe } else { Permit::Everything };
            }
            // Its path may be gone by now, and the probe with it.
            Probe::Sent(first) => {
                open.outstanding.get(first).is_some_and(|chunk| chunk.state == ChunkState::InFlight)
            }
            Probe::Heartbeat(path) => open.paths.get(path).is_some_and(|path| path.heartbeat.is_some()),
        };
        if waiting { Permit::Nothing } else { Permit::Everything }
    }

    fn on_probe_sent(&mut self, context: &mut Context<'_>, path: PathId, first: Tsn) {
        self.probe = Probe::Sent(first);
        // The first transmission on a new path is guarded by the initial RTO, whatever heartbeats have measured.
        context.timers.set(TimerId::T3Retransmit(path), context.now + context.config.rto.initial);
    }

    fn retransmissions(&self) -> Box<dyn RetransmissionChoice> {
        Box::new(PrimaryOnly)
    }
}

impl ProbeFirst {
    /// The probe has arrived: whatever was sent on other paths before it and is not acknowledged is lost.
    fn reveal(&mut self, open: &mut Open, context: &mut Context<'_>) {
        self.probe = Probe::None;
        let primary = open.paths.primary();
        let others: Vec<PathId> = open.paths.iter().map(|path| path.id).filter(|&id| id != primary).collect();
        for id in others {
            open.take_for_lost(context, id);
        }
        // Miss indications of the same SACK may have begun fast recovery, which would freeze the new path's window.
        open.fast_recovery = None;
    }
}
