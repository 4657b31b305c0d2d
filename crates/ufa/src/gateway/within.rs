//! What correspondents say of themselves: they have no password, and speak within the dialogs that the gateway has begun.

use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route};

use super::Gateway;
use super::caller::Caller;
use super::session::Session;
use crate::sip::{Contact, Message, ServerId};

impl Gateway {
    /// Whether a request, which has come by this route and is answered there, is a correspondent's within a session, or comes again. Then nobody has to be
    /// asked who it is: it is from where the session leads and has both tags of its dialog (RFC 3261 §12.2.2), which nobody guesses. The one of this end
    /// has been told to that correspondent alone.
    pub fn is_of_correspondent(&self, request: &Message, route: Route, answer_to: SocketAddr) -> bool {
        let Some(transport) = self.agent.transport_at(route.local) else { return false };
        let there = Contact { address: route.remote, transport };
        let ours = |session: &Session| session.is_with(request, there);
        // Its session is over by then, if it has been ended by this.
        let again = || self.agent.transactions.is_again(request, Route { remote: answer_to, ..route });
        self.sessions.iter().any(ours) || again()
    }

    /// An INVITE that is no call and no message 8. The dialog that a correspondent has with the gateway is changed by the gateway alone (RFC 3261 §14.2).
    pub(super) fn refuse_change(
        &mut self,
        now: Instant,
        transaction: ServerId,
        request: &Message,
        from: &Caller,
    ) {
        let known = self.sessions.iter().any(|session| session.is_with(request, from.source));
        let status = if known { 488 } else { 481 };
        self.agent.respond(now, transaction, request, status, |answer| answer);
    }
}
