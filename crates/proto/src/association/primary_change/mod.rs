//! What a sender does when its primary path changes, be it by our user, by the peer's request (RFC 5061 §5.2), or by
//! Primary.Switchover (RFC 7829 §5). One rule per file: it is asked, and the association acts.

mod await_timer;
mod lost_first;
mod probe_first;
mod retransmit_at_once;
mod standard;

use core::fmt::Debug;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use self::await_timer::AwaitTimer;
use self::lost_first::LostFirst;
use self::probe_first::ProbeFirst;
use self::retransmit_at_once::RetransmitAtOnce;
use self::standard::Standard;
use super::{Context, Open};
use crate::config::PrimaryChangeRule;
use crate::interface::{PathId, PathShape};
use crate::path::Paths;
use crate::send::Sender;
use crate::send::turn::Permit;

/// Says what is to be done when the primary path has changed.
pub(crate) trait PrimaryChange: Debug + Send {
    /// The primary path has changed from `old`, which may exist no more, to `new`.
    fn on_changed(&mut self, sender: &Sender, old: PathId, new: PathId) -> Reaction;

    /// A SACK has been applied.
    fn on_sack(&mut self, _sender: &Sender) -> Reaction {
        Reaction::None
    }

    /// A heartbeat was answered on `path`.
    fn on_heartbeat_answered(&mut self, _path: PathId) -> Reaction {
        Reaction::None
    }

    /// T3-rtx has expired, or a heartbeat was not answered.
    fn on_timeout(&mut self) {}

    /// What may be sent now.
    fn permits(&self, _paths: &Paths, _sender: &Sender) -> Permit {
        Permit::Everything
    }

    /// The packet of [`Permit::Probe`] has been sent, with the chunks from TSN `first` on.
    fn on_probe_sent(&mut self, _first: Tsn) {}
}

/// What the association is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reaction {
    /// Nothing.
    None,
    /// What is in flight on this path is lost.
    GiveUp(PathId),
    /// What is in flight on all paths but the primary is lost.
    GiveUpOthers,
    /// As `GiveUpOthers`; and Fast Recovery, which the same SACK may have begun, must not freeze the window of the primary path.
    Reveal,
    /// A HEARTBEAT goes out on the primary path.
    Heartbeat,
}

/// The rule of an association, and what it was last told of.
#[derive(Debug)]
pub(crate) struct Primary {
    pub(crate) rule: Box<dyn PrimaryChange>,
    /// The primary path as the rule knows it.
    known: PathId,
    /// Where new data went when it was last asked.
    in_use: PathId,
    /// The peer has asked for the primary path there is now.
    by_peer: bool,
    /// When the rule last reacted, and how far the peer had acknowledged then.
    reacted: Option<(Instant, Tsn)>,
}

impl Primary {
    pub(crate) fn new(rule: PrimaryChangeRule, primary: PathId) -> Self {
        let rule: Box<dyn PrimaryChange> = match rule {
            PrimaryChangeRule::Standard => Box::new(Standard),
            PrimaryChangeRule::AwaitTimer => Box::<AwaitTimer>::default(),
            PrimaryChangeRule::ProbeFirst => Box::<ProbeFirst>::default(),
            PrimaryChangeRule::RetransmitAtOnce => Box::new(RetransmitAtOnce),
            PrimaryChangeRule::LostFirst => Box::<LostFirst>::default(),
        };
        Self { rule, known: primary, in_use: primary, by_peer: false, reacted: None }
    }

    /// New data goes by this path; true if it went by another when this was last said.
    pub(super) fn note_in_use(&mut self, path: PathId) -> bool {
        core::mem::replace(&mut self.in_use, path) != path
    }

    /// The peer has asked for the primary path there is now.
    pub(crate) fn note_wish_of_peer(&mut self) {
        self.by_peer = true;
    }
}

impl Open {
    /// Lets the rule react if the primary path has changed since it was last asked.
    pub(crate) fn react_to_primary_change(&mut self, context: &mut Context<'_>) {
        let new = self.paths.primary();
        let old = core::mem::replace(&mut self.primary.known, new);
        let by_peer = core::mem::take(&mut self.primary.by_peer);
        if old == new || (by_peer && self.primary_toggles(context, old)) {
            return;
        }
        self.primary.reacted = Some((context.now, self.sender.cumulative_ack_point()));
        let reaction = self.primary.rule.on_changed(&self.sender, old, new);
        self.react(context, reaction);
    }

    /// Whether the last reaction is less than an RTO ago and nothing has been acknowledged since. A peer that asks for one
    /// primary after the other would be sent the same data again for every request, which need cost it nothing
    /// (RFC 5062 §5).
    fn primary_toggles(&self, context: &Context<'_>, old: PathId) -> bool {
        let acknowledged = self.sender.cumulative_ack_point();
        let rto = self.paths.get(old).map_or(context.config.rto.initial, |path| path.rto.without_back_off());
        self.primary
            .reacted
            .is_some_and(|(at, point)| point == acknowledged && context.now.saturating_since(at) < rto)
    }

    /// Does what the rule wants.
    pub(crate) fn react(&mut self, context: &mut Context<'_>, reaction: Reaction) {
        let primary = self.paths.primary();
        match reaction {
            Reaction::None => {}
            Reaction::GiveUp(path) => self.give_up(context, path),
            Reaction::GiveUpOthers | Reaction::Reveal => {
                let others: Vec<PathId> =
                    self.paths.iter().map(|path| path.id).filter(|&id| id != primary).collect();
                for id in others {
                    self.give_up(context, id);
                }
                if reaction == Reaction::Reveal {
                    self.sender.end_recovery(primary);
                }
            }
            Reaction::Heartbeat => self.send_heartbeat_on(context, primary),
        }
    }

    /// Installs congestion state on a path.
    pub(crate) fn shape_path(&mut self, id: PathId, shape: PathShape) {
        let Some(path) = self.paths.get_mut(id) else { return };
        if let Some(rto) = shape.rto {
            path.rto.install(rto);
        }
        self.sender.install(id, shape.cwnd, shape.ssthresh);
        self.sender.opportunity();
    }
}
