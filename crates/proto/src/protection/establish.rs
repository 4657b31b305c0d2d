//! The life of the keys of an association: how they are first agreed on, and renewed (key draft §6.1, §6.2).
//!
//! ```text
//! client   TLS ... finished, reads with new keys   -> Read Key Installed
//! server   TLS finished, and that has come: reads and writes with new keys -> Read Key Installed, Hello
//! client   that has come: writes with new keys     -> Hello
//! ```
//!
//! From the point where an end writes with the first keys it takes nothing in clear any more.

use std::collections::VecDeque;
use std::sync::Arc;

use whimbrel_machine::Instant;
use whimbrel_wire::draft::{PPID_KEY_CONTROL, PPID_TLS_RECORDS};
use whimbrel_wire::{Data, PacketWriter, PayloadProtocolId};

use super::exchange::{KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys, PeerKey};
use super::hello::{self, PPID_HELLO};
use super::is_about_keys;
use super::keys::{KeyRing, Rejected};
use crate::interface::{CloseReason, Delivery, Part, Received};

/// Control message: the sender can read with the new keys (key draft §4.2.1).
const READ_KEY_INSTALLED: u8 = 1;

/// Control message: the client is to begin an exchange (key draft §4.2.2).
const REKEY_REQUEST: u8 = 2;

/// What protects an association, from its beginning on.
#[derive(Debug)]
pub(crate) struct Protection {
    exchanges: Arc<dyn KeyExchanges>,
    role: KeyRole,
    context: KeyContext,
    digest: [u8; 32],
    ring: KeyRing,
    stage: Stage,
    ongoing: Option<Ongoing>,
    peer: Option<PeerKey>,
    /// A record has been opened: the peer seals.
    has_opened: bool,
    /// The server has asked for an exchange that has not begun yet.
    has_asked: bool,
    /// Messages to the peer.
    to_say: VecDeque<(PayloadProtocolId, Vec<u8>)>,
    /// Bytes of messages of its own whose acknowledgement is no news to the user.
    own_bytes: usize,
    /// Messages of the peer about keys that have begun to come and were not taken yet: they wait for a fragment, for their turn, or
    /// behind a gap. At least as many as there are: what is dropped and comes again counts twice.
    coming: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Keys are being agreed on in clear.
    Clear,
    /// Nothing is taken in clear any more. The peer's Hello has not come.
    Enforced,
    /// Both ends have heard each other.
    Up,
}

/// An exchange that is under way.
#[derive(Debug)]
struct Ongoing {
    exchange: Box<dyn KeyExchange>,
    /// What it has led to, less what is installed already.
    keys: Option<Parts>,
    /// The peer can read with the new keys.
    peer_reads: bool,
}

#[derive(Debug)]
enum Parts {
    Both(Keys),
    Send(Box<dyn super::exchange::RecordCipher>),
}

/// What a message has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    /// From now on nothing is taken in clear: what came so and is not delivered must go.
    pub(crate) enforced: bool,
    /// The association is up.
    pub(crate) up: bool,
    /// Both ends have new keys. The old ones go when what was sealed with them has arrived.
    pub(crate) renewed: bool,
}

impl Protection {
    /// Keys are to be agreed on.
    pub(crate) fn new(
        exchanges: &Arc<dyn KeyExchanges>,
        role: KeyRole,
        context: KeyContext,
        digest: [u8; 32],
    ) -> Self {
        let exchange = exchanges.begin(role, &context, None);
        let mut protection = Self {
            exchanges: Arc::clone(exchanges),
            role,
            context,
            digest,
            ring: KeyRing::default(),
            stage: Stage::Clear,
            ongoing: Some(Ongoing { exchange, keys: None, peer_reads: false }),
            peer: None,
            has_opened: false,
            has_asked: false,
            to_say: VecDeque::new(),
            own_bytes: 0,
            coming: 0,
        };
        protection.listen_to_exchange();
        protection
    }

    // ---- packets

    /// Whether packets are sealed.
    #[inline]
    pub(crate) const fn seals(&self) -> bool {
        self.ring.seals()
    }

    /// Seals a packet, see [`super::record::seal`].
    #[inline]
    pub(crate) fn seal(&self, packet: &mut PacketWriter<'_>) {
        self.ring.seal(packet);
    }

    /// The chunks of a record.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        record: &whimbrel_wire::draft::Dtls<'_>,
    ) -> Result<Vec<u8>, Rejected> {
        self.ring.open(now, record)
    }

    /// A record has been opened; whether it was the first one.
    pub(crate) const fn note_opened(&mut self) -> bool {
        !core::mem::replace(&mut self.has_opened, true)
    }

    // ---- messages

    /// A DATA chunk that had not come before is here.
    pub(crate) fn note_data(&mut self, data: &Data<'_>) {
        let is_one = data.beginning && is_about_keys(data.ppid);
        self.coming = self.coming.saturating_add(is_one.into());
    }

    /// Whether a message about keys may be among what has come.
    pub(crate) fn is_message_coming(&self) -> bool {
        self.coming > 0
    }

    /// All that has come was taken.
    pub(crate) fn note_nothing_held(&mut self) {
        self.coming = 0;
    }

    /// Takes a message of the peer's on stream 0.
    pub(crate) fn take(&mut self, now: Instant, received: &Received) -> Result<Progress, CloseReason> {
        self.coming = self.coming.saturating_sub(u32::from(is_about_keys(received.ppid)));
        // Key draft §4: in order on stream 0.
        if received.part != Part::Whole || received.stream.0 != 0 || received.delivery != Delivery::Ordered {
            return Err(CloseReason::ProtocolViolation("a message about keys in parts or out of order"));
        }
        match (received.ppid, &received.payload[..]) {
            (PPID_TLS_RECORDS, records) => self.take_records(records)?,
            // The server seals before it says so.
            (PPID_KEY_CONTROL, [READ_KEY_INSTALLED]) if self.role == KeyRole::Client && !self.has_opened => {
                return Err(CloseReason::Tampered);
            }
            (PPID_KEY_CONTROL, [READ_KEY_INSTALLED]) => match &mut self.ongoing {
                Some(ongoing) => ongoing.peer_reads = true,
                None => return Err(CloseReason::ProtocolViolation("keys installed that nobody agreed on")),
            },
            (PPID_KEY_CONTROL, [REKEY_REQUEST]) if self.role == KeyRole::Client => self.renew(),
            // Control messages to come.
            (PPID_KEY_CONTROL, _) => {}
            (PPID_HELLO, message) => return self.take_hello(message),
            _ => return Err(CloseReason::ProtocolViolation("user data before the keys were agreed on")),
        }
        self.advance(now)
    }

    fn take_records(&mut self, records: &[u8]) -> Result<(), CloseReason> {
        if self.ongoing.is_none() {
            if self.role == KeyRole::Client {
                // The end of an exchange: the server says that TLS is over.
                return Ok(());
            }
            self.begin();
        }
        let Some(ongoing) = &mut self.ongoing else { return Ok(()) };
        ongoing.exchange.take(records).map_err(CloseReason::KeyExchange)
    }

    fn take_hello(&mut self, message: &[u8]) -> Result<Progress, CloseReason> {
        if self.stage == Stage::Clear {
            return Err(CloseReason::ProtocolViolation("a Hello that is not protected"));
        }
        if hello::read(message) != Some(self.digest) {
            return Err(CloseReason::Tampered);
        }
        let up = self.stage != Stage::Up;
        self.stage = Stage::Up;
        Ok(Progress { up, ..Progress::default() })
    }

    /// The next message to the peer.
    pub(crate) fn give(&mut self) -> Option<(PayloadProtocolId, Vec<u8>)> {
        let message = self.to_say.pop_front()?;
        self.own_bytes += message.1.len();
        Some(message)
    }

    /// Of so many bytes that the peer has acknowledged, those that are the user's.
    pub(crate) fn of_user(&mut self, acknowledged: usize) -> usize {
        let own = acknowledged.min(self.own_bytes);
        self.own_bytes -= own;
        acknowledged - own
    }

    /// New keys are wanted: the client begins, the server asks it to (key draft §6.2).
    pub(crate) fn renew(&mut self) {
        if self.stage != Stage::Up || self.ongoing.is_some() || self.has_asked {
            return;
        }
        match self.role {
            KeyRole::Client => self.begin(),
            KeyRole::Server => {
                self.has_asked = true;
                self.to_say.push_back((PPID_KEY_CONTROL, vec![REKEY_REQUEST]));
            }
        }
    }

    /// What was sealed with the keys before has arrived.
    pub(crate) fn forget_old_keys(&mut self) {
        self.ring.forget_old();
    }

    fn begin(&mut self) {
        let exchange = self.exchanges.begin(self.role, &self.context, self.peer.as_ref());
        self.ongoing = Some(Ongoing { exchange, keys: None, peer_reads: false });
        self.has_asked = false;
        self.listen_to_exchange();
    }

    /// What the exchange has to say goes out.
    fn listen_to_exchange(&mut self) {
        let Some(ongoing) = &mut self.ongoing else { return };
        while let Some(records) = ongoing.exchange.give() {
            self.to_say.push_back((PPID_TLS_RECORDS, records));
        }
    }

    fn advance(&mut self, now: Instant) -> Result<Progress, CloseReason> {
        self.listen_to_exchange();
        let Some(ongoing) = &mut self.ongoing else { return Ok(Progress::default()) };
        if ongoing.keys.is_none()
            && let Some(keys) = ongoing.exchange.finish()
        {
            if self.peer.as_ref().is_some_and(|peer| *peer != keys.peer) {
                return Err(CloseReason::KeyExchange(KeyExchangeError::UnknownPeer(keys.peer)));
            }
            self.peer = Some(keys.peer.clone());
            ongoing.keys = Some(match self.role {
                KeyRole::Server => Parts::Both(keys),
                KeyRole::Client => {
                    self.ring.install_receive(now, keys.receive);
                    self.to_say.push_back((PPID_KEY_CONTROL, vec![READ_KEY_INSTALLED]));
                    Parts::Send(keys.send)
                }
            });
        }
        if !ongoing.peer_reads {
            return Ok(Progress::default());
        }
        match self.ongoing.take().and_then(|ongoing| ongoing.keys) {
            Some(Parts::Both(Keys { send, receive, .. })) => {
                self.ring.install_receive(now, receive);
                self.ring.install_send(send);
                self.to_say.push_back((PPID_KEY_CONTROL, vec![READ_KEY_INSTALLED]));
            }
            Some(Parts::Send(send)) => self.ring.install_send(send),
            None => return Err(CloseReason::ProtocolViolation("keys installed before they were agreed on")),
        }
        let first = self.stage == Stage::Clear;
        if first {
            self.stage = Stage::Enforced;
            self.to_say.push_back((PPID_HELLO, hello::write(&self.digest)));
        }
        Ok(Progress { enforced: first, renewed: !first, up: false })
    }

    // ---- views

    /// Whether the association is not up yet.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.stage != Stage::Up
    }

    /// Whether the peer has sealed anything.
    #[inline]
    pub(crate) const fn has_opened(&self) -> bool {
        self.has_opened
    }

    /// Whether nothing is said in clear any more.
    #[inline]
    pub(crate) fn is_enforced(&self) -> bool {
        self.stage != Stage::Clear
    }

    /// Bytes of messages of its own that the peer has not acknowledged.
    pub(crate) const fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    /// Who the peer is, once that is known.
    pub(crate) const fn peer(&self) -> Option<&PeerKey> {
        self.peer.as_ref()
    }

    /// Whether it is time for new keys because of what went with the old ones.
    pub(crate) fn is_worn(&self) -> bool {
        self.ring.are_worn() && self.stage == Stage::Up && self.ongoing.is_none() && !self.has_asked
    }

    /// Whether the keys must not be used any more.
    pub(crate) fn is_used_up(&self) -> bool {
        self.ring.are_used_up()
    }
}

#[cfg(test)]
#[path = "establish_tests.rs"]
mod tests;
