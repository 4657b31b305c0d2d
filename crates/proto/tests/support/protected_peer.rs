//! A peer that has proved to be one of those we trust, and then does anything: all that the hostile peer says, under the seal.

use std::sync::Arc;

use bytes::Bytes;
use whimbrel_proto::{
    Command, Config, ConnectToken, KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys,
    PeerKey, RecordCipher, Security,
};
use whimbrel_wire::draft::{CHUNK_DTLS, Dtls};
use whimbrel_wire::{COMMON_HEADER_LEN, ChecksumMode, Packet, Tsn};

use super::hostile_peer::{self, Attack, PEER_PORT, VICTIM_PORT, peer_address, route};
use super::script::Script;
use super::victim::Victim;

/// The TLS content type of what a record holds (chunk draft §5.2).
const APPLICATION_DATA: u8 = 23;

/// The epoch of the first keys (chunk draft §3.1).
const FIRST_EPOCH: u8 = 3;

/// Bytes behind the chunks in a record.
const TYPE_AND_TAG: usize = 1 + 16;

/// Exchanges of packets that a set-up takes at most.
const ROUNDS: usize = 40;

/// One endpoint and a peer with the keys, whose every step is a byte of `bytes`.
///
/// # Panics
/// If anything happens that must not, whatever the peer does.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, hostile_peer::MAX_SCRIPT);
    let choice = script.byte();
    let mut config = hostile_peer::config(choice);
    config.security = Security::Required(Arc::new(KnownKeys));
    let mut attack = Attack::on(config.clone(), Tsn(0));
    let victim_connects = choice & 16 == 0;
    attack.cover = Some(Cover::new(if victim_connects { KeyRole::Server } else { KeyRole::Client }));
    set_up(&mut attack, config, victim_connects);
    attack.run(&mut script);
}

/// Has an honest peer agree on keys with the victim; the attacker, who listens, goes on in its place.
fn set_up(attack: &mut Attack, config: Config, victim_connects: bool) {
    let mut honest = Victim::new(config, vec![peer_address(1), peer_address(2)]);
    honest.command(Command::Listen { port: PEER_PORT });
    if victim_connects {
        attack.call();
    } else {
        honest.command(Command::Connect {
            token: ConnectToken(0),
            remote: vec![route(1, 1).local],
            remote_port: VICTIM_PORT,
            local_port: Some(PEER_PORT),
        });
    }
    for _ in 0..ROUNDS {
        for sent in core::mem::take(&mut honest.sent) {
            let clear = attack.overhear(&sent.bytes);
            attack.victim.deliver_as(sent.route.reversed(), &sent.bytes, &clear);
        }
        for sent in attack.victim.sent.clone() {
            honest.deliver(sent.route.reversed(), &sent.bytes);
        }
        attack.learn();
    }
    assert!(attack.victim.association().is_some() && honest.association().is_some(), "they trust each other");
}

/// What hides the packets of both directions: keys that everybody knows, and the numbers of records.
#[derive(Debug)]
pub(crate) struct Cover {
    /// For what we send, and for what the victim does.
    own: Known,
    victim: Known,
    /// The number of our next record.
    number: u64,
    /// The number of the victim's next record.
    victim_number: u64,
}

impl Cover {
    /// That of a peer which has this role.
    fn new(role: KeyRole) -> Self {
        let (own, victim) = (Known::of(role), Known::to(role));
        Self { own, victim, number: 0, victim_number: 0 }
    }

    /// Seals `chunks`, mostly as it should be.
    pub(crate) fn seal(&mut self, script: &mut Script<'_>, tag: u32, mut chunks: Vec<u8>) -> Vec<u8> {
        let unusual = script.one_in(16);
        let jump = if unusual { script.pick(&[1, 40, 1 << 15, 1 << 17]) } else { 0 };
        let back = if unusual { u64::from(script.byte() & 3) } else { 0 };
        self.number += jump;
        let number = self.number.saturating_sub(back);
        self.number += 1;
        let epoch = if unusual { script.pick(&[FIRST_EPOCH, 0]) } else { FIRST_EPOCH };
        let behind: &[u8] = if unusual {
            script.pick(&[&[APPLICATION_DATA, 0, 0, 0, 0], &[], &[22], &[0; 5]])
        } else {
            &[APPLICATION_DATA]
        };
        chunks.extend_from_slice(behind);
        let tag_of_record = self.own.seal(number, &Dtls::record_header(epoch, number as u16), &mut chunks);
        chunks.extend_from_slice(&tag_of_record);
        let mut record = Dtls::header(epoch, number as u16, chunks.len()).to_vec();
        record.extend_from_slice(&chunks);
        record.resize(record.len().next_multiple_of(4), 0);
        hostile_peer::packet(tag, &record, ChecksumMode::Crc32c)
    }

    /// One of our own packets in clear, before we began to make them.
    pub(crate) fn read_own(&mut self, bytes: &[u8]) -> Vec<u8> {
        read(bytes, &self.own, &mut self.number)
    }

    /// A packet of the victim's in clear.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<u8> {
        read(bytes, &self.victim, &mut self.victim_number)
    }
}

/// The packet without its seal, if it has one and these keys open it; `next` is the number of its sender's next record. Keys that were renewed, and those of
/// another association, begin their numbers anew: what they seal stays as it is.
fn read(bytes: &[u8], keys: &Known, next: &mut u64) -> Vec<u8> {
    let packet = Packet::parse(bytes).expect("checked before");
    let raw = packet.chunks().next_raw().expect("a chunk").expect("checked before");
    if raw.chunk_type() != CHUNK_DTLS {
        return bytes.to_vec();
    }
    let record = Dtls::read(&raw).expect("no others are made");
    let number = *next + u64::from(u16::from_be_bytes(record.number).wrapping_sub(*next as u16));
    let mut content = record.ciphertext.to_vec();
    let header = Dtls::record_header(record.epoch, number as u16);
    if !keys.open(number, &header, &mut content) {
        return bytes.to_vec();
    }
    *next = number + 1;
    content.truncate(content.len() - TYPE_AND_TAG);
    [&bytes[..COMMON_HEADER_LEN], &content].concat()
}

/// Not a cipher: everybody can seal. The tag tells records apart all the same.
#[derive(Debug)]
struct Known {
    from_client: bool,
}

impl Known {
    /// The keys for what this role sends.
    fn of(role: KeyRole) -> Self {
        Self { from_client: role == KeyRole::Client }
    }

    /// The keys for what is sent to this role.
    fn to(role: KeyRole) -> Self {
        Self { from_client: role != KeyRole::Client }
    }

    fn tag(&self, number: u64, header: &[u8], content: &[u8]) -> [u8; 16] {
        let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from(self.from_client);
        for &byte in number.to_be_bytes().iter().chain(header).chain(content) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut tag = [0; 16];
        tag[..8].copy_from_slice(&state.to_be_bytes());
        tag
    }
}

impl RecordCipher for Known {
    fn seal(&self, number: u64, header: &[u8], content: &mut [u8]) -> [u8; 16] {
        self.tag(number, header, content)
    }

    fn open(&self, number: u64, header: &[u8], sealed: &mut [u8]) -> bool {
        let Some((content, tag)) = sealed.split_last_chunk::<16>() else { return false };
        self.tag(number, header, content) == *tag
    }

    fn mask(&self, _sample: &[u8; 16]) -> [u8; 2] {
        [0, 0]
    }
}

/// Exchanges of one word each way, after which both ends have the keys that everybody has.
#[derive(Debug)]
struct KnownKeys;

#[derive(Debug)]
struct OneWord {
    role: KeyRole,
    to_say: bool,
    heard: bool,
    finished: bool,
}

impl KeyExchanges for KnownKeys {
    fn methods(&self) -> &[u8] {
        &[0]
    }

    fn begin(&self, role: KeyRole, _context: &KeyContext, _peer: Option<&PeerKey>) -> Box<dyn KeyExchange> {
        Box::new(OneWord { role, to_say: role == KeyRole::Client, heard: false, finished: false })
    }
}

impl KeyExchange for OneWord {
    fn take(&mut self, message: &[u8]) -> Result<(), KeyExchangeError> {
        if message != b"word" || self.heard {
            return Err(KeyExchangeError::Failed("not the word".to_owned()));
        }
        self.heard = true;
        self.to_say = self.role == KeyRole::Server;
        Ok(())
    }

    fn give(&mut self) -> Option<Vec<u8>> {
        core::mem::take(&mut self.to_say).then(|| b"word".to_vec())
    }

    fn finish(&mut self) -> Option<Keys> {
        if !self.heard || self.to_say || core::mem::replace(&mut self.finished, true) {
            return None;
        }
        let peer = PeerKey(Bytes::from_static(b"trusted"));
        Some(Keys { send: Box::new(Known::of(self.role)), receive: Box::new(Known::to(self.role)), peer })
    }
}
