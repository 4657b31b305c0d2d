//! DATA that has come steadily and stops. Whoever only receives sends nothing whose acknowledgement could be missing, and nothing that would tell
//! the peer of another port that a translator has given us: both would wait for the next HEARTBEAT (RFC 9260 §8.3). So that is sent at once. Where
//! the peer has just said all, it costs one packet and its answer.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::tail_probe::repetition_after;
use super::{Closing, Context, Open};
use crate::config::TailLoss;
use crate::interface::PathState;
use crate::timers::TimerId;

/// A longer time between two packets counts as this one.
const PAUSE: Duration = Duration::from_secs(1);

/// Packets that are closer together on average are a steady stream.
const STEADY: Duration = Duration::from_millis(50);

/// The average moves by one in so many parts of what each packet says.
const WEIGHT: u32 = 8;

/// A steady stream has stopped when so many packets would have come.
const MISSING: u32 = 8;

/// No pause is shorter, however close together the packets are.
const SHORTEST: Duration = Duration::from_millis(50);

/// How close together packets with DATA come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    last: Option<Instant>,
    /// Between two packets, on average.
    spacing: Duration,
    /// The timer runs. It is not restarted by each packet: once it expires it looks when the last one came.
    watched: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self { last: None, spacing: PAUSE, watched: false }
    }
}

impl Open {
    /// A packet with DATA has come.
    pub(crate) fn note_stream(&mut self, context: &mut Context<'_>) {
        let asks = context.config.retransmission.tail == TailLoss::Probe;
        if !asks || context.config.heartbeat.interval.is_none() {
            return;
        }
        let Stream { last, spacing, watched } = &mut self.notes.stream;
        let since =
            last.replace(context.now).map_or(PAUSE, |last| context.now.saturating_since(last).min(PAUSE));
        *spacing = (*spacing * (WEIGHT - 1) + since) / WEIGHT;
        if !*watched && *spacing <= STEADY {
            *watched = true;
            context.timers.set(TimerId::StreamStopped, context.now + SHORTEST);
        }
    }

    /// Perhaps nothing has come for a while.
    pub(crate) fn handle_stream_timer(&mut self, context: &mut Context<'_>) {
        let path = self.paths.by_route(self.receive.route()).and_then(|id| self.paths.get(id));
        let Stream { last, spacing, watched } = &mut self.notes.stream;
        let Some((path, last)) = path.zip(*last).filter(|_| matches!(self.closing, Closing::No)) else {
            *watched = false;
            return;
        };
        let round_trips = path.rto.probe_timeout().unwrap_or(PAUSE);
        let missed = last + (*spacing * MISSING).max(round_trips).max(SHORTEST);
        if context.now < missed {
            context.timers.set(TimerId::StreamStopped, missed);
            return;
        }
        *watched = false;
        // What has been sent there is missed by its own timers.
        if path.state == PathState::Active && !self.sender.has_in_flight(path.id) {
            let (id, again) = (path.id, context.now + repetition_after(path));
            self.ask_anew(context, id);
            context.timers.set(TimerId::TailProbe(id), again);
        }
    }
}
