use core::net::IpAddr;

use whimbrel_machine::Instant;

use crate::{Fact, Governed, Judge, Need, Pace, Reason, View, Want, Wish};

/// Every network there is at once, as long as it is there: the handover of mSCTP-CMT (paper b09 section II), for associations whose sender puts
/// data on several paths at once ([`Config::multipath`](whimbrel_proto::Config::multipath)).
///
/// - On entering a second network its address is added. Concurrent transfer begins when the sender has confirmed the path.
/// - On leaving one its address is deleted at once, whether or not the path is the primary one: that ends concurrent transfer, and has the sender
///   repeat on the paths that remain what was in flight there. Their windows and timers are theirs alone, and stay as they are.
/// - The primary path, which carries control chunks, stays where it is for as long as that address is up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Concurrent;

impl Concurrent {
    /// As a policy, at this pace.
    pub fn policy(pace: Pace) -> Governed<Self> {
        Governed::new(Self, pace)
    }
}

impl Judge for Concurrent {
    fn judge(&mut self, _now: Instant, _fact: &Fact, view: &View<'_>) -> Wish {
        let up = view.addresses.iter().filter(|local| local.up).map(|local| local.address.ip());
        let addresses: Vec<IpAddr> = up.collect();
        Wish { primary: replacement(view, &addresses), addresses }
    }
}

/// Another address that works when the one of the primary path is gone.
fn replacement(view: &View<'_>, up: &[IpAddr]) -> Option<Want> {
    let current = view.primary()?;
    if up.contains(&current) {
        return None;
    }
    let local = up.iter().copied().find(|&ip| view.usable_path(ip).is_some())?;
    Some(Want { local, need: Need::Necessity, reason: Reason::AddressLost })
}

#[cfg(test)]
#[path = "concurrent_tests.rs"]
mod tests;
