//! The video: its server and its viewer.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;
use whimbrel::{Association, Config, Encapsulation, Endpoint, Message, PathId, StreamId};

use crate::Video;
use crate::clock::Begin;
use crate::profile::{Window, config};

/// SCTP port of the viewer.
const PORT: u16 = 5001;
/// Retransmissions are counted for so long after the handover.
const FIRST: Duration = Duration::from_secs(2);
/// Number of messages before the handover.
const AHEAD: u64 = u64::MAX;

/// What the server does when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) handover: Duration,
    pub(crate) ahead: Duration,
    pub(crate) video: Video,
}

/// Directly on IP, as in the paper: an SCTP packet and a TCP segment are equally long.
async fn endpoint(local: &[IpAddr], config: Config) -> anyhow::Result<Endpoint> {
    let builder = Endpoint::builder().addresses(with_ports(local)).config(config);
    Ok(builder.encapsulation(Encapsulation::RawIp).without_policy().bind().await?)
}

fn with_ports(addresses: &[IpAddr]) -> Vec<SocketAddr> {
    addresses.iter().map(|&address| SocketAddr::new(address, 0)).collect()
}

/// Sends the video and prints one JSON object at the end.
pub(crate) async fn serve(
    begin: Begin,
    [local, to]: [&[IpAddr]; 2],
    window: Window,
    plan: Plan,
) -> anyhow::Result<()> {
    let interval = Duration::from_millis(plan.video.interval.into());
    let endpoint = endpoint(local, config(window, plan.video.size)).await?;
    begin.wait(plan.handover.saturating_sub(plan.ahead)).await;
    let association = endpoint.connect(&with_ports(to), PORT).await?;
    let paths = association.paths().await;
    let second = paths.iter().find(|path| path.route.remote.ip() == to[1]);
    let second = second.context("there is no path to the second address")?.id;
    let ahead = (plan.ahead.as_millis() / interval.as_millis().max(1)) as u32;
    // The first has had the time of the handshake.
    for number in (1..ahead).rev() {
        let due = plan.handover.saturating_sub(interval * number);
        if due > begin.now() {
            begin.wait(due).await;
            send(&association, begin, plan.video, AHEAD, due).await?;
        }
    }
    begin.wait(plan.handover).await;
    let before = retransmitted(&association, second).await;
    association.set_primary(second);
    let mut counted = false;
    for number in 0..plan.video.messages {
        let due = plan.handover + interval * number;
        begin.wait(due).await;
        send(&association, begin, plan.video, number.into(), due).await?;
        // A video that is shorter than that is counted with its last message.
        let last = number + 1 == plan.video.messages || due + interval > plan.handover + FIRST;
        if last && !counted {
            counted = true;
            let count = retransmitted(&association, second).await - before;
            println!("{}", json!({"retransmitted": count}));
        }
    }
    association.shutdown().await?;
    Ok(())
}

async fn retransmitted(association: &Association, path: PathId) -> u64 {
    let paths = association.paths().await;
    paths.iter().find(|view| view.id == path).map_or(0, |view| view.counters.data_retransmitted)
}

/// The head of a message: its number, when it was due and when it was generated.
async fn send(
    association: &Association,
    begin: Begin,
    video: Video,
    number: u64,
    due: Duration,
) -> anyhow::Result<()> {
    let mut bytes = vec![0; video.size as usize];
    let head = [number, due.as_nanos() as u64, begin.now().as_nanos() as u64];
    for (field, value) in bytes.chunks_exact_mut(8).zip(head) {
        field.copy_from_slice(&value.to_be_bytes());
    }
    association.send(Message::new(StreamId(0), bytes)).await?;
    Ok(())
}

/// Watches the video until it is over, the server goes away or the time is up; what has arrived by then is the result.
pub(crate) async fn view(
    begin: Begin,
    local: &[IpAddr],
    until: Duration,
    video: Video,
) -> anyhow::Result<()> {
    let endpoint = endpoint(local, config(Window::Packets(3), video.size)).await?;
    let listener = endpoint.listen(PORT)?;
    println!("{}", json!({"ready": true}));
    let mut seen = Seen::default();
    let watch = async {
        let association = listener.accept().await?;
        while seen.transfer.len() < video.messages as usize {
            let Some(received) = association.recv().await? else { break };
            seen.message(begin.now(), &received.payload, video)?;
        }
        Ok(Some(association))
    };
    let result: anyhow::Result<Option<Association>> = tokio::select! {
        result = watch => result,
        () = begin.wait(until) => Ok(None),
    };
    let error = result.as_ref().err().map(ToString::to_string);
    println!(
        "{}",
        json!({"transfer_s": seen.transfer, "ahead": seen.ahead, "late_s": seen.late.as_secs_f64(), "error": error})
    );
    if let Ok(Some(association)) = result {
        // The server shuts down when everything is acknowledged.
        tokio::select! {
            _ = association.closed() => {}
            () = begin.wait(until) => {}
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Seen {
    /// Seconds from the generation of each message to its arrival.
    transfer: Vec<f64>,
    /// Messages that came before the handover.
    ahead: u64,
    /// How late a message was generated at most.
    late: Duration,
}

impl Seen {
    fn message(&mut self, now: Duration, bytes: &[u8], video: Video) -> anyhow::Result<()> {
        ensure!(bytes.len() == video.size as usize, "a message of {} bytes", bytes.len());
        let field = |at: usize| bytes[at..at + 8].iter().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
        let (number, due, generated) =
            (field(0), Duration::from_nanos(field(8)), Duration::from_nanos(field(16)));
        if number == AHEAD {
            self.ahead += 1;
            return Ok(());
        }
        ensure!(number == self.transfer.len() as u64, "message {number} after {}", self.transfer.len());
        self.late = self.late.max(generated.saturating_sub(due));
        self.transfer.push(now.saturating_sub(generated).as_secs_f64());
        Ok(())
    }
}
