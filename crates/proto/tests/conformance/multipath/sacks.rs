//! SACKs where several paths carry data.

use super::*;
use whimbrel_proto::{NewRoute, OutOfOrder, OvertakenSacks, SackForm};
use whimbrel_testbed::SERVER;

/// Ten seconds over paths with 20 and 60 ms: Mbit/s, and packets that the receiver has sent for each that it has got.
fn acknowledged(config: Config) -> (Outcome, f64) {
    let places = [place(20, 20, 4 << 20), place(20, 60, 4 << 20)];
    let mut bulk = Bulk::over(&places, config.clone(), 10);
    bulk.pass(Duration::from_secs(10));
    let counters = bulk.pair.paths(SERVER);
    let sent: u64 = counters.iter().map(|path| path.counters.packets_sent).sum();
    let received: u64 = counters.iter().map(|path| path.counters.packets_received).sum();
    (run(&places, config, 10), sent as f64 / received as f64)
}

/// Delayed acknowledgement for multipath (DAC) saves SACKs, if not half of them: a window that is full, or one that has opened, is told of at once. Losses
/// are found as well by time as by counted packets.
#[test]
fn delayed_acknowledgement_saves_sacks() {
    for loss in [LossDetection::Rack(3), LossDetection::SplitMissIndications(3)] {
        let mut config = Name::Reno.mobile().combining_paths();
        config.retransmission.loss = loss;
        let (at_once, all) = acknowledged(config.clone());
        config.sack.out_of_order = OutOfOrder::Delay;
        config.sack.new_route = NewRoute::Delay;
        let (delayed, half) = acknowledged(config);
        println!("{loss:?}: {all:.2} and {half:.2} packets back for each, {at_once:.1?} and {delayed:.1?}");
        assert!(all > 0.9 && half < 0.85, "{loss:?}: {all:.2} and {half:.2}");
        assert!(
            delayed.goodput > 0.93 * at_once.goodput && delayed.totals.duplicates < 500,
            "{loss:?}: {at_once:.1?} and {delayed:.1?}"
        );
    }
}

/// What mechanisms are for: Split Fast Retransmit, and SACKs that another one has overtaken.
#[test]
fn each_mechanism_does_something() {
    let places = [place(20, 20, 4 << 20), place(20, 60, 4 << 20)];
    let with = |change: &dyn Fn(&mut Config)| {
        let mut config = combining(Name::Reno.mobile(), PathScheduler::RoundRobin);
        config.retransmission.loss = LossDetection::SplitMissIndications(3);
        change(&mut config);
        run(&places, config, 10)
    };
    let all = with(&|_| {});
    let unsplit = with(&|config| config.retransmission.loss = LossDetection::MissIndications(3));
    let reneging = with(&|config| config.multipath.overtaken = OvertakenSacks::Reneging);
    println!("{all:.1?}, {unsplit:.1?}, {reneging:.1?}");
    assert_eq!(all.totals.duplicates, 0);
    for without in [unsplit, reneging] {
        assert!(without.totals.duplicates > 100, "{without:?}");
        assert!(without.goodput < 0.9 * all.goodput, "{without:?} and {all:?}");
    }
}

/// Chunks that have been delivered though something before them is missing make room for others, so that a small buffer of the sender holds up less where
/// paths have their turn in whatever order. The receive buffer does not matter here: it has room for what has been delivered, told or not.
#[test]
fn nr_sacks_save_buffer() {
    let goodput = |form| {
        let mut config = combining(Name::Reno.mobile(), PathScheduler::RoundRobin);
        config.sack.form = form;
        let of = |(buffers, loss)| {
            let places = [20, 60].map(|rtt| Place { loss, ..place(20, rtt, buffers) });
            let mut bulk = Bulk::of_messages(&places, config.clone(), 20, 1_000, 10);
            bulk.pass(Duration::from_secs(20));
            bulk.totals().mbit(Totals::default(), Duration::from_secs(20))
        };
        [(64 << 10, 0.0), (128 << 10, 0.0), (128 << 10, 0.001)].map(of)
    };
    let [sacks, nr_sacks] = [SackForm::Renegable, SackForm::NonRenegable].map(goodput);
    println!("{sacks:.2?} and {nr_sacks:.2?} Mbit/s");
    assert!(
        nr_sacks.iter().sum::<f64>() > 1.03 * sacks.iter().sum::<f64>(),
        "{sacks:.2?} and {nr_sacks:.2?}"
    );
}
