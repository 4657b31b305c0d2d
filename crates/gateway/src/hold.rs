//! Where packets wait for terminals on their way: the kernel sends them to a TUN device, and takes them back from there.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use tun_rs::{AsyncDevice, DeviceBuilder};

use crate::kernel::{Kernel, Link};

/// The device's name.
const DEVICE: &str = "whimbrel-hold";
/// An address that means nobody (RFC 7600 §4.8).
const DUMMY: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 8);
/// Bytes of a packet at most; Ethernet's jumbo frames have fewer.
pub(crate) const PACKET_MAX: usize = 9216;

/// The device, and which addresses lead there.
pub(crate) struct Hold {
    kernel: Kernel,
    device: AsyncDevice,
    link: Link,
    v6: bool,
    held: BTreeSet<IpAddr>,
}

impl Hold {
    /// Makes the device, and the rules by which packets get there; none does yet.
    pub(crate) async fn open(kernel: &Kernel, v6: bool) -> io::Result<Self> {
        let mut device = DeviceBuilder::new().name(DEVICE).mtu(PACKET_MAX as u16);
        if !v6 {
            device = device.ipv4(DUMMY, 32_u8, None);
        }
        let device = device.build_async().map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => {
                io::Error::other(format!("{DEVICE} is there: another gateway runs on this machine"))
            }
            _ => error,
        })?;
        let link = kernel.link(DEVICE).await?;
        // What has waited comes back by a device that leads nowhere. Strict reverse path filtering (RFC 3704 §2.2) would drop it; Linux's loose one does so, too,
        // if the device has no address.
        if !v6 {
            std::fs::write(format!("/proc/sys/net/ipv4/conf/{DEVICE}/rp_filter"), "2")?;
        }
        kernel.add_rules(DEVICE, v6).await?;
        Ok(Self { kernel: kernel.clone(), device, link, v6, held: BTreeSet::new() })
    }

    /// Has packets wait for these addresses and no others, as far as the kernel lets it.
    pub(crate) async fn set(&mut self, expected: &BTreeSet<IpAddr>) -> io::Result<()> {
        let mut outcome = Ok(());
        for address in self.held.difference(expected).copied().collect::<Vec<_>>() {
            match self.kernel.release(self.link, address).await {
                Ok(()) => _ = self.held.remove(&address),
                Err(error) => outcome = Err(error),
            }
        }
        for address in expected.difference(&self.held).copied().collect::<Vec<_>>() {
            match self.kernel.hold(self.link, address).await {
                Ok(()) => _ = self.held.insert(address),
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    /// The next packet that is to wait: where it goes, and from where it comes.
    pub(crate) async fn next(&self, buffer: &mut [u8]) -> io::Result<(usize, Option<(IpAddr, IpAddr)>)> {
        let length = self.device.recv(buffer).await?;
        Ok((length, addresses(&buffer[..length])))
    }

    /// Lets a packet go on.
    pub(crate) async fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.device.send(packet).await.map(|_| ())
    }

    /// Takes the rules back; the device goes with this process.
    pub(crate) async fn close(self) {
        self.kernel.delete_rules(self.v6).await;
    }
}

/// Destination and source of an IP packet; `None` if it is none.
pub(crate) fn addresses(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    match packet.first()? >> 4 {
        4 => {
            let octets = |at: usize| packet.get(at..at + 4)?.first_chunk::<4>().copied();
            Some((octets(16)?.into(), octets(12)?.into()))
        }
        6 => {
            let octets = |at: usize| packet.get(at..at + 16)?.first_chunk::<16>().copied();
            Some((octets(24)?.into(), octets(8)?.into()))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "hold_tests.rs"]
mod tests;
