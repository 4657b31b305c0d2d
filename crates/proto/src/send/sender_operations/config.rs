//! The configurations that the random operations draw from.

use std::sync::Arc;

use whimbrel_path::congestion::{
    BbrParameters, ControllerFactory, CoupledParameters, Coupling, CubicParameters, HyStartParameters,
    PacedParameters, RenoParameters,
};

use crate::config::{
    BufferSplit, BurstLimit, Config, LossDetection, MultipathConfig, OvertakenSacks, PathScheduler,
    RecoveryScope, RetransmissionConfig, RetransmissionOrder, RetransmissionPath, SpuriousLoss, TailLoss,
    WindowGrowth, WindowReduction,
};
use crate::script::Script;

const RETRANSMISSION_PATHS: [RetransmissionPath; 8] = [
    RetransmissionPath::Alternate,
    RetransmissionPath::Primary,
    RetransmissionPath::Same,
    RetransmissionPath::WithRoom,
    RetransmissionPath::LargestWindow,
    RetransmissionPath::LargestThreshold,
    RetransmissionPath::LeastLoss,
    RetransmissionPath::Soonest,
];

/// Each way to detect and repair losses with each controller.
pub(super) fn config(script: &mut Script<'_>) -> Config {
    let mut config = Config::rfc();
    config.retransmission = RetransmissionConfig {
        loss: script.pick(&[
            LossDetection::MissIndications(3),
            LossDetection::MissIndications(4),
            LossDetection::SplitMissIndications(3),
            LossDetection::Rack(3),
        ]),
        recovery: script.pick(&[RecoveryScope::Association, RecoveryScope::Path, RecoveryScope::PathAlone]),
        spurious: script.pick(&[SpuriousLoss::Ignored, SpuriousLoss::Undone]),
        reduction: script.pick(&[WindowReduction::AtOnce, WindowReduction::Proportional]),
        path: script.pick(&RETRANSMISSION_PATHS),
        order: script.pick(&[RetransmissionOrder::PerPath, RetransmissionOrder::LostFirst]),
        tail: TailLoss::Probe,
    };
    config.congestion.burst = script.pick(&[BurstLimit::Packets(4), BurstLimit::AckClocked(4)]);
    config.congestion.controller = script.pick(&[reno, hystart, cubic, bbr, lia, olia, pooling])();
    if script.one_in(2) {
        config.multipath = multipath(script);
        config.limits.send_buffer = script.pick(&[20_000, 1 << 20]);
    }
    config
}

/// Each way to use several paths at once.
fn multipath(script: &mut Script<'_>) -> MultipathConfig {
    let mut config = Config::rfc().combining_paths().multipath;
    config.scheduler = script.pick(&[
        PathScheduler::RoundRobin,
        PathScheduler::LowestRoundTrip,
        PathScheduler::FastestPathFirst,
        PathScheduler::EarliestCompletion,
        PathScheduler::Redundant,
    ]);
    config.growth = script.pick(&[
        WindowGrowth::Acknowledged,
        WindowGrowth::CumulativePoint,
        WindowGrowth::PathPoint,
        WindowGrowth::PathPoints,
    ]);
    config.overtaken = script.pick(&[OvertakenSacks::Reneging, OvertakenSacks::Ignored]);
    config.buffers =
        script.pick(&[BufferSplit::None, BufferSplit::Send, BufferSplit::Receive, BufferSplit::Both]);
    config
}

fn lia() -> Arc<dyn ControllerFactory> {
    Arc::new(CoupledParameters::new(Coupling::Lia))
}

fn olia() -> Arc<dyn ControllerFactory> {
    Arc::new(CoupledParameters::new(Coupling::Olia))
}

fn pooling() -> Arc<dyn ControllerFactory> {
    Arc::new(CoupledParameters::new(Coupling::ResourcePooling))
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
