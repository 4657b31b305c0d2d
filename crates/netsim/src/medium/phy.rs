use core::time::Duration;

/// What a physical layer of IEEE 802.11 fixes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phy {
    /// Length of a backoff slot.
    pub slot: Duration,
    /// Short interframe space.
    pub sifs: Duration,
    /// Smallest contention window, in slots less one.
    pub cw_min: u32,
    /// Largest contention window, in slots less one.
    pub cw_max: u32,
    /// Preamble and header in front of each frame.
    pub preamble: Duration,
    /// Symbols that a frame is rounded up to; a frame also carries `tail_bits` more bits then.
    pub symbol: Option<Duration>,
    /// Service and tail bits.
    pub tail_bits: u64,
    /// Bit/s of data frames.
    pub rate_bps: u64,
    /// Bit/s of RTS, CTS and ACK.
    pub basic_bps: u64,
}

impl Phy {
    /// 802.11a: OFDM at 54 Mbit/s, control frames at 24 Mbit/s.
    pub const A: Self = Self {
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(16),
        cw_min: 15,
        cw_max: 1023,
        preamble: Duration::from_micros(20),
        symbol: Some(Duration::from_micros(4)),
        tail_bits: 22,
        rate_bps: 54_000_000,
        basic_bps: 24_000_000,
    };
    /// 802.11b: DSSS at 11 Mbit/s with the long preamble, control frames at 1 Mbit/s.
    pub const B: Self = Self {
        slot: Duration::from_micros(20),
        sifs: Duration::from_micros(10),
        cw_min: 31,
        cw_max: 1023,
        preamble: Duration::from_micros(192),
        symbol: None,
        tail_bits: 0,
        rate_bps: 11_000_000,
        basic_bps: 1_000_000,
    };

    /// Time that a frame of `bytes` takes at `bps`, preamble included.
    pub fn frame(&self, bytes: u64, bps: u64) -> Duration {
        let nanos = ((bytes * 8 + self.tail_bits) * 1_000_000_000).div_ceil(bps.max(1));
        let symbol = self.symbol.map_or(1, |symbol| symbol.as_nanos() as u64);
        self.preamble + Duration::from_nanos(nanos.next_multiple_of(symbol))
    }

    /// Interframe space before contention: SIFS and two slots.
    pub fn difs(&self) -> Duration {
        self.sifs + self.slot * 2
    }

    /// Interframe space after a frame that could not be read: long enough for an ACK that was not heard.
    pub fn eifs(&self) -> Duration {
        self.sifs + self.ack() + self.difs()
    }

    /// Time of an ACK, and of a CTS, which is as long.
    pub fn ack(&self) -> Duration {
        self.frame(14, self.basic_bps)
    }

    /// Time of an RTS.
    pub fn rts(&self) -> Duration {
        self.frame(20, self.basic_bps)
    }
}
