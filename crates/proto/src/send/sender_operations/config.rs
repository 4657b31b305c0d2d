//! The configurations that the random operations draw from.

use std::sync::Arc;

use whimbrel_path::congestion::{
    BbrParameters, ControllerFactory, CubicParameters, HyStartParameters, PacedParameters, RenoParameters,
};

use crate::config::{
    BurstLimit, Config, LossDetection, RecoveryScope, RetransmissionConfig, RetransmissionOrder,
    RetransmissionPath, SpuriousLoss, TailLoss, WindowReduction,
};
use crate::script::Script;

/// Each way to detect and repair losses with each controller.
pub(super) fn config(script: &mut Script<'_>) -> Config {
    let mut config = Config::rfc();
    config.retransmission = RetransmissionConfig {
        loss: script.pick(&[
            LossDetection::MissIndications(3),
            LossDetection::MissIndications(4),
            LossDetection::Rack(3),
        ]),
        recovery: script.pick(&[RecoveryScope::Association, RecoveryScope::Path]),
        spurious: script.pick(&[SpuriousLoss::Ignored, SpuriousLoss::Undone]),
        reduction: script.pick(&[WindowReduction::AtOnce, WindowReduction::Proportional]),
        path: script.pick(&[RetransmissionPath::Alternate, RetransmissionPath::Primary]),
        order: script.pick(&[RetransmissionOrder::PerPath, RetransmissionOrder::LostFirst]),
        tail: TailLoss::Probe,
    };
    config.congestion.burst = script.pick(&[BurstLimit::Packets(4), BurstLimit::AckClocked(4)]);
    config.congestion.controller = script.pick(&[reno, hystart, cubic, bbr])();
    config
}

fn reno() -> Arc<dyn ControllerFactory> {
    Arc::new(RenoParameters::default())
}

fn hystart() -> Arc<dyn ControllerFactory> {
    Arc::new(HyStartParameters::around(RenoParameters::default()))
}

fn cubic() -> Arc<dyn ControllerFactory> {
    Arc::new(PacedParameters::around(CubicParameters::default()))
}

fn bbr() -> Arc<dyn ControllerFactory> {
    Arc::new(BbrParameters::default())
}
