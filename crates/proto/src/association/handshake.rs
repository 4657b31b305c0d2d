//! The client's half of the four-way handshake: COOKIE-WAIT and COOKIE-ECHOED (RFC 9260 §5.1).

mod answer;
mod attempt;
mod first_data;
mod packets;

use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route, Transmit};
use whimbrel_path::Rto;
use whimbrel_wire::{AbortBuilder, Cause, Chunk, InitAck, ShutdownComplete};

use self::answer::{Answer, read_init_ack};
use self::attempt::Attempt;
pub(super) use self::packets::with_init;
use self::packets::{reports_stale_cookie, write_abort, write_cookie_echo, write_init};
use super::context::Farewell;
use super::output::{single_chunk, single_packet};
use super::pairing;
use super::peer_init::LEAST_A_RWND;
use super::translation::nameable;
use super::{Association, Context, Ending, Handled, Naming, Open, Phase};
use crate::arrival::Arrival;
use crate::auth::gate::{Admission, Gate};
use crate::config::{Config, SetUp};
use crate::interface::CloseReason;
use crate::negotiate::Agreement;
use crate::timers::{TimerId, Timers};

/// What the user asked for.
#[derive(Debug)]
pub(crate) struct ConnectRequest {
    pub(crate) remotes: Vec<SocketAddr>,
    pub(crate) locals: Vec<SocketAddr>,
    /// INIT lists no more addresses of ours than this.
    pub(crate) listed_at_most: usize,
}

/// COOKIE-WAIT: an INIT is on its way.
#[derive(Debug)]
pub(crate) struct CookieWait {
    pub(super) request: ConnectRequest,
    pub(super) attempt: Attempt,
    /// Our addresses that every INIT so far has listed: whichever the peer answers, it knows them.
    listed: Option<Vec<SocketAddr>>,
    /// Milliseconds of cookie life to ask for, after a stale one (RFC 9260 §5.2.6 item 3).
    preservative: u32,
    /// Cookies that the peer has called stale.
    stale_cookies: u32,
    /// The next INIT begins another handshake and must not be taken for the last one.
    wants_new_tag: bool,
}

/// COOKIE-ECHOED: a COOKIE ECHO is on its way. What the INIT ACK said is known.
#[derive(Debug)]
pub(crate) struct CookieEchoed {
    pub(crate) open: Box<Open>,
    pub(super) request: ConnectRequest,
    cookie: Vec<u8>,
    unrecognized: Vec<u8>,
    /// The DATA chunks that go with COOKIE ECHO; empty if none do.
    first_data: Vec<u8>,
    pub(super) attempt: Attempt,
    stale_cookies: u32,
}

impl CookieWait {
    pub(crate) fn new(now: Instant, config: &Config, timers: &mut Timers, request: ConnectRequest) -> Self {
        let routes = pairing::handshake_routes(&request.locals, &request.remotes);
        // Without a route there is nothing to send; the attempt then fails by its own timer at once.
        if routes.is_empty() {
            timers.set(TimerId::T1Init, now);
        }
        let attempt = Attempt::new(now, TimerId::T1Init, routes, Rto::new(&config.rto));
        Self { request, attempt, listed: None, preservative: 0, stale_cookies: 0, wants_new_tag: false }
    }

    pub(crate) fn remotes(&self) -> &[SocketAddr] {
        &self.request.remotes
    }
}

impl Association {
    /// Whether the user named this address of the peer (RFC 9260 §5.2.1 rule 1).
    pub(crate) fn user_named(&self, remote: SocketAddr) -> bool {
        let request = match &self.phase {
            Phase::CookieWait(wait) => &wait.request,
            Phase::CookieEchoed(echoed) => &echoed.request,
            Phase::Open(_) | Phase::Closed => return false,
        };
        request.remotes.iter().any(|named| named.ip() == remote.ip())
    }

    pub(crate) fn handle_in_cookie_wait(&mut self, arrival: &Arrival<'_>, locals: &[SocketAddr]) -> Handled {
        // An ABORT may have other chunks before it (RFC 9260 §3.3.7).
        for (position, chunk) in arrival.packet.chunks().enumerate() {
            let Ok(chunk) = chunk else { continue };
            // RFC 4895 §6.3: without the peer's random number there is no key, and so nothing genuine.
            if self.requires_authenticated(chunk.chunk_type()) {
                continue;
            }
            match chunk {
                Chunk::InitAck(init_ack) if position == 0 => {
                    return self.handle_init_ack(arrival, &init_ack, locals);
                }
                Chunk::Abort(abort) if !abort.tag_reflected => {
                    return self.handle_refusal(arrival.now, abort.causes);
                }
                // RFC 9260 §8.5.1 E: answered as if out of the blue; T1-init goes on.
                Chunk::ShutdownAck => {
                    self.answer_shutdown_ack(arrival);
                    return Ok(());
                }
                // RFC 4895 §6.3: nor can it be verified.
                Chunk::Auth(_) => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn handle_in_cookie_echoed(&mut self, arrival: &Arrival<'_>) -> Handled {
        let now = arrival.now;
        let mut chunks = arrival.packet.chunks();
        let mut gate = Gate::default();
        while let Some(raw) = chunks.next_raw() {
            let Ok(raw) = raw else { break };
            let (mut context, phase) = self.split(now);
            let Phase::CookieEchoed(echoed) = phase else { break };
            match echoed.open.admit(&mut context, arrival, &raw, &mut gate) {
                Admission::Admit => {}
                Admission::Skip => continue,
                Admission::Stop | Admission::StopUnsupported(_) => break,
            }
            match raw.decode() {
                Ok(Chunk::CookieAck) => {
                    self.establish(now);
                    // What is bundled behind COOKIE ACK belongs to the established association.
                    let rest = |open: &mut Open, context: &mut Context<'_>| {
                        open.handle_chunks(context, arrival, chunks, gate)
                    };
                    return self.in_open(now, rest).unwrap_or(Ok(()));
                }
                Ok(Chunk::Abort(abort)) if !abort.tag_reflected => {
                    return self.handle_refusal(now, abort.causes);
                }
                Ok(Chunk::Error(error)) if reports_stale_cookie(error.causes) => {
                    return self.restart_handshake(now);
                }
                Ok(Chunk::ShutdownAck) => self.answer_shutdown_ack(arrival),
                Ok(Chunk::InitAck(_)) => echoed.on_another_init_ack(&mut context, arrival.route),
                // RFC 9260 §6: DATA is discarded in this state; SACK may be. Whoever sends any of these has the cookie.
                Ok(chunk @ (Chunk::Heartbeat(_) | Chunk::Data(_) | Chunk::Asconf(_))) => {
                    if matches!(chunk, Chunk::Heartbeat(_)) {
                        echoed.open.answer_heartbeat(&context, arrival.route, &raw);
                    }
                    echoed.attempt.prompt(now, arrival.route);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// T1-init or T1-cookie expired.
    pub(crate) fn handle_handshake_timeout(&mut self) -> Handled {
        match &mut self.phase {
            Phase::CookieWait(wait) => wait.attempt.expire(&self.config),
            Phase::CookieEchoed(echoed) => echoed.attempt.expire(&self.config),
            _ => Ok(()),
        }
    }

    /// RFC 9260 §5.1 C.
    fn handle_init_ack(
        &mut self,
        arrival: &Arrival<'_>,
        init_ack: &InitAck<'_>,
        locals: &[SocketAddr],
    ) -> Handled {
        let Arrival { now, route, .. } = *arrival;
        let tag = init_ack.initiate_tag;
        let end = |reason, packet| Ending::Farewell(Box::new(Farewell { reason, route, packet }));
        // RFC 9260 §3.3.3: a zero Initiate Tag destroys the TCB, as a zero number of streams does. There is no tag but our own
        // to abort with.
        if tag == 0 {
            let reflected = AbortBuilder { tag_reflected: true, causes: &[] };
            let packet = single_chunk(self.identity.header(self.identity.local_tag), &reflected);
            return Err(end(CloseReason::ProtocolViolation("INIT ACK with a zero Initiate Tag"), packet));
        }
        // RFC 9260 §3.3.3: refused, but the attempt goes on: T1-init may bring a better answer.
        if init_ack.a_rwnd < LEAST_A_RWND {
            let packet = write_abort(&self.identity, tag, &[Cause::InvalidMandatoryParameter]);
            self.farewell = Some((route, packet));
            return Ok(());
        }
        let refuse = |reason, cause: Cause<'_>| end(reason, write_abort(&self.identity, tag, &[cause]));
        let mut answer = read_init_ack(&self.config, route, init_ack, refuse)?;
        let protection = self.judge_protection(init_ack, answer.parameters.key_management);
        answer.protection = protection.map_err(|refusal| refuse(refusal.reason(), refusal.cause()))?;
        if let Phase::CookieWait(wait) = core::mem::replace(&mut self.phase, Phase::Closed) {
            self.timers.clear(TimerId::T1Init);
            self.phase =
                Phase::CookieEchoed(Box::new(self.echo(now, route, *wait, init_ack, answer, locals)));
        }
        Ok(())
    }

    /// COOKIE-WAIT to COOKIE-ECHOED with the `answer` in an INIT ACK from `route`.
    fn echo(
        &mut self,
        now: Instant,
        route: Route,
        wait: CookieWait,
        init_ack: &InitAck<'_>,
        answer: Answer<'_>,
        locals: &[SocketAddr],
    ) -> CookieEchoed {
        let Answer { parameters, auth, protection, cookie } = answer;
        let named = |remote: SocketAddr| wait.request.remotes.iter().any(|named| named.ip() == remote.ip());
        // COOKIE ECHO goes where INIT ACK came from, but not to an address that nobody vouches for (RFC 9260 §5.4).
        let first = match wait.attempt.route() {
            Some(tried) if !named(route.remote) => tried,
            _ => route,
        };
        // The peer knows those that the INIT has listed, and where it came from.
        let mut known = wait.listed.unwrap_or_default();
        if !known.contains(&first.local) {
            known.push(first.local);
        }
        let up: Vec<SocketAddr> = known.iter().copied().filter(|known| locals.contains(known)).collect();
        let remotes = parameters.remotes(route.remote);
        let paths = pairing::paths(now, &self.config, &up, &remotes, first, named);
        let (mut context, _) = self.split(now);
        let agreed = Agreement::new(context.config, &init_ack.as_init(), &parameters, auth, protection);
        let mut open = Open::new(&mut context, paths, &known, first, &agreed);
        open.locals.set_up(locals);
        open.peer.addresses = remotes;
        open.say_about_keys();
        let (took, once) = wait.attempt.since_tried(now, route);
        let rto = if wait.attempt.sent == 1 || (once && self.config.set_up != SetUp::Standard) {
            open.measure_first(now, took);
            open.first_timeout(&self.config)
        } else {
            open.guess_round_trip(&self.config, took)
        };
        // After that it goes along the other routes the user named.
        let mut routes = vec![first];
        let is_known = |route: &Route| known.contains(&route.local);
        routes.extend(wait.attempt.routes.iter().copied().filter(|r| *r != first && is_known(r)));
        CookieEchoed {
            open: Box::new(open),
            request: wait.request,
            cookie: cookie.to_vec(),
            unrecognized: parameters.unrecognized,
            first_data: Vec::new(),
            attempt: Attempt::new(now, TimerId::T1Cookie, routes, rto).after(now, &wait.attempt, route),
            stale_cookies: wait.stale_cookies,
        }
    }

    /// COOKIE-ECHOED to ESTABLISHED (RFC 9260 §5.1 E).
    pub(crate) fn establish(&mut self, now: Instant) {
        // Already established: the peer has repeated its COOKIE ECHO (RFC 9260 §5.2.4 D).
        if !matches!(self.phase, Phase::CookieEchoed(_)) {
            return;
        }
        let Phase::CookieEchoed(echoed) = core::mem::replace(&mut self.phase, Phase::Closed) else { return };
        self.timers = Timers::default();
        let mut open = echoed.open;
        let (mut context, _) = self.split(now);
        let again = echoed.attempt.sent_again_at();
        if again.is_none() {
            open.measure_cookie_echo(&context, now.saturating_since(echoed.attempt.first_sent_at));
        }
        open.begin(&mut context);
        open.guard_first_data(&mut context, again);
        self.phase = Phase::Open(open);
        self.announce_up(now);
        self.add_omitted(now, echoed.request.omitted(self.naming()));
    }

    /// The cookie was stale: a new INIT that asks for a longer life (RFC 9260 §5.2.6 item 3), unless that has been
    /// tried Max.Init.Retransmits times (item 2).
    fn restart_handshake(&mut self, now: Instant) -> Handled {
        let Phase::CookieEchoed(echoed) = &self.phase else { return Ok(()) };
        if echoed.stale_cookies >= self.config.failure.max_init_retransmits {
            return Err(Ending::Silent(CloseReason::Refused("the peer calls every cookie of its own stale")));
        }
        let Phase::CookieEchoed(echoed) = core::mem::replace(&mut self.phase, Phase::Closed) else {
            return Ok(());
        };
        self.timers = Timers::default();
        let exchange = now.saturating_since(echoed.attempt.first_sent_at);
        let mut wait = CookieWait::new(now, &self.config, &mut self.timers, echoed.request);
        // No more than one second beyond the measured round trip.
        wait.preservative = (exchange.as_millis().min(1_000) as u32).saturating_add(1_000);
        wait.stale_cookies = echoed.stale_cookies + 1;
        wait.wants_new_tag = true;
        self.phase = Phase::CookieWait(Box::new(wait));
        Ok(())
    }

    /// Whether the handshake has begun anew, so that what is still under way of the last one (its COOKIE ACK, or a
    /// duplicate of the error that ended it) would confuse this one if it found the same Verification Tag.
    pub(crate) fn take_wish_for_new_tag(&mut self) -> bool {
        match &mut self.phase {
            Phase::CookieWait(wait) => core::mem::take(&mut wait.wants_new_tag),
            _ => false,
        }
    }

    pub(crate) fn answer_shutdown_ack(&mut self, arrival: &Arrival<'_>) {
        let header = self.identity.header(arrival.packet.header().verification_tag);
        self.farewell =
            Some((arrival.route, single_chunk(header, &ShutdownComplete { tag_reflected: true })));
    }

    pub(crate) fn poll_handshake(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let start = out.len();
        let route = match &mut self.phase {
            Phase::CookieWait(wait) => {
                let route = wait.attempt.next_route(&mut self.timers, &self.config, now)?;
                let naming = Naming { wanted: self.config.dar.naming, translators: &self.translators };
                let mut listed = nameable(naming, &wait.request.locals, &wait.request.remotes);
                listed.truncate(wait.request.listed_at_most);
                match &mut wait.listed {
                    Some(before) => before.retain(|one| listed.contains(one)),
                    None => wait.listed = Some(listed),
                }
                let listed = wait.request.listed(naming);
                write_init(&self.identity, &self.config, &listed, wait.preservative, out);
                route
            }
            Phase::CookieEchoed(echoed) => {
                let Some(route) = echoed.attempt.next_route(&mut self.timers, &self.config, now) else {
                    // Only heartbeats are answered before COOKIE ACK comes.
                    let (mut context, phase) = self.split(now);
                    let Phase::CookieEchoed(echoed) = phase else { return None };
                    return echoed.open.poll_replies(&mut context, out);
                };
                let (context, phase) = self.split(now);
                let identity = context.identity;
                if let Phase::CookieEchoed(echoed) = phase {
                    echoed.choose_first_data(context);
                    write_cookie_echo(identity, echoed, out);
                }
                route
            }
            _ => return None,
        };
        Some(single_packet(&self.config, route, out.len() - start))
    }
}
