//! Scenes for tests, in which both ends of a session and their gateway ask after each other.

use core::time::Duration;

use crate::GatewayConfig;
use crate::sip::SipConfig;
use crate::testing::Scene;

/// They ask after `interval`.
pub(crate) fn supervised(interval: Duration) -> impl Fn(usize, GatewayConfig) -> GatewayConfig {
    move |_, config| {
        let sip = SipConfig { supervision: Some(interval), ..config.sip };
        GatewayConfig { sip, ..config }
    }
}

/// The same with a session.
pub(crate) fn talking(interval: Duration) -> Scene {
    let mut scene = Scene::with(1, supervised(interval));
    scene.talk();
    scene
}
