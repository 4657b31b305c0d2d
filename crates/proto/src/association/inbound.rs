//! One packet in an open association: find the path, then one match per chunk (RFC 9260 §6, §8.5).

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{Cause, Causes, Chunk, Chunks, Data, ErrorBuilder, RawChunk, UnknownAction, chunk_type};

use super::asconf::PacketAnswers;
use super::context::{cause_codes, rejects_asconf};
use super::{Closing, Context, Ending, Handled, Open};
use crate::arrival::Arrival;
use crate::auth::gate::{Admission, Gate};
use crate::interface::{CloseReason, Event, Mobility, PathId};
use crate::negotiate::Extensions;
use crate::path::Path;
use crate::receive::DataOutcome;
use crate::timers::TimerId;

/// What the peer is told whose message is too large.
const TOO_LARGE: &str =
    "the message is larger than my receive buffer, and my program takes whole messages only";

/// Bytes of an unrecognized chunk that are quoted back at most.
const MAX_QUOTE: usize = 128;

/// ERROR chunks of one packet that the user is told of at most.
const MAX_ERRORS: u32 = 8;

/// SACKs of one packet that are processed at most. Peers send one; each may cost a walk over everything outstanding.
const MAX_SACKS: u32 = 4;

/// What the chunks of one packet have in common.
#[derive(Debug, Default)]
pub(super) struct PacketNews {
    data: bool,
    /// DATA that had not come before.
    new_data: bool,
    /// DATA that had.
    old_data: bool,
    /// SACKs processed.
    sacks: u32,
    /// HEARTBEATs answered: a packet full of them must not cause a storm (RFC 5062 §8).
    heartbeats: u32,
    /// ERROR chunks seen.
    errors: u32,
    /// The packet comes from an address that is not the peer's: only ASCONF can change that (RFC 5061 §5.2 D2).
    stranger: bool,
    /// Answers to ASCONF.
    asconf: PacketAnswers,
    /// Whether the chunk at hand came after a genuine AUTH chunk.
    gate: Gate,
}

impl PacketNews {
    /// Whether one more SACK is processed.
    pub(super) fn admits_sack(&mut self) -> bool {
        self.sacks += 1;
        self.sacks <= MAX_SACKS
    }
}

/// Whether an ABORT is among these chunks. Most packets have one chunk, which is looked at anyway.
#[inline]
pub(crate) fn contains_abort(mut chunks: Chunks<'_>) -> bool {
    while let Some(Ok(raw)) = chunks.next_raw() {
        if raw.chunk_type() == chunk_type::ABORT {
            return true;
        }
    }
    false
}

/// Chunks of other types prove nothing of whoever sends them, with keys or without (RFC 4895 §3.2).
fn can_be_authenticated(chunk_type: u8) -> bool {
    !matches!(
        chunk_type,
        chunk_type::INIT | chunk_type::INIT_ACK | chunk_type::SHUTDOWN_COMPLETE | chunk_type::AUTH
    )
}

impl Open {
    /// A packet with our Verification Tag from `route`.
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_>, arrival: &Arrival<'_>) -> Handled {
        if self.auth.protection.is_some() {
            return self.handle_protected(context, arrival);
        }
        self.handle_chunks(context, arrival, arrival.packet.chunks(), Gate::default())
    }

    /// The `chunks` left of a packet, of which `gate` has seen the beginning.
    pub(crate) fn handle_chunks(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Arrival<'_>,
        mut chunks: Chunks<'_>,
        gate: Gate,
    ) -> Handled {
        let route = arrival.route;
        let known = self.notice_arrival(context, route, arrival.packet.bytes().len());
        if !known && !self.is_about_new_address(route, chunks.clone()) && !self.is_last_word(chunks.clone()) {
            self.notes.packets_dropped += 1;
            if !contains_abort(chunks) {
                self.note_stranger(context, route);
            }
            return Ok(());
        }
        self.sender.opportunity();
        let mut heard = !known;
        let mut news = PacketNews { gate, stranger: !known, ..PacketNews::default() };
        // RFC 9260 §9.1: a packet with an ABORT is not answered, and DATA must not be in it (§3.3.7).
        let aborts = contains_abort(chunks.clone());
        // RFC 9260 §6.10: chunks are processed in order; a partial chunk ends the packet.
        while let Some(Ok(raw)) = chunks.next_raw() {
            if aborts && !matches!(raw.chunk_type(), chunk_type::AUTH | chunk_type::ABORT) {
                continue;
            }
            match self.admit(context, arrival, &raw, &mut news.gate) {
                Admission::Admit => {}
                Admission::Skip => continue,
                Admission::Stop | Admission::StopUnsupported(_) => break,
            }
            if !heard && can_be_authenticated(raw.chunk_type()) {
                heard = true;
                self.hear(context, route);
                self.make_room_where_heard(context, route);
            }
            let Ok(chunk) = raw.decode() else { continue };
            if news.stranger && !matches!(chunk, Chunk::Asconf(_) | Chunk::ShutdownAck) {
                continue;
            }
            if !self.handle_chunk(context, route, &raw, chunk, &mut news)? {
                break;
            }
        }
        if aborts {
            return Ok(());
        }
        if news.data {
            let path = self.paths.by_route(route).and_then(|id| self.paths.get_mut(id));
            path.into_iter().for_each(|path| path.supervision.quality.on_received());
            self.after_data(context, route);
        }
        if news.old_data && !news.new_data {
            self.answer_again(context);
        }
        if news.new_data && self.auth.awaits_key_message() {
            self.take_key_messages(context)?;
        }
        if news.new_data && matches!(self.closing, Closing::Sent(_)) {
            self.prolong_guard(context);
        }
        self.probe_heard_path(context, route);
        self.advance_shutdown(context);
        // RFC 5061 §5.1.1 C4: not once SHUTDOWN ACK is on its way.
        if !matches!(self.closing, Closing::AckSent(_)) {
            self.send_asconf_acks(context, arrival, news.asconf);
        }
        Ok(())
    }

    /// Counts the packet on its path. False if it is from an address that is not the peer's: the tag finds the association but
    /// does not let the packet in (RFC 9260 §8.4).
    fn notice_arrival(&mut self, context: &mut Context<'_>, route: Route, bytes: usize) -> bool {
        let known = self.paths.by_route(route);
        let id = known.or_else(|| self.notice_new_port(context, route));
        match id.and_then(|id| self.paths.get_mut(id)) {
            Some(path) => {
                path.counters.packets_received += 1;
                path.counters.bytes_received += bytes as u64;
                true
            }
            // There may be no path for this pair, or none to this address at all.
            None => self.knows(route.remote.ip()) && self.locals.accepts(route.local.ip()),
        }
    }

    /// Something has come from the peer by `route` that is as authentic as it must be.
    pub(crate) fn hear(&mut self, context: &Context<'_>, route: Route) {
        self.notes.heard = context.now;
        if let Closing::Sent(resend) = &mut self.closing {
            // RFC 9260 §9.2: any packet of the peer gives it more time.
            resend.timeouts = 0;
        }
        let known = self.paths.by_route(route);
        let id = known.or_else(|| self.paths.by_ips(route.local.ip(), route.remote.ip()));
        let Some(path) = id.and_then(|id| self.paths.get_mut(id)) else { return };
        let silent = |heard: Instant| context.now >= heard + path.rto.without_back_off();
        path.supervision.silence_broken |= path.confirmed && path.supervision.heard.is_some_and(silent);
        path.supervision.heard = Some(context.now);
        if known.is_some() {
            // The old port is alive: whoever is at another one is not to take its place.
            path.supervision.new_port = None;
        }
    }

    /// Whether a packet from an address that is not the peer's holds an ASCONF that leads here, so that it may belong to this
    /// association all the same (RFC 5061 §5.2 D2, §5.3.2).
    fn is_about_new_address(&self, route: Route, mut chunks: Chunks<'_>) -> bool {
        if self.asconf.mobility != Mobility::Dynamic || !self.locals.accepts(route.local.ip()) {
            return false;
        }
        let asconf = chunks.find_map(|chunk| match chunk {
            Ok(Chunk::Asconf(asconf)) => Some(asconf),
            _ => None,
        });
        asconf.is_some_and(|asconf| self.is_led_here(&asconf))
    }

    /// Whether this is the SHUTDOWN ACK we wait for. A peer that moves after its last word cannot tell us so any more (RFC 5061 §5.1.1
    /// C4), and has said all: the tag is enough.
    fn is_last_word(&self, chunks: Chunks<'_>) -> bool {
        let last = |chunk: &Chunk<'_>| matches!(chunk, Chunk::ShutdownAck);
        matches!(self.closing, Closing::Sent(_)) && chunks.map_while(Result::ok).any(|chunk| last(&chunk))
    }

    /// Handles one chunk; false if the rest of the packet is to be ignored.
    fn handle_chunk(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        raw: &RawChunk<'_>,
        chunk: Chunk<'_>,
        news: &mut PacketNews,
    ) -> Handled<bool> {
        match chunk {
            Chunk::Data(data) => self.handle_data(route, &data, news)?,
            Chunk::Sack(sack) if news.admits_sack() => self.handle_sack(context, route, &sack.into())?,
            Chunk::Heartbeat(_) => {
                news.heartbeats += 1;
                if news.heartbeats <= 1 {
                    self.answer_heartbeat(context, route, raw);
                    self.return_heartbeat(context, route);
                }
            }
            Chunk::HeartbeatAck(ack) => self.handle_heartbeat_ack(context, route, ack.info),
            Chunk::Abort(abort) if self.is_late_abort(route, abort.causes) => return Ok(false),
            Chunk::Abort(abort) => {
                // RFC 9260 §8.5.1 B: with the T bit the tag must have been the peer's.
                if !abort.tag_reflected || context.identity.local_tag == self.peer.tag {
                    return Err(self.aborted_by_peer(abort.causes));
                }
                return Ok(false);
            }
            // RFC 9260 §9.2: sent once all that the peer had has been acknowledged. Where some is missing they are forged.
            Chunk::Shutdown(_) | Chunk::ShutdownAck | Chunk::ShutdownComplete(_)
                if self.receive.is_unfinished() => {}
            Chunk::Shutdown(shutdown) => self.handle_shutdown(context, shutdown.cumulative_tsn_ack)?,
            Chunk::ShutdownAck => return self.handle_shutdown_ack(context, route).map(|()| false),
            Chunk::ShutdownComplete(complete) => {
                let accepted = !complete.tag_reflected || context.identity.local_tag == self.peer.tag;
                if accepted && matches!(self.closing, Closing::AckSent(_)) {
                    return Err(Ending::Silent(CloseReason::Shutdown));
                }
                return Ok(false);
            }
            Chunk::Error(error) => self.handle_error(context, error.causes, news),
            Chunk::Unknown(_) => return self.handle_unlisted(context, route, raw, news),
            Chunk::Asconf(_) | Chunk::AsconfAck(_)
                if Extensions::own(context.config).include(&[raw.chunk_type()]) =>
            {
                return self.handle_address_changes(context, route, chunk, news);
            }
            // Extensions that this endpoint has not announced are treated as unknown (RFC 9260 §3.2).
            Chunk::IData(_)
            | Chunk::ReConfig(_)
            | Chunk::Asconf(_)
            | Chunk::AsconfAck(_)
            | Chunk::Auth(_)
            | Chunk::ForwardTsn(_)
            | Chunk::IForwardTsn(_) => {
                return Ok(self.handle_unknown(route, raw, UnknownAction::from_high_bits(raw.chunk_type())));
            }
            // RFC 9260 §5.2.3, §5.2.5: late INIT ACK and COOKIE ACK are discarded; INIT and COOKIE ECHO are the
            // endpoint's. ECN is not in use. PAD is padding.
            Chunk::Init(_)
            | Chunk::InitAck(_)
            | Chunk::CookieEcho(_)
            | Chunk::CookieAck
            | Chunk::Sack(_)
            | Chunk::Ecne(_)
            | Chunk::Cwr(_)
            | Chunk::Pad(_) => {}
        }
        Ok(true)
    }

    /// The peer reports errors that do not end the association.
    fn handle_error(&mut self, context: &mut Context<'_>, causes: Causes<'_>, news: &mut PacketNews) {
        news.errors += 1;
        if rejects_asconf(causes) {
            self.handle_asconf_not_understood(context);
        }
        let causes = cause_codes(causes);
        if news.errors <= MAX_ERRORS
            && causes.iter().any(|&code| code != whimbrel_wire::cause_code::STALE_COOKIE)
        {
            context.events.push_back(Event::PeerError { association: context.identity.id, causes });
        }
    }

    /// ASCONF or ASCONF-ACK; false if the rest of the packet is to be ignored.
    fn handle_address_changes(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        chunk: Chunk<'_>,
        news: &mut PacketNews,
    ) -> Handled<bool> {
        // RFC 5061 §5.2 D5: unauthenticated, it takes the rest of the packet with it; so it does with a peer that has not
        // announced it. What could be answered in clear only (chunk draft §3.2) comes again.
        let is_told = self.asconf.mobility == Mobility::Dynamic && news.gate == Gate::Authenticated;
        if !is_told || self.auth.lacks_keys() {
            return Ok(false);
        }
        match chunk {
            Chunk::Asconf(asconf) => {
                // RFC 5061 §5.2 D2-ext: each names an address of its own.
                if news.stranger && !self.is_led_here(&asconf) {
                    return Ok(false);
                }
                self.handle_asconf(context, route, &asconf, &mut news.asconf);
                news.stranger = !self.knows(route.remote.ip());
            }
            Chunk::AsconfAck(ack) => self.handle_asconf_ack(context, route, &ack)?,
            _ => {}
        }
        Ok(true)
    }

    /// Queues an ERROR that answers a packet from `route`.
    fn report(&mut self, route: Route, cause: Cause<'_>) {
        let Some(destination) = self.confirmed_or_in_use(route) else { return };
        self.replies.push(destination, &ErrorBuilder { causes: &[cause] });
    }

    /// An unrecognized chunk: its two high bits say what to do (RFC 9260 §3.2).
    pub(super) fn handle_unknown(&mut self, route: Route, raw: &RawChunk<'_>, action: UnknownAction) -> bool {
        if action.reports() {
            let quote = &raw.bytes()[..raw.bytes().len().min(MAX_QUOTE)];
            self.report(route, Cause::UnrecognizedChunkType(quote));
        }
        !action.stops()
    }

    /// A DATA chunk.
    fn handle_data(&mut self, route: Route, data: &Data<'_>, news: &mut PacketNews) -> Handled {
        // RFC 9260 §6: DATA is taken in ESTABLISHED, SHUTDOWN-PENDING and SHUTDOWN-SENT.
        if matches!(self.closing, Closing::Received | Closing::AckSent(_)) {
            return Ok(());
        }
        if data.payload.is_empty() {
            let reason = CloseReason::ProtocolViolation("DATA chunk without user data");
            return Err(Ending::abort(reason, &[Cause::NoUserData { tsn: data.tsn }]));
        }
        match self.receive.on_data(data) {
            DataOutcome::InvalidStream => {
                self.report(route, Cause::InvalidStreamIdentifier(data.stream));
            }
            DataOutcome::Violation(what) => return Err(Ending::violation(what)),
            DataOutcome::TooLarge { limit } => {
                let why = Cause::UserInitiatedAbort(TOO_LARGE.as_bytes());
                return Err(Ending::abort(CloseReason::MessageTooLarge { limit }, &[why]));
            }
            DataOutcome::New => {
                news.new_data = true;
                self.auth.protection.iter_mut().for_each(|protection| protection.note_data(data));
            }
            DataOutcome::Duplicate => news.old_data = true,
            DataOutcome::NoRoom | DataOutcome::OutsideWindow => {}
        }
        news.data = true;
        Ok(())
    }

    /// Decides about the acknowledgement of a packet with DATA (RFC 9260 §6.2).
    fn after_data(&mut self, context: &mut Context<'_>, route: Route) {
        self.receive.came_by(route);
        self.receive.packet_done(context.now);
        self.note_stream(context);
        let usable = |id: &PathId| self.paths.get(*id).is_some_and(Path::is_usable);
        let came_by = self.paths.by_route(route).filter(usable);
        if let Closing::Sent(resend) = &mut self.closing {
            // RFC 9260 §9.2: each packet with DATA is answered with SHUTDOWN at once, to where it came from (§6.4): the timer that would
            // have it try another path is restarted as well.
            resend.due = true;
            resend.path = came_by.or(resend.path);
            context.timers.clear(TimerId::T2Shutdown);
        }
        self.set_sack_timer(context);
    }

    pub(crate) fn set_sack_timer(&self, context: &mut Context<'_>) {
        match self.receive.ack_deadline() {
            Some(at) => context.timers.set(TimerId::SackDelay, at),
            None => context.timers.clear(TimerId::SackDelay),
        }
    }
}
