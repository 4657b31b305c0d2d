//! Authentication where there is no association yet (RFC 4895 §6.3), and shared keys of the endpoint.

use std::sync::Arc;

use whimbrel_wire::{Packet, RawChunk, chunk_type};

use super::Endpoint;
use crate::association::{Association, Phase};
use crate::auth::gate::{Admission, Gate};
use crate::auth::offer::required;
use crate::auth::session::Auth;
use crate::auth::{AuthKeyChange, AuthKeyNews, AuthScope, ChunkTypes, SharedKeys};
use crate::cookie::OpenedCookie;
use crate::interface::Event;

impl Endpoint {
    /// Whether a COOKIE ECHO may be looked at, `auth` being the AUTH chunk before it, if there is one. Returns how far
    /// the packet is authenticated.
    pub(super) fn admit_cookie(
        &mut self,
        packet: &Packet<'_>,
        auth: Option<&RawChunk<'_>>,
        cookie: &OpenedCookie,
        existing: Option<usize>,
    ) -> Option<Gate> {
        let mut gate = Gate::default();
        let Some(raw) = auth else {
            let required = ChunkTypes::required(&required(&self.config));
            return (!required.contains(chunk_type::COOKIE_ECHO)).then_some(gate);
        };
        // RFC 4895 §6.3: an association that exists is asked; its keys are those of the handshake before a restart. One
        // that is only being set up has not seen the random number of the INIT that this cookie came from.
        let established =
            match existing.and_then(|index| self.table.get_mut(index)).map(Association::phase_mut) {
                Some(Phase::Open(open)) => Some(&mut open.auth),
                _ => None,
            };
        let mut of_cookie = Auth::default();
        let auth = established.unwrap_or_else(|| {
            of_cookie = Auth::new(
                &self.config,
                &self.supplies.keys,
                cookie.auth_random,
                cookie.agreement.auth.as_ref(),
            );
            &mut of_cookie
        });
        // Without authentication AUTH is an unknown chunk that takes with it what follows.
        (gate.admit(auth, packet, raw) == Admission::Skip).then_some(gate)
    }

    /// Changes shared keys.
    pub(super) fn change_key(&mut self, scope: AuthScope, change: &AuthKeyChange) {
        match scope {
            AuthScope::Association(id) => match self.table.touch_by_id(id) {
                Some(association) => association.change_key(change),
                None => {
                    let news = AuthKeyNews::Refused(crate::auth::AuthKeyError::Closed);
                    self.events.push_back(Event::AuthKey { association: Some(id), key: change.key(), news });
                }
            },
            AuthScope::Future => self.change_future_key(change),
            AuthScope::All => {
                self.change_future_key(change);
                for index in self.table.indices() {
                    if let Some(association) = self.table.touch(index) {
                        association.change_key(change);
                    }
                }
            }
        }
    }

    fn change_future_key(&mut self, change: &AuthKeyChange) {
        let mut keys = SharedKeys::clone(&self.supplies.keys);
        match keys.apply(change) {
            Ok(()) => self.supplies.keys = Arc::new(keys),
            Err(error) => {
                let news = AuthKeyNews::Refused(error);
                self.events.push_back(Event::AuthKey { association: None, key: change.key(), news });
            }
        }
    }
}
