//! What the correspondent sends to the terminal's new address, and what of it comes out at the target.

use core::net::SocketAddr;

use whimbrel_machine::Route;

use super::{CORRESPONDENT, Scene, TARGET, address, gateway_config};

/// Packets by number.
#[derive(Default)]
pub(crate) struct Data {
    pub(crate) sent: u32,
    pub(crate) out: Vec<u32>,
}

impl Data {
    /// One more, if the target runs and waits for somebody there, or somebody is there.
    pub(crate) fn send(&mut self, scene: &mut Scene) {
        let new = address(TARGET, 2).ip();
        if !scene.runs(TARGET) || !scene.gateway(TARGET).sessions().any(|session| session.terminal == new) {
            return;
        }
        let (new, cn) = (SocketAddr::new(new, 0), SocketAddr::new(address(CORRESPONDENT, 0).ip(), 0));
        let mut packet = vec![0; 500];
        packet[..4].copy_from_slice(&self.sent.to_be_bytes());
        self.sent += 1;
        let passed = scene.deliver(TARGET, Route { local: new, remote: cn }, &packet);
        self.take(passed);
        assert!(scene.gateway(TARGET).held_bytes() <= gateway_config(TARGET).resources.buffer);
    }

    /// What has come out meanwhile.
    pub(crate) fn collect(&mut self, scene: &mut Scene) {
        let released = core::mem::take(&mut scene.released);
        self.take(released);
    }

    fn take(&mut self, packets: Vec<(Route, Vec<u8>)>) {
        for (_, bytes) in packets {
            self.out.push(u32::from_be_bytes(bytes[..4].try_into().unwrap()));
        }
    }
}
