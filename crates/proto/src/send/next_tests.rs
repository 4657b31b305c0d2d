//! What a controller that paces makes of trains, and what it is told.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use whimbrel_wire::{GapAckBlock, Tsn};

use super::*;
use crate::config::Config;
use crate::path::congestion::{
    Acked, CongestionControl, ControllerFactory, Lost, NewPath, Pacing, Sent as Departure,
};
use crate::send::testing::Rig;

const A: PathId = PathId(0);
const WINDOW: u32 = 1_000_000;
const MS: Duration = Duration::from_millis(1);
/// Chunks of 1000 bytes of user data.
const CHUNK: usize = 1016;

/// What controllers are told, one line each.
type Told = Arc<Mutex<Vec<String>>>;

/// A window that is never full, of which four chunks leave in 4 ms.
#[derive(Debug)]
struct Steady(Told);

impl Steady {
    fn hear(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl CongestionControl for Steady {
    fn cwnd(&self) -> usize {
        1_000_000
    }

    fn ssthresh(&self) -> usize {
        1_000_000
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.hear(format!("acked {} of {:?}, {} left", acked.bytes, acked.newest_sent, acked.in_flight));
    }

    fn on_fast_retransmit(&mut self) {}

    fn on_timeout(&mut self) {}

    fn on_idle_period(&mut self) {}

    fn on_packet_size(&mut self, _pmdcs: usize) {}

    fn install(&mut self, _cwnd: usize, _ssthresh: usize) {}

    fn on_sent(&mut self, sent: &Departure) {
        self.hear(format!("sent {} of {}", sent.bytes, sent.in_flight));
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.hear(format!("lost {} of {:?}", lost.bytes, lost.newest_sent));
    }

    fn on_app_limited(&mut self, in_flight: usize) {
        self.hear(format!("limited at {in_flight}"));
    }

    fn pacing(&self) -> Option<Pacing> {
        Some(Pacing { rate: CHUNK as u64 * 1000, quantum: 4 * CHUNK })
    }
}

#[derive(Debug, Default)]
struct SteadyParameters(Told);

impl ControllerFactory for SteadyParameters {
    fn controller(&self, _path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Steady(Arc::clone(&self.0)))
    }
}

fn rig() -> (Rig, Told) {
    let told = Told::default();
    let mut config = Config::mobile();
    // A message is one chunk, and fills a packet.
    config.pmtu.cut_for = None;
    config.congestion.controller = Arc::new(SteadyParameters(Arc::clone(&told)));
    (Rig::new(config, Tsn(1), WINDOW), told)
}

/// Packets of each train that may leave now.
fn trains(rig: &mut Rig) -> Vec<usize> {
    let mut trains = Vec::new();
    rig.sender.opportunity();
    while let Some(written) = rig.turn(Permit::Everything, 64) {
        trains.push(written.packets.len());
    }
    trains
}

fn queue(rig: &mut Rig, messages: usize) {
    (0..messages).for_each(|_| assert!(rig.send(0, 1000, usize::MAX)));
}

/// A quantum, and the next one when that has had its time; nothing is asked for once nothing waits.
#[test]
fn a_train_is_no_longer_than_the_quantum() {
    let (mut rig, _) = rig();
    queue(&mut rig, 10);
    assert_eq!(trains(&mut rig), [4]);
    assert_eq!(rig.sender.next_departure(), Some(rig.now + MS * 4));
    rig.pass(MS * 3);
    assert_eq!(trains(&mut rig), [0; 0]);
    rig.pass(MS);
    assert_eq!(trains(&mut rig), [4]);
    rig.pass(MS * 4);
    assert_eq!((trains(&mut rig), rig.sender.next_departure()), (vec![2], None));
}

/// Of what is lost one packet goes at once (RFC 9260 §7.2.4 step 3), whatever the pace, and the rest waits for it.
#[test]
fn retransmissions_are_paced() {
    let (mut rig, told) = rig();
    queue(&mut rig, 40);
    for _ in 0..10 {
        assert_eq!(trains(&mut rig), [4]);
        rig.pass(MS * 4);
    }
    // A quantum leaves before the losses are known.
    queue(&mut rig, 4);
    assert_eq!(trains(&mut rig), [4]);
    for last in 41..44 {
        rig.sack(Tsn(0), &[GapAckBlock { start: 21, end: last }], WINDOW).unwrap();
    }
    let lost: Vec<_> = told.lock().unwrap().iter().filter(|told| told.starts_with("lost")).cloned().collect();
    assert_eq!(lost, ["lost 20320 of 0.016000000s"], "twenty chunks, the last of which left after 16 ms");
    assert_eq!(trains(&mut rig), [1]);
    for _ in 0..5 {
        let departure = rig.sender.next_departure().expect("more is lost");
        rig.pass(departure - rig.now);
        // Each packet of lost chunks is a train.
        assert!((3..=5).contains(&trains(&mut rig).len()), "a quantum");
    }
    assert!(!rig.sender.has_lost());
}

/// A tail probe leaves at once.
#[test]
fn tail_probes_are_not_paced() {
    let (mut rig, _) = rig();
    queue(&mut rig, 10);
    assert_eq!(trains(&mut rig), [4]);
    let (paths, now) = (&rig.paths, rig.now);
    assert!(rig.sender.probe_tail(paths, A, now, Duration::ZERO).is_some());
    assert_ne!(trains(&mut rig), [0; 0]);
}

#[test]
fn controllers_are_told_what_leaves_and_what_arrives() {
    let (mut rig, told) = rig();
    queue(&mut rig, 2);
    assert_eq!(trains(&mut rig), [2]);
    let sent = rig.now;
    rig.pass(MS * 50);
    rig.sack(Tsn(1), &[], WINDOW).unwrap();
    let expected = [
        "sent 1016 of 1016".to_owned(),
        "sent 1016 of 2032".to_owned(),
        "limited at 2032".to_owned(),
        format!("acked 1016 of {:?}, 1016 left", Some(sent)),
    ];
    let told = told.lock().unwrap();
    let of_path: Vec<_> = told.iter().filter(|told| *told != "limited at 0").cloned().collect();
    assert_eq!(of_path, expected);
}
