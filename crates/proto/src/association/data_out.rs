//! DATA goes out: the sender says what, the association keeps the timers (RFC 9260 §6.1, §6.3.2).

use core::time::Duration;

use super::{Closing, Context, Open};
use crate::interface::PathId;
use crate::path::Path;
use crate::send::report::T3;
use crate::send::turn::{Content, Next, Permit, SackSlot, Train, Turn};
use crate::timers::TimerId;

impl Open {
    /// The next train of DATA packets: its path and segment size.
    pub(crate) fn poll_data(
        &mut self,
        context: &mut Context<'_>,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<(PathId, usize)> {
        let shuts_down = match self.closing {
            Closing::Sent(_) | Closing::AckSent(_) => return None,
            Closing::Pending => true,
            Closing::No | Closing::Received => false,
        };
        let permit = self.primary.rule.permits(&self.paths, &self.sender);
        let may_bundle = self.receive.ack_pending() && !self.receive.has_gaps();
        let sack_route = if may_bundle { self.sack_destination(context.config) } else { None };
        let mut turn = Turn {
            now: context.now,
            paths: &self.paths,
            permit,
            max_segments,
            shuts_down,
            header: context.header(self.peer.tag),
            checksum: self.checksum(),
            auth: &self.auth,
            sack: SackSlot { pending: sack_route.map(|route| (&mut self.receive, route)), written: false },
            out,
        };
        let next = self.sender.next_packet(&mut turn);
        if turn.sack.written {
            self.set_sack_timer(context);
        }
        let departure = self.sender.next_departure();
        if let Some(at) = departure {
            context.timers.set(TimerId::Pacing, at);
        }
        match next {
            Next::Train(train) => {
                self.note_sent(context, permit, &train);
                Some((train.path, train.segment))
            }
            Next::NoRoom => {
                self.notice_path_in_use(context);
                if departure.is_none() {
                    self.watch_closed_window(context);
                }
                None
            }
            Next::Nothing => None,
        }
    }

    fn note_sent(&mut self, context: &mut Context<'_>, permit: Permit, train: &Train) {
        if matches!(train.content, Content::First | Content::New) && permit != Permit::Probe {
            self.notice_path_in_use(context);
        }
        context.timers.clear(TimerId::ZeroWindowProbe);
        let Some(path) = self.paths.get_mut(train.path) else { return };
        if train.timed {
            path.supervision.last_probing = context.now;
        }
        if let Some(t3) = train.t3 {
            let probing = train.content == Content::Retransmission && self.sender.window_probes() > 0;
            let wait = if probing { self.probe_interval(context, train.path) } else { path.rto.current() };
            self.set_t3(context, train.path, t3, wait);
        }
        if train.content == Content::First {
            self.start_pmtu_search(context);
        }
        if permit == Permit::Probe {
            self.primary.rule.on_probe_sent(train.first);
            // The first transmission on a new path is guarded by the initial RTO, whatever heartbeats have measured.
            context.set_t3(train.path, T3::Restart, context.config.rto.initial);
        }
    }

    /// Data waits and the peer's window is closed, or too small for it, with nothing in flight: probe it after one RTO, then
    /// ever less often (RFC 9260 §6.1 A). SACKs that change nothing do not put that off.
    fn watch_closed_window(&mut self, context: &mut Context<'_>) {
        if self.sender.is_all_acknowledged() && !context.timers.is_set(TimerId::ZeroWindowProbe) {
            let interval = self.probe_interval(context, self.data_path());
            context.timers.set(TimerId::ZeroWindowProbe, context.now + interval);
        }
    }

    /// How long to wait for the answer to a probe of a closed window; grows with each one, whatever heartbeats make
    /// of the RTO meanwhile (RFC 9260 §6.1 A).
    fn probe_interval(&self, context: &Context<'_>, path: PathId) -> Duration {
        let backed_off = |path: &Path| {
            let interval =
                path.rto.without_back_off() * 2_u32.saturating_pow(self.sender.window_probes().min(6));
            interval.max(path.rto.current()).min(context.config.rto.max)
        };
        self.paths.get(path).map_or(context.config.rto.initial, backed_off)
    }
}
