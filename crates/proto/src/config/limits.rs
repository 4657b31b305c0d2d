use super::ConfigError;

/// What becomes of a message that the receive buffer has no room for as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LargeMessages {
    /// The program gets it in parts, and has to look at [`Received::part`](crate::Received::part) (RFC 9260 §6.9, partial delivery).
    InParts,
    /// The program gets whole messages only. The association is aborted, with
    /// [`CloseReason::MessageTooLarge`](crate::CloseReason::MessageTooLarge), and the peer is told why.
    Refuse,
}

/// How much of the buffers an association uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferSizing {
    /// Each buffer is there as a whole from the beginning, as RFC 9260 has it.
    Whole,
    /// As much as the path needs, up to the whole buffers. The peer is offered what the program has read within a round trip, some
    /// times over, so that a program that does not read never holds more than `least`; and what waits to be sent is some congestion windows, so
    /// that a slow path is not given minutes of data to carry. A message that has begun to arrive may always be as large as the whole buffer.
    /// (TCP calls the receiver's half dynamic right-sizing: Fisk and Feng, Los Alamos LA-UR-00-3221.)
    Measured {
        /// Bytes of each buffer in any case.
        least: usize,
    },
}

/// Limits on what one association may hold.
#[derive(Clone, Debug)]
pub struct LimitConfig {
    /// Bytes of user data accepted but not yet acknowledged by the peer, at most.
    pub send_buffer: usize,
    /// Receive buffer in bytes: what `a_rwnd` advertises when it is empty and [`Self::sizing`] uses it as a whole.
    pub receive_buffer: usize,
    /// How much of both buffers is used.
    pub sizing: BufferSizing,
    /// What becomes of messages larger than the receive buffer.
    pub large_messages: LargeMessages,
    /// Bytes that all associations of the endpoint may hold together of what their peers have sent, bookkeeping included. At least
    /// five times the receive buffer is taken. It is shared fairly, and a_rwnd shows it: n associations that want all they can get have an
    /// (n + 1)th each. An eighth, and at least one receive buffer, is set aside: messages that are larger than such a part are finished there, one
    /// after another. When three quarters are in use, those whose peers have been silent for longest are given up first: what they hold
    /// beyond gaps, then they themselves.
    pub receive_memory: usize,
    /// Peer addresses taken from INIT or INIT ACK, at most.
    pub peer_addresses: usize,
    /// Paths (address pairs), at most.
    pub paths: usize,
    /// Associations per endpoint, at most.
    pub associations: usize,
}

impl LimitConfig {
    /// Enough for a host; RFC 9260 names no numbers.
    pub(super) fn rfc() -> Self {
        Self {
            send_buffer: 1 << 20,
            receive_buffer: 1 << 20,
            sizing: BufferSizing::Whole,
            large_messages: LargeMessages::InParts,
            receive_memory: 256 << 20,
            peer_addresses: 16,
            paths: 32,
            associations: 65_536,
        }
    }

    /// Refuses what no association could work with.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let check = |fine, what| if fine { Ok(()) } else { Err(ConfigError(what)) };
        // RFC 9260 §3.3.2: a_rwnd of an INIT SHOULD NOT be below 1500.
        check(self.receive_buffer >= 4096, "the receive buffer must be at least 4096 bytes")?;
        check(self.receive_buffer <= 1 << 30, "the receive buffer must be at most 1 GiB")?;
        check(self.send_buffer >= 4096, "the send buffer must be at least 4096 bytes")?;
        if let BufferSizing::Measured { least } = self.sizing {
            check(least >= 4096, "buffers that follow the path must be at least 4096 bytes")?;
        }
        check(self.paths >= 1 && self.peer_addresses >= 1, "at least one path is needed")?;
        Ok(())
    }

    /// The a_rwnd of INIT and INIT ACK if memory allows, in bytes.
    pub fn first_receive_window(&self) -> usize {
        match self.sizing {
            BufferSizing::Whole => self.receive_buffer,
            BufferSizing::Measured { least } => least.min(self.receive_buffer),
        }
    }

    /// Bytes that may wait to be acknowledged while `window` may be in flight: enough that data which a gap holds up do not keep new ones
    /// from being there when they are needed.
    pub fn send_room(&self, window: usize) -> usize {
        /// In Fast Recovery three windows may lie beyond a gap.
        const WINDOWS: usize = 4;
        match self.sizing {
            BufferSizing::Whole => self.send_buffer,
            BufferSizing::Measured { least } => {
                window.saturating_mul(WINDOWS).max(least).min(self.send_buffer)
            }
        }
    }
}
