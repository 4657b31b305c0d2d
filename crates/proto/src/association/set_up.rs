//! A set-up that is hurried ([`SetUp::Prompt`]): what is lost of it is sent again by the round trip, and at once where the peer shows that it misses it.

use core::time::Duration;

use whimbrel_path::Rto;
use whimbrel_wire::chunk_type;

use super::{Context, Open};
use crate::arrival::Arrival;
use crate::config::Config;
use crate::path::Path;

/// A handshake that took longer than this part of RTO.Initial had a packet lost, or would lead to a timeout longer than that.
const WORTH_MEASURING: u32 = 3;

/// Backing off ends at so many times RTO.Initial: an exchange of keys is given up after a few seconds, and is a few packets long.
const LONGEST: u32 = 4;

impl Open {
    /// How long COOKIE ECHO waits for its answer.
    pub(super) fn first_timeout(&self, config: &Config) -> Rto {
        let least = config.least_set_up_timeout();
        let measured = self.paths.iter().next().map(|path| path.rto.clone());
        let Some((least, mut rto)) = least.zip(measured.filter(|rto| rto.srtt().is_some())) else {
            return Rto::new(&config.rto);
        };
        rto.set_bounds(least, config.rto.max);
        rto
    }

    /// A round trip of the handshake took so long, or less if something of it was lost. The first one counts (RFC 9260 §6.3.1 C2).
    pub(super) fn measure_handshake(&mut self, context: &Context<'_>, took: Duration) {
        let known = self.paths.iter().next().is_none_or(|path| path.rto.srtt().is_some());
        if self.is_hurried(context) && !known && took * WORTH_MEASURING <= context.config.rto.initial {
            self.measure_first(context.now, took);
        }
    }

    /// COOKIE ECHO, which went out once, was answered after such a time. By RTO.Initial, where that is less, everything would go out several times.
    pub(super) fn measure_cookie_echo(&mut self, context: &Context<'_>, took: Duration) {
        let known = self.paths.iter().next().is_none_or(|path| path.rto.srtt().is_some());
        if self.is_hurried(context) && !known && took > context.config.rto.initial {
            self.measure_first(context.now, took);
        } else {
            self.measure_handshake(context, took);
        }
    }

    /// INIT has been sent again, the last time so long ago. Which one was answered nobody knows, so this is no round trip (RFC 9260 §6.3.1 C5), but the network is most
    /// likely no slower: until something is measured COOKIE ECHO, which can do no harm, goes by that, and DATA by no less than RTO.Min.
    pub(super) fn guess_round_trip(&mut self, config: &Config, took: Duration) -> Rto {
        let mut rto = Rto::new(&config.rto);
        let least = config.least_set_up_timeout();
        if let Some(least) = least.filter(|_| took * WORTH_MEASURING <= config.rto.initial) {
            let likely = took * WORTH_MEASURING;
            self.paths.iter_mut().take(1).for_each(|path| path.rto.install(likely.max(config.rto.min)));
            rto.set_bounds(least, config.rto.max);
            rto.install(likely);
        }
        rto
    }

    /// Timeouts are short until the association is up.
    pub(super) fn hurry(&mut self, config: &Config) {
        if let Some(least) = config.least_set_up_timeout() {
            for path in self.paths.iter_mut() {
                let round_trip = path.rto.srtt().unwrap_or_default();
                let most = (config.rto.initial * LONGEST).max(round_trip * 2);
                path.rto.set_bounds(least, most.min(config.rto.max));
            }
        }
    }

    pub(super) fn is_hurried(&self, context: &Context<'_>) -> bool {
        self.auth.is_pending() && context.config.least_set_up_timeout().is_some()
    }

    /// The peer has answered what we have said last: timeouts were no sign of a network that carries less.
    pub(super) fn note_key_message(&mut self, context: &Context<'_>) {
        let id = self.data_path();
        let hurried = self.is_hurried(context);
        let measured = |path: &&mut Path| hurried && path.rto.srtt().is_some();
        if let Some(path) = self.paths.get_mut(id).filter(measured) {
            path.rto.forget_back_off();
        }
    }

    /// They are what they are for users' data.
    pub(super) fn end_hurry(&mut self, config: &Config) {
        if config.least_set_up_timeout().is_none() {
            return;
        }
        for path in self.paths.iter_mut() {
            path.rto.set_bounds(config.rto.min, config.rto.max);
            // A few small packets, one at a time, do not tell how much round trips vary: what was measured by them must not count against the first window of data.
            path.rto.on_return();
        }
    }

    /// The peer has sent again what we have: it has not heard our answer, which goes out once more. One packet does so, whatever the window, and in each
    /// round trip once, so that nobody gains anything by sending the same again and again.
    pub(super) fn answer_again(&mut self, context: &mut Context<'_>) {
        let id = self.data_path();
        let Some(path) = self.paths.get(id) else { return };
        if !self.is_hurried(context) {
            return;
        }
        let apart = path.rto.srtt().unwrap_or_else(|| path.rto.without_back_off());
        if self.sender.last_sent(id).is_some_and(|sent| sent + apart <= context.now) {
            self.give_up(context, id);
        }
    }

    /// A packet in clear that comes after it may. Where the peer has not sealed anything yet it may be the peer's last word in clear, sent again because our answer
    /// was lost: that is sealed, and nobody else can make anything of it. Nothing of the packet is believed.
    pub(super) fn answer_clear(&mut self, context: &mut Context<'_>, arrival: &Arrival<'_>) {
        let mut chunks = arrival.packet.chunks();
        let is_data = matches!(chunks.next_raw(), Some(Ok(raw)) if raw.chunk_type() == chunk_type::DATA);
        let unheard = self.auth.is_enforced() && !self.has_peer_keys();
        if is_data && unheard && self.paths.by_route(arrival.route).is_some() {
            self.receive.force_ack();
            self.answer_again(context);
        }
    }
}
