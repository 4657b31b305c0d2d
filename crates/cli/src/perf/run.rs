//! The two halves of a measurement, the same at client and server: send as fast as it goes, and receive.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use whimbrel::{Association, Delivery, Message, Part, PayloadProtocolId, StreamId};

use super::count::{Counter, cpu_time};
use super::protocol::{Control, Counts, PPID_CONTROL, PPID_DATA, Request, Seen, decode, hear, say};

/// Payload bytes handed over in one go.
const BATCH_BYTES: usize = 256 * 1024;
/// Messages handed over in one go, at most.
const BATCH_MESSAGES: usize = 1024;

/// Sends what `request` says, then waits for what the other side saw. Returns what was sent, and that.
pub(super) async fn send(
    association: &Association,
    request: &Request,
    counter: &Counter,
) -> anyhow::Result<(Seen, Seen)> {
    let streams = request.streams.min(association.outbound_streams());
    let size = request.size as usize;
    let payload = Bytes::from(vec![0x57; size]);
    let batch = (BATCH_BYTES / size).clamp(1, BATCH_MESSAGES) as u64;
    let limit = request.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(request.size)));
    let (started, cpu) = (Instant::now(), cpu_time());
    let deadline = if request.bytes.is_some() { Duration::MAX } else { request.duration() };
    let mut counts = Counts::default();
    let mut queue = VecDeque::with_capacity(batch as usize);
    while started.elapsed() < deadline && counts.messages < limit {
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
    let Control::Seen(theirs) = hear(association).await? else { bail!("not the answer that was due") };
    let ours = Seen {
        counts,
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: (cpu_time() - cpu).as_secs_f64(),
    };
    Ok((ours, theirs))
}

/// Receives until the sender says how much there was and all of it is here, and tells it.
pub(super) async fn receive(association: &Association, counter: &Counter) -> anyhow::Result<Seen> {
    let cpu = cpu_time();
    let mut first = None;
    let mut last = Instant::now();
    let mut announced = None;
    let mut batch = Vec::with_capacity(BATCH_MESSAGES);
    // Messages on other streams, and unordered ones, may come after the announcement.
    while announced != Some(counter.read()) {
        let count = association.recv_many(&mut batch, BATCH_MESSAGES).await?;
        ensure!(count > 0, "the peer closed the connection");
        let (mut messages, mut bytes) = (0, 0);
        for received in batch.drain(..) {
            if received.ppid.0 == PPID_CONTROL {
                let Control::Done(counts) = decode(&received.payload)? else {
                    bail!("not the end that was due")
                };
                announced = Some(counts);
                continue;
            }
            bytes += received.payload.len() as u64;
            messages += u64::from(matches!(received.part, Part::Whole | Part::Last));
        }
        if bytes > 0 {
            last = Instant::now();
            first.get_or_insert(last);
        }
        counter.add(messages, bytes);
    }
    let seen = Seen {
        counts: counter.read(),
        seconds: first.map_or(0.0, |first| (last - first).as_secs_f64()),
        cpu_seconds: (cpu_time() - cpu).as_secs_f64(),
    };
    say(association, &Control::Seen(seen)).await?;
    Ok(seen)
}
