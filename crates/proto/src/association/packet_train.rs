//! What a path can carry, and carries: trains of HEARTBEATs ([`HeartbeatForm::Train`]), and what is acknowledged (b08 section 4.2.2).

use whimbrel_machine::{Instant, Route};
use whimbrel_path::{Capacity, PacketTrain, TrainNews, Westwood};
use whimbrel_wire::COMMON_HEADER_LEN;

use super::heartbeat_info::Kind;
use super::{Context, Open};
use crate::config::HeartbeatForm;
use crate::interface::{Event, PathId, PathState};
use crate::path::Path;
use crate::send::report::PathChange;

/// So many trains follow each other without HB.interval until the first of them was valid.
const TRIES: u64 = 3;

/// What is known of what a path can carry, and the train that is to find out.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    pub(crate) capacity: Capacity,
    pub(crate) available: Westwood,
    train: Option<Train>,
    /// When the last train left.
    last: Option<Instant>,
    told: Told,
}

/// A train that is leaving, or whose answers are waited for.
#[derive(Debug)]
struct Train {
    /// Of the first HEARTBEAT, which supervises the path; the others have those that follow.
    nonce: u64,
    /// So many have been written, that first one included.
    written: usize,
    answers: PacketTrain,
}

/// What was last told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Told {
    /// When the capacity was measured.
    capacity: Option<Instant>,
    available: Option<u64>,
    congested: u64,
}

impl Estimates {
    /// It may be another network that leads there now.
    pub(crate) fn forget(&mut self) {
        *self = Self { told: self.told, ..Self::default() };
    }

    /// Whether the next train need not wait for HB.interval, on a path that works or not.
    pub(crate) fn is_urgent(&self, context: &Context<'_>, works: bool) -> bool {
        match context.config.heartbeat.form {
            HeartbeatForm::Single => false,
            HeartbeatForm::Train => self.is_unknown(),
            HeartbeatForm::TrainUntilKnown => works && self.is_unknown(),
        }
    }

    /// Whether no train has told anything yet, and others may.
    fn is_unknown(&self) -> bool {
        self.capacity.trains() < TRIES && self.capacity.estimate().is_none()
    }

    /// When the last train left; `None` where HEARTBEATs are none.
    pub(crate) fn last_train(&self, context: &Context<'_>) -> Option<Instant> {
        self.last.filter(|_| match context.config.heartbeat.form {
            HeartbeatForm::Single => false,
            HeartbeatForm::Train => true,
            HeartbeatForm::TrainUntilKnown => self.is_unknown(),
        })
    }

    /// Whether there is more of a train to write.
    pub(crate) fn is_leaving(&self) -> bool {
        self.train.as_ref().is_some_and(|train| train.written < PacketTrain::PACKETS)
    }

    /// What the next HEARTBEAT of the train bears, which counts as written, and whether it is a large one.
    fn next_of_train(&mut self) -> Option<(u64, bool)> {
        let train = self.train.as_mut().filter(|train| train.written < PacketTrain::PACKETS)?;
        let index = train.written;
        train.written += 1;
        Some((train.nonce.wrapping_add(index as u64), PacketTrain::is_large(index)))
    }

    /// Nothing leaves by the path any more.
    pub(crate) fn stop(&mut self) {
        self.train = None;
    }

    /// A HEARTBEAT with this nonce has been answered, be it of a train or not.
    pub(super) fn on_answer(&mut self, now: Instant, nonce: u64, kind: Kind) {
        let Some(train) = &mut self.train else { return };
        let index = usize::try_from(nonce.wrapping_sub(train.nonce)).ok();
        let Some(index) = index.filter(|&index| index < train.written) else { return };
        // Repetitions of the first one have nonces of their own.
        if (kind == Kind::Path) != (index == 0) {
            return;
        }
        match train.answers.on_answer(now, index) {
            TrainNews::Waiting => {}
            TrainNews::Invalid => self.train = None,
            TrainNews::Capacity(rate) => {
                self.train = None;
                self.capacity.on_sample(now, rate);
            }
        }
    }

    /// Whether there is something to tell, which counts as told then; so often has the path been congested.
    fn take_news(&mut self, congested: u64) -> bool {
        let capacity = self.capacity.estimate().map(|estimate| estimate.at);
        let available = self.available.estimate().map(|estimate| estimate.rate);
        let before = self.told.available;
        let differs =
            available.zip(before).is_none_or(|(now, before)| now.abs_diff(before) >= (before / 4).max(1));
        let available = if differs { available } else { before };
        let news = Told { capacity, available, congested };
        core::mem::replace(&mut self.told, news) != news
    }
}

impl Path {
    /// Whether it works, so that a train may tell something.
    pub(super) fn takes_trains(&self) -> bool {
        self.state == PathState::Active && self.confirmed && self.error_count == 0
    }

    /// Whether the next train need not wait for HB.interval.
    pub(super) fn wants_train(&self, context: &Context<'_>) -> bool {
        self.supervision.estimates().is_urgent(context, self.takes_trains())
    }

    /// What the next HEARTBEAT of its train bears, which counts as written, and how large its packet is to be; 0 if as small as it can be. `None` while the
    /// first waits, which is the one that supervises the path.
    pub(super) fn next_of_train(&mut self) -> Option<(u64, usize)> {
        if self.supervision.heartbeat.as_ref().is_some_and(|first| !first.written) {
            return None;
        }
        let largest = self.packet_size();
        let (nonce, large) = self.supervision.estimates_mut().next_of_train()?;
        Some((nonce, if large { largest } else { 0 }))
    }
}

/// Bytes that IP, and UDP where it is used, add to a packet on this route.
pub(super) fn header_bytes(route: Route) -> usize {
    const IPV4: usize = 20;
    const IPV6: usize = 40;
    const UDP: usize = 8;
    let ip = if route.remote.is_ipv6() { IPV6 } else { IPV4 };
    if route.remote.port() == 0 { ip } else { ip + UDP }
}

/// So much has been acknowledged on a path.
pub(super) fn note_delivered(context: &Context<'_>, path: &mut Path, change: &PathChange) {
    let headers = change.packets as usize * (COMMON_HEADER_LEN + header_bytes(path.route));
    let round_trip = path.rto.srtt().unwrap_or_default();
    path.supervision.estimates_mut().available.on_acknowledged(
        context.now,
        (change.acked + headers) as u64,
        round_trip,
    );
}

impl Open {
    /// The HEARTBEAT that has just been sent on a path becomes the first of a train where heartbeats are trains, the path works, and it is none that
    /// is repeated.
    pub(crate) fn begin_train(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let works = path.takes_trains();
        let wanted = match context.config.heartbeat.form {
            HeartbeatForm::Single => false,
            HeartbeatForm::Train => true,
            HeartbeatForm::TrainUntilKnown => path.supervision.estimates().is_unknown(),
        };
        if !works || !wanted {
            return;
        }
        let large = path.packet_size() + header_bytes(path.route);
        let first = path.supervision.heartbeat.as_ref().filter(|first| first.is_first() && !first.written);
        let Some(nonce) = first.map(|first| first.last_nonce()) else { return };
        let estimates = path.supervision.estimates_mut();
        estimates.train = Some(Train { nonce, written: 1, answers: PacketTrain::new(large) });
        estimates.last = Some(context.now);
        estimates.capacity.on_train();
    }

    /// Announces it when there is something new about what a path can carry, or carries.
    pub(crate) fn notice_estimates(&mut self, context: &mut Context<'_>, id: PathId) {
        let estimate = |path: &Path| path.supervision.estimates().capacity.estimate();
        self.sender
            .note_estimate(id, self.paths.get(id).and_then(estimate).map(|estimate| estimate.rate / 8));
        if context.config.heartbeat.form != HeartbeatForm::Train {
            return;
        }
        let Some(congested) = self.sender.congested(id) else { return };
        let Some(path) = self.paths.get_mut(id) else { return };
        if path.supervision.estimates_mut().take_news(congested) {
            let association = context.identity.id;
            context.events.push_back(Event::PathEstimates { association, path: id });
        }
    }
}
