//! Which extensions both sides speak (RFC 5061 §4.2.7). Each side lists in INIT or INIT ACK the chunk types that it supports,
//! whatever else it offers; whoever wants to send or read an optional chunk asks here.

mod agreement;

use smallvec::SmallVec;
use whimbrel_wire::draft::CHUNK_NR_SACK;
use whimbrel_wire::{Parameter, chunk_type};

pub(crate) use self::agreement::Agreement;
use crate::config::{Config, DarMode, SackForm};

/// The chunk types of extensions that this implementation knows, in the order in which they are listed.
const KNOWN: [u8; 4] = [chunk_type::AUTH, chunk_type::ASCONF, chunk_type::ASCONF_ACK, CHUNK_NR_SACK];

/// A list of chunk types.
pub(crate) type ChunkTypeList = SmallVec<[u8; 4]>;

/// Extensions that one side supports, of those that this implementation knows: bit n stands for `KNOWN[n]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extensions(u8);

impl Extensions {
    /// Those in a peer's list.
    pub(crate) fn known(listed: &[u8]) -> Self {
        let bits = KNOWN.iter().enumerate().filter(|(_, known)| listed.contains(known)).map(|(n, _)| 1 << n);
        Self(bits.sum())
    }

    /// Our own.
    pub(crate) fn own(config: &Config) -> Self {
        let mut types = ChunkTypeList::new();
        if config.authenticates_chunks() {
            types.push(chunk_type::AUTH);
        }
        types.extend_from_slice(of_addresses(config));
        if config.sack.form == SackForm::NonRenegable {
            types.push(CHUNK_NR_SACK);
        }
        Self::known(&types)
    }

    /// Those that can be used with a peer that authenticates chunks or packets, or not: without that no ASCONF (RFC 5061 §4.1.1).
    pub(crate) fn with(self, authenticated: bool) -> Self {
        let need_it = Self::known(&[chunk_type::AUTH, chunk_type::ASCONF, chunk_type::ASCONF_ACK]);
        if authenticated { self } else { Self(self.0 & !need_it.0) }
    }

    /// Those of both sides.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether all of these chunk types are among them.
    pub(crate) fn include(self, chunk_types: &[u8]) -> bool {
        chunk_types.iter().all(|wanted| Self::known(&[*wanted]).0 & self.0 != 0)
    }

    /// The chunk types, for Supported Extensions.
    pub(crate) fn list(self) -> ChunkTypeList {
        KNOWN.into_iter().filter(|&known| self.include(&[known])).collect()
    }
}

/// The Supported Extensions parameter with this list; `None` if there is nothing to say.
pub(crate) fn supported_extensions(list: &[u8]) -> Option<Parameter<'_>> {
    (!list.is_empty()).then_some(Parameter::SupportedExtensions(list))
}

/// The chunks of dynamic addresses, if these are in use. They are taken only authenticated (RFC 5061 §4.1.1, §4.1.2).
pub(crate) fn of_addresses(config: &Config) -> &'static [u8] {
    match config.dar.mode {
        DarMode::Off => &[],
        DarMode::Negotiated => &[chunk_type::ASCONF, chunk_type::ASCONF_ACK],
    }
}

#[cfg(test)]
#[path = "negotiate_tests.rs"]
mod tests;
