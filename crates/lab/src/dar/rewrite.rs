//! ASCONF packets rewritten on the way: what no well-behaved host would send.

use core::net::IpAddr;

use whimbrel_wire::{
    AddressRequest, AsconfBuilder, Auth, ChecksumMode, Chunk, CommonHeader, Packet, PacketWriter, Parameter,
};

use super::keys::{HMAC_LEN, SHA256, Sessions};
use super::log::Meddle;
use super::seen::{Kind, Request, Seen, requests};

/// An ASCONF packet in parts.
pub(crate) struct Draft {
    pub(crate) header: CommonHeader,
    /// What the packet is authenticated for: the right tag, whatever the header says.
    tag: u32,
    pub(crate) serial: u32,
    pub(crate) lookup: IpAddr,
    pub(crate) requests: Vec<Request>,
    pub(crate) protection: Protection,
}

/// How the ASCONF is authenticated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Protection {
    /// An AUTH chunk before it with the right HMAC.
    Genuine,
    /// No AUTH chunk.
    None,
    /// An AUTH chunk before it with a wrong HMAC.
    Forged,
    /// An AUTH chunk with an HMAC that is right for nothing, behind it.
    Behind,
}

impl Draft {
    /// The parts of a packet, if it has an ASCONF.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let packet = Packet::parse(bytes).ok()?;
        let asconf = packet.chunks().map_while(Result::ok).find_map(|chunk| match chunk {
            Chunk::Asconf(asconf) => Some(asconf),
            _ => None,
        })?;
        Some(Self {
            header: packet.header(),
            tag: packet.header().verification_tag,
            serial: asconf.sequence_number,
            lookup: asconf.address,
            requests: requests(asconf.parameters),
            protection: Protection::Genuine,
        })
    }

    /// The packet.
    pub(crate) fn packet(&self, sessions: &Sessions) -> Vec<u8> {
        let parameters: Vec<_> = self.requests.iter().map(parameter).collect();
        let asconf =
            AsconfBuilder { sequence_number: self.serial, address: self.lookup, parameters: &parameters };
        let auth = Auth { shared_key_id: 0, hmac_id: SHA256, hmac: &[0; HMAC_LEN] };
        let mut bytes = Vec::new();
        let mut writer = PacketWriter::new(&mut bytes, self.header, usize::MAX);
        let begin = writer.len();
        // A packet of this size always has room.
        let _ = match self.protection {
            Protection::None => writer.push(&asconf),
            Protection::Behind => writer.push(&asconf) && writer.push(&auth),
            Protection::Genuine | Protection::Forged => writer.push(&auth) && writer.push(&asconf),
        };
        let covered = &mut writer.bytes_mut()[begin..];
        match self.protection {
            Protection::Genuine => sessions.sign(self.tag, covered),
            Protection::Forged => {
                sessions.sign(self.tag, covered);
                covered[Auth::HMAC_OFFSET] ^= 1;
            }
            Protection::None | Protection::Behind => {}
        }
        writer.finish(ChecksumMode::Crc32c);
        bytes
    }
}

fn parameter(request: &Request) -> Parameter<'static> {
    let body = AddressRequest { correlation_id: request.id, address: request.address };
    match request.kind {
        Kind::Add => Parameter::AddIpAddress(body),
        Kind::Delete => Parameter::DeleteIpAddress(body),
        Kind::SetPrimary => Parameter::SetPrimaryAddress(body),
    }
}

/// Leaves everything as it is.
pub(crate) fn nothing() -> Meddle {
    Box::new(|_, _, _| Vec::new())
}

/// Rewrites each ASCONF that is about to arrive; `change` is told its number, from 0.
pub(crate) fn each_asconf(mut change: impl FnMut(usize, &mut Draft) + Send + 'static) -> Meddle {
    let mut number = 0;
    Box::new(move |seen, bytes, sessions| {
        if let Some(mut draft) = seen.asconf().and_then(|_| Draft::of(bytes)) {
            change(number, &mut draft);
            *bytes = draft.packet(sessions);
            number += 1;
        }
        Vec::new()
    })
}

/// Loses the first packet that is so.
pub(crate) fn losing_first(mut is_it: impl FnMut(&Seen) -> bool + Send + 'static) -> Meddle {
    let mut lost = false;
    Box::new(move |seen, bytes, _| {
        if !lost && is_it(seen) {
            lost = true;
            bytes.clear();
        }
        Vec::new()
    })
}
