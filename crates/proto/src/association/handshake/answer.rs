use whimbrel_machine::Route;
use whimbrel_wire::{Cause, InitAck, List, parameter_type};

use super::CookieEchoed;
use crate::association::peer_init::{PeerParameters, Problem};
use crate::association::{Context, Ending, Handled};
use crate::auth::offer::Offer;
use crate::config::{Config, SetUp};
use crate::interface::CloseReason;
use crate::protection::negotiate::PeerProtection;

/// What an INIT ACK says that an association can be made of.
pub(super) struct Answer<'a> {
    pub(super) parameters: PeerParameters<'a>,
    pub(super) auth: Option<Offer>,
    /// `None` until it has been judged.
    pub(super) protection: Option<PeerProtection>,
    pub(super) cookie: &'a [u8],
}

/// Reads an INIT ACK from `route`; `refuse` makes of a reason and an error cause how the attempt ends.
pub(super) fn read_init_ack<'a>(
    config: &Config,
    route: Route,
    init_ack: &InitAck<'a>,
    refuse: impl Fn(CloseReason, Cause<'_>) -> Ending,
) -> Handled<Answer<'a>> {
    let violation = |what, cause: Cause<'_>| refuse(CloseReason::ProtocolViolation(what), cause);
    if init_ack.outbound_streams == 0 || init_ack.inbound_streams == 0 {
        return Err(violation("INIT ACK with zero streams", Cause::InvalidMandatoryParameter));
    }
    let parameters =
        PeerParameters::read(init_ack.parameters, route.remote.ip(), config.limits.peer_addresses);
    let parameters = parameters.map_err(|problem| match problem {
        Problem::HostName(parameter) => {
            violation("INIT ACK with a host name", Cause::UnresolvableAddress(&parameter))
        }
        Problem::Malformed => {
            violation("INIT ACK with a malformed parameter", Cause::ProtocolViolation(b"parameter length"))
        }
    })?;
    let auth = parameters.judge_auth(config);
    let auth = auth.map_err(|refusal| refuse(refusal.reason(), refusal.cause()))?;
    let missing = [parameter_type::STATE_COOKIE];
    let missing = Cause::MissingMandatoryParameter(List::from(&missing));
    let cookie = parameters.cookie.ok_or_else(|| violation("INIT ACK without a State Cookie", missing))?;
    Ok(Answer { parameters, auth, protection: None, cookie })
}

impl CookieEchoed {
    /// The peer answers INIT once more: which one it had answered before is known now, and how long a round trip takes. What goes out every RTO.Initial or sooner would fill a slow
    /// network with copies.
    pub(super) fn on_another_init_ack(&mut self, context: &mut Context<'_>, route: Route) {
        let config = context.config;
        let took = match config.set_up {
            SetUp::Standard => None,
            SetUp::Prompt(_) => self.attempt.on_another_answer(context.now, config, context.timers, route),
        };
        let known = self.open.paths.iter().next().is_none_or(|path| path.rto.srtt().is_some());
        if let Some(took) = took.filter(|_| !known) {
            self.open.measure_first(context.now, took);
        }
    }
}
