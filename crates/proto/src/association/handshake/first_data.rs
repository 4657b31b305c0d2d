//! What is said about keys first goes with COOKIE ECHO, so that an association whose packets are protected is up a round trip sooner: COOKIE ECHO MAY be bundled with DATA
//! that is pending (RFC 9260 §5.1 C).

use std::collections::VecDeque;

use whimbrel_wire::{COMMON_HEADER_LEN, Chunks, DATA_HEADER_LEN, chunk_type};

use super::CookieEchoed;
use crate::association::{Context, Open};
use crate::send::report::T3;
use crate::send::turn::overhead;
use crate::timers::Timers;

impl CookieEchoed {
    /// What goes with COOKIE ECHO is chosen when that is written first, and stays as it is: until COOKIE ACK comes every repetition has the same.
    pub(super) fn choose_first_data(&mut self, context: Context<'_>) {
        let first = self.attempt.sent == 1 && self.first_data.is_empty();
        let Some(route) = self.attempt.route().filter(|_| first) else { return };
        let room = self.open.packet_size(&context, route);
        // Nobody has handed over anything else yet.
        let waits = self.open.sender.undelivered();
        let chunk = DATA_HEADER_LEN + waits.next_multiple_of(4);
        let takes = overhead(&self.open.auth) + self.len_of_chunks() + chunk;
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
                self.first_data = raw.bytes().to_vec();
                self.first_data.resize(raw.bytes().len().next_multiple_of(4), 0);
            }
        }
    }
}

impl Open {
    /// COOKIE ACK has come: what went with COOKIE ECHO is guarded as other DATA is. If COOKIE ECHO went out more than `once` nobody knows which one was answered
    /// (RFC 9260 §6.3.1 C5).
    pub(super) fn guard_first_data(&mut self, context: &mut Context<'_>, once: bool) {
        for path in self.paths.iter().filter(|path| self.sender.has_in_flight(path.id)) {
            context.set_t3(path.id, T3::Restart, path.rto.current());
        }
        if !once {
            self.sender.forget_timing();
        }
    }
}
