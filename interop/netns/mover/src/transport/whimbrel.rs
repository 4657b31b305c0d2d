//! Whimbrel: each record is a message.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context as _;
use whimbrel::{Association, Endpoint, Message, StreamId};

use super::{Transport, say_ready};
use crate::pace::{Pace, Schedule};
use crate::record::{self, GO_DOWN, GO_UP};
use crate::report::Report;

/// SCTP port of the server.
const PORT: u16 = 7000;

pub(crate) async fn serve(listen: &[SocketAddr]) -> anyhow::Result<()> {
    let endpoint = Endpoint::bind(listen.iter().copied()).await?;
    let listener = endpoint.listen(PORT)?;
    say_ready();
    let association = listener.accept().await?;
    let order = association.recv().await?.context("the mover went away at once")?;
    let (order, pace) = record::decode(&order.payload)?;
    if order == GO_UP { receive(&association).await } else { send(&association, pace).await }
}

/// Bound to the wildcard address: every usable address of the host, kept current.
pub(crate) async fn connect(to: &[SocketAddr], up: bool, pace: Pace) -> anyhow::Result<()> {
    let endpoint = Endpoint::bind([(Ipv4Addr::UNSPECIFIED, 9899).into()]).await?;
    let association = endpoint.connect(to, PORT).await?;
    association.send(message(record::encode(if up { GO_UP } else { GO_DOWN }, pace))).await?;
    if up { send(&association, pace).await } else { receive(&association).await }
}

fn message(bytes: Vec<u8>) -> Message {
    Message::new(StreamId(0), bytes)
}

async fn send(association: &Association, pace: Pace) -> anyhow::Result<()> {
    let mut schedule = Schedule::new(pace);
    while let Some(number) = schedule.next().await {
        association.send(message(record::encode(number, pace))).await?;
    }
    association.send(message(record::encode(GO_UP, pace))).await?;
    // The peer shuts down when it has everything.
    association.closed().await;
    Ok(())
}

async fn receive(association: &Association) -> anyhow::Result<()> {
    let mut report = Report::new();
    let result = receive_all(association, &mut report).await;
    report.print(Transport::Whimbrel.name(), result.as_ref().err());
    association.shutdown().await?;
    result
}

async fn receive_all(association: &Association, report: &mut Report) -> anyhow::Result<()> {
    while let Some(received) = association.recv().await? {
        let (number, pace) = record::decode(&received.payload)?;
        if number == GO_UP {
            return Ok(());
        }
        report.arrived(number, pace.size as usize)?;
    }
    anyhow::bail!("the association ended early")
}
