//! ASSOCIATE (RFC 9260 §11.1.2): the beginning of a handshake, and giving it up.

use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;
use whimbrel_wire::draft::KeyRoles;

use super::Endpoint;
use super::table::{Lookup, Table};
use crate::association::{Association, ConnectRequest, Identity, Means};
use crate::interface::{CloseReason, ConnectToken, Event};

impl Endpoint {
    pub(super) fn connect(
        &mut self,
        now: Instant,
        token: ConnectToken,
        remotes: Vec<SocketAddr>,
        remote_port: u16,
        local_port: Option<u16>,
    ) {
        let refuse = |what| Event::ConnectFailed { token, reason: CloseReason::Refused(what) };
        if remotes.is_empty() || remotes.len() > self.config.limits.peer_addresses || remote_port == 0 {
            let what = "connecting needs at least one address of the peer, not too many, and its SCTP port";
            self.events.push_back(refuse(what));
            return;
        }
        if self.table.is_full(self.config.limits.associations) {
            self.events.push_back(refuse("this endpoint has as many associations as it is allowed"));
            return;
        }
        let Some(local_port) = self.choose_port(&remotes, remote_port, local_port) else {
            let what = match local_port {
                Some(_) => "there already is an association between these ports and addresses",
                None => "no SCTP port is free: every one has an association with this peer already",
            };
            self.events.push_back(refuse(what));
            return;
        };
        let local_tag = self.fresh_tag();
        let initial_tsn = Tsn(self.rng.next_u32());
        let request =
            ConnectRequest { remotes, locals: self.locals.all().to_vec(), listed_at_most: usize::MAX };
        let ports = Lookup { local: local_port, remote: remote_port };
        let index = self.add(Some(token), ports, local_tag, initial_tsn, |identity, means| {
            Association::connect(now, identity, means, request)
        });
        self.table.touch(index);
    }

    /// Adds an association that `begin` begins.
    pub(super) fn add(
        &mut self,
        token: Option<ConnectToken>,
        ports: Lookup,
        local_tag: u32,
        initial_tsn: Tsn,
        begin: impl FnOnce(Identity, Means) -> Association,
    ) -> usize {
        let strangers = self.table.shard.strangers.clone();
        self.table.insert(|id, number| {
            let identity = Identity {
                id,
                token,
                local_port: ports.local,
                remote_port: ports.remote,
                local_tag,
                initial_tsn,
                auth_random: self.supplies.randoms.of(local_tag, initial_tsn),
                // Whoever asks for an association may find that the peer asks for it as well.
                key_roles: KeyRoles { client: token.is_some(), server: true },
                strangers,
                buffers: self.supplies.buffers.clone(),
            };
            let rng = self.supplies.seed.stream("association", number);
            let (config, keys) = (Arc::clone(&self.config), Arc::clone(&self.supplies.keys));
            let translators = self.locals.translators().clone();
            begin(identity, Means { config, rng, keys, translators })
        })
    }

    pub(super) fn cancel_connect(&mut self, now: Instant, token: ConnectToken) {
        if let Some(index) = self.table.by_token(token)
            && let Some(association) = self.table.touch(index)
        {
            association.abort(now, bytes::Bytes::new());
        }
    }

    /// The local port of a new association: the wanted one, or a random ephemeral one (RFC 5062 §2: ports that
    /// cannot be guessed make it harder to claim somebody's address first).
    fn choose_port(&mut self, remotes: &[SocketAddr], remote_port: u16, wanted: Option<u16>) -> Option<u16> {
        const FIRST: u16 = 49_152;
        const COUNT: u64 = 16_384;
        // Looking on from one place finds the end of a long row of taken ports; another draw mostly finds a free one.
        const DRAWS: usize = 8;
        let free = |table: &Table, local: u16| {
            let lookup = Lookup { local, remote: remote_port };
            remotes.iter().all(|&remote| table.by_own_peer(remote, lookup).is_none())
        };
        if let Some(port) = wanted {
            return (port != 0 && free(&self.table, port)).then_some(port);
        }
        let mut port = 0;
        for _ in 0..DRAWS {
            port = FIRST + self.rng.below(COUNT) as u16;
            if free(&self.table, port) {
                return Some(port);
            }
        }
        let start = u64::from(port - FIRST);
        (1..COUNT).map(|n| FIRST + ((start + n) % COUNT) as u16).find(|&port| free(&self.table, port))
    }
}
