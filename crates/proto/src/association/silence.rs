//! A peer that is not heard: when it is given up, and how often it is looked for meanwhile (RFC 9260 §8.1).

use core::time::Duration;

use whimbrel_machine::Instant;

use super::{Context, Ending, Handled, Open};
use crate::config::{AssociationFailure, Config};
use crate::interface::CloseReason;
use crate::path::Path;

impl Open {
    /// A timeout that counts against the peer as a whole (RFC 9260 §8.1).
    pub(crate) fn note_association_error(&mut self, context: &Context<'_>) -> Handled {
        self.notes.error_count = self.notes.error_count.saturating_add(1);
        self.give_up_if_unreachable(context, self.notes.error_count)
    }

    /// Ends the association if the peer counts as unreachable after this many `errors` in a row.
    pub(crate) fn give_up_if_unreachable(&mut self, context: &Context<'_>, errors: u32) -> Handled {
        let failure = &context.config.failure;
        let over = match failure.association {
            AssociationFailure::Errors(most) => errors > most,
            AssociationFailure::Silence(patience) => {
                let tries = self.notes.tries.missed(context.now, longest_wait(context.config));
                tries > failure.path_max_retrans && context.now >= self.notes.heard + patience
            }
        };
        if over { Err(Ending::Silent(CloseReason::Unreachable)) } else { Ok(()) }
    }

    /// How long the supervision of a path waits between two HEARTBEATs at most, because the peer is silent; `None`: as its RTO
    /// has it.
    pub(crate) fn probe_spacing(&self, context: &Context<'_>, path: &Path) -> Option<Duration> {
        if path.error_count == 0 {
            return None;
        }
        let (at_most, share) = self.spacing(context, path.rto.without_back_off())?;
        // A path on standby can wait as long as the peer may answer on another one.
        let no_other = || self.paths.iter().all(|path| path.error_count > 0 || !path.is_usable());
        (self.is_in_use(path.id) || no_other()).then(|| share.map_or(at_most, |share| at_most.min(share)))
    }

    /// How long what has to be said to the peer waits between two tries at most, because the peer is silent, where there are so many
    /// `ways` to try; `None`: as the RTO of each has it.
    pub(crate) fn try_spacing(&self, context: &Context<'_>, rto: Duration, ways: usize) -> Option<Duration> {
        let (at_most, share) = self.spacing(context, rto)?;
        share.map(|share| at_most.min((share / ways.max(1) as u32).max(rto)))
    }

    /// The most that two probes may be apart, and the share of the silence that they should be. A peer that was heard a moment ago answers
    /// late: there is no such share then, and what backs off is right (RFC 5061 §5.1 B3).
    fn spacing(&self, context: &Context<'_>, rto: Duration) -> Option<(Duration, Option<Duration>)> {
        let spacing = context.config.heartbeat.silent_peer?;
        let silent = context.now.saturating_since(self.notes.heard);
        let at_most = if silent < spacing.soon_for { spacing.soon } else { spacing.later };
        // An outage should not last much longer than the network is gone, so that a short one is probed more densely.
        let share = (silent >= rto * 3 / 2).then(|| (silent / SHARE_OF_SILENCE).max(rto));
        Some((at_most, share))
    }
}

/// Tries in a row that got no answer. Who has slept, or had no link, has not tried for all that time, and gets as many tries as a path does
/// before patience with a silent peer is over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tries {
    count: u32,
    last: Option<Instant>,
}

impl Tries {
    /// A try has got no answer; how many that makes. Those in a row are no further apart than the `longest` wait. All that is overdue when a
    /// host wakes is no try: nothing has been sent between.
    fn missed(&mut self, now: Instant, longest: Duration) -> u32 {
        match self.last {
            Some(last) if last == now => {}
            Some(last) if now <= last + longest => self.count += 1,
            _ => self.count = 0,
        }
        self.last = Some(now);
        self.count
    }
}

/// No try is found to be unanswered later after the one before: a HEARTBEAT is due after the interval and an RTO, jitter included
/// (RFC 9260 §8.3), and its answer is waited for another RTO.
fn longest_wait(config: &Config) -> Duration {
    let heartbeat = &config.heartbeat;
    let idle = heartbeat.interval.unwrap_or_default() + config.rto.max * 3 / 2;
    let silent =
        heartbeat.silent_peer.map_or(Duration::ZERO, |spacing| spacing.soon.max(spacing.later) * 5 / 4);
    idle.max(silent) + config.rto.max
}

/// Two probes are no further apart than this part of the silence.
const SHARE_OF_SILENCE: u32 = 24;

/// How long an end that has said all waits for the other to agree at most, whatever comes meanwhile.
pub(super) fn last_word(config: &Config) -> Duration {
    /// As many repetitions of SHUTDOWN ACK as there are by default.
    const TRIES: u32 = 20;
    let tries = match config.failure.association {
        AssociationFailure::Errors(most) => most,
        AssociationFailure::Silence(_) => TRIES,
    };
    // Not before T5-shutdown-guard (RFC 9260 §9.2).
    config.rto.max.saturating_mul(tries.saturating_add(1).max(5))
}
