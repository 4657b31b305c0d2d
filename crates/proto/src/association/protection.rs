//! An association whose packets are protected: its keys are agreed on before anybody hears of it, and renewed while it lives
//! (chunk draft §5; key draft §6).

use core::net::SocketAddr;
use core::time::Duration;

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_wire::draft::{CHUNK_DTLS, Dtls};
use whimbrel_wire::{Cause, Causes, Chunks, InitAck, StreamId};

use super::context::aborted_by_peer;
use super::{Association, Context, Ending, Handled, Identity, Open};
use crate::arrival::Arrival;
use crate::auth::gate::Gate;
use crate::config::{AssociationFailure, Config};
use crate::interface::{Acknowledge, AddressChange, CloseReason, Message};
use crate::negotiate::Agreement;
use crate::path::Egress;
use crate::protection::negotiate::{self, PeerProtection, Refusal};
use crate::protection::{
    KEY_EXCHANGE, KeyContext, KeyExchangeError, KeyRole, Protection, Security, is_about_keys, transcript,
};
use crate::timers::TimerId;

/// A peer that is not heard for so many RTOs before that is cut off: T3-rtx has expired three times then.
const SILENT_RTOS: u32 = 7;

/// Once there are keys the peer may be up already, and only cut off. It is waited for at least as long.
const HELLO: Duration = Duration::from_secs(300);

/// Bytes that the peer's Hello is taken with when its user's messages, which nobody reads before that, have filled the buffer.
const ROOM_FOR_HELLO: usize = 256;

/// Keys are renewed after this time in use (key draft §3.4).
const KEYS_LAST: Duration = Duration::from_secs(3600);

/// Keys to read with stay so long after new ones are in use, and until all that was sent before has been acknowledged (key draft §6.2.3).
const DRAIN: Duration = Duration::from_secs(120);

/// What protects the association that the peer has agreed to like this; `None` where packets go in clear.
pub(super) fn protection(context: &Context<'_>, agreed: &Agreement) -> Option<Box<Protection>> {
    let Security::Required(exchanges) = &context.config.security else { return None };
    let own = own_parameter(context.config, context.identity).unwrap_or_default();
    let (peer, digest) =
        agreed.protection.as_ref().map_or((&[][..], [0; 32]), |peer| (&peer.parameter, peer.digest));
    // Who could not agree has been refused. Without an agreement the ends would have different keys, and the association would never be up.
    let none = || (KeyRole::Server, KeyContext { client: peer.to_vec(), server: own.clone() });
    let (role, keys) = negotiate::agree(&own, Some(peer)).unwrap_or_else(|_| none());
    let digest = transcript::with_streams(digest, role, agreed.outbound_streams, agreed.inbound_streams);
    Some(Box::new(Protection::new(exchanges, role, keys, digest)))
}

/// Our DTLS Key Management parameter; `None` if packets go in clear.
pub(crate) fn own_parameter(config: &Config, identity: &Identity) -> Option<Vec<u8>> {
    match &config.security {
        Security::Off => None,
        Security::Required(exchanges) => {
            Some(negotiate::own(&**exchanges, &identity.auth_random, identity.key_roles))
        }
    }
}

impl Association {
    /// Whether its packets are, or will be, protected.
    pub(crate) fn is_protected(&self) -> bool {
        self.begun().is_some_and(|open| open.auth.protection.is_some())
    }

    /// Whether it takes nothing in clear.
    pub(crate) fn is_protection_enforced(&self) -> bool {
        self.begun().is_some_and(|open| open.auth.is_enforced())
    }

    /// Whether it is set up, and not up for want of what is said about keys.
    pub(crate) fn is_pending(&self) -> bool {
        self.begun().is_some_and(|open| open.auth.is_pending())
    }

    /// Whether it is set up, and its peer has not shown yet that it has the right keys.
    pub(crate) fn awaits_keys(&self) -> bool {
        self.begun().is_some_and(|open| open.auth.lacks_keys())
    }

    /// Ends: others are to be listened to.
    pub(crate) fn make_way(&mut self, now: Instant) {
        self.conclude(now, Err(Ending::abort(CloseReason::OutOfResource, &[Cause::OutOfResource])));
    }

    /// What the peer says of keys in its INIT ACK, which says `peer`.
    pub(super) fn judge_protection(
        &self,
        init_ack: &InitAck<'_>,
        peer: Option<&[u8]>,
    ) -> Result<Option<PeerProtection>, Refusal> {
        let Some(own) = own_parameter(&self.config, &self.identity) else { return Ok(None) };
        let (role, _) = negotiate::agree(&own, peer)?;
        let digest = super::handshake::with_init(&self.identity, &self.config, &[], 0, |init| {
            transcript::as_read(init, |init| transcript::digest(role, init, &init_ack.as_init()))
        });
        let parameter = peer.unwrap_or_default().into();
        Ok(digest.map(|digest| PeerProtection { parameter, digest }))
    }
}

impl Open {
    /// The association is set up. It is up as well, unless keys are to be agreed on first.
    pub(super) fn begin(&mut self, context: &mut Context<'_>) {
        if self.auth.is_pending() {
            context.timers.set(TimerId::KeyExchange, context.now + KEY_EXCHANGE);
            if context.identity.token.is_some() {
                context
                    .timers
                    .set(TimerId::SilentKeyExchange, context.now + self.silence_without_keys(context));
            }
            self.hurry(context.config);
            self.say_about_keys();
        } else {
            self.start_path_supervision(context);
        }
    }

    /// The peer has another tag than we thought, and so says something else of keys (RFC 9260 §5.2.4, action B).
    pub(super) fn begin_keys_anew(&mut self, context: &mut Context<'_>, agreed: &Agreement) {
        self.auth.protection = protection(context, agreed);
        if self.auth.is_pending() {
            self.begin(context);
        }
    }

    pub(super) fn announce_up(&mut self, context: &mut Context<'_>) {
        context.events.push_back(self.up_event(context.identity));
        self.grant_wanted_primary(context);
    }

    /// A packet to an association whose packets are protected. A DTLS chunk is the only one in its packet (chunk draft §5.2).
    pub(super) fn handle_protected(&mut self, context: &mut Context<'_>, arrival: &Arrival<'_>) -> Handled {
        let mut chunks = arrival.packet.chunks();
        let sealed = match chunks.next_raw() {
            Some(Ok(raw)) if raw.chunk_type() == CHUNK_DTLS => Some(raw),
            _ => None,
        };
        let Some(protection) = &mut self.auth.protection else { return Ok(()) };
        let opened = match sealed {
            None if !protection.is_enforced() && !protection.has_opened() => {
                return self.handle_chunks(context, arrival, arrival.packet.chunks(), Gate::default());
            }
            None => None,
            Some(_) if !chunks.rest().is_empty() => None,
            Some(raw) => Dtls::read(&raw).and_then(|record| protection.open(context.now, &record).ok()),
        };
        if protection.is_used_up() {
            return Err(failed("the keys have been used for too much"));
        }
        let Some(opened) = opened else {
            self.notes.packets_dropped += 1;
            self.answer_clear(context, arrival);
            return Ok(());
        };
        if protection.note_opened() {
            self.forget_what_came_in_clear()?;
            if self.awaits_hello() {
                self.wait_for_hello(context);
            }
        }
        self.handle_chunks(context, arrival, Chunks::from_wire(&opened), Gate::Authenticated)?;
        if self.auth.protection.as_ref().is_some_and(|protection| protection.is_worn()) {
            self.renew_keys(context);
        }
        Ok(())
    }

    /// Takes what has come about keys, and in clear everything else, too, which must not be.
    pub(super) fn take_key_messages(&mut self, context: &mut Context<'_>) -> Handled {
        loop {
            let Some(protection) = &mut self.auth.protection else { return Ok(()) };
            let in_clear = !protection.is_enforced();
            let wanted = self.receive.take(context.now, |received| in_clear || is_about_keys(received.ppid));
            let Some(received) = wanted else { break };
            self.note_key_message(context);
            let Some(protection) = &mut self.auth.protection else { return Ok(()) };
            let progress = protection.take(context.now, &received).map_err(ended_by)?;
            // The client has done so when it opened its first record.
            let forgets = progress.enforced && !protection.has_opened();
            if forgets {
                self.forget_what_came_in_clear()?;
            }
            if progress.enforced {
                self.acknowledge_what_went_in_clear(context)?;
                self.receive.set_spare_room(ROOM_FOR_HELLO);
                self.wait_for_hello(context);
                self.start_path_supervision(context);
                for address in self.locals.all_up().collect::<Vec<_>>() {
                    self.tell_newcomer_before_up(context, address);
                }
            }
            if progress.up {
                self.is_up_now(context);
            }
            if progress.renewed {
                context.timers.set(TimerId::KeysDrain, context.now + DRAIN);
                context.timers.set(TimerId::KeysAge, context.now + KEYS_LAST);
            }
        }
        if let Some(protection) = &mut self.auth.protection
            && !self.receive.holds_anything()
        {
            protection.note_nothing_held();
        }
        self.say_about_keys();
        Ok(())
    }

    /// Before both ends have keys nothing is heard but by the path of the handshake: other paths are confirmed by HEARTBEATs, which are not sent in
    /// clear (chunk draft §3.2). Who connects, and is not answered by that path, does better to begin anew, which tries all.
    pub(super) fn expect_keys(&self, context: &mut Context<'_>) -> Handled {
        if self.auth.is_enforced() && self.has_peer_keys() {
            return Ok(());
        }
        let patience = self.silence_without_keys(context);
        // A peer that has keys asks by other paths, and gets no answer from who has none.
        let confirmed = self.paths.iter().filter(|path| path.confirmed);
        let heard = confirmed.filter_map(|path| path.supervision.heard).max().unwrap_or_default();
        let silent = context.now >= heard + patience;
        let has_another = self.paths.iter().filter(|path| path.egress == Egress::Open).count() > 1;
        if silent && has_another {
            return Err(late_keys());
        }
        let since = if silent { context.now } else { heard };
        context.timers.set(TimerId::SilentKeyExchange, since + patience);
        Ok(())
    }

    /// Whether the peer has sealed something.
    pub(super) fn has_peer_keys(&self) -> bool {
        self.auth.protection.as_ref().is_some_and(|protection| protection.has_opened())
    }

    /// How long the peer may be silent before there are keys. The paths that were confirmed may have gone with their addresses.
    fn silence_without_keys(&self, context: &Context<'_>) -> Duration {
        let confirmed = self.paths.iter().filter(|path| path.confirmed);
        let rto = confirmed.map(|path| path.rto.without_back_off()).max();
        // What the set-up is hurried by is no measure of patience.
        rto.unwrap_or(context.config.rto.initial).max(context.config.rto.min) * SILENT_RTOS
    }

    /// Whether we connect, have no keys, and no path is left that was confirmed.
    pub(super) fn is_cut_off_without_keys(&self, context: &Context<'_>) -> bool {
        context.identity.token.is_some() && self.auth.lacks_keys() && self.is_dormant()
    }

    /// There are keys, and the peer's Hello is yet to come. Who has sealed something may be up already and count on us: the end that accepts is
    /// as patient then as it is later. Who connects has a user who waits.
    fn wait_for_hello(&self, context: &mut Context<'_>) {
        let accepts = context.identity.token.is_none();
        let patience = match context.config.failure.association {
            AssociationFailure::Silence(patience) if accepts && self.has_peer_keys() => patience.max(HELLO),
            _ => HELLO,
        };
        context.timers.set(TimerId::KeyExchange, context.now + patience);
    }

    fn awaits_hello(&self) -> bool {
        self.auth.is_pending() && self.auth.is_enforced()
    }

    /// The user, and with it the policy, hears of the association only when it is up. An address that comes before is told to the peer as
    /// INIT and INIT ACK tell it all that there are, and those that have gone are taken out.
    pub(super) fn tell_newcomer_before_up(&mut self, context: &mut Context<'_>, address: SocketAddr) {
        if !self.awaits_hello() || !self.is_dynamic() {
            return;
        }
        let known = self.locals.accepts(address.ip());
        let gone = self.locals.members().map(|member| member.ip()).filter(|ip| self.locals.up(*ip).is_none());
        let added = Some(AddressChange::Add(address)).filter(|_| !known);
        let changes: Vec<_> = added.into_iter().chain(gone.map(AddressChange::Delete)).collect();
        self.change_addresses(context, changes);
    }

    /// Whoever is on the way could have planted a message, to have it delivered as if it were protected: ahead of the sequence, or behind the last
    /// one in clear. What is beyond a gap is dropped and reported as missing (RFC 9260 §6.2); anything else cannot be, and no honest peer has
    /// sent it.
    fn forget_what_came_in_clear(&mut self) -> Handled {
        self.receive.drop_held();
        // A gap that is left is before something that was delivered: it came with another TSN than it was sent with.
        if self.receive.holds_anything() || self.receive.has_gaps() {
            return Err(ended_by(CloseReason::Tampered));
        }
        Ok(())
    }

    /// The peer has said what nobody can say who has not read all of ours. It cannot be counted on to acknowledge it: at the server a SACK in clear comes too late now, and whoever has
    /// no keys to write with yet has no other. What waits for a window then, or for T3-rtx, would be the very message that the peer's keys wait for.
    fn acknowledge_what_went_in_clear(&mut self, context: &mut Context<'_>) -> Handled {
        self.handle_cumulative_ack(context, self.sender.next_tsn().prev())
    }

    fn is_up_now(&mut self, context: &mut Context<'_>) {
        context.timers.clear(TimerId::KeyExchange);
        context.timers.clear(TimerId::SilentKeyExchange);
        self.receive.set_spare_room(0);
        context.timers.set(TimerId::KeysAge, context.now + KEYS_LAST);
        // What has happened so far concerns nobody, and may have been said by anybody.
        context.events.clear();
        self.end_hurry(context.config);
        self.announce_up(context);
        self.start_path_supervision(context);
        self.start_pmtu_search(context);
    }

    /// What there is to say about keys goes out on stream 0 in order (key draft §4), and before what users say on other streams: an end that
    /// waits for it reads nothing else.
    pub(super) fn say_about_keys(&mut self) {
        while let Some((ppid, payload)) =
            self.auth.protection.as_mut().and_then(|protection| protection.give())
        {
            let message = Message {
                ppid,
                acknowledge: Acknowledge::Immediately,
                ..Message::new(StreamId(0), Bytes::from(payload))
            };
            self.sender.send_ahead(message);
        }
    }

    /// The ending that an ABORT of the peer means. While keys are agreed on, its explanation may be what a peer of our kind says to whom it does not trust
    /// (see `ended_by`): there is no code for that, and the alert of TLS, which says the same, may come later or not at all.
    pub(super) fn aborted_by_peer(&self, causes: Causes<'_>) -> Ending {
        match aborted_by_peer(causes) {
            Ending::Silent(CloseReason::AbortedByPeer { reason, .. })
                if self.auth.is_pending() && reason == KeyExchangeError::UNKNOWN_PEER.as_bytes() =>
            {
                Ending::Silent(CloseReason::KeyExchange(KeyExchangeError::Refused))
            }
            ending => ending,
        }
    }

    pub(super) fn renew_keys(&mut self, context: &mut Context<'_>) {
        if let Some(protection) = &mut self.auth.protection {
            protection.renew();
            context.timers.set(TimerId::KeysAge, context.now + KEYS_LAST);
            self.say_about_keys();
        }
    }

    pub(super) fn drain_keys(&mut self, context: &mut Context<'_>) {
        let Some(protection) = &mut self.auth.protection else { return };
        // What is queued may be the word by which the peer goes over to the new ones.
        if self.sender.is_all_acknowledged() && self.sender.is_idle() {
            protection.forget_old_keys();
        } else {
            context.timers.set(TimerId::KeysDrain, context.now + DRAIN);
        }
    }
}

/// See [`TimerId::KeyExchange`].
pub(super) fn late_keys() -> Ending {
    ended_by(CloseReason::KeyExchange(KeyExchangeError::Late))
}

fn failed(what: &str) -> Ending {
    ended_by(CloseReason::KeyExchange(KeyExchangeError::Failed(what.to_owned())))
}

/// The peer is told why.
fn ended_by(reason: CloseReason) -> Ending {
    let text = reason.to_string();
    Ending::abort(reason, &[Cause::ProtocolViolation(text.as_bytes())])
}
