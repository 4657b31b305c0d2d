//! Associations whose packets are protected, from outside: what is on the wire, who is refused, and what attackers reach.

mod attacks;
mod moves;
mod set_up;

use std::sync::{Arc, Mutex};

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{Forgery, Intruder, LinkConfig, Overheard};
use whimbrel_proto::{CloseReason, Config, Event, KeyExchangeError};
use whimbrel_testbed::{Pair, SeededExchanges, User, remotes};
use whimbrel_wire::{Packet, RawChunk};

/// Messages each way in most tests.
const COUNT: usize = 300;

/// The two ends, which share a secret.
fn configs() -> [Config; 2] {
    [&b"client"[..], b"server"].map(|name| SeededExchanges::new(7, name).protect(Config::mobile()))
}

/// Both hosts have messages of 700 bytes for each other.
fn pair(seed: u64, configs: [Config; 2], links: &[LinkConfig]) -> Pair {
    let links: Vec<_> = links.iter().map(|link| [*link; 2]).collect();
    let client = User::client(&remotes(links.len())).queueing(COUNT, 700);
    Pair::with_configs(seed, configs, &links, client, User::server().queueing(COUNT, 700))
}

/// Everything has arrived at both ends, once and in order, and nobody was told of an end.
fn assert_all_arrived(pair: &Pair) {
    assert_eq!(refusal(pair), None);
    assert_received_all(pair);
}

/// The same, whatever it took to be up.
fn assert_received_all(pair: &Pair) {
    for user in [pair.client(), pair.server()] {
        assert_eq!(user.record.ended(), None);
        assert_eq!(user.record.received.len(), COUNT);
        let numbers: Vec<_> =
            user.record.received.iter().map(|(_, received)| received.payload.clone()).collect();
        let expected: Vec<_> = (0..COUNT).map(|n| whimbrel_testbed::message(0, n, 700).payload).collect();
        assert!(numbers == expected, "something is missing, doubled or out of order");
    }
}

/// Why the client's attempt came to nothing, and when.
fn refusal(pair: &Pair) -> Option<(Instant, CloseReason)> {
    pair.client().record.events.iter().find_map(|(at, event)| match event {
        Event::ConnectFailed { reason, .. } => Some((*at, reason.clone())),
        _ => None,
    })
}

/// Somebody in the network who does this to every packet.
struct Tap<F>(F);

impl<F: FnMut(Instant, Route, &mut Vec<u8>, &mut Vec<Forgery>) + Send> Intruder for Tap<F> {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, forge: &mut Vec<Forgery>) {
        (self.0)(now, packet.route, packet.bytes, forge);
    }
}

fn tap(pair: &mut Pair, act: impl FnMut(Instant, Route, &mut Vec<u8>, &mut Vec<Forgery>) + Send + 'static) {
    pair.world.set_intruder(Some(Box::new(Tap(act))));
}

/// Packets that have arrived, and when.
type Heard = Arc<Mutex<Vec<(Instant, Vec<u8>)>>>;

/// All packets that arrive, as they arrive.
fn listen(pair: &mut Pair) -> Heard {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&heard);
    tap(pair, move |now, _, bytes, _| into.lock().expect("nobody panics").push((now, bytes.clone())));
    heard
}

fn chunks(packet: &[u8]) -> Vec<RawChunk<'_>> {
    let mut chunks = Packet::parse(packet).expect("a packet").chunks();
    core::iter::from_fn(|| chunks.next_raw()).map_while(Result::ok).collect()
}

/// The checksum of a packet that was changed is made right again.
fn correct_checksum(packet: &mut [u8]) {
    packet[8..12].fill(0);
    let crc = crc_fast::crc32_iscsi(packet);
    packet[8..12].copy_from_slice(&crc.to_le_bytes());
}
