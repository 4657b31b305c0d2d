//! Addresses come and go because both ends have been told by somebody they trust, and not by ASCONF.

use core::net::SocketAddr;

use whimbrel_machine::Instant;

use super::locals::Standing;
use super::peer_init::is_usable;
use super::{Association, Context, Open, pairing};
use crate::interface::AgreedChange;

impl Association {
    /// Takes over what was agreed on. Before the association is up there is nothing to agree on.
    pub(crate) fn agree_addresses(&mut self, now: Instant, changes: &[AgreedChange]) {
        self.in_open(now, |open, context| {
            for change in changes {
                open.agree(context, *change);
            }
        });
    }
}

impl Open {
    fn agree(&mut self, context: &mut Context<'_>, change: AgreedChange) {
        match change {
            AgreedChange::AddOwn(address) => {
                self.locals.set(address, Standing::Member);
                self.pair_addresses(context, None);
            }
            AgreedChange::DeleteOwn(address) => {
                // The association must stay reachable (RFC 5061 §5.3 F5).
                if self.locals.members().any(|member| member.ip() != address) {
                    self.locals.remove(address);
                    self.remove_stale_paths(context);
                    self.notes.addresses_changed = true;
                    self.notice_path_in_use(context);
                }
            }
            AgreedChange::AddPeer(address) => self.agree_to_peer_address(context, address),
            AgreedChange::AddVouchedPeer { address, bytes } => {
                self.agree_to_peer_address(context, address);
                self.vouch(context, address.ip(), bytes);
            }
            AgreedChange::DeletePeer(address) => {
                let elsewhere = |path: &crate::path::Path| {
                    let remote = path.route.remote.ip();
                    remote != address && self.knows(remote)
                };
                if self.paths.iter().any(elsewhere) {
                    self.forget_peer_address(context, address);
                }
            }
        }
        self.sender.opportunity();
    }

    fn agree_to_peer_address(&mut self, context: &mut Context<'_>, address: SocketAddr) {
        let ours: Vec<_> = self.locals.all().collect();
        let reachable = ours.iter().any(|local| pairing::reaches(*local, &[address]));
        let usable = is_usable(address.ip(), address.ip());
        if usable && reachable && !pairing::is_ourselves(&ours, address) {
            // No room is no error: the association goes on as it is.
            let _ = self.admit_peer_address(context, address, None);
        }
    }
}
