//! The peer answers our ASCONF (RFC 5061 §5.1 A5 to A8, §5.3 F0 to F3).

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{AsconfAck, Cause, Parameter, Parameters, cause_code, parameter_type};

use super::super::locals::Standing;
use super::super::replies::{First, MAX_BYTES};
use super::super::{Context, Ending, Handled, Open};
use super::answer_user;
use super::request::{HeldAnswer, Item, Request};
use crate::interface::{AddressChange, AddressChangeError, CloseReason};
use crate::timers::TimerId;

/// Responses that are read of one chunk: no request of ours has more parts.
const MAX_RESPONSES: usize = 64;

/// What the peer says about one request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Response {
    Success,
    Failure(u16),
}

impl Open {
    /// An authenticated ASCONF-ACK from `route`.
    pub(crate) fn handle_asconf_ack(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        ack: &AsconfAck<'_>,
    ) -> Handled {
        let outgoing = &mut self.asconf.outgoing;
        let expected = outgoing.outstanding.as_ref().is_some_and(|sent| sent.serial == ack.sequence_number);
        if !expected {
            // F0: acknowledged before it was sent. Older ones are answers to repetitions (RFC 5061 §4.3.4).
            let ahead = ack.sequence_number.wrapping_sub(outgoing.next_serial) < 1 << 31;
            if ahead {
                let reason = CloseReason::ProtocolViolation("ASCONF-ACK that nothing was sent for");
                return Err(Ending::abort(reason, &[Cause::IllegalAsconfAck]));
            }
            return Ok(());
        }
        let Some(request) = outgoing.outstanding.take() else { return Ok(()) };
        outgoing.was_answered = true;
        // A5.
        context.timers.clear(TimerId::T4Asconf);
        self.notes.error_count = 0;
        self.credit_way(context, route, &request);
        let outcomes = outcomes(&request, ack.parameters);
        if request.astray {
            self.conclude_astray(context, route, &request, &outcomes);
            self.sender.opportunity();
            return Ok(());
        }
        self.learn_what_is_not_understood(&request, &outcomes);
        self.conclude_request(context, &request, &outcomes, route);
        for (item, outcome) in request.items.iter().zip(outcomes) {
            answer_user(context, item.change, outcome);
        }
        self.sender.opportunity();
        Ok(())
    }

    /// A HEARTBEAT may reach an address before the peer has acknowledged it: the peer asks as soon as it knows the address, and the
    /// ASCONF-ACK was lost with the old one. Nothing may leave from there (RFC 5061 §5.3 F1), and if there is no other way the answer
    /// waits, or the peer would ask again only after its RTO, with no initial measurement. One answer, the last.
    pub(crate) fn hold_answer(&mut self, now: Instant, route: Route, chunk: Vec<u8>) {
        let adding = self.locals.standing(route.local.ip()) == Some(Standing::Adding);
        if let Some(request) = &mut self.asconf.outgoing.outstanding
            && adding
            && chunk.len() <= MAX_BYTES
        {
            request.held = Some(HeldAnswer { route, chunk, since: now });
        }
    }

    /// The way the chunk went works.
    fn credit_way(&mut self, context: &mut Context<'_>, route: Route, request: &Request) {
        let Some(id) = self.paths.by_route(route).filter(|_| request.tries.route == Some(route)) else {
            return;
        };
        // It may be the answer to what went another way, which returned here because nothing works both ways.
        if request.tries.several && !self.any_works_both_ways() {
            return;
        }
        // An address that is vouched for has to answer a HEARTBEAT (RFC 9260 §5.4): this answer can be made up without having seen the question.
        if self.paths.get(id).is_some_and(|path| path.confirmed && path.is_usable()) {
            self.note_path_alive(context, id);
        }
    }

    /// F3a, F3b: the peer is not asked again for what it does not know.
    fn learn_what_is_not_understood(
        &mut self,
        request: &Request,
        outcomes: &[Result<(), AddressChangeError>],
    ) {
        const UNKNOWN: AddressChangeError =
            AddressChangeError::RefusedByPeer(cause_code::UNRECOGNIZED_PARAMETERS);
        for (item, _) in request.items.iter().zip(outcomes).filter(|(_, outcome)| **outcome == Err(UNKNOWN)) {
            let types: &[u16] = match item.change {
                AddressChange::Add(_) | AddressChange::Delete(_) => {
                    &[parameter_type::ADD_IP_ADDRESS, parameter_type::DELETE_IP_ADDRESS]
                }
                AddressChange::SetPrimary(_) => &[parameter_type::SET_PRIMARY_ADDRESS],
            };
            let known = &mut self.asconf.outgoing.not_understood;
            for &parameter in types {
                if !known.contains(&parameter) {
                    known.push(parameter);
                }
            }
        }
    }

    /// Puts into effect what the peer has carried out, and takes back the rest. The answer came over `route`.
    fn conclude_request(
        &mut self,
        context: &mut Context<'_>,
        request: &Request,
        outcomes: &[Result<(), AddressChangeError>],
        route: Route,
    ) {
        let done = |wanted: fn(&Item) -> bool| {
            request.items.iter().zip(outcomes).filter(move |(item, outcome)| wanted(item) && outcome.is_ok())
        };
        for (item, outcome) in request.items.iter().zip(outcomes) {
            let Some(added) = item.added else { continue };
            match outcome {
                // F2.
                Ok(()) => {
                    self.locals.set(added, Standing::Member);
                    self.open_paths_from(context, added.ip());
                }
                // F10.
                Err(_) => self.locals.remove(added.ip()),
            }
        }
        // Later the peer has asked again, and would take the time that this answer has waited for a round trip (RFC 9260 §8.3).
        if let Some(held) = &request.held
            && self.locals.is_source(held.route.local.ip())
            && context.now.saturating_since(held.since) <= context.config.rto.initial
        {
            self.replies.push_raw(held.route, First::Other, &held.chunk);
        }
        // New paths before old ones go, so that there is always one.
        let heard = Some(route).filter(|route| self.locals.is_source(route.local.ip()));
        let usable = heard.filter(|_| request.tries.route == Some(route));
        let confirmed = usable.filter(|route| self.is_confirmed(route.remote.ip()));
        self.pair_preferring(context, heard, confirmed);
        if request.sent == 1
            && let Some(path) = usable.and_then(|route| self.paths.by_route(route))
            && let Some(path) = self.paths.get_mut(path).filter(|path| path.rto.srtt().is_none())
        {
            let took = context.now.saturating_since(request.tries.sent_at);
            path.on_measurement(context.now, took, &mut self.notes.round_trips);
        }
        let wildcard =
            done(|item| matches!(item.change, AddressChange::Delete(ip) if ip.is_unspecified())).count() > 0;
        for &deleted in &request.deleted {
            let asked = request
                .items
                .iter()
                .zip(outcomes)
                .any(|(item, outcome)| item.change == AddressChange::Delete(deleted) && outcome.is_ok());
            if asked || wildcard {
                self.locals.remove(deleted);
            } else {
                self.keep_address(context, deleted);
            }
        }
        self.pair_addresses(context, None);
    }
}

/// What became of each request (A6 to A8).
fn outcomes(request: &Request, responses: Parameters<'_>) -> Vec<Result<(), AddressChangeError>> {
    let responses: Vec<(u32, Response)> =
        responses.take(MAX_RESPONSES).map_while(response).flatten().collect();
    let of = |item: &Item| {
        responses.iter().find(|(id, _)| *id == item.correlation_id).map(|&(_, response)| response)
    };
    let mut failed = false;
    let outcome = |item: &Item| match of(item) {
        Some(Response::Failure(cause)) => {
            failed = true;
            Err(AddressChangeError::RefusedByPeer(cause))
        }
        Some(Response::Success) => Ok(()),
        // A7: silence means success before the first failure, and failure after it.
        None if failed => Err(AddressChangeError::EarlierRefused),
        None => Ok(()),
    };
    request.items.iter().map(outcome).collect()
}

/// `None` ends the list: what follows cannot be found.
fn response(
    parameter: Result<Parameter<'_>, whimbrel_wire::ParameterError>,
) -> Option<Option<(u32, Response)>> {
    Some(match parameter {
        Ok(Parameter::SuccessIndication(id)) => Some((id, Response::Success)),
        Ok(Parameter::ErrorCauseIndication(indication)) => {
            let cause = { indication.causes }.next().and_then(Result::ok).map_or(0, |cause| cause.code());
            Some((indication.correlation_id, Response::Failure(cause)))
        }
        Ok(_) => None,
        Err(error) if error.kind == whimbrel_wire::ParameterErrorKind::BadLength => return None,
        Err(_) => None,
    })
}
