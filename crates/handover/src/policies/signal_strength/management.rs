use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::InterfaceId;

/// Rows of the address table, at most; signals about further interfaces are ignored.
pub(super) const MAX_ROWS: usize = 64;

/// How strong an interface's signal is (c04 Table 1, field SS).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Level {
    /// 0: below L2-TH, nothing can be received.
    #[default]
    None,
    /// 1: between L2-TH and Primary-TH.
    Weak,
    /// 2: above Primary-TH.
    Strong,
}

/// How the strength of a signal changed (c04 Fig. 2). The figure is not in the text; Table 2 and the rules fix all but which of
/// types 2 and 3 is which, and both set SS to 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// Type 1: from 0 to 1.
    AppearsWeak,
    /// Type 2: from 1 to 2.
    Rises,
    /// Type 3: from 0 to 2.
    AppearsStrong,
    /// Type 4: from 2 to 1.
    Falls,
    /// Type 5: from 1 to 0.
    FadesAway,
    /// Type 6: from 2 to 0.
    Vanishes,
}

impl Change {
    /// The type of change from one level to another; `None` if there is none.
    pub const fn between(before: Level, after: Level) -> Option<Self> {
        match (before, after) {
            (Level::None, Level::Weak) => Some(Self::AppearsWeak),
            (Level::Weak, Level::Strong) => Some(Self::Rises),
            (Level::None, Level::Strong) => Some(Self::AppearsStrong),
            (Level::Strong, Level::Weak) => Some(Self::Falls),
            (Level::Weak, Level::None) => Some(Self::FadesAway),
            (Level::Strong, Level::None) => Some(Self::Vanishes),
            _ => None,
        }
    }

    /// The paper's number for it.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// SS after it (c04 Table 2).
    pub const fn level(self) -> Level {
        match self {
            Self::FadesAway | Self::Vanishes => Level::None,
            Self::AppearsWeak | Self::Falls => Level::Weak,
            Self::Rises | Self::AppearsStrong => Level::Strong,
        }
    }
}

/// What the link layer and the address acquisition module tell (c04 section 2.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// L2 handover completion.
    L2hc(InterfaceId),
    /// The interface that now has the strongest signal.
    MaxIn(InterfaceId),
    /// Change of the signal strength of an interface.
    L2ss(InterfaceId, Change),
    /// An interface has acquired an address.
    Ipac(InterfaceId, SocketAddr),
    /// An address is gone although its signal may be strong. Not in the paper, which knows no other reason to lose an address
    /// than the signal; treated as its loss, as far as the address is concerned.
    AddressLost(IpAddr),
}

/// What is to be told to the stack, which tells the peer (c04 section 2.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// ADDIP.
    AddIp(InterfaceId, SocketAddr),
    /// Set-Primary.
    SetPrimary(InterfaceId, SocketAddr),
    /// DELETEIP.
    DeleteIp(InterfaceId, SocketAddr),
}

/// What the mobile node hears while it changes from one access point to another (c04 section 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LayerTwoHandover {
    /// Both paths, while it is in the overlap.
    #[default]
    Soft,
    /// Only the new one from the moment its handover is complete: that ends the signal of every other interface.
    Hard,
}

/// A row of the address table (c04 Fig. 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The interface.
    pub interface: InterfaceId,
    /// SS.
    pub level: Level,
    /// H flag: its layer-2 handover is complete.
    pub attached: bool,
    /// Empty until IPAC.
    pub address: Option<SocketAddr>,
    /// The address for which ADDIP was triggered, and not DELETEIP since.
    pub added: Option<SocketAddr>,
    /// DELETEIP waits for Set-Primary.
    pub delete_postponed: bool,
}

/// The Address Management Module of c04 section 2.1: decides from the signals of the link layer when to add and delete addresses and
/// when to change the primary path.
#[derive(Clone, Debug)]
pub struct AddressManagement {
    table: Vec<Row>,
    primary: Option<InterfaceId>,
    strongest: Option<InterfaceId>,
    handover: LayerTwoHandover,
}

impl AddressManagement {
    /// With an empty table.
    pub const fn new(handover: LayerTwoHandover) -> Self {
        Self { table: Vec::new(), primary: None, strongest: None, handover }
    }

    /// Says which interface the primary path uses, when the association begins.
    pub fn set_primary(&mut self, primary: Option<InterfaceId>) {
        self.primary = primary;
    }

    /// Takes in a signal; returns what it triggers, in order.
    pub fn on_signal(&mut self, signal: Signal) -> Vec<Trigger> {
        let mut out = Vec::new();
        match signal {
            Signal::L2hc(interface) => self.on_attached(interface, &mut out),
            Signal::MaxIn(interface) => self.strongest = Some(interface),
            Signal::L2ss(interface, change) => self.on_change(interface, change, &mut out),
            Signal::Ipac(interface, address) => self.on_address(interface, address, &mut out),
            Signal::AddressLost(address) => self.on_address_lost(address, &mut out),
        }
        self.seek_primary(&mut out);
        out
    }

    // ---- views

    /// The address table, in the order in which the interfaces were first heard of.
    pub fn table(&self) -> &[Row] {
        &self.table
    }

    /// The interface of the primary path.
    pub const fn primary(&self) -> Option<InterfaceId> {
        self.primary
    }

    /// The interface with the strongest signal.
    pub const fn strongest(&self) -> Option<InterfaceId> {
        self.strongest
    }

    /// SS of an interface.
    pub fn level(&self, interface: InterfaceId) -> Level {
        self.table.iter().find(|row| row.interface == interface).map_or(Level::None, |row| row.level)
    }

    // ---- rules

    fn on_attached(&mut self, interface: InterfaceId, out: &mut Vec<Trigger>) {
        let Some(row) = self.row(interface) else { return };
        let news = !core::mem::replace(&mut row.attached, true);
        self.add_or_replace(interface, out);
        if news && self.handover == LayerTwoHandover::Hard {
            // From now on only the new path is heard.
            let others: Vec<(InterfaceId, Level)> = self
                .table
                .iter()
                .filter(|row| row.interface != interface)
                .map(|row| (row.interface, row.level))
                .collect();
            for (other, level) in others {
                if let Some(change) = Change::between(level, Level::None) {
                    self.on_change(other, change, out);
                }
            }
        }
    }

    fn on_address(&mut self, interface: InterfaceId, address: SocketAddr, out: &mut Vec<Trigger>) {
        let Some(row) = self.row(interface) else { return };
        // A row holds one address (c04 Fig. 3). One of the other IP version stands beside it, and takes nothing's place.
        if row.address.is_some_and(|known| known.is_ipv4() != address.is_ipv4()) {
            return;
        }
        row.address = Some(address);
        self.add_or_replace(interface, out);
    }

    /// ADDIP, once both the layer-2 handover and the address are there. Another address on the same interface takes the place
    /// of the old one.
    fn add_or_replace(&mut self, interface: InterfaceId, out: &mut Vec<Trigger>) {
        let primary = self.primary == Some(interface);
        let Some(row) = self.row(interface) else { return };
        let Some(address) = row.address.filter(|&address| row.attached && row.added != Some(address)) else {
            return;
        };
        let before = row.added.replace(address);
        out.push(Trigger::AddIp(interface, address));
        if let Some(before) = before {
            row.delete_postponed = false;
            if primary {
                out.push(Trigger::SetPrimary(interface, address));
            }
            out.push(Trigger::DeleteIp(interface, before));
        }
    }

    fn on_change(&mut self, interface: InterfaceId, change: Change, out: &mut Vec<Trigger>) {
        let Some(row) = self.row(interface) else { return };
        row.level = change.level();
        if row.level != Level::None {
            // Back before its address was deleted: there is nothing to delete any more.
            row.delete_postponed = false;
            return;
        }
        // The link is lost, and with it the attachment and the address.
        row.attached = false;
        row.address = None;
        self.drop_address(interface, out);
    }

    fn on_address_lost(&mut self, address: IpAddr, out: &mut Vec<Trigger>) {
        let lost = self.table.iter_mut().find(|row| row.address.is_some_and(|known| known.ip() == address));
        if let Some(row) = lost {
            row.address = None;
            let interface = row.interface;
            self.drop_address(interface, out);
        }
    }

    /// DELETEIP now, or together with the Set-Primary that it has to wait for.
    fn drop_address(&mut self, interface: InterfaceId, out: &mut Vec<Trigger>) {
        let primary = self.primary == Some(interface);
        let Some(row) = self.row(interface) else { return };
        if primary {
            row.delete_postponed = row.added.is_some();
        } else if let Some(added) = row.added.take() {
            out.push(Trigger::DeleteIp(interface, added));
        }
    }

    /// While the primary path's interface is not strong: Set-Primary as soon as there is one that is stable.
    fn seek_primary(&mut self, out: &mut Vec<Trigger>) {
        let Some(primary) = self.primary else { return };
        let Some(&old) = self.table.iter().find(|row| row.interface == primary) else { return };
        let lost = old.address.is_none() && old.delete_postponed;
        if old.level == Level::Strong && !lost {
            return;
        }
        let Some((interface, address)) = self.stable().filter(|&(interface, _)| interface != primary) else {
            return;
        };
        self.primary = Some(interface);
        out.push(Trigger::SetPrimary(interface, address));
        if let Some(row) = self.row(primary).filter(|row| row.delete_postponed) {
            row.delete_postponed = false;
            if let Some(added) = row.added.take() {
                out.push(Trigger::DeleteIp(primary, added));
            }
        }
    }

    /// The interface that may become the primary path's: the strongest, above Primary-TH, attached, and with an address.
    fn stable(&self) -> Option<(InterfaceId, SocketAddr)> {
        let strongest = self.strongest?;
        let row = self.table.iter().find(|row| row.interface == strongest)?;
        let address = row.address.filter(|_| row.level == Level::Strong && row.attached)?;
        Some((strongest, address))
    }

    fn row(&mut self, interface: InterfaceId) -> Option<&mut Row> {
        if let Some(at) = self.table.iter().position(|row| row.interface == interface) {
            return self.table.get_mut(at);
        }
        if self.table.len() >= MAX_ROWS {
            return None;
        }
        self.table.push(Row {
            interface,
            level: Level::None,
            attached: false,
            address: None,
            added: None,
            delete_postponed: false,
        });
        self.table.last_mut()
    }
}

#[cfg(test)]
#[path = "management_tests.rs"]
mod tests;
