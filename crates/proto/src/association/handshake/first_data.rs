//! What is said about keys first goes with COOKIE ECHO, so that an association whose packets are protected is up a round trip sooner: COOKIE ECHO MAY be bundled with DATA
//! that is pending (RFC 9260 §5.1 C).

use std::collections::VecDeque;

use whimbrel_machine::Instant;
use whimbrel_wire::{COMMON_HEADER_LEN, Chunks, DATA_HEADER_LEN, chunk_type};

use super::CookieEchoed;
use crate::association::{Context, Open};
use crate::config::SetUp;
use crate::send::report::T3;
use crate::send::turn::overhead;
use crate::timers::Timers;

/// More fragments of a message than this fit no packet beside COOKIE ECHO.
const MOST_CHUNKS: usize = 4;

impl CookieEchoed {
    /// What goes with COOKIE ECHO is chosen when that is written first, and stays as it is: until COOKIE ACK comes every repetition has the same.
    pub(super) fn choose_first_data(&mut self, context: Context<'_>) {
        let hurried = context.config.set_up != SetUp::Standard;
        let first = hurried && self.attempt.sent == 1 && self.first_data.is_empty();
        let Some(route) = self.attempt.route().filter(|_| first) else { return };
        let room = self.open.packet_size(&context, route);
        // Nobody has handed over anything else yet.
        let waits = self.open.sender.undelivered();
        let chunks = waits + MOST_CHUNKS * (DATA_HEADER_LEN + 3);
        let takes = overhead(&self.open.auth) + self.len_of_chunks() + chunks;
        if waits == 0 || takes > room {
            return;
        }
        // Until COOKIE ACK comes T1-cookie stands for T3-rtx, and nobody has heard of the association.
        let mut context = Context { timers: &mut Timers::default(), events: &mut VecDeque::new(), ..context };
        let mut packet = Vec::new();
        if self.open.poll_data(&mut context, 1, &mut packet).is_none() {
            return;
        }
        let mut chunks = Chunks::from_wire(packet.get(COMMON_HEADER_LEN..).unwrap_or_default());
        while let Some(Ok(raw)) = chunks.next_raw() {
            if raw.chunk_type() == chunk_type::DATA {
                self.first_data.extend_from_slice(raw.bytes());
                self.first_data.resize(self.first_data.len().next_multiple_of(4), 0);
            }
        }
    }
}

impl Open {
    /// COOKIE ACK has come: what went with COOKIE ECHO is guarded as other DATA is. If COOKIE ECHO went out `again`, at that time the last time, nobody knows which one was
    /// answered.
    pub(super) fn guard_first_data(&mut self, context: &mut Context<'_>, again: Option<Instant>) {
        for path in self.paths.iter().filter(|path| self.sender.has_in_flight(path.id)) {
            context.set_t3(path.id, T3::Restart, path.rto.current());
        }
        if let Some(sent_at) = again {
            self.sender.sent_again(sent_at);
        }
    }
}
