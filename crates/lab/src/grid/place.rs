use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, GilbertElliott, LinkConfig, Loss, QueueLimit, Reorder, Side};

use crate::experiment::{Axes, Cell};
use crate::value::Value;

/// Bytes of a full packet.
const PACKET: u64 = 1500;
/// The initial window in packets, from which ramp-up is counted.
const INITIAL_WINDOW: f64 = 10.0;
/// Bytes for which there is room in any queue.
const SMALLEST_QUEUE: u64 = 4 * PACKET;
/// Of a burst of losses: mean loss, and mean length in packets.
const BURSTS: (f64, f64) = (0.01, 10.0);
/// What a packet may take longer than another, and so overtake it or be overtaken.
const JITTER: Duration = Duration::from_millis(5);
/// A satellite's cell is served by another one from then on.
const LEO_STEP: Duration = Duration::from_secs(15);
/// How the rate and the round trip of each of its times compare with those of the cell.
const LEO: [(f64, f64); 4] = [(1.0, 1.0), (0.5, 1.5), (1.5, 0.75), (1.0, 1.25)];
/// An access point gets the medium once in so much time, for a third of it, and sends what waits at three times the rate.
const WIFI_TURN: Duration = Duration::from_millis(4);
const WIFI_SHARE: u32 = 3;

/// What is wrong with a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trouble {
    /// Packets are lost one by one, with this probability.
    Loss(f64),
    /// Packets are lost in bursts.
    Bursts,
    /// Packets overtake each other.
    Jitter,
    /// Each packet takes up to so many milliseconds more, either way, whatever is behind it.
    Disorder(u64),
    /// So many packets of a hundred take so many milliseconds more, either way.
    Late(u64, u64),
    /// Rate and round trip change every 15 s.
    Leo,
    /// Packets wait for the medium and leave in bursts.
    Wifi,
}

impl Trouble {
    /// Those that every rate, round trip and queue is combined with.
    pub const EVERYWHERE: [Self; 6] = [
        Self::Loss(0.0),
        Self::Loss(0.0001),
        Self::Loss(0.001),
        Self::Loss(0.01),
        Self::Bursts,
        Self::Jitter,
    ];

    /// Tunnels over several lines, wireless links that send again what was lost and do not wait for it, and emulators with jitter.
    pub const DISORDERED: [Self; 5] =
        [Self::Disorder(20), Self::Disorder(100), Self::Late(1, 100), Self::Late(5, 20), Self::Late(30, 200)];

    /// As rows have it.
    pub fn name(self) -> String {
        match self {
            Self::Loss(loss) if loss <= 0.0 => "none".to_owned(),
            Self::Loss(loss) => format!("loss {}%", loss * 100.0),
            Self::Bursts => "bursts".to_owned(),
            Self::Jitter => "jitter".to_owned(),
            Self::Disorder(most) => format!("disorder {most}ms"),
            Self::Late(share, by) => format!("late {share}% {by}ms"),
            Self::Leo => "leo".to_owned(),
            Self::Wifi => "wifi".to_owned(),
        }
    }

    /// Of this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::EVERYWHERE.into_iter().chain(Self::DISORDERED).chain([Self::Leo, Self::Wifi]);
        all.find(|one| one.name() == name)
    }

    /// The share of packets that it takes.
    fn loss(self) -> f64 {
        match self {
            Self::Loss(loss) => loss,
            Self::Bursts => BURSTS.0,
            Self::Jitter | Self::Disorder(_) | Self::Late(..) | Self::Leo | Self::Wifi => 0.0,
        }
    }
}

/// A path with a bottleneck: a cell of the grid.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// Mbit/s.
    pub rate: u64,
    /// The round trip without a queue, ms.
    pub rtt: u64,
    /// The queue, in bandwidth-delay products.
    pub queue: f64,
    /// What is wrong with it.
    pub trouble: Trouble,
}

/// The axes of cells, in the order of columns.
pub(super) const AXES: [&str; 4] = ["rate", "rtt", "queue", "trouble"];

impl Place {
    /// Where a cell is.
    pub fn of(cell: &Cell) -> Option<Self> {
        let whole = |axis| cell.get(axis)?.number().map(|number| number as u64);
        Some(Self {
            rate: whole("rate")?,
            rtt: whole("rtt")?,
            queue: cell.get("queue")?.number()?,
            trouble: Trouble::named(cell.word("trouble"))?,
        })
    }

    /// Its values on the axes.
    pub fn axes(self) -> Axes {
        let trouble = self.trouble.name();
        let values = [
            Value::from(self.rate as i64),
            Value::from(self.rtt as i64),
            Value::from(self.queue),
            Value::from(trouble.as_str()),
        ];
        AXES.into_iter().map(Into::into).zip(values).collect()
    }

    /// Bytes on their way when the bottleneck is busy and the queue empty.
    pub const fn bandwidth_delay_product(self) -> u64 {
        self.rate * 1000 / 8 * self.rtt
    }

    /// The round trip without a queue.
    pub const fn round_trip(self) -> Duration {
        Duration::from_millis(self.rtt)
    }

    /// Mbit/s that nobody exceeds: rate × (1 − loss).
    pub fn bound(self) -> f64 {
        self.rate as f64 * (1.0 - self.trouble.loss())
    }

    /// Until the bottleneck has sent so many bytes.
    pub fn sending_time(self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 * 8e-6 / self.rate as f64)
    }

    /// So long at most until half the rate is reached, from the first data on: ⌈log2(BDP / 10 packets)⌉ + 2 round trips, and no less than it takes to see.
    pub fn half_rate_limit(self) -> Duration {
        let windows = self.bandwidth_delay_product() as f64 / (INITIAL_WINDOW * PACKET as f64);
        let doublings = windows.max(1.0).log2().ceil();
        (self.round_trip() * (doublings as u32 + 2)).max(self.glance() + self.round_trip())
    }

    /// The time over which a rate is measured: a round trip, and no less than twenty packets.
    pub fn glance(self) -> Duration {
        self.round_trip().max(self.sending_time(20 * PACKET))
    }

    /// How long a run is, from the first data on: 10 s and 200 round trips, less where packets are many.
    pub fn duration(self) -> Duration {
        let seconds = |seconds| Duration::from_secs(seconds);
        match (self.trouble, self.rate) {
            (Trouble::Leo, _) => LEO_STEP * LEO.len() as u32,
            (Trouble::Wifi, _) => seconds(20),
            (_, ..=100) => seconds(10).max(self.round_trip() * 200),
            (_, ..=1000) => seconds(6).max(self.round_trip() * 50),
            _ => seconds(5),
        }
    }

    /// Bytes of each buffer: twice what the path and its queue hold, and some more.
    pub fn buffers(self) -> usize {
        let held = self.bandwidth_delay_product() + self.queue_bytes();
        (2 * held + (1 << 20)) as usize
    }

    fn queue_bytes(self) -> u64 {
        ((self.bandwidth_delay_product() as f64 * self.queue) as u64).max(SMALLEST_QUEUE)
    }

    /// The bottleneck, and the way back.
    pub(super) fn link(self) -> [LinkConfig; 2] {
        let (rate_bps, delay) = (Some(self.rate * 1_000_000), self.round_trip() / 2);
        let back = LinkConfig { rate_bps, delay, queue: QueueLimit::bytes(1 << 30), ..LinkConfig::default() };
        let there = LinkConfig { queue: QueueLimit::bytes(self.queue_bytes()), ..back };
        let there = match self.trouble {
            Trouble::Loss(loss) if loss > 0.0 => LinkConfig { loss: Loss::Bernoulli(loss), ..there },
            Trouble::Bursts => {
                let (mean, length) = BURSTS;
                LinkConfig { loss: Loss::GilbertElliott(GilbertElliott::bursts(mean, length)), ..there }
            }
            Trouble::Jitter => LinkConfig { jitter: JITTER, keep_order: false, ..there },
            Trouble::Disorder(most) => {
                let jitter = Duration::from_millis(most);
                return [there, back].map(|way| LinkConfig { jitter, keep_order: false, ..way });
            }
            Trouble::Late(share, by) => {
                let reorder = Reorder { probability: share as f64 / 100.0, extra: Duration::from_millis(by) };
                return [there, back].map(|way| LinkConfig { reorder, ..way });
            }
            Trouble::Loss(_) | Trouble::Leo | Trouble::Wifi => there,
        };
        [there, back]
    }

    /// What happens to the bottleneck during a run.
    pub(super) fn changes(self) -> Vec<(Side, Instant, Change)> {
        match self.trouble {
            Trouble::Leo => self.steps(),
            Trouble::Wifi => self.turns(),
            Trouble::Loss(_)
            | Trouble::Bursts
            | Trouble::Jitter
            | Trouble::Disorder(_)
            | Trouble::Late(..) => Vec::new(),
        }
    }

    fn steps(self) -> Vec<(Side, Instant, Change)> {
        let step = |(number, &(rate, rtt)): (u32, &(f64, f64))| {
            let at = Instant::ZERO + LEO_STEP * number;
            let rate = Change::Rate(Some((self.rate as f64 * 1e6 * rate) as u64));
            [(Side::Both, at, rate), (Side::Both, at, Change::Delay(self.round_trip().mul_f64(rtt / 2.0)))]
        };
        // Twice round: the handshake comes before the run.
        (0..).zip(LEO.iter().chain(&LEO)).flat_map(step).collect()
    }

    fn turns(self) -> Vec<(Side, Instant, Change)> {
        let fast = Change::Rate(Some(self.rate * 1_000_000 * u64::from(WIFI_SHARE)));
        let mut changes = Vec::new();
        let mut at = Instant::ZERO;
        while at < Instant::ZERO + self.duration() + Duration::from_secs(2) {
            // The stations have their turn in the middle of the access point's pause.
            for (side, from) in [(Side::AtoB, at), (Side::BtoA, at + WIFI_TURN / 2)] {
                changes.push((side, from, fast));
                changes.push((side, from + WIFI_TURN / WIFI_SHARE, Change::Rate(Some(0))));
            }
            at += WIFI_TURN;
        }
        changes
    }
}
