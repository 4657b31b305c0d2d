use std::sync::{Arc, Mutex, Weak};

use core::num::NonZeroU32;

use whimbrel_machine::Seed;
use whimbrel_node::Node;
use whimbrel_proto::{Config, Shard};

use crate::builder::{Encapsulation, NewPolicy};
use crate::clock::Clock;
use crate::driver::{Driver, Parts};
use crate::error::BindError;
use crate::interfaces::Interfaces;
use crate::link_news::{LinkNews, Sources};
use crate::locals::{Locals, Wanted};
use crate::recorder::SharedRecorder;
use crate::shared::{Client, Shared, lock};
use crate::socket::Member;
use crate::witness::Witness;

/// What the drivers of an endpoint's shards are made from.
pub(crate) struct Drivers<'a> {
    pub(crate) config: Arc<Config>,
    pub(crate) seed: Seed,
    pub(crate) new_policy: Option<NewPolicy>,
    pub(crate) recorder: Option<SharedRecorder>,
    pub(crate) encapsulation: Encapsulation,
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) client: Weak<Client>,
    pub(crate) interfaces: &'a Interfaces,
}

impl Drivers<'_> {
    /// A driver for each shard, with its sockets open.
    pub(crate) fn make(
        self,
        mut wanted: Wanted,
        count: NonZeroU32,
        sources: Sources,
    ) -> Result<Vec<Driver>, BindError> {
        let clock = Clock::start();
        let new_policy = self.new_policy.map(|new_policy| Arc::new(Mutex::new(new_policy)));
        let mut sources = Some(sources);
        let mut drivers = Vec::new();
        for shard in Shard::all(count) {
            let number = shard.number();
            let member = Member { number, count };
            let locals = Locals::open(wanted.clone(), self.encapsulation, member, self.interfaces)?;
            wanted.port = locals.port();
            if number == 0 {
                self.shared.set_addresses(locals.addresses());
            }
            let mut node =
                Node::shard(Arc::clone(&self.config), self.seed.clone(), locals.addresses(), shard)
                    .recording_traffic();
            if let Some(new_policy) = &new_policy {
                let new_policy = Arc::clone(new_policy);
                node = node.with_policy(move || lock(&new_policy)());
            }
            let parts = Parts {
                node,
                clock,
                shared: Arc::clone(self.shared),
                shard: number as usize,
                client: self.client.clone(),
                locals,
                link_news: LinkNews::new(sources.take()),
                witness: Witness::new(self.recorder.as_ref().map(SharedRecorder::handle)),
            };
            drivers.push(Driver::new(parts, self.interfaces));
        }
        Ok(drivers)
    }
}
