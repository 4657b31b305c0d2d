//! Whimbrel as its users have it: the tokio library on a runtime of one thread, two addresses at each end, the profile
//! that is the default.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use whimbrel::proto::PathPairing;
use whimbrel::secure::{self, Identity, Trust};
use whimbrel::{Association, Config, Endpoint, Listener, Message, Part, Security, StreamId};

use super::{BUFFER, End, Role};
use crate::measure::{EndReport, Meter, rss_kib};

const SCTP_PORT: u16 = 5002;

/// The stack whose packets are sealed, and whose ends know each other's keys.
pub(crate) const ENCRYPTED: &str = "whimbrel-encrypted";

/// Messages below this size are handed over and taken many at a time.
pub(super) const SMALL: usize = 4096;

/// … so many.
pub(super) const HANDFUL: usize = 256;

/// Time for the paths of idle associations to be confirmed and for what the handshakes used to be freed.
const SETTLING: Duration = Duration::from_secs(4);

/// Time for the last packets to leave.
const LINGER: Duration = Duration::from_millis(100);

pub(super) fn run(end: &End) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // As a task: what the runtime blocks on is polled only after a system call of its own that asks for I/O.
    runtime.block_on(async { tokio::spawn(work(end.clone())).await? })
}

async fn work(end: End) -> anyhow::Result<()> {
    let before = rss_kib()?;
    let endpoint = bind(&end).await?;
    let mut report = match (end.role, end.setups) {
        (Role::Server, 0) => receive(&end, endpoint.listen(SCTP_PORT)?).await?,
        (Role::Client, 0) => send(&end, &endpoint).await?,
        (Role::Server, _) => accept_all(&end, endpoint.listen(SCTP_PORT)?, before).await?,
        (Role::Client, _) => set_up_all(&end, &endpoint, before).await?,
    };
    report.stack.clone_from(&end.stack);
    report.role = end.role.name().into();
    report.size = end.size;
    report.print()?;
    tokio::time::sleep(LINGER).await;
    // Idle associations need no farewell here.
    std::process::exit(0)
}

async fn bind(end: &End) -> anyhow::Result<Endpoint> {
    let mut config = Config::mobile();
    config.limits.send_buffer = BUFFER;
    config.limits.receive_buffer = BUFFER;
    if end.heartbeat_ms > 0 {
        config.heartbeat.interval = Some(Duration::from_millis(end.heartbeat_ms));
    }
    if end.idle || end.crowd > 0 {
        // Two paths: each address of ours with one of the peer's.
        config.pairing = PathPairing::PerDestination;
    }
    if end.stack == ENCRYPTED {
        config.security = security(end.role);
    }
    let addresses = match end.role {
        Role::Server => addresses(end, 1),
        Role::Client => addresses(end, 3),
    };
    Ok(Endpoint::builder().addresses(addresses).config(config).bind().await?)
}

/// Each end has a key that the other one expects.
fn security(role: Role) -> Security {
    let identity = |role| Identity::from_seed(&[role as u8 + 1; 32]);
    let peer = match role {
        Role::Server => Role::Client,
        Role::Client => Role::Server,
    };
    secure::required(&identity(role), Trust::keys([identity(peer).public_key()]))
}

/// The first or the first two addresses of an end.
fn addresses(end: &End, first: u8) -> Vec<SocketAddr> {
    let host = |host| (Ipv4Addr::new(127, 0, 0, host), end.port).into();
    (first..).map(host).take(end.addresses.clamp(1, 2)).collect()
}

// Transfers.

async fn send(end: &End, endpoint: &Endpoint) -> anyhow::Result<EndReport> {
    let mut idle = Vec::with_capacity(end.crowd);
    connect_all(end, endpoint, end.crowd, &mut idle).await?;
    if end.crowd > 0 {
        tokio::time::sleep(SETTLING).await;
    }
    let association = endpoint.connect(&addresses(end, 1), SCTP_PORT).await?;
    let meter = Meter::start()?;
    let message = Message::new(StreamId(0), Bytes::from(vec![0x5a; end.size]));
    let mut messages = 0;
    let mut queue = VecDeque::with_capacity(HANDFUL);
    while meter.elapsed() < Duration::from_secs(end.seconds) {
        if end.size >= SMALL {
            association.send(message.clone()).await?;
            messages += 1;
        } else {
            queue.extend(std::iter::repeat_n(message.clone(), HANDFUL));
            association.send_many(&mut queue).await?;
            messages += HANDFUL as u64;
        }
    }
    association.shutdown().await.map_err(|reason| anyhow::anyhow!("{reason:?}"))?;
    Ok(EndReport { bytes: messages * end.size as u64, messages, ..meter.read()? })
}

async fn receive(end: &End, listener: Listener) -> anyhow::Result<EndReport> {
    let mut idle = Vec::with_capacity(end.crowd);
    for _ in 0..end.crowd {
        idle.push(listener.accept().await?);
    }
    let association = listener.accept().await?;
    let meter = Meter::start()?;
    let (mut bytes, mut messages) = (0, 0);
    let mut received = Vec::with_capacity(HANDFUL);
    while association.recv_many(&mut received, HANDFUL).await? > 0 {
        for message in received.drain(..) {
            bytes += message.payload.len() as u64;
            messages += u64::from(matches!(message.part, Part::Whole | Part::Last));
            std::hint::black_box(&message.payload);
        }
    }
    Ok(EndReport { bytes, messages, ..meter.read()? })
}

// Set-ups.

async fn set_up_all(end: &End, endpoint: &Endpoint, before: i64) -> anyhow::Result<EndReport> {
    let mut associations = Vec::with_capacity(end.setups);
    let meter = Meter::start()?;
    connect_all(end, endpoint, end.setups, &mut associations).await?;
    setup_report(end, &meter, before).await
}

async fn accept_all(end: &End, listener: Listener, before: i64) -> anyhow::Result<EndReport> {
    let mut associations = Vec::with_capacity(end.setups);
    associations.push(listener.accept().await?);
    let meter = Meter::start()?;
    while associations.len() < end.setups {
        associations.push(listener.accept().await?);
    }
    setup_report(end, &meter, before).await
}

async fn setup_report(end: &End, meter: &Meter, before: i64) -> anyhow::Result<EndReport> {
    let report = meter.read()?;
    if end.idle {
        tokio::time::sleep(SETTLING).await;
    }
    Ok(EndReport {
        setups: end.setups,
        inflight: end.inflight,
        rss_before_kib: before,
        rss_after_kib: rss_kib()?,
        ..report
    })
}

/// Sets up `count` associations, `end.inflight` at a time.
async fn connect_all(
    end: &End,
    endpoint: &Endpoint,
    count: usize,
    associations: &mut Vec<Association>,
) -> anyhow::Result<()> {
    let left = Arc::new(AtomicUsize::new(count));
    let lanes: Vec<_> = (0..end.inflight)
        .map(|_| {
            let (left, endpoint, server) = (left.clone(), endpoint.clone(), addresses(end, 1));
            tokio::spawn(async move {
                let mut mine = Vec::new();
                while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                    mine.push(endpoint.connect(&server, SCTP_PORT).await?);
                }
                anyhow::Ok(mine)
            })
        })
        .collect();
    for lane in lanes {
        associations.extend(lane.await.context("a lane panicked")??);
    }
    Ok(())
}
