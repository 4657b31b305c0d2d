//! Every state of a chunk and everything that can happen to it, as the table `chunk_states.txt`: under each state the events, and
//! what the chunk is afterwards if that is anything else. A new rule changes the table: the failure prints the new one.

use core::fmt::Write;
use core::time::Duration;

use whimbrel_wire::{GapAckBlock, Tsn};

use super::*;
use crate::config::Config;
use crate::send::testing::Rig;
use crate::send::turn::Permit;

const HERE: PathId = PathId(0);
/// Where the retransmission rule sends what T3-rtx of path 0 has shown to be lost: nothing is shared with that.
const THERE: PathId = PathId(3);
const WINDOW: u32 = 100_000;

/// The chunk looked at: the second of six, each in a packet of its own. The first is never acknowledged unless with it.
const CHUNK: u32 = 2;
const CHUNKS: u32 = 6;

/// A sender with six chunks, sent on path 0, and what SACKs have acknowledged of them.
struct Scene {
    rig: Rig,
    acknowledged: Vec<u32>,
}

impl Scene {
    fn new() -> Self {
        let mut rig = Rig::new(Config::rfc(), Tsn(1), WINDOW);
        rig.sender.install(HERE, Some(WINDOW as usize), None);
        for _ in 0..CHUNKS {
            assert!(rig.send(0, 1000, usize::MAX));
        }
        let mut scene = Self { rig, acknowledged: Vec::new() };
        while scene.rig.turn(Permit::Everything, 1).is_some() {
            scene.rig.pass(Duration::from_millis(1));
        }
        assert_eq!(scene.chunk(), "in flight on 0");
        scene
    }

    /// A SACK with gap ack blocks for what is acknowledged.
    fn sack(&mut self) {
        self.acknowledged.sort_unstable();
        let block = |&tsn: &u32| GapAckBlock { start: tsn as u16, end: tsn as u16 };
        let blocks: Vec<GapAckBlock> = self.acknowledged.iter().map(block).collect();
        self.rig.sack(Tsn(0), &blocks, WINDOW).expect("a true SACK");
    }

    /// A SACK that acknowledges one chunk more, above the one looked at.
    fn sack_of_another(&mut self) {
        let next = (CHUNK + 1..=CHUNKS).find(|tsn| !self.acknowledged.contains(tsn));
        self.acknowledged.extend(next);
        self.sack();
    }

    fn send_again(&mut self) {
        self.rig.pass(Duration::from_millis(1));
        while self.rig.turn(Permit::Retransmissions, 1).is_some() {}
    }

    /// What has become of the chunk.
    fn chunk(&self) -> String {
        let Some(chunk) = self.rig.sender.outstanding.get(Tsn(CHUNK)) else { return "released".to_owned() };
        let mut out = match chunk.state {
            ChunkState::InFlight => format!("in flight on {}", chunk.path.0),
            ChunkState::GapAcknowledged => "gap-acked".to_owned(),
            ChunkState::Lost(Loss::Missing) => "lost: missing".to_owned(),
            ChunkState::Lost(Loss::Timeout) => "lost: timeout".to_owned(),
            ChunkState::Lost(Loss::Late) => "lost: late".to_owned(),
            ChunkState::Lost(Loss::Outage) => "lost: in an outage".to_owned(),
        };
        // Nothing counts against a chunk but while it is in flight.
        if chunk.state == ChunkState::InFlight {
            match chunk.misses {
                Misses { fast_retransmitted: true, .. } => out += ", no more fast",
                Misses { indications: 0, .. } => {}
                Misses { indications, .. } => write!(out, ", {indications} missed").expect("a string"),
            }
        }
        out
    }
}

type Step = (&'static str, fn(&mut Scene));

const STATES: [Step; 10] = [
    ("sent", |_| {}),
    ("missed twice", |scene| (0..2).for_each(|_| scene.sack_of_another())),
    ("gap-acked", |scene| {
        scene.acknowledged.push(CHUNK);
        scene.sack();
    }),
    ("lost: missing", |scene| (0..3).for_each(|_| scene.sack_of_another())),
    ("sent again: missing", |scene| {
        (0..3).for_each(|_| scene.sack_of_another());
        scene.send_again();
    }),
    ("lost: timeout", |scene| scene.rig.expire(HERE)),
    ("sent again: timeout", |scene| {
        scene.rig.expire(HERE);
        scene.send_again();
    }),
    ("sent again: timeout, then gap-acked", |scene| {
        scene.rig.expire(HERE);
        scene.send_again();
        scene.acknowledged.push(CHUNK);
        scene.sack();
    }),
    ("gap-acked, then 0 has gone", |scene| {
        scene.acknowledged.push(CHUNK);
        scene.sack();
        scene.rig.remove(HERE);
    }),
    ("lost, then 0 has gone, then gap-acked", |scene| {
        scene.rig.remove(HERE);
        scene.acknowledged.push(CHUNK);
        scene.sack();
    }),
];

const EVENTS: [Step; 13] = [
    ("Cumulative TSN Ack", |scene| scene.rig.sack(Tsn(CHUNK), &[], WINDOW).expect("a true SACK")),
    ("in a gap ack block", |scene| {
        scene.acknowledged.push(CHUNK);
        scene.acknowledged.dedup();
        scene.sack();
    }),
    ("in none, another newly is", |scene| {
        scene.acknowledged.retain(|&tsn| tsn != CHUNK);
        scene.sack_of_another();
    }),
    ("in none, nothing is new", |scene| {
        scene.acknowledged.retain(|&tsn| tsn != CHUNK);
        scene.sack();
    }),
    ("SHUTDOWN behind it", |scene| scene.rig.shutdown_ack(Tsn(CHUNK)).expect("a true SHUTDOWN")),
    ("SHUTDOWN before it", |scene| scene.rig.shutdown_ack(Tsn(CHUNK - 1)).expect("a true SHUTDOWN")),
    ("T3-rtx of 0", |scene| scene.rig.expire(HERE)),
    ("T3-rtx of 3", |scene| scene.rig.expire(THERE)),
    ("0 is given up", |scene| scene.rig.give_up(HERE)),
    ("3 is given up", |scene| scene.rig.give_up(THERE)),
    ("0 goes", |scene| scene.rig.remove(HERE)),
    ("3 goes", |scene| scene.rig.remove(THERE)),
    ("retransmission", Scene::send_again),
];

#[test]
fn every_state_meets_every_event() {
    let mut table = String::new();
    for (state, prepare) in STATES {
        writeln!(table, "{state}").expect("a string");
        for (event, happen) in EVENTS {
            let mut scene = Scene::new();
            prepare(&mut scene);
            let before = scene.chunk();
            happen(&mut scene);
            let after = scene.chunk();
            let after = if after == before { "-" } else { &after };
            writeln!(table, "    {event:25} {after}").expect("a string");
        }
    }
    assert!(table == include_str!("chunk_states.txt"), "chunk_states.txt says otherwise:\n{table}");
}
