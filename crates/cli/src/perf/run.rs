//! The halves of a measurement, the same at client and server: send, receive, and both at once.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use whimbrel::{Association, Delivery, Message, Part, PayloadProtocolId, Received, StreamId};

use super::ahead::Ahead;
use super::count::{Counter, cpu_time};
use super::protocol::{Control, Counts, PPID_CONTROL, PPID_DATA, Request, Seen, decode, hear, say};

/// Payload bytes handed over in one go.
const BATCH_BYTES: usize = 256 * 1024;
/// Messages handed over in one go, at most.
const BATCH_MESSAGES: usize = 1024;
/// With a given rate, no more than this much of it is handed over in one go, or one message.
const BATCH_TIME: Duration = Duration::from_millis(5);

/// Sends what `request` says, then waits for what the other side saw. Returns what was sent, and that.
pub(super) async fn send(
    association: &Association,
    request: &Request,
    counter: &Counter,
) -> anyhow::Result<(Seen, Seen)> {
    let ours = transmit(association, request, counter).await?;
    let Control::Seen(theirs) = hear(association).await? else { bail!("not the answer that was due") };
    Ok((ours, theirs))
}

/// Receives until the sender says how much there was and all of it is here, and tells it.
pub(super) async fn receive(
    association: &Association,
    request: &Request,
    counter: &Counter,
    begins: Begins,
) -> anyhow::Result<Seen> {
    Arrivals::new(begins.pause(association, request).await, counter).all(association).await
}

/// From when on what arrives is measured. The first message has been on its way for a while when all of it is there, and counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begins {
    /// The other side sends from now on, without being asked.
    Now,
    /// The other side has been told a moment ago that it may, so that nothing can arrive before a round trip is over.
    WhenAnswered,
}

impl Begins {
    /// How long nothing can arrive.
    async fn pause(self, association: &Association, request: &Request) -> Duration {
        match self {
            // At a given rate the time before the first message is part of the measurement.
            Self::WhenAnswered if request.rate.is_none() => {
                let paths = association.paths().await;
                paths.iter().find(|path| path.in_use).and_then(|path| path.srtt).unwrap_or_default()
            }
            _ => Duration::ZERO,
        }
    }
}

/// What came of a measurement in both directions at once.
#[derive(Debug)]
pub(super) struct Exchanged {
    /// What this side sent, as it saw it.
    pub(super) sent: Seen,
    /// The same, as the other side received it.
    pub(super) sent_arrived: Seen,
    /// What this side received.
    pub(super) received: Seen,
}

/// Sends what `request` says and receives as much, at the same time.
pub(super) async fn exchange(
    association: &Association,
    request: &Request,
    out: &Counter,
    back: &Counter,
    begins: Begins,
) -> anyhow::Result<Exchanged> {
    let pause = begins.pause(association, request).await;
    let arriving = async {
        let mut arrivals = Arrivals::new(pause, back);
        let received = arrivals.all(association).await?;
        while arrivals.answer.is_none() {
            arrivals.more(association).await?;
        }
        Ok((received, arrivals.answer.unwrap_or_default()))
    };
    let (sent, (received, sent_arrived)) = tokio::try_join!(transmit(association, request, out), arriving)?;
    Ok(Exchanged { sent, sent_arrived, received })
}

/// Sends what `request` says, and says how much that was.
async fn transmit(association: &Association, request: &Request, counter: &Counter) -> anyhow::Result<Seen> {
    let streams = request.streams.min(association.outbound_streams());
    let payload = Bytes::from(vec![0x57; request.size as usize]);
    let batch = batch(request);
    let limit = request.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(request.size)));
    let (started, cpu) = (Instant::now(), cpu_time());
    let deadline = if request.bytes.is_some() { Duration::MAX } else { request.duration() };
    let mut counts = Counts::default();
    let mut queue = VecDeque::with_capacity(batch as usize);
    let mut ahead = Ahead::default();
    while started.elapsed() < deadline && counts.messages < limit {
        if let Some(rate) = request.rate {
            // Never more than the rate, from the first message on.
            let bytes = (counts.messages + batch) * u64::from(request.size);
            let due = Duration::from_secs_f64(bytes as f64 * 8.0 / rate as f64);
            tokio::time::sleep_until((started + due.min(deadline)).into()).await;
            if due > deadline {
                break;
            }
        } else if request.bytes.is_none() {
            let room = ahead.room(association, counts.bytes);
            if tokio::time::timeout_at((started + deadline).into(), room).await.is_err() {
                break;
            }
        }
        for number in counts.messages..(counts.messages + batch).min(limit) {
            queue.push_back(Message {
                stream: StreamId((number % u64::from(streams)) as u16),
                ppid: PayloadProtocolId(PPID_DATA),
                delivery: if request.unordered { Delivery::Unordered } else { Delivery::Ordered },
                ..Message::new(StreamId(0), payload.clone())
            });
        }
        let messages = queue.len() as u64;
        association.send_many(&mut queue).await.context("the connection is lost")?;
        let bytes = messages * u64::from(request.size);
        counts.messages += messages;
        counts.bytes += bytes;
        counter.add(messages, bytes);
    }
    say(association, &Control::Done(counts)).await?;
    Ok(Seen {
        counts,
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: (cpu_time() - cpu).as_secs_f64(),
    })
}

/// How many messages are handed over in one go.
fn batch(request: &Request) -> u64 {
    let size = request.size as usize;
    let fast = (BATCH_BYTES / size).clamp(1, BATCH_MESSAGES) as u64;
    let at_rate = |rate: u64| (rate as f64 / 8.0 * BATCH_TIME.as_secs_f64() / size as f64) as u64;
    request.rate.map_or(fast, |rate| at_rate(rate).clamp(1, fast))
}

/// What arrives at one side of an association.
struct Arrivals<'a> {
    /// What the display counts, of several associations perhaps.
    counter: &'a Counter,
    /// What has arrived here.
    arrived: Counts,
    batch: Vec<Received>,
    /// From when it is measured, but for the pause.
    begin: Instant,
    /// How long nothing could arrive at first.
    pause: Duration,
    /// When the last payload arrived.
    last: Option<Instant>,
    /// How much the other side sent, once it has said so.
    announced: Option<Counts>,
    /// What the other side received, once it has said so.
    answer: Option<Seen>,
}

impl<'a> Arrivals<'a> {
    fn new(pause: Duration, counter: &'a Counter) -> Self {
        let batch = Vec::with_capacity(BATCH_MESSAGES);
        let arrived = Counts::default();
        Self {
            counter,
            arrived,
            batch,
            begin: Instant::now(),
            pause,
            last: None,
            announced: None,
            answer: None,
        }
    }

    /// Waits until everything that was announced is here, and tells the other side. Messages on other streams, and unordered ones, may come
    /// after the announcement.
    async fn all(&mut self, association: &Association) -> anyhow::Result<Seen> {
        let cpu = cpu_time();
        while self.announced != Some(self.arrived) {
            self.more(association).await?;
        }
        let seen = Seen {
            counts: self.arrived,
            seconds: self.last.map_or(0.0, |last| lasted(last - self.begin, self.pause).as_secs_f64()),
            cpu_seconds: (cpu_time() - cpu).as_secs_f64(),
        };
        say(association, &Control::Seen(seen)).await?;
        Ok(seen)
    }

    /// Takes what is there, at least one message.
    async fn more(&mut self, association: &Association) -> anyhow::Result<()> {
        let count = association.recv_many(&mut self.batch, BATCH_MESSAGES).await?;
        ensure!(count > 0, "the peer closed the connection");
        let (mut messages, mut bytes) = (0, 0);
        for received in self.batch.drain(..) {
            if received.ppid.0 == PPID_CONTROL {
                match decode(&received.payload)? {
                    Control::Done(counts) if self.announced.is_none() => self.announced = Some(counts),
                    Control::Seen(seen) if self.answer.is_none() => self.answer = Some(seen),
                    _ => bail!("not the end that was due"),
                }
                continue;
            }
            bytes += received.payload.len() as u64;
            messages += u64::from(matches!(received.part, Part::Whole | Part::Last));
        }
        if bytes > 0 {
            self.last = Some(Instant::now());
        }
        self.arrived.messages += messages;
        self.arrived.bytes += bytes;
        self.counter.add(messages, bytes);
        Ok(())
    }
}

/// How long a measurement lasted that was over after `all`, of which nothing could arrive for a `pause`: one that takes little longer is measured with it, for
/// what is left says nothing.
fn lasted(all: Duration, pause: Duration) -> Duration {
    if all > 2 * pause { all - pause } else { all }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
