use whimbrel_wire::{COMMON_HEADER_LEN, chunk_type};

/// How often the sockets are looked at again after a packet of a handshake. Some 30 µs together: what the answer takes on the
/// same host or the same switch.
const LOOKS: u32 = 64;

/// After so many answers in a row that did not come in time …
const DISAPPOINTMENTS: u32 = 4;

/// … so many handshake packets are sent without waiting for theirs.
const PAUSE: u32 = 64;

/// When an endpoint that has nothing to do looks for packets again before it sleeps.
///
/// The packets of a handshake (RFC 9260 §5.1) answer each other, and waking a sleeping processor takes longer than making
/// the answer. Peers that are further away than that teach it to sleep at once.
#[derive(Debug, Default)]
pub(crate) struct Anticipation {
    looks: u32,
    disappointments: u32,
    pause: u32,
}

impl Anticipation {
    /// A packet is sent: one of a handshake has the peer's next one, or its first DATA, right behind it.
    pub(crate) fn sent(&mut self, packet: &[u8]) {
        if !is_handshake(packet) {
            return;
        }
        if self.pause > 0 {
            self.pause -= 1;
        } else {
            self.looks = LOOKS;
        }
    }

    /// Packets have come.
    pub(crate) fn received(&mut self) {
        if self.looks > 0 {
            self.looks = 0;
            self.disappointments = 0;
        }
    }

    /// Whether to look once more instead of sleeping.
    pub(crate) fn look_again(&mut self) -> bool {
        if self.looks == 0 {
            return false;
        }
        self.looks -= 1;
        if self.looks == 0 {
            self.disappointments += 1;
            if self.disappointments >= DISAPPOINTMENTS {
                self.disappointments = 0;
                self.pause = PAUSE;
            }
        }
        true
    }
}

/// Whether the first chunk is one of the four of a handshake.
fn is_handshake(packet: &[u8]) -> bool {
    let first = packet.get(COMMON_HEADER_LEN);
    first.is_some_and(|&kind| {
        matches!(
            kind,
            chunk_type::INIT | chunk_type::INIT_ACK | chunk_type::COOKIE_ECHO | chunk_type::COOKIE_ACK
        )
    })
}

#[cfg(test)]
#[path = "anticipation_tests.rs"]
mod tests;
