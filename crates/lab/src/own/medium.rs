//! Networks whose hosts share the air: cells of IEEE 802.11, and common channels of UMTS.

use whimbrel_netsim::{Dcf, DcfConfig, LinkId, Phy, Side, Umts, UmtsConfig};

use super::buffer::BufferPlan;
use super::file::{Kind, Network, QueueName};
use super::limits::within;
use super::world::Place;

/// Mbit/s of a common channel: b08 section 4.2.2.4.
const COMMON_CHANNEL: f64 = 0.384;

impl Network {
    fn phy(&self) -> Option<Phy> {
        match self.kind {
            Kind::Dot11a => Some(Phy::A),
            Kind::Dot11b => Some(Phy::B),
            Kind::Wired | Kind::Wlan | Kind::Cellular | Kind::Other | Kind::Umts => None,
        }
    }

    /// Whether its hosts share a medium, on which queues and rate depend.
    pub(super) fn is_shared(&self) -> bool {
        self.kind == Kind::Umts || self.phy().is_some()
    }

    /// Mbit/s to a host, as its radio tells them.
    pub(super) fn nominal_rate(&self) -> f64 {
        let of_kind = match self.phy() {
            Some(phy) => phy.rate_bps as f64 / 1e6,
            None => COMMON_CHANNEL,
        };
        self.rate.unwrap_or(of_kind)
    }
}

/// Checks that a network has what belongs to its kind.
pub(super) fn check(name: &str, network: &Network) -> Result<(), String> {
    let field = |field: &str| format!("network.{name}.{field}");
    if !network.is_shared() {
        if network.rate.is_none() {
            return Err(format!("{} is missing: Mbit/s to the hosts", field("rate")));
        }
        if network.rts.is_some() {
            return Err(format!("{} belongs to the kinds 802.11a and 802.11b", field("rts")));
        }
        return Ok(());
    }
    let given = [
        ("rate", network.rate.is_some()),
        ("rate_up", network.rate_up.is_some()),
        ("buffer", network.buffer != BufferPlan::default()),
        ("queue", network.queue != QueueName::default()),
        ("rts", network.rts.is_some() && network.phy().is_none()),
    ];
    if let Some((what, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(format!("{} is not to be given: the kind of the network says what it is", field(what)));
    }
    within(field("rts"), network.rts.unwrap_or(400).into(), 0.0..=3000.0, " B")
}

impl Place<'_> {
    /// Has the links of the hosts in such a network share its medium: the access point, or base station, is behind all of them.
    pub(super) fn share_air(&mut self) {
        let seed = self.world.seed().clone();
        for (index, access) in self.networks.iter().enumerate() {
            let hosts = self.residents.iter().filter_map(|resident| resident.uplink(index));
            let links: Vec<LinkId> = hosts.map(|uplink| uplink.link).collect();
            let down = links.iter().map(|&link| (link, Side::AtoB));
            let up = links.iter().map(|&link| (link, Side::BtoA)).enumerate();
            let up = up.map(|(station, (link, side))| (link, side, station));
            let id = index as u64;
            if let Some(phy) = access.plan.phy() {
                let cell = DcfConfig::cell(phy, links.len());
                let rts_threshold = access.plan.rts.unwrap_or(cell.rts_threshold);
                let access_point = links.len();
                let all = down.map(|(link, side)| (link, side, access_point)).chain(up);
                let all: Vec<_> = all.collect();
                self.world.share(Dcf::new(DcfConfig { rts_threshold, ..cell }, &seed, id), all);
            } else if access.plan.kind == Kind::Umts {
                let channel = UmtsConfig::common_channel(links.len());
                let down = down.enumerate().map(|(user, (link, side))| (link, side, user));
                let (down, up): (Vec<_>, Vec<_>) = (down.collect(), up.collect());
                self.world.share(Umts::new(channel, &seed, 2 * id), down);
                self.world.share(Umts::new(channel, &seed, 2 * id + 1), up);
            }
        }
    }
}
