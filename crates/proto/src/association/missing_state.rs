//! A packet with the right Verification Tag from an address that the peer has not listed. It is not processed (RFC 9260 §8.4), but who has sent it
//! may be the peer behind a translator that has another outer address now: it is told, so that it adds that address by ASCONF.
//!
//! The words are those that the NAT draft has for a translator without state: an ERROR with the cause Missing State. The tag is the one that
//! the packet had, as in the ABORT of RFC 9260 §8.4 that would be the answer otherwise, so that a stranger learns nothing.

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Route};

use super::{Association, Closing, Context, Open, Phase};
use crate::config::{AddressNaming, TailLoss};
use crate::interface::{Mobility, PathId};
use crate::path::Path;

/// No more than one stranger is told in this time.
const PAUSE: Duration = Duration::from_millis(50);

/// Strangers with our tag that are told to say where they are, and ourselves where we are one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strangers {
    /// When one was told last.
    last: Option<Instant>,
    /// Who is to be told.
    waiting: Option<Route>,
    /// The address of ours that the peer has said not to know, and when it did so first after it was last heard there.
    unknown: Option<(IpAddr, Instant)>,
}

impl Open {
    /// A packet was dropped because the peer has not listed the address that it came from.
    pub(crate) fn note_stranger(&mut self, context: &Context<'_>, route: Route) {
        let can_tell = self.asconf.mobility == Mobility::Dynamic
            && context.config.retransmission.tail == TailLoss::Probe
            && matches!(self.closing, Closing::No)
            && self.locals.accepts(route.local.ip());
        let Strangers { last, waiting, .. } = &mut self.notes.strangers;
        if can_tell && last.is_none_or(|last| context.now >= last + PAUSE) {
            (*last, *waiting) = (Some(context.now), Some(route));
        }
    }

    fn handle_unknown_source(&mut self, context: &mut Context<'_>, address: IpAddr) {
        let by_scope = context.config.dar.naming == AddressNaming::ByScope;
        if by_scope && !self.is_translated(context.config, address) && self.seems_unknown(context, address) {
            self.locals.hide(address);
        }
        self.restate(context, address);
    }

    /// Whether the peer knows an address of ours by another name, though it looks as if everybody could reach it. One word does not say so: a packet
    /// may have been late, and the address another one's meanwhile. So the peer is asked there, and strangers get no answer.
    fn seems_unknown(&mut self, context: &mut Context<'_>, address: IpAddr) -> bool {
        let from_there = |path: &&Path| path.route.local.ip() == address;
        let heard = self.paths.iter().filter(from_there).filter_map(|path| path.supervision.heard).max();
        let since = self
            .notes
            .strangers
            .unknown
            .filter(|&(of, since)| of == address && heard.is_none_or(|heard| heard < since));
        let Some((_, since)) = since else {
            self.notes.strangers.unknown = Some((address, context.now));
            let ids: Vec<PathId> = self.paths.iter().filter(from_there).map(|path| path.id).collect();
            ids.into_iter().for_each(|id| self.send_heartbeat_on(context, id));
            return false;
        };
        let round_trip = self.paths.iter().filter(from_there).filter_map(|path| path.rto.srtt()).max();
        context.now >= since + round_trip.unwrap_or_default().max(PAUSE)
    }
}

impl Association {
    /// Who is to be told that nobody knows its address.
    pub(crate) fn take_stranger(&mut self) -> Option<Route> {
        match self.phase_mut() {
            Phase::Open(open) => open.notes.strangers.waiting.take(),
            _ => None,
        }
    }

    /// The peer does not know the address that our packets come from. Whoever says so may be anybody: all that it brings about is one more ASCONF
    /// now and then.
    pub(crate) fn handle_missing_state(&mut self, now: Instant, route: Route) {
        self.in_open(now, |open, context| open.handle_unknown_source(context, route.local.ip()));
    }
}
