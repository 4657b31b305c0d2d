//! An address of ours that a translator gives another outer address from now on, while ours stays: what leaves from there is a stranger's to the
//! peer. So where nothing comes back to such an address any more, or the peer says that it does not know where we are ([`super::super::missing_state`]),
//! it is added once more (RFC 6951 §5.7): the peer minds no repetition.

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::Instant;

use super::super::{Context, Open};
use super::request::{Draft, Request, Unfit, Verdict, pin};
use crate::config::TailLoss;
use crate::interface::{AddressChange, PathId, PathState};
use crate::path::Path;

/// When an address was last added once more, and how often since it worked; not at all if it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restated {
    address: IpAddr,
    at: Instant,
    count: u32,
}

impl Restated {
    /// The pauses double from this one.
    const FIRST_PAUSE: Duration = Duration::from_secs(1);
    /// So often.
    const DOUBLED: u32 = 6;

    fn next(&self) -> Instant {
        self.at + Self::FIRST_PAUSE * (1 << self.count.saturating_sub(1).min(Self::DOUBLED))
    }
}

impl Open {
    /// A path has not answered, once more.
    pub(crate) fn restate_source(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id).filter(|path| path.is_usable() && path.error_count > 1) else {
            return;
        };
        let address = path.route.local.ip();
        let works = |path: &Path| path.route.local.ip() == address && path.state == PathState::Active;
        if !self.paths.iter().any(works) {
            self.restate(context, address);
        }
    }

    /// Adds an address of ours once more, unless that is under way or was done a moment ago.
    pub(crate) fn restate(&mut self, context: &mut Context<'_>, address: IpAddr) {
        let probing = context.config.retransmission.tail == TailLoss::Probe;
        let Some(local) = self.locals.up(address).filter(|_| probing) else { return };
        let asks = |request: &Request| request.changes().any(|change| change == AddressChange::Add(local));
        let outgoing = &self.asconf.outgoing;
        let under_way = outgoing.outstanding.as_ref().is_some_and(asks)
            || outgoing.waiting.contains(&AddressChange::Add(local));
        if under_way
            || !self.has_room(context.config)
            || !self.is_dynamic()
            || !self.is_translated(context.config, address)
        {
            return;
        }
        let before = outgoing.restated.filter(|restated| restated.address == address);
        if before.is_some_and(|before| context.now < before.next()) {
            return;
        }
        let count = before.map_or(0, |before| before.count) + 1;
        self.asconf.outgoing.restated = Some(Restated { address, at: context.now, count });
        self.asconf.outgoing.waiting.push_back(AddressChange::Add(local));
        if self.route_to_use().is_some_and(|route| route.local.ip() == address) {
            self.asconf.outgoing.waiting.push_back(AddressChange::SetPrimary(address));
        }
        self.sender.opportunity();
    }

    /// A path works: what was asked for its address in vain is over. An ASCONF-ACK does not say that, as strangers get those, too.
    pub(crate) fn forget_restated(&mut self, id: PathId) {
        let address = self.paths.get(id).map(|path| path.route.local.ip());
        let restated = self.asconf.outgoing.restated.as_mut();
        restated.filter(|restated| Some(restated.address) == address).into_iter().for_each(|it| it.count = 0);
    }

    /// An addition of an address of ours that the peer knows, as far as we know.
    pub(super) fn judge_known(&self, draft: &mut Draft, address: IpAddr) -> Verdict {
        let restated = self.asconf.outgoing.restated;
        if !restated.is_some_and(|restated| restated.address == address && restated.count > 0) {
            return Err(Unfit::Done);
        }
        pin(draft, address)?;
        Ok(None)
    }
}
