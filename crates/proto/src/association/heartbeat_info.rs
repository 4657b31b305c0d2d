//! What is written into a HEARTBEAT, and comes back in its answer.

use crate::interface::PathId;

/// Heartbeat Info: path, kind and a 64-bit nonce (RFC 9260 §5.4). The time of sending stays here.
const INFO_LEN: usize = 13;

/// What a heartbeat is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Path = 0,
    Pmtu = 1,
    Port = 2,
    /// One of a train, but for the first.
    Train = 3,
}

pub(super) fn encode(path: PathId, kind: Kind, nonce: u64) -> [u8; INFO_LEN] {
    let mut info = [0; INFO_LEN];
    info[..4].copy_from_slice(&path.0.to_be_bytes());
    info[4] = kind as u8;
    info[5..].copy_from_slice(&nonce.to_be_bytes());
    info
}

pub(super) fn decode(info: &[u8]) -> Option<(PathId, Kind, u64)> {
    let info: &[u8; INFO_LEN] = info.try_into().ok()?;
    let (path, rest) = info.split_first_chunk::<4>()?;
    let (&kind, nonce) = rest.split_first()?;
    let kind = match kind {
        0 => Kind::Path,
        1 => Kind::Pmtu,
        2 => Kind::Port,
        3 => Kind::Train,
        _ => return None,
    };
    Some((PathId(u32::from_be_bytes(*path)), kind, u64::from_be_bytes(nonce.try_into().ok()?)))
}
