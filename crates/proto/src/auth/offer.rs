//! What one side says about authentication in its INIT or INIT ACK (RFC 4895 §3.1, §3.2, §3.3, §6.1).

use smallvec::SmallVec;
use whimbrel_machine::Seed;
use whimbrel_wire::draft::CHUNK_NR_SACK;
use whimbrel_wire::{Cause, List, Parameter, Tsn, chunk_type, parameter_type};

use super::config::HmacAlgorithm;
use crate::config::{Config, DarMode, SackForm};
use crate::interface::CloseReason;
use crate::negotiate::{Extensions, of_addresses};

/// Bytes of a random number (RFC 4895 §3.1).
pub(crate) const RANDOM_LEN: usize = 32;

/// HMAC identifiers taken from a peer at most: two are defined.
pub(crate) const MAX_HMACS: usize = 16;

/// Chunk types in a CHUNKS parameter at most (RFC 4895 §3.2: 260 bytes).
pub(crate) const MAX_CHUNKS: usize = 256;

/// One side's RANDOM, CHUNKS and HMAC-ALGO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    pub(crate) random: [u8; RANDOM_LEN],
    /// As sent: order and repetitions are part of the key vector. `None` if the parameter was not sent.
    pub(crate) chunks: Option<SmallVec<[u8; 8]>>,
    pub(crate) hmacs: SmallVec<[u16; 2]>,
}

impl Offer {
    /// Our own; `None` if authentication is off.
    pub(crate) fn own(config: &Config, random: [u8; RANDOM_LEN]) -> Option<Self> {
        if !config.authenticates_chunks() {
            return None;
        }
        let chunks = required(config);
        Some(Self {
            random,
            // RFC 4895 §6.1: MAY be omitted if it is empty.
            chunks: (!chunks.is_empty()).then_some(chunks),
            hmacs: config.auth.algorithms.iter().map(|algorithm| algorithm.id()).collect(),
        })
    }

    /// The key vector: these parameters in this order, without padding (RFC 4895 §6.1).
    pub(crate) fn key_vector(&self) -> Vec<u8> {
        /// Headers and padding of three parameters.
        const FRAMES: usize = 3 * 7;
        let lists = self.chunks.as_ref().map_or(0, |chunks| chunks.len()) + 2 * self.hmacs.len();
        let mut vector = Vec::with_capacity(FRAMES + RANDOM_LEN + lists);
        for parameter in self.parameters() {
            parameter.emit(&mut vector);
        }
        vector
    }

    /// The parameters to send.
    pub(crate) fn parameters(&self) -> SmallVec<[Parameter<'_>; 4]> {
        let mut parameters = SmallVec::new();
        parameters.push(Parameter::Random(&self.random));
        if let Some(chunks) = &self.chunks {
            parameters.push(Parameter::Chunks(chunks));
        }
        parameters.push(Parameter::HmacAlgorithms(List::from(&self.hmacs[..])));
        parameters
    }

    /// What to send to this peer with: the first of its algorithms that is also among `ours` (RFC 4895 §6.1).
    pub(crate) fn algorithm(&self, ours: &[HmacAlgorithm]) -> Option<HmacAlgorithm> {
        self.hmacs.iter().filter_map(|&id| HmacAlgorithm::from_id(id)).find(|known| ours.contains(known))
    }
}

/// Chunk types we only take authenticated: what the user wants, and what extensions in use demand.
pub(crate) fn required(config: &Config) -> SmallVec<[u8; 8]> {
    if config.security.is_required() {
        return SmallVec::new();
    }
    let mut types: SmallVec<[u8; 8]> = config.auth.required.iter().copied().collect();
    types.extend_from_slice(of_addresses(config));
    // Whoever could forge the one could make believe what the other must not.
    if config.sack.form == SackForm::NonRenegable && types.contains(&chunk_type::SACK) {
        types.push(CHUNK_NR_SACK);
    }
    types.sort_unstable();
    types.dedup();
    types
}

/// The random numbers of an endpoint. Each belongs to a Verification Tag and follows the same rules (RFC 4895 §6.1): what
/// repeats our tag, in a collision of INITs or a repeated INIT ACK, repeats the random number. So it is computed
/// from the tag and the initial TSN, 64 unpredictable bits, and a stateless cookie need not carry it.
#[derive(Clone, Debug)]
pub(crate) struct Randoms(Seed);

impl Randoms {
    pub(crate) const fn new(seed: Seed) -> Self {
        Self(seed)
    }

    pub(crate) fn of(&self, local_tag: u32, initial_tsn: Tsn) -> [u8; RANDOM_LEN] {
        let mut random = [0; RANDOM_LEN];
        let number = u64::from(local_tag) << 32 | u64::from(initial_tsn.0);
        self.0.stream("random", number).fill(&mut random);
        random
    }
}

/// Why a peer's INIT or INIT ACK is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It breaks the protocol.
    Violation(&'static str),
    /// It does not offer authentication, on which our user insists.
    NotOffered,
}

impl Refusal {
    /// The error cause that says so.
    pub(crate) fn cause(&self) -> Cause<'static> {
        const MISSING: [u16; 2] = [parameter_type::RANDOM, parameter_type::HMAC_ALGORITHMS];
        match self {
            Self::Violation(what) => Cause::ProtocolViolation(what.as_bytes()),
            Self::NotOffered => Cause::MissingMandatoryParameter(List::from(&MISSING)),
        }
    }

    /// Why the association does not come to be.
    pub(crate) const fn reason(&self) -> CloseReason {
        match self {
            Self::Violation(what) => CloseReason::ProtocolViolation(what),
            Self::NotOffered => CloseReason::Refused("the peer does not offer authentication"),
        }
    }
}

/// A peer's parameters as read, not judged yet.
#[derive(Debug, Default)]
pub(crate) struct AuthParameters<'a> {
    random: Option<&'a [u8]>,
    chunks: Option<&'a [u8]>,
    hmacs: Option<List<'a, u16>>,
    repeated: bool,
}

impl<'a> AuthParameters<'a> {
    /// Takes note of a parameter, if it is one of these.
    pub(crate) fn note(&mut self, parameter: &Parameter<'a>) {
        self.repeated |= match *parameter {
            Parameter::Random(random) => self.random.replace(random).is_some(),
            Parameter::Chunks(chunks) => self.chunks.replace(chunks).is_some(),
            Parameter::HmacAlgorithms(hmacs) => self.hmacs.replace(hmacs).is_some(),
            _ => false,
        };
    }

    /// A parameter of the peer's came twice that may come once.
    pub(crate) fn note_repeated(&mut self) {
        self.repeated = true;
    }

    /// The offer of a peer with these `extensions`; `None` if there is none that we can use.
    ///
    /// # Errors
    /// [`Refusal`] if the association must not come to be.
    pub(crate) fn judge(&self, config: &Config, extensions: Extensions) -> Result<Option<Offer>, Refusal> {
        if !config.authenticates_chunks() {
            return Ok(None);
        }
        // RFC 4895 §3.1, §3.2, §3.3: each is included once. Two could be read as different key vectors.
        if self.repeated {
            return Err(Refusal::Violation("authentication parameter twice"));
        }
        // RFC 4895 §6.1: MUST be aborted.
        let random = self.random.map(<[u8; RANDOM_LEN]>::try_from).transpose();
        let random = random.map_err(|_| Refusal::Violation("RANDOM is not 32 bytes long"))?;
        if self.hmacs.is_some_and(|hmacs| hmacs.len() > MAX_HMACS) {
            return Err(Refusal::Violation("too many HMAC identifiers"));
        }
        if self.chunks.is_some_and(|chunks| chunks.len() > MAX_CHUNKS) {
            return Err(Refusal::Violation("CHUNKS longer than 260 bytes"));
        }
        let offer = random.zip(self.hmacs).map(|(random, hmacs)| Offer {
            random,
            chunks: self.chunks.map(SmallVec::from_slice),
            hmacs: hmacs.iter().collect(),
        });
        let usable = offer.filter(|offer| offer.algorithm(&config.auth.algorithms).is_some());
        match usable {
            Some(offer) => Ok(Some(offer)),
            // By the security considerations of RFC 5061 such an association is not established.
            // Where dynamic addresses are not in use, it does not matter.
            None if config.dar.mode == DarMode::Negotiated && extensions.include(&[chunk_type::ASCONF]) => {
                Err(Refusal::Violation("ASCONF without authentication"))
            }
            None if !config.auth.required.is_empty() => Err(Refusal::NotOffered),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
#[path = "offer_tests.rs"]
mod tests;
