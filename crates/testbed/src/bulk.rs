//! One host sends to another as fast as it can, and what becomes of it is looked at again and again.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{LinkConfig, Loss, QueueLimit, Side};
use whimbrel_proto::{Config, PathView};

use crate::{CLIENT, Pair, User, message, remotes};

/// A bottleneck, one of several that the hosts have, or the only one.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Mbit/s of the bottleneck.
    pub mbit: u64,
    /// The round trip without a queue, ms.
    pub rtt_ms: u64,
    /// At the bottleneck.
    pub queue: QueueLimit,
    /// Probability that a packet of data is lost on the way.
    pub loss: f64,
    /// Bytes of the send and of the receive buffer.
    pub buffers: usize,
    /// Of the world.
    pub seed: u64,
}

impl Place {
    /// Its link to the server and back.
    pub fn links(self) -> [LinkConfig; 2] {
        let delay = Duration::from_micros(self.rtt_ms * 500);
        let rate_bps = Some(self.mbit * 1_000_000);
        let back = LinkConfig { rate_bps, delay, ..LinkConfig::default() };
        let loss = if self.loss > 0.0 { Loss::Bernoulli(self.loss) } else { Loss::None };
        [LinkConfig { queue: self.queue, loss, ..back }, back]
    }

    /// Bytes that are on their way when the bottleneck is busy and the queue empty.
    pub fn capacity(mbit: u64, rtt_ms: u64) -> u64 {
        mbit * 1000 / 8 * rtt_ms
    }
}

/// Totals at some time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Bytes that the receiving user has.
    pub delivered: u64,
    /// How often the congestion window was halved.
    pub halvings: u64,
    /// How often T3-rtx expired.
    pub timeouts: u64,
    /// Chunks sent again.
    pub retransmitted: u64,
    /// Chunks that came twice.
    pub duplicates: u64,
    /// Packets lost in the queue and on the wire.
    pub dropped: u64,
}

/// The transfer.
pub struct Bulk {
    /// The hosts.
    pub pair: Pair,
    now: Duration,
}

impl Bulk {
    /// Sends for so many seconds at least, with hosts that have `config` but for their buffers.
    pub fn new(place: Place, config: Config, seconds: u64) -> Self {
        Self::over(&[place], config, seconds)
    }

    /// The same over several networks. Buffers and seed are those of the first.
    pub fn over(places: &[Place], config: Config, seconds: u64) -> Self {
        const MESSAGE: usize = 65_536;
        Self::of_messages(places, config, seconds, MESSAGE.min(places[0].buffers / 4), 1)
    }

    /// The same, by messages of `size` bytes in each of so many streams in turn.
    pub fn of_messages(
        places: &[Place],
        mut config: Config,
        seconds: u64,
        size: usize,
        streams: u16,
    ) -> Self {
        let place = places[0];
        config.limits.send_buffer = place.buffers;
        config.limits.receive_buffer = place.buffers;
        let links: Vec<_> = places.iter().map(|place| place.links()).collect();
        let mut client = User::client(&remotes(places.len()));
        client.limit = place.buffers;
        let mbit: u64 = places.iter().map(|place| place.mbit).sum();
        let messages = mbit * 125_000 * (seconds + 1) / size as u64 + 1;
        let stream = |n| (n % u64::from(streams)) as u16;
        let kinds: Vec<_> = (0..streams).map(|stream| message(stream, 1, size)).collect();
        client.outbox = (0..messages).map(|n| kinds[usize::from(stream(n))].clone()).collect();
        let mut server = User::server();
        server.discard = true;
        let mut pair = Pair::with_configs(place.seed, [config.clone(), config], &links, client, server);
        pair.world.forgo_trace_hash();
        Self { pair, now: Duration::ZERO }
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        self.pair.world.run_until(Instant::ZERO + self.now);
    }

    /// The path as the sender sees it.
    pub fn path(&self) -> PathView {
        self.pair.paths(CLIENT).remove(0)
    }

    /// What has happened until now.
    pub fn totals(&self) -> Totals {
        let Some(association) = self.pair.server().association() else { return Totals::default() };
        let received = self.pair.world.machine(self.pair.server).stats(association).expect("it is up");
        let links = (0..self.pair.uplinks[CLIENT].len()).map(|n| self.pair.link(n));
        let dropped = links.map(|link| self.pair.world.stats(link, Side::AtoB).dropped_packets()).sum();
        let totals = Totals {
            delivered: received.bytes_received,
            duplicates: received.duplicates_received,
            dropped,
            ..Totals::default()
        };
        self.pair.paths(CLIENT).iter().fold(totals, |totals, path| Totals {
            halvings: totals.halvings + path.counters.fast_retransmits,
            timeouts: totals.timeouts + path.counters.timeouts,
            retransmitted: totals.retransmitted + path.counters.data_retransmitted,
            ..totals
        })
    }
}

impl Totals {
    /// Mbit/s between two times.
    pub fn mbit(self, before: Self, time: Duration) -> f64 {
        (self.delivered - before.delivered) as f64 * 8e-6 / time.as_secs_f64()
    }
}
