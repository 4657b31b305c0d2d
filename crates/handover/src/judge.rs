use core::net::IpAddr;

use whimbrel_machine::Instant;

use crate::{Fact, LocalAddress, Reason, Standing, View};

/// Says where an association should be; [`Governed`](crate::Governed) makes a [`Policy`](crate::Policy) of it.
///
/// A judge is asked after every fact and says the same again as long as it means it. It need not care whether its wish has been
/// carried out, how often it changes its mind, or whether the peer takes part.
pub trait Judge: core::fmt::Debug + Send {
    /// What it wishes, given this fact and view.
    fn judge(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Wish;

    /// When it may change its mind without a new fact.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// Where a judge wants an association to be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wish {
    /// The address to use, in both directions; `None` if the present one will do. If it is the present one, that is to be used with
    /// another address of the peer: the path that [`View::usable_path`] names.
    pub primary: Option<Want>,
    /// Our addresses that should be part of the association. One that is down is kept, but not added.
    pub addresses: Vec<IpAddr>,
}

impl Wish {
    /// Addresses that could be added: wanted, usable, and of use with a peer that has the addresses it has.
    pub(crate) fn new_addresses<'a>(&'a self, view: &View<'a>) -> impl Iterator<Item = &'a LocalAddress> {
        let view = *view;
        view.addresses.iter().filter(move |local| {
            let ip = local.address.ip();
            local.up && local.standing == Standing::Absent && view.reaches(ip) && self.addresses.contains(&ip)
        })
    }
}

/// The address that a judge wants to be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Want {
    /// The address, one of ours.
    pub local: IpAddr,
    /// How much depends on it.
    pub need: Need,
    /// Why this address.
    pub reason: Reason,
}

impl Want {
    /// Whether it is for something else than what there is: another address of ours, or another one of the peer, if the path is to blame.
    pub(crate) fn calls_for_a_move(&self, view: &View<'_>) -> bool {
        match view.usable_path(self.local) {
            _ if !self.reason.is_of_path() => Some(self.local) != view.primary(),
            path => path.is_none_or(|path| !path.primary),
        }
    }
}

/// How badly a move is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// It would be better there: that can wait until it is certain.
    Advantage,
    /// The present address is failing or gone: at once.
    Necessity,
}
