use whimbrel_wire::{
    Cause, ChecksumMode, Chunk, CommonHeader, Data, EmitChunk, Heartbeat, Packet, PacketWriter,
    PayloadProtocolId, Ssn, StreamId, Tsn,
};

use super::{Bench, Peer, Sent};

/// A packet with `chunks`.
pub fn packet(header: CommonHeader, chunks: &[&dyn EmitChunk]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header, usize::MAX);
    for chunk in chunks {
        assert!(writer.push(chunk));
    }
    writer.finish(ChecksumMode::Crc32c);
    out
}

/// Bytes of a chunk that is written as they are.
pub struct Raw(pub Vec<u8>);

impl Raw {
    /// A chunk of any type with any value, padded.
    pub fn chunk(chunk_type: u8, flags: u8, value: &[u8]) -> Self {
        let mut bytes = vec![chunk_type, flags];
        bytes.extend_from_slice(&(4 + value.len() as u16).to_be_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Self(bytes)
    }
}

impl EmitChunk for Raw {
    fn wire_len(&self) -> usize {
        self.0.len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

/// A DATA chunk with a whole message.
pub fn data(tsn: Tsn, stream: u16, ssn: u16, payload: &[u8]) -> Data<'_> {
    Data {
        immediate: false,
        unordered: false,
        beginning: true,
        ending: true,
        tsn,
        stream: StreamId(stream),
        ssn: Ssn(ssn),
        ppid: PayloadProtocolId(0),
        payload,
    }
}

/// Codes of the causes in the ABORT or ERROR chunks of these packets.
pub fn cause_codes(sent: &[Sent]) -> Vec<u16> {
    let codes = |chunk: &Chunk<'_>| match chunk {
        Chunk::Abort(abort) => abort.causes.map(|cause| cause.unwrap().code()).collect(),
        Chunk::Error(error) => error.causes.map(|cause| cause.unwrap().code()).collect(),
        _ => Vec::new(),
    };
    sent.iter().flat_map(|sent| sent.chunks().iter().flat_map(codes).collect::<Vec<u16>>()).collect()
}

/// The causes' bytes, encoded.
pub fn encoded(causes: &[Cause<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    whimbrel_wire::cause::encode_causes(causes, &mut out);
    out
}

/// An ABORT that answers an INIT or INIT ACK carries its Initiate Tag, T bit clear (RFC 9260 §8.4 rule 3, §5.1).
#[track_caller]
pub fn assert_init_aborted(sent: &[Sent], peer: &Peer, causes: &[u16]) {
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0].tag(), peer.tag);
    let Chunk::Abort(abort) = sent[0].only() else { panic!("{sent:?}") };
    assert!(!abort.tag_reflected);
    assert_eq!(cause_codes(sent), causes);
}

/// The association answers a heartbeat.
#[track_caller]
pub fn assert_alive(bench: &mut Bench, peer: &Peer) {
    assert_eq!(bench.closed(), None);
    let sent = bench.ask(&peer.packet(&[&Heartbeat { info: b"alive?" }]));
    let answered = sent
        .iter()
        .any(|sent| matches!(sent.chunks()[..], [Chunk::HeartbeatAck(ack), ..] if ack.info == b"alive?"));
    assert!(answered, "{sent:?}");
}

/// The checksum made right again after a change.
pub fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[8..12].fill(0);
    let packet = Packet::parse(&bytes).unwrap();
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, packet.header(), usize::MAX);
    assert!(writer.push(&Raw(bytes[12..].to_vec())));
    writer.finish(ChecksumMode::Crc32c);
    out
}
