//! What a sender does when its primary path changes, be it by our user, by the peer's request (RFC 5061 §5.2), or by
//! Primary.Switchover (RFC 7829 §5). One rule per file.

mod lost_first;
mod probe_first;
mod retransmit_at_once;
mod standard;

use core::fmt::Debug;

use whimbrel_wire::Tsn;

use self::lost_first::LostFirst;
use self::probe_first::ProbeFirst;
use self::retransmit_at_once::RetransmitAtOnce;
use self::standard::Standard;
use super::context::Context;
use super::open::Open;
use crate::config::PrimaryChangeRule;
use crate::interface::{PathId, PathShape};
use crate::path::choice::{AlternatePath, RetransmissionChoice};
use crate::send::outstanding::Loss;
use crate::timers::TimerId;

/// Reacts to changes of the primary path.
pub(crate) trait PrimaryChange: Debug + Send {
    /// The primary path has changed, from `old`, which may exist no more.
    fn on_changed(&mut self, open: &mut Open, context: &mut Context<'_>, old: PathId);

    /// A SACK has been applied.
    fn on_sack(&mut self, _open: &mut Open, _context: &mut Context<'_>) {}

    /// A heartbeat was answered on `path`.
    fn on_heartbeat_answered(&mut self, _open: &mut Open, _context: &mut Context<'_>, _path: PathId) {}

    /// T3-rtx has expired, or a heartbeat was not answered.
    fn on_timeout(&mut self) {}

    /// What may be sent now.
    fn permits(&self, _open: &Open) -> Permit {
        Permit::Everything
    }

    /// Notes that the packet of [`Permit::Probe`] has been sent on `path`, with the chunks from TSN `first` on.
    fn on_probe_sent(&mut self, _context: &mut Context<'_>, _path: PathId, _first: Tsn) {}

    /// Where retransmissions go under this rule.
    fn retransmissions(&self) -> Box<dyn RetransmissionChoice> {
        Box::new(AlternatePath)
    }
}

/// What may be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permit {
    /// Retransmissions, and new data behind them.
    Everything,
    /// Retransmissions only.
    Retransmissions,
    /// One packet of new data on the primary path, whatever the windows say.
    Probe,
    /// No data.
    Nothing,
}

/// The rule that a configuration names.
pub(crate) fn rule(name: PrimaryChangeRule) -> Box<dyn PrimaryChange> {
    match name {
        PrimaryChangeRule::Standard => Box::new(Standard),
        PrimaryChangeRule::ProbeFirst => Box::<ProbeFirst>::default(),
        PrimaryChangeRule::RetransmitAtOnce => Box::new(RetransmitAtOnce),
        PrimaryChangeRule::LostFirst => Box::<LostFirst>::default(),
    }
}

impl Open {
    /// Lets the rule react if the primary path has changed since it was last asked.
    pub(crate) fn react_to_primary_change(&mut self, context: &mut Context<'_>) {
        let primary = self.paths.primary();
        let known = core::mem::replace(&mut self.known_primary, primary);
        let by_peer = core::mem::take(&mut self.primary_by_peer);
        if known == primary || (by_peer && self.primary_toggles(context, known)) {
            return;
        }
        self.reacted_to_primary = Some((context.now, self.outstanding.cumulative_ack_point()));
        self.with_primary_change(|rule, open| rule.on_changed(open, context, known));
    }

    /// Whether the last reaction is less than an RTO ago and nothing has been acknowledged since. A peer that asks for one
    /// primary after the other would be sent the same data again for every request, which need cost it nothing
    /// (RFC 5062 §5).
    fn primary_toggles(&self, context: &Context<'_>, old: PathId) -> bool {
        let acknowledged = self.outstanding.cumulative_ack_point();
        let rto = self.paths.get(old).map_or(context.config.rto.initial, |path| path.rto.without_back_off());
        self.reacted_to_primary
            .is_some_and(|(at, point)| point == acknowledged && context.now.saturating_since(at) < rto)
    }

    /// Calls the rule with the association it belongs to.
    pub(crate) fn with_primary_change(&mut self, call: impl FnOnce(&mut dyn PrimaryChange, &mut Self)) {
        // A box of nothing needs no memory.
        let mut rule = core::mem::replace(&mut self.primary_change, Box::new(Standard));
        call(&mut *rule, self);
        self.primary_change = rule;
    }

    /// What is in flight on a path is lost: it goes out again at once, as after T3-rtx (RFC 9260 §6.3.3 E3), but without blame for
    /// the path. Its congestion window, RTO and error counter stay as they are.
    pub(crate) fn take_for_lost(&mut self, context: &mut Context<'_>, id: PathId) {
        let lost = self.outstanding.mark_timed_out(id);
        if lost == 0 {
            return;
        }
        if let Some(path) = self.paths.get_mut(id) {
            path.flight_size = path.flight_size.saturating_sub(lost);
            path.earliest = None;
            path.timed = None;
        }
        context.timers.clear(TimerId::T3Retransmit(id));
        // The losses are known now, all of them: slow start must be able to grow while they are repaired.
        self.fast_recovery = None;
        if let Some(target) = self.retransmission_path(id, Loss::Timeout)
            && let Some(path) = self.paths.get_mut(target)
        {
            path.forced = true;
        }
        self.opportunity();
    }

    /// Installs congestion state on a path.
    pub(crate) fn shape_path(&mut self, id: PathId, shape: PathShape) {
        let Some(path) = self.paths.get_mut(id) else { return };
        if shape.cwnd.is_some() || shape.ssthresh.is_some() {
            let cwnd = shape.cwnd.unwrap_or_else(|| path.congestion.cwnd());
            let ssthresh = shape.ssthresh.unwrap_or_else(|| path.congestion.ssthresh());
            path.congestion.install(cwnd, ssthresh);
        }
        if let Some(rto) = shape.rto {
            path.rto.install(rto);
        }
        self.opportunity();
    }
}
