//! Whimbrel: each record is a message.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use whimbrel::{Association, CloseReason, Endpoint, Message, StreamId};
use whimbrel_gateway::NetworkControl;

use super::{Terms, Transport, say_ready, say_sent_again};
use crate::Direction;
use crate::pace::{Pace, Schedule};
use crate::record::{self, END};
use crate::report::Report;

/// SCTP port of the server.
const PORT: u16 = 7000;

/// An interface counts as up a moment after `ip link set up` has returned: on a busy machine, after this program has begun.
async fn wait_for_an_address(endpoint: &Endpoint) {
    for _ in 0..200 {
        if !endpoint.local_addresses().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// As the transport says.
async fn endpoint(
    transport: Transport,
    addresses: &[SocketAddr],
    control: &NetworkControl,
) -> anyhow::Result<Endpoint> {
    let builder = Endpoint::builder().addresses(addresses.iter().copied());
    Ok(transport.configure(builder, control).bind().await?)
}

pub(crate) async fn serve(transport: Transport, listen: &[SocketAddr], terms: Terms) -> anyhow::Result<()> {
    let endpoint = endpoint(transport, listen, &NetworkControl::default()).await?;
    let beside = transport.correspondent(&terms.network).await?;
    let listener = endpoint.listen(PORT)?;
    say_ready();
    let association = listener.accept().await?;
    if let Some(agent) = &beside {
        agent.watch(&association).await;
    }
    let order = association.recv().await?.context("the mover went away at once")?;
    let (order, pace) = record::decode(&order.payload)?;
    let work = async {
        match record::direction(order)? {
            Direction::Up => receive(transport, &association, terms).await,
            Direction::Down => send(&association, pace).await,
            Direction::Both => {
                exchange(transport, &association, pace, terms).await?;
                ended_well(&association).await
            }
        }
    };
    watched(&association, pace, work).await
}

/// Bound to the wildcard addresses: every usable address of the host, kept current.
pub(crate) async fn connect(
    transport: Transport,
    to: &[SocketAddr],
    direction: Direction,
    pace: Pace,
    terms: Terms,
) -> anyhow::Result<()> {
    let any = [(Ipv4Addr::UNSPECIFIED, 9899).into(), (Ipv6Addr::UNSPECIFIED, 9899).into()];
    let control = NetworkControl::default();
    let endpoint = endpoint(transport, &any, &control).await?;
    wait_for_an_address(&endpoint).await;
    let own = endpoint.local_addresses().first().context("no address")?.ip();
    let beside = transport.terminal(&endpoint, own, &terms.network, control)?;
    let association = endpoint.connect(to, PORT).await?;
    if let Some(agent) = &beside {
        agent.watch(&association).await;
    }
    association.send(message(record::encode(record::order(direction), pace))).await?;
    let work = async {
        match direction {
            Direction::Up => send(&association, pace).await,
            Direction::Down => receive(transport, &association, terms).await,
            Direction::Both => {
                exchange(transport, &association, pace, terms).await?;
                association.shutdown().await.map_err(Into::into)
            }
        }
    };
    watched(&association, pace, work).await
}

fn message(bytes: Vec<u8>) -> Message {
    Message::new(StreamId(0), bytes)
}

async fn send(association: &Association, pace: Pace) -> anyhow::Result<()> {
    send_all(association, pace).await?;
    // The peer shuts down when it has everything.
    ended_well(association).await
}

async fn send_all(association: &Association, pace: Pace) -> anyhow::Result<()> {
    let mut schedule = Schedule::new(pace);
    while let Some(number) = schedule.next().await {
        association.send(message(record::encode(number, pace))).await?;
    }
    association.send(message(record::encode(END, pace))).await?;
    Ok(())
}

async fn ended_well(association: &Association) -> anyhow::Result<()> {
    let reason = association.closed().await;
    ensure!(reason == CloseReason::Shutdown, "{reason}");
    Ok(())
}

async fn receive(transport: Transport, association: &Association, terms: Terms) -> anyhow::Result<()> {
    let mut report = Report::new(terms.patience);
    let result = receive_all(association, &mut report).await;
    report.print(transport.name(), result.as_ref().err());
    result?;
    association.shutdown().await?;
    Ok(())
}

/// Sends and receives at the same time.
async fn exchange(
    transport: Transport,
    association: &Association,
    pace: Pace,
    terms: Terms,
) -> anyhow::Result<()> {
    let mut report = Report::new(terms.patience);
    let result = tokio::try_join!(send_all(association, pace), receive_all(association, &mut report));
    report.print(transport.name(), result.as_ref().err());
    result.map(|_| ())
}

async fn receive_all(association: &Association, report: &mut Report) -> anyhow::Result<()> {
    while let Some(received) = report.expect(async { Ok(association.recv().await?) }).await? {
        let (number, pace) = record::decode(&received.payload)?;
        if number == END {
            return Ok(());
        }
        report.arrived(number, pace)?;
    }
    anyhow::bail!("the association ended early")
}

/// Tells what happens meanwhile: each event on standard error, after the seconds since 1970, and how much has been sent again.
async fn watched(
    association: &Association,
    pace: Pace,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let mut events = association.events();
    let tell = async {
        while let Some(event) = events.recv().await {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            eprintln!("{:.3} {event:?}", now.as_secs_f64());
        }
        core::future::pending::<()>().await;
    };
    // Paths go and take their counters along.
    let mut counted = BTreeMap::new();
    let count = async {
        loop {
            counted.extend(association.paths().await.into_iter().map(|path| (path.id, path.counters)));
            if let Some(stats) = association.stats().await {
                let arrived = stats.bytes_sent.saturating_sub(stats.send_queued as u64);
                let first: u64 = counted.values().map(|path| path.data_sent).sum();
                let again: u64 = counted.values().map(|path| path.data_retransmitted).sum();
                // A chunk is a record or a part of one; how large they are is known on average.
                say_sent_again(again * (arrived / first.max(1)).min(u64::from(pace.size)));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::select! {
        result = work => result,
        () = count => unreachable!("counts for ever"),
        () = tell => unreachable!("waits for ever"),
    }
}
