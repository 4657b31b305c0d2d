use std::sync::Arc;

use tokio::task::JoinSet;
use whimbrel_machine::Links;

use crate::endpoint_events::EndpointEvent;
use crate::interfaces::{Board, Interfaces, LinkWriter};
use crate::locals::Locals;
use crate::shared::Shared;

/// How a shard learns about the host's links: the first from the board, each other one from the shard before it. So sockets that share an address open
/// in the order of the shards, which is how the system counts them (`socket/steering.rs`).
pub(crate) struct LinkNews {
    sources: Option<Sources>,
    writer: LinkWriter,
    /// What the shard before has told, and its UDP port.
    told: Option<(Arc<Interfaces>, u16)>,
}

/// Where the endpoint learns about the host's links.
pub(crate) struct Sources {
    pub(crate) board: Arc<Board>,
    /// Their tasks, which end with the driver.
    pub(crate) running: JoinSet<()>,
}

impl LinkNews {
    /// `sources` are the first shard's.
    pub(crate) fn new(sources: Option<Sources>) -> Self {
        Self { sources, writer: LinkWriter::default(), told: None }
    }

    /// Writes what the interfaces are like into a snapshot of the links.
    pub(crate) fn write(&mut self, interfaces: &Interfaces, links: &mut Links) {
        self.writer.write(interfaces, links);
    }

    /// The shard before has followed.
    pub(crate) fn told(&mut self, interfaces: Arc<Interfaces>, port: u16) {
        self.told = Some((interfaces, port));
    }

    /// Whether there is something on the board that may be taken.
    pub(crate) fn has_news(&self, shared: &Shared) -> bool {
        self.sources.as_ref().is_some_and(|sources| sources.board.has_news() && shared.may_follow())
    }

    /// Opens and closes sockets as the host's addresses come and go, and draws up the links for the next step from those that `links` yields.
    pub(crate) fn follow(
        &mut self,
        shard: usize,
        shared: &Shared,
        locals: &mut Locals,
        links: impl FnOnce() -> Links,
    ) -> Option<Links> {
        let mut events = Vec::new();
        let interfaces = self.take(shared, locals, &mut events);
        let followed = interfaces.map(|interfaces| {
            let mut links = links();
            // Those that are open first: of very many addresses not all are known.
            links.set_open(&locals.follow(&interfaces, &mut events));
            self.writer.write(&interfaces, &mut links);
            if self.sources.is_some() {
                shared.set_addresses(locals.addresses());
                shared.set_interfaces(Arc::clone(&interfaces));
            }
            shared.pass_on(shard, interfaces, locals.port());
            links
        });
        // All shards see the same, and one tells.
        if self.sources.is_some() {
            events.iter().for_each(|event| shared.subscribers.publish(event));
        }
        followed
    }

    fn take(
        &mut self,
        shared: &Shared,
        locals: &mut Locals,
        events: &mut Vec<EndpointEvent>,
    ) -> Option<Arc<Interfaces>> {
        if let Some((interfaces, port)) = self.told.take() {
            locals.use_port(port);
            return Some(interfaces);
        }
        let sources = self.sources.as_ref()?;
        if !sources.board.has_news() || !shared.may_follow() {
            return None;
        }
        let news = sources.board.take();
        events.extend(
            news.complaints.into_iter().map(|complaint| EndpointEvent::LinkSource {
                source: complaint.source,
                text: complaint.text,
            }),
        );
        news.interfaces.map(Arc::new)
    }

    /// Ends the sources.
    pub(crate) fn end(&mut self) {
        if let Some(sources) = &mut self.sources {
            sources.running.abort_all();
        }
    }
}
