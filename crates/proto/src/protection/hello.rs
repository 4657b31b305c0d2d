//! The first protected message each way: what was said in clear before, so that both ends notice if somebody has changed it.

use whimbrel_wire::PayloadProtocolId;

/// "WHS" and 0: the user messages of the session between two Whimbrels.
pub(crate) const PPID_HELLO: PayloadProtocolId = PayloadProtocolId(0x5748_5300);

/// The format below.
const VERSION: u8 = 1;

/// Version, flags, digest.
const LEN: usize = 2 + 32;

/// The message with this digest of INIT and INIT ACK.
pub(super) fn write(digest: &[u8; 32]) -> Vec<u8> {
    let mut message = Vec::with_capacity(LEN);
    message.extend_from_slice(&[VERSION, 0]);
    message.extend_from_slice(digest);
    message
}

/// The digest in a message; what follows it is for versions to come. `None` if it is no such message.
pub(super) fn read(message: &[u8]) -> Option<[u8; 32]> {
    let (&[version, _], rest) = message.split_first_chunk()?;
    if version != VERSION {
        return None;
    }
    rest.first_chunk().copied()
}
