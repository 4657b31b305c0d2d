//! Authentication of an association (RFC 4895): which keys it has, and what is let in.

use std::sync::Arc;

use whimbrel_machine::Route;
use whimbrel_wire::{Cause, ErrorBuilder, RawChunk};

use super::{Association, Context, Open, Phase};
use crate::arrival::Arrival;
use crate::auth::gate::{Admission, Gate};
use crate::auth::{AuthKeyChange, AuthKeyNews, SharedKeys};
use crate::interface::Event;

impl Association {
    /// Whether this association only takes chunks of this type authenticated (RFC 4895 §6.3).
    pub(crate) fn requires_authenticated(&self, chunk_type: u8) -> bool {
        match &self.phase {
            Phase::CookieWait(_) => {
                !self.config.security.is_required() && self.config.auth.required.contains(&chunk_type)
            }
            _ => self.begun().is_some_and(|open| open.auth.we_require(chunk_type)),
        }
    }

    /// A change of its shared keys.
    pub(crate) fn change_key(&mut self, change: &AuthKeyChange) {
        let mut keys = SharedKeys::clone(&self.keys);
        if let Err(error) = keys.apply(change) {
            let (association, news) = (Some(self.identity.id), AuthKeyNews::Refused(error));
            self.events.push_back(Event::AuthKey { association, key: change.key(), news });
            return;
        }
        self.keys = Arc::new(keys);
        match &mut self.phase {
            Phase::CookieEchoed(echoed) => echoed.open.auth.set_keys(&self.keys),
            Phase::Open(open) => open.auth.set_keys(&self.keys),
            Phase::CookieWait(_) | Phase::Closed => {}
        }
    }
}

impl Open {
    /// Judges the next chunk of a packet from `route`: what is let in is returned, what is not has been dealt with.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Arrival<'_>,
        raw: &RawChunk<'_>,
        gate: &mut Gate,
    ) -> Admission {
        let admission = gate.admit(&mut self.auth, arrival.packet, raw);
        if admission != Admission::Admit {
            self.note_refused(context, arrival.route, admission);
        }
        admission
    }

    fn note_refused(&mut self, context: &mut Context<'_>, route: Route, admission: Admission) {
        if let Some((key, news)) = self.auth.take_news() {
            let association = Some(context.identity.id);
            context.events.push_back(Event::AuthKey { association, key, news });
        }
        // RFC 4895 §4.1. The rest of the packet is dropped, so there is one answer to it.
        if let Admission::StopUnsupported(hmac_id) = admission {
            let Some(destination) = self.confirmed_or_in_use(route) else { return };
            let causes = [Cause::UnsupportedHmacIdentifier { hmac_id }];
            self.replies.push(destination, &ErrorBuilder { causes: &causes });
        }
    }
}
