//! What an endpoint counts beside what its associations do.

/// Totals of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EndpointStats {
    /// Packets received.
    pub packets_received: u64,
    /// Packets dropped: malformed, wrong checksum, wrong tag.
    pub packets_dropped: u64,
    /// Of these, packets that were none.
    pub malformed: u64,
    /// Of these, packets whose checksum was wrong (RFC 9260 §6.8).
    pub wrong_checksum: u64,
    /// INIT chunks answered with INIT ACK.
    pub inits_answered: u64,
    /// Cookies that failed authentication.
    pub cookies_refused: u64,
    /// Packets that belonged to no association (RFC 9260 §8.4).
    pub out_of_the_blue: u64,
}

impl EndpointStats {
    /// Adds those of another shard of the endpoint.
    pub const fn add(&mut self, other: &Self) {
        let Self {
            packets_received,
            packets_dropped,
            malformed,
            wrong_checksum,
            inits_answered,
            cookies_refused,
            out_of_the_blue,
        } = *other;
        self.packets_received += packets_received;
        self.packets_dropped += packets_dropped;
        self.malformed += malformed;
        self.wrong_checksum += wrong_checksum;
        self.inits_answered += inits_answered;
        self.cookies_refused += cookies_refused;
        self.out_of_the_blue += out_of_the_blue;
    }
}
