//! The keys of RFC 4895 as somebody can derive them who has seen the handshake and knows that there is no endpoint pair
//! shared key: to tell genuine chunks from others, and to rewrite chunks so that they are genuine again.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use whimbrel_wire::{Auth, Chunk, Packet, Parameters, parameter_type};

/// HMAC Identifier of SHA-256 (RFC 4895 section 3.3), the one that Whimbrel prefers.
pub(crate) const SHA256: u16 = 3;
/// Bytes of that HMAC.
pub(crate) const HMAC_LEN: usize = 32;

/// The handshakes seen.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Initiate tag of each INIT, and its key vector.
    begun: Vec<(u32, Vec<u8>)>,
    done: Vec<Session>,
}

/// An association as its handshake shows it.
#[derive(Debug)]
struct Session {
    /// The verification tags towards the client and towards the server.
    tags: [u32; 2],
    key: Vec<u8>,
}

impl Sessions {
    /// Learns from a packet that leaves a host, if it is part of a handshake.
    pub(crate) fn learn(&mut self, packet: &Packet<'_>) {
        let tag = packet.header().verification_tag;
        for chunk in packet.chunks().map_while(Result::ok) {
            match chunk {
                Chunk::Init(init) => self.begun.push((init.initiate_tag, vector(init.parameters))),
                Chunk::InitAck(ack) => {
                    let begun = self.begun.iter().find(|(initiate_tag, _)| *initiate_tag == tag);
                    let Some((_, client)) = begun else { continue };
                    let key = association_key([client.clone(), vector(ack.parameters)]);
                    self.done.push(Session { tags: [tag, ack.initiate_tag], key });
                }
                _ => {}
            }
        }
    }

    /// Whether the AUTH chunk that `covered` begins with has the HMAC it must have in a packet with this tag.
    pub(crate) fn is_genuine(&self, tag: u32, auth: &Auth<'_>, covered: &[u8]) -> bool {
        let Some(session) = self.done.iter().find(|session| session.tags.contains(&tag)) else {
            return false;
        };
        if auth.hmac_id != SHA256 || auth.hmac.len() != HMAC_LEN {
            return false;
        }
        let mut covered = covered.to_vec();
        covered[Auth::HMAC_OFFSET..Auth::HMAC_OFFSET + HMAC_LEN].fill(0);
        session.hmac(&covered) == auth.hmac
    }

    /// Fills in the HMAC of the AUTH chunk that `covered` begins with.
    pub(crate) fn sign(&self, tag: u32, covered: &mut [u8]) {
        if let Some(session) = self.done.iter().find(|session| session.tags.contains(&tag)) {
            let hmac = session.hmac(covered);
            covered[Auth::HMAC_OFFSET..Auth::HMAC_OFFSET + HMAC_LEN].copy_from_slice(&hmac);
        }
    }
}

impl Session {
    fn hmac(&self, covered: &[u8]) -> Vec<u8> {
        // HMAC takes keys of any length.
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return Vec::new() };
        mac.chain_update(covered).finalize().into_bytes().to_vec()
    }
}

/// RANDOM, CHUNKS and HMAC-ALGO as they were sent (RFC 4895 section 6.1).
fn vector(parameters: Parameters<'_>) -> Vec<u8> {
    let mut vector = Vec::new();
    for wanted in [parameter_type::RANDOM, parameter_type::CHUNKS, parameter_type::HMAC_ALGORITHMS] {
        let mut parameters = parameters;
        while let Some(Ok(raw)) = parameters.next_raw() {
            if raw.parameter_type() == wanted {
                vector.extend_from_slice(raw.bytes());
                break;
            }
        }
    }
    vector
}

/// RFC 4895 section 6.1, without an endpoint pair shared key: the key vectors, the smaller number first. Both begin with the type of
/// RANDOM, so the longer one is the larger.
fn association_key(mut vectors: [Vec<u8>; 2]) -> Vec<u8> {
    vectors.sort_by_key(|vector| (vector.len(), vector.clone()));
    vectors.concat()
}
