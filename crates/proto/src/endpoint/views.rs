//! What others may know of an endpoint and its associations.

use super::{Endpoint, EndpointStats};
use crate::association::Association;
use crate::interface::{
    AssociationAddresses, AssociationId, AssociationState, AssociationStats, PathView, Totals,
};

impl Endpoint {
    /// The paths of an association; empty if it is unknown or not established.
    pub fn paths(&self, association: AssociationId) -> Vec<PathView> {
        self.table.by_id(association).map(Association::paths).unwrap_or_default()
    }

    /// The addresses of both ends of an association; none if it is unknown or not established.
    pub fn addresses(&self, association: AssociationId) -> AssociationAddresses {
        self.table.by_id(association).map(Association::addresses).unwrap_or_default()
    }

    /// Totals of an association.
    pub fn association_stats(&self, association: AssociationId) -> Option<AssociationStats> {
        self.table.by_id(association).map(Association::stats)
    }

    /// The associations there are, in any state but a fixed order.
    pub fn associations(&self) -> impl Iterator<Item = (AssociationId, AssociationState)> + '_ {
        self.table.iter().map(|association| (association.identity.id, association.state()))
    }

    /// How many associations exist, in any state.
    pub fn association_count(&self) -> usize {
        self.table.len()
    }

    /// What all associations have done together, those that are gone included. It looks at every association.
    pub fn totals(&self) -> Totals {
        self.table.totals()
    }

    /// Totals of the endpoint.
    pub fn stats(&self) -> EndpointStats {
        self.totals
    }
}
