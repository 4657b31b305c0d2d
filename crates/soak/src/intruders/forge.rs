//! Makes chunks and packets of every kind, more or less well formed.

use core::net::{IpAddr, Ipv4Addr};

use whimbrel_wire::{
    Abort, AddressRequest, AsconfAckBuilder, AsconfBuilder, Auth, Causes, ChecksumMode, CommonHeader,
    CookieAck, CookieEcho, Data, EmitChunk, ErrorChunk, Heartbeat, HeartbeatAck, InitAckBuilder, InitBuilder,
    PacketWriter, Parameter, SackBuilder, Shutdown, ShutdownAck, ShutdownComplete, Ssn, StreamId, Tsn,
    chunk_type,
};

use crate::draw::Draw;

/// The attacker's own address.
pub(super) const LAIR: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 66));

/// What forgeries are made of: guesses, or what has been overheard.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// A TSN of the pretended sender.
    pub(super) tsn: u32,
    /// A TSN of the victim.
    pub(super) peer_tsn: u32,
    /// A sequence number of an ASCONF of the pretended sender.
    pub(super) serial: u32,
    /// Addresses of the pretended sender and others worth naming.
    pub(super) addresses: Vec<IpAddr>,
    /// For INIT and INIT ACK.
    pub(super) tag: u32,
}

/// A chunk that is written as it is.
struct Raw(Vec<u8>);

impl EmitChunk for Raw {
    fn wire_len(&self) -> usize {
        self.0.len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

fn encoded(chunk: &impl EmitChunk) -> Vec<u8> {
    let mut bytes = Vec::new();
    chunk.emit(&mut bytes);
    bytes
}

/// A packet of these chunks, which may have been cut short, with a right checksum.
pub(super) fn packet(header: CommonHeader, chunks: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = PacketWriter::new(&mut bytes, header, usize::MAX);
    let _ = writer.push(&Raw(chunks.to_vec()));
    writer.finish(ChecksumMode::Crc32c);
    bytes
}

/// One to three chunks; now and then the last one lies about its length.
pub(super) fn chunks(draw: &mut Draw, facts: &Facts) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..draw.one_of(&[1, 1, 1, 2, 3]) {
        let start = out.len();
        out.extend(chunk(draw, facts));
        if draw.chance(0.05) {
            let cut = start + draw.between(0, (out.len() - start) as u64) as usize;
            out.truncate(cut / 4 * 4);
        }
        if draw.chance(0.05) && out.len() >= start + 4 {
            out[start + 3] = out[start + 3].wrapping_add(draw.between(0, 255) as u8);
        }
    }
    out
}

fn chunk(draw: &mut Draw, facts: &Facts) -> Vec<u8> {
    let near = |draw: &mut Draw, tsn: u32| tsn.wrapping_add(draw.one_of(&[0, 1, 2, 10, 1 << 16, u32::MAX]));
    match draw.between(0, 19) {
        0 | 1 => data(draw, facts),
        2 => {
            let sack = SackBuilder {
                cumulative_tsn_ack: Tsn(near(draw, facts.peer_tsn)),
                a_rwnd: draw.one_of(&[0, 100, 1 << 20, u32::MAX]),
                gap_ack_blocks: &[],
                duplicate_tsns: &[],
            };
            encoded(&sack)
        }
        3 => encoded(&Heartbeat { info: b"who are you" }),
        4 => encoded(&HeartbeatAck { info: &draw.0.next_u64().to_be_bytes() }),
        5 => encoded(&Abort { tag_reflected: draw.chance(0.5), causes: Causes::from_wire(&[]) }),
        6 => encoded(&Shutdown { cumulative_tsn_ack: Tsn(near(draw, facts.peer_tsn)) }),
        7 => encoded(&ShutdownAck),
        8 => encoded(&ShutdownComplete { tag_reflected: draw.chance(0.5) }),
        // Stale Cookie, Unrecognized Chunk Type of an ASCONF, Out of Resource.
        9 => encoded(&ErrorChunk {
            causes: Causes::from_wire(draw.one_of(&[
                &[0, 3, 0, 8, 0, 0, 0, 9][..],
                &[0, 6, 0, 8, 0xc1, 0, 0, 4][..],
                &[0, 4, 0, 4][..],
            ])),
        }),
        10 => encoded(&CookieEcho { cookie: &[7; 120] }),
        11 => encoded(&CookieAck),
        12 => init(draw, facts, draw_ack(facts)),
        13 | 14 => asconf(draw, facts),
        15 => [auth(draw), asconf(draw, facts)].concat(),
        16 => [auth(draw), data(draw, facts)].concat(),
        17 => {
            let ack = AsconfAckBuilder { sequence_number: near(draw, facts.serial), parameters: &[] };
            encoded(&ack)
        }
        // FORWARD TSN, far ahead.
        18 => raw(chunk_type::FORWARD_TSN, &near(draw, facts.tsn).wrapping_add(1000).to_be_bytes()),
        _ => {
            let mut value = vec![0; draw.between(0, 60) as usize];
            draw.0.fill(&mut value);
            raw(draw.between(0, 255) as u8, &value)
        }
    }
}

/// INIT ACK where the tag is known to be right, INIT otherwise.
fn draw_ack(facts: &Facts) -> bool {
    facts.tag % 2 == 1
}

fn raw(chunk_type: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![chunk_type, 0];
    bytes.extend_from_slice(&(4 + value.len() as u16).to_be_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn data(draw: &mut Draw, facts: &Facts) -> Vec<u8> {
    let data = Data {
        immediate: draw.chance(0.5),
        unordered: draw.chance(0.3),
        beginning: draw.chance(0.8),
        ending: draw.chance(0.8),
        tsn: Tsn(facts.tsn.wrapping_add(draw.one_of(&[0, 1, 2, 5, 100, 1 << 20]))),
        stream: StreamId(draw.one_of(&[0, 1, 7, u16::MAX])),
        ssn: Ssn(draw.between(0, 5) as u16),
        ppid: whimbrel_wire::PayloadProtocolId(0x0100_0000 | draw.between(0, 20) as u32),
        payload: b"forged",
    };
    encoded(&data)
}

/// An INIT or INIT ACK that names other hosts' addresses. Without a cookie of the victim's nothing comes of it.
fn init(draw: &mut Draw, facts: &Facts, ack: bool) -> Vec<u8> {
    let mut parameters: Vec<Parameter<'_>> = facts
        .addresses
        .iter()
        .filter(|_| draw.chance(0.3))
        .map(|&address| Parameter::from(address))
        .collect();
    parameters.push(Parameter::from(LAIR));
    parameters.push(Parameter::SupportedExtensions(&[
        chunk_type::ASCONF,
        chunk_type::ASCONF_ACK,
        chunk_type::AUTH,
    ]));
    let (initiate_tag, initial_tsn) = (facts.tag.max(1), Tsn(facts.tsn));
    let (a_rwnd, outbound_streams, inbound_streams) = (100_000, 10, 10);
    if ack {
        parameters.push(Parameter::StateCookie(&[9; 100]));
        let parameters = &parameters[..];
        encoded(&InitAckBuilder {
            initiate_tag,
            a_rwnd,
            outbound_streams,
            inbound_streams,
            initial_tsn,
            parameters,
        })
    } else {
        let parameters = &parameters[..];
        encoded(&InitBuilder {
            initiate_tag,
            a_rwnd,
            outbound_streams,
            inbound_streams,
            initial_tsn,
            parameters,
        })
    }
}

/// Takes the pretended sender's addresses away and brings in others (RFC 5062 §2 to §5).
fn asconf(draw: &mut Draw, facts: &Facts) -> Vec<u8> {
    let named = |draw: &mut Draw| -> IpAddr {
        let nth = draw.between(0, facts.addresses.len() as u64) as usize;
        let wildcard = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let known = facts.addresses.get(nth).copied().unwrap_or(wildcard);
        draw.one_of(&[LAIR, wildcard, known, known])
    };
    let requests: Vec<Parameter<'_>> = (0..draw.between(1, 4) as u32)
        .map(|correlation_id| {
            let request = AddressRequest { correlation_id, address: named(draw) };
            match draw.between(0, 2) {
                0 => Parameter::AddIpAddress(request),
                1 => Parameter::DeleteIpAddress(request),
                _ => Parameter::SetPrimaryAddress(request),
            }
        })
        .collect();
    let address = named(draw);
    let sequence_number = facts.serial.wrapping_add(draw.one_of(&[0, 1, 1, 1, 2]));
    encoded(&AsconfBuilder { sequence_number, address, parameters: &requests })
}

/// AUTH with an HMAC out of thin air.
fn auth(draw: &mut Draw) -> Vec<u8> {
    let mut hmac = [0; 32];
    draw.0.fill(&mut hmac);
    let (hmac_id, len) = draw.one_of(&[(1, 20), (3, 32)]);
    encoded(&Auth { shared_key_id: draw.one_of(&[0, 1]), hmac_id, hmac: &hmac[..len] })
}
