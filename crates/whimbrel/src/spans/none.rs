//! In place of spans where `tracing` is not built in: nothing.

use whimbrel_machine::Record;
use whimbrel_proto::{AssociationId, CloseReason};

use crate::association::Setup;
use crate::events::AssociationEvent;

/// Nobody hears of an association.
pub(crate) struct Span;

impl Span {
    pub(crate) const fn open(_: AssociationId, _: &Setup) -> Self {
        Self
    }

    pub(crate) const fn is_heard(&self) -> bool {
        false
    }

    pub(crate) const fn tell(&self, _: &AssociationEvent) {}

    pub(crate) const fn record(&self, _: &Record) {}
}

pub(crate) const fn want_records() -> bool {
    false
}

pub(crate) const fn record(_: &Record) {}

pub(crate) const fn connect_failed(_: &CloseReason) {}
