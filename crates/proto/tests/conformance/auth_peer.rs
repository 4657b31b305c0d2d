//! A peer that is driven by hand and authenticates (RFC 4895). It computes keys and HMACs on its own, from the bytes that
//! were exchanged.

use core::ops::{Deref, DerefMut};

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::Sha256;
use whimbrel_proto::{AuthConfig, Config, SharedKeys, SharedSecret};
use whimbrel_wire::{
    ChecksumMode, Chunk, CookieAck, CookieEcho, EmitChunk, List, PacketWriter, Parameter, Parameters,
    chunk_type,
};

use whimbrel_testbed::peer::*;

pub(crate) const SHA1: u16 = 1;
pub(crate) const SHA256: u16 = 3;

/// The RFC's defaults with authentication, taking chunks of these types only authenticated.
pub(crate) fn requiring(types: &[u8]) -> Config {
    let mut config = quiet();
    config.auth = AuthConfig::offered();
    config.auth.required = types.to_vec();
    config
}

/// As [`requiring`], with key 7.
pub(crate) fn with_key(types: &[u8], secret: &[u8]) -> Config {
    let mut config = requiring(types);
    config.auth.keys = SharedKeys::new(7, SharedSecret::new(secret));
    config
}

/// The peer.
#[derive(Clone, Debug)]
pub(crate) struct AuthPeer {
    pub peer: Peer,
    pub random: [u8; 32],
    /// What the node must authenticate.
    pub chunks: Vec<u8>,
    pub hmacs: Vec<u16>,
    /// RANDOM, CHUNKS and HMAC-ALGO of the node, as they came.
    pub node_vector: Vec<u8>,
    /// Shared Key Identifier and key to send with.
    pub key: (u16, Vec<u8>),
    /// HMAC Identifier to send with.
    pub hmac_id: u16,
}

impl Deref for AuthPeer {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.peer
    }
}

impl DerefMut for AuthPeer {
    fn deref_mut(&mut self) -> &mut Peer {
        &mut self.peer
    }
}

impl AuthPeer {
    /// A peer with the null key that takes chunks of these types only authenticated.
    pub(crate) fn new(chunks: &[u8]) -> Self {
        Self {
            peer: Peer::new(),
            random: [0x5a; 32],
            chunks: chunks.to_vec(),
            hmacs: vec![SHA256, SHA1],
            node_vector: Vec::new(),
            key: (0, Vec::new()),
            hmac_id: SHA256,
        }
    }

    pub(crate) fn with_key(chunks: &[u8], secret: &[u8]) -> Self {
        Self { key: (7, secret.to_vec()), ..Self::new(chunks) }
    }

    // ---- handshake

    pub(crate) fn parameters(&self) -> Vec<Parameter<'_>> {
        let mut parameters = vec![Parameter::Random(&self.random)];
        if !self.chunks.is_empty() {
            parameters.push(Parameter::Chunks(&self.chunks));
        }
        parameters.push(Parameter::HmacAlgorithms(List::from(&self.hmacs[..])));
        parameters
    }

    /// The key vector of the node, from its INIT or INIT ACK. Empty if it offered nothing.
    pub(crate) fn learn(&mut self, parameters: Parameters<'_>) {
        self.node_vector.clear();
        for wanted in [0x8002, 0x8003, 0x8004] {
            let of_type = { parameters }.find_map(|p| p.ok().filter(|p| p.parameter_type() == wanted));
            of_type.iter().for_each(|parameter| parameter.emit(&mut self.node_vector));
        }
    }

    #[track_caller]
    pub(crate) fn learn_init(&mut self, sent: &Sent) {
        self.peer.learn_init(sent);
        let Chunk::Init(init) = sent.only() else { panic!() };
        self.learn(init.parameters);
    }

    /// INIT and INIT ACK.
    #[track_caller]
    pub(crate) fn begin(&mut self, bench: &mut Bench) {
        bench.take();
        bench.deliver(&self.init(&self.parameters()));
        self.learn_init_ack(&bench.take_only());
    }

    #[track_caller]
    pub(crate) fn learn_init_ack(&mut self, sent: &Sent) {
        self.peer.learn_init_ack(sent);
        let Chunk::InitAck(init_ack) = sent.only() else { panic!() };
        self.learn(init_ack.parameters);
    }

    /// The whole handshake, begun by the peer. COOKIE ECHO is authenticated.
    #[track_caller]
    pub(crate) fn connect(&mut self, bench: &mut Bench) {
        self.begin(bench);
        let ups = bench.ups();
        bench.deliver(&self.signed(&[&CookieEcho { cookie: &self.cookie }]));
        assert_eq!(bench.ups(), ups + 1);
        bench.take();
    }

    /// The whole handshake, begun by the node; its COOKIE ECHO.
    #[track_caller]
    pub(crate) fn accept(&mut self, bench: &mut Bench) -> Sent {
        bench.take();
        bench.connect(&[peer_address(1)]);
        self.learn_init(&bench.take_only());
        let mut parameters = vec![Parameter::StateCookie(b"a cookie")];
        let own = self.parameters();
        parameters.extend_from_slice(&own);
        bench.deliver(&self.init_ack(&parameters));
        let echo = bench.take_only();
        bench.deliver(&self.signed(&[&CookieAck]));
        assert_eq!(bench.ups(), 1);
        echo
    }

    // ---- keys

    fn vector(&self) -> Vec<u8> {
        let mut vector = Vec::new();
        self.parameters().iter().for_each(|parameter| parameter.emit(&mut vector));
        vector
    }

    /// RFC 4895 §6.1. Both vectors begin with the type of RANDOM, so the longer one is the larger number.
    fn association_key(&self) -> Vec<u8> {
        let mut vectors = [self.vector(), self.node_vector.clone()];
        vectors.sort_by_key(|vector| (vector.len(), vector.clone()));
        [&self.key.1[..], &vectors[0], &vectors[1]].concat()
    }

    fn hmac(&self, hmac_id: u16, covered: &[u8]) -> Vec<u8> {
        let key = self.association_key();
        match hmac_id {
            SHA1 => {
                let mac = Hmac::<Sha1>::new_from_slice(&key).unwrap();
                mac.chain_update(covered).finalize().into_bytes().to_vec()
            }
            _ => {
                let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
                mac.chain_update(covered).finalize().into_bytes().to_vec()
            }
        }
    }

    // ---- packets

    /// A packet that begins with AUTH.
    pub(crate) fn signed(&self, chunks: &[&dyn EmitChunk]) -> Vec<u8> {
        self.signed_behind(&[], chunks)
    }

    /// A packet with AUTH between `before` and `chunks`.
    pub(crate) fn signed_behind(&self, before: &[&dyn EmitChunk], chunks: &[&dyn EmitChunk]) -> Vec<u8> {
        let len = if self.hmac_id == SHA1 { 20 } else { 32 };
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out, self.header(self.node_tag), usize::MAX);
        before.iter().for_each(|chunk| assert!(writer.push(chunk)));
        let at = writer.len();
        let zero = vec![0; len];
        let auth = whimbrel_wire::Auth { shared_key_id: self.key.0, hmac_id: self.hmac_id, hmac: &zero };
        assert!(writer.push(&auth));
        chunks.iter().for_each(|chunk| assert!(writer.push(chunk)));
        let hmac = self.hmac(self.hmac_id, &writer.bytes_mut()[at..]);
        writer.bytes_mut()[at + 8..at + 8 + len].copy_from_slice(&hmac);
        writer.finish(ChecksumMode::Crc32c);
        out
    }

    /// The types of the chunks in a packet of the node before AUTH and behind it, which must be genuine. A chunk that must
    /// be authenticated must not come before.
    #[track_caller]
    pub(crate) fn opened(&self, sent: &Sent) -> (Vec<u8>, Vec<u8>) {
        let packet = sent.packet();
        let mut chunks = packet.chunks();
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        while let Some(raw) = chunks.next_raw() {
            let raw = raw.unwrap();
            let Ok(Chunk::Auth(auth)) = raw.decode() else {
                assert!(!self.chunks.contains(&raw.chunk_type()), "not authenticated: {sent:?}");
                before.push(raw.chunk_type());
                continue;
            };
            let mut covered = sent.bytes[raw.offset()..].to_vec();
            covered[8..8 + auth.hmac.len()].fill(0);
            assert_eq!(auth.hmac, self.hmac(auth.hmac_id, &covered), "forged: {sent:?}");
            assert_eq!(auth.shared_key_id, self.key.0);
            behind.extend(chunks.by_ref().map(|chunk| chunk.unwrap().chunk_type()));
            assert!(!behind.is_empty() && !behind.contains(&chunk_type::AUTH));
        }
        (before, behind)
    }
}
