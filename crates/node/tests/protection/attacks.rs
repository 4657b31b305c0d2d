use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use whimbrel_machine::{Rng, Seed, Unreachable};
use whimbrel_netsim::{Action, Forged};
use whimbrel_proto::Command;
use whimbrel_testbed::{CLIENT, SERVER, address, at, link};
use whimbrel_wire::{
    AbortBuilder, Cause, ChecksumMode, CommonHeader, CookieEcho, Data, EmitChunk, ErrorBuilder, Heartbeat,
    PacketWriter, PayloadProtocolId, SackBuilder, Shutdown, ShutdownAck, ShutdownComplete, Ssn, StreamId,
    Tsn, draft,
};

use super::*;

fn forged(at: Instant, route: Route, bytes: Vec<u8>) -> Forgery {
    Forgery { at, what: Forged::Datagram { route, bytes } }
}

/// A packet with one chunk in clear, with the header of `like`.
fn clear(like: &[u8], chunk: &dyn EmitChunk) -> Vec<u8> {
    let header = Packet::parse(like).expect("a packet").header();
    with_header(header, chunk)
}

fn with_header(header: CommonHeader, chunk: &dyn EmitChunk) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header, 1400);
    assert!(writer.push(&chunk));
    writer.finish(ChecksumMode::Crc32c);
    out
}

fn is_sealed(packet: &[u8]) -> bool {
    packet.get(12) == Some(&draft::CHUNK_DTLS)
}

/// Every sealed packet comes again, at once and later, from where it came and from elsewhere.
#[test]
fn replays_change_nothing() {
    let mut pair = pair(1, configs(), &[link(10, 10), link(10, 20)]);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tap(&mut pair, move |now, route, bytes, forge| {
        if is_sealed(bytes) {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut elsewhere = route;
            elsewhere.local.set_port(40_000);
            forge.push(forged(now, route, bytes.clone()));
            forge.push(forged(now + Duration::from_millis(300), route, bytes.clone()));
            forge.push(forged(now + Duration::from_secs(3), elsewhere, bytes.clone()));
        }
    });
    pair.run(20);
    assert_all_arrived(&pair);
    assert!(count.load(Ordering::Relaxed) > COUNT);
    for host in [pair.client, pair.server] {
        let node = pair.world.machine(host);
        let duplicates: u64 =
            node.associations().filter_map(|(id, _)| node.stats(id)).map(|s| s.duplicates_received).sum();
        assert_eq!(duplicates, 0, "no replay got as far as its DATA");
    }
}

/// Bits flip, anywhere behind the common header: what is bent is lost, and comes again.
#[test]
fn bent_packets_are_lost_packets() {
    for seed in 1..10 {
        let mut pair = pair(seed, configs(), &[link(10, 10)]);
        let mut rng = Seed::from_u64(seed).stream("bends", 0);
        tap(&mut pair, move |_, _, bytes, _| {
            if is_sealed(bytes) && rng.below(10) == 0 {
                let at = 12 + rng.below(bytes.len() as u64 - 12) as usize;
                bytes[at] ^= 1 << rng.below(8);
                correct_checksum(bytes);
            }
        });
        pair.run(40);
        assert_all_arrived(&pair);
    }
}

/// Whoever knows the tags says in clear all that would end, restart or mislead an association in clear.
#[test]
fn nothing_in_clear_reaches_a_protected_association() {
    let data = Data {
        unordered: true,
        beginning: true,
        ending: true,
        immediate: false,
        tsn: Tsn(1),
        stream: StreamId(0),
        ssn: Ssn(0),
        ppid: PayloadProtocolId(0),
        payload: b"planted",
    };
    let mut pair = pair(1, configs(), &[link(10, 10), link(10, 20)]);
    let mut rng: Rng = Seed::from_u64(5).stream("forgeries", 0);
    let mut tags = BTreeMap::new();
    tap(&mut pair, move |now, route, bytes, forge| {
        if !is_sealed(bytes) {
            return;
        }
        let header = Packet::parse(bytes).expect("a packet").header();
        tags.insert(header.destination_port, header.verification_tag);
        // The tag that the other end has given out, as a peer reflects it that has forgotten its own.
        let other = tags.get(&header.source_port).copied().unwrap_or_default();
        let reflected = CommonHeader { verification_tag: other, ..header };
        let complete = ShutdownComplete { tag_reflected: true };
        let abort = AbortBuilder { tag_reflected: false, causes: &[] };
        let tag_reflected = AbortBuilder { tag_reflected: true, causes: &[] };
        let sack = SackBuilder {
            cumulative_tsn_ack: Tsn(rng.next_u32()),
            a_rwnd: 0,
            gap_ack_blocks: &[],
            duplicate_tsns: &[],
        };
        let stale = [Cause::StaleCookie { microseconds: 5 }];
        let packets = [
            clear(bytes, &abort),
            with_header(reflected, &tag_reflected),
            with_header(reflected, &complete),
            clear(bytes, &ShutdownComplete { tag_reflected: false }),
            clear(bytes, &Shutdown { cumulative_tsn_ack: Tsn(rng.next_u32()) }),
            clear(bytes, &ShutdownAck),
            clear(bytes, &sack),
            clear(bytes, &Data { tsn: Tsn(rng.next_u32()), ..data }),
            clear(bytes, &Heartbeat { info: b"are you there" }),
            clear(bytes, &ErrorBuilder { causes: &stale }),
            clear(bytes, &CookieEcho { cookie: b"no cookie at all" }),
        ];
        for packet in packets {
            forge.push(forged(now, route, packet));
        }
    });
    pair.run(20);
    assert_all_arrived(&pair);
    let planted = |user: &User| user.record.received.iter().any(|(_, r)| r.payload[..] == b"planted"[..]);
    assert!(!planted(pair.client()) && !planted(pair.server()));
}

/// A message is planted in clear ahead of the sequence, so that it would be delivered once packets are protected.
#[test]
fn what_was_planted_before_is_forgotten() {
    let mut pair = pair(1, configs(), &[link(10, 10)]);
    let mut first = BTreeMap::new();
    tap(&mut pair, move |now, route, bytes, forge| {
        let mut tells = false;
        for raw in chunks(bytes) {
            let data = match raw.decode() {
                Ok(whimbrel_wire::Chunk::Data(data)) => data,
                // Who is told of them would know that something is wrong.
                Ok(whimbrel_wire::Chunk::Sack(sack)) => {
                    tells |= sack.gap_ack_blocks().next().is_some();
                    continue;
                }
                _ => continue,
            };
            let header = Packet::parse(bytes).expect("a packet").header();
            first.entry(header.verification_tag).or_insert_with(|| {
                // In parts, so that nothing of it is whole before the end of its message comes.
                for ahead in 4..40 {
                    let part = Data {
                        tsn: Tsn(data.tsn.0.wrapping_add(ahead)),
                        beginning: ahead == 4,
                        ending: false,
                        ssn: Ssn(4),
                        payload: b"planted",
                        ppid: PayloadProtocolId(0),
                        ..data
                    };
                    forge.push(forged(now, route, with_header(header, &part)));
                }
            });
        }
        if tells {
            bytes[8] ^= 1;
        }
    });
    pair.run(20);
    assert_all_arrived(&pair);
}

/// The peer's address, its ports, its INIT: without keys it is a stranger, and restarts nothing.
#[test]
fn nobody_restarts_a_protected_association() {
    let mut pair = pair(1, configs(), &[link(10, 10)]);
    let mut seen: Vec<(Route, Vec<u8>)> = Vec::new();
    tap(&mut pair, move |now, route, bytes, forge| {
        // Both packets of the client's handshake are kept, and come again and again.
        match bytes.get(12) {
            Some(1 | 10) => seen.push((route, bytes.clone())),
            _ if is_sealed(bytes) => {
                for (route, packet) in &seen {
                    forge.push(forged(now, *route, packet.clone()));
                }
            }
            _ => {}
        }
    });
    pair.run(20);
    assert_all_arrived(&pair);
    let restarts = |user: &User| user.record.events.iter().any(|(_, e)| matches!(e, Event::Restarted { .. }));
    assert!(!restarts(pair.server()) && !restarts(pair.client()));
}

/// A whole message in clear behind what one end says last in clear, so that it waits for the user when packets are protected.
#[test]
fn what_was_planted_behind_the_last_word_in_clear_is_noticed() {
    for from in [CLIENT, SERVER] {
        let mut pair = pair(1, configs(), &[link(10, 10)]);
        tap(&mut pair, move |now, route, bytes, forge| {
            for raw in chunks(bytes) {
                let Ok(whimbrel_wire::Chunk::Data(data)) = raw.decode() else { continue };
                let installed = data.ppid == draft::PPID_KEY_CONTROL;
                // The client says so in clear. The server does not: somebody says it first.
                let last = if from == CLIENT { installed } else { data.ppid == draft::PPID_TLS_RECORDS };
                if route.local != address(from, 0) || !last {
                    continue;
                }
                let header = Packet::parse(bytes).expect("a packet").header();
                let next = |n: u16| Data {
                    tsn: Tsn(data.tsn.0.wrapping_add(u32::from(n))),
                    ssn: Ssn(data.ssn.0.wrapping_add(n)),
                    ..data
                };
                let word = Data { ppid: draft::PPID_KEY_CONTROL, payload: &[1], ..next(1) };
                let planted = Data { ppid: PayloadProtocolId(0), payload: b"planted", ..next(1) };
                let mut out = Vec::new();
                let mut writer = PacketWriter::new(&mut out, header, 1400);
                assert!(if from == CLIENT {
                    writer.push(&data) && writer.push(&planted)
                } else {
                    writer.push(&word)
                });
                writer.finish(ChecksumMode::Crc32c);
                if from == CLIENT {
                    bytes.clone_from(&out);
                } else {
                    forge.push(forged(now + Duration::from_micros(10), route, out));
                }
                break;
            }
        });
        pair.run(20);
        let received = [pair.client(), pair.server()].map(|user| user.record.received.len());
        assert_eq!(received, [0, 0]);
        let reason = refusal(&pair).map(|(_, reason)| reason);
        let noticed = match &reason {
            Some(CloseReason::Tampered) => from == SERVER,
            Some(reason) => from == CLIENT && reason.to_string().contains("changed"),
            None => false,
        };
        assert!(noticed, "{reason:?}");
    }
}

/// The end of an association is sealed to its last packet, and nobody waits for it.
#[test]
fn the_last_word_is_sealed() {
    let mut pair = pair(1, configs(), &[link(10, 10)]);
    pair.run(20);
    assert_all_arrived(&pair);
    let heard = listen(&mut pair);
    let association = pair.client().association().expect("up");
    pair.world.act(Action::Command(pair.client, Command::Shutdown { association }));
    pair.run(21);
    for host in [pair.client, pair.server] {
        assert_eq!(pair.world.machine(host).association_count(), 0);
    }
    assert!(heard.lock().unwrap().iter().all(|(_, packet)| is_sealed(packet)));
}

/// The peer is not heard for half a minute. Somebody who has seen the tags says all that time that there is no SCTP where the packets go.
#[test]
fn no_message_of_icmp_ends_a_protected_association() {
    for count in [1, 2] {
        let links = [link(10, 10), link(10, 20)];
        let mut pair = pair(1, configs(), &links[..count]);
        tap(&mut pair, move |now, route, bytes, forge| {
            if is_sealed(bytes) {
                for seconds in 0..35 {
                    let reason = Unreachable::Protocol;
                    let what = Forged::Unreachable { route, reason, quoted: bytes.clone() };
                    forge.push(Forgery { at: now + Duration::from_secs(seconds), what });
                }
            }
        });
        for network in 0..count {
            pair.cut(network, at(120));
            pair.heal(network, at(30_000));
        }
        pair.run(60);
        assert_all_arrived(&pair);
    }
}

/// The client's last word in clear gets another TSN on the way. It is its turn all the same, and what it was sent as would come once more, sealed.
#[test]
fn a_last_word_with_another_number_is_noticed() {
    let mut pair = pair(1, configs(), &[link(10, 10)]);
    let mut done = false;
    tap(&mut pair, move |_, route, bytes, _| {
        let Ok(whimbrel_wire::Chunk::Data(data)) = chunks(bytes).last().expect("a chunk").decode() else {
            return;
        };
        if done || route.local != address(CLIENT, 0) || data.ppid != draft::PPID_KEY_CONTROL {
            return;
        }
        done = true;
        let header = Packet::parse(bytes).expect("a packet").header();
        *bytes = with_header(header, &Data { tsn: Tsn(data.tsn.0.wrapping_add(1)), ..data });
    });
    pair.run(20);
    let (_, reason) = refusal(&pair).expect("refused");
    assert!(reason.to_string().contains("changed"), "{reason}");
    assert!(pair.client().record.came_up().is_none() && pair.server().record.came_up().is_none());
}
