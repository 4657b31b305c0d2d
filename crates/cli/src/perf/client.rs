//! `whimbrel perf client`

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use bytes::Bytes;
use futures_util::future::try_join_all;
use serde_json::json;
use whimbrel::{
    Association, CloseReason, Config, ConnectError, Endpoint, Message, PathView, PayloadProtocolId, StreamId,
};

use super::count::{Counter, cpu_time};
use super::histogram::Histogram;
use super::protocol::{Control, Counts, Mode, PPID_DATA, Request, SCTP_PORT, Seen, VERSION, hear, say};
use super::report::{Moment, Output, Result as Measured};
use super::{ClientArgs, config, run as halves};
use crate::addresses;
use crate::control::ControlSocket;
use crate::destination::Receiver;
use crate::exit::{Failure, unless_interrupted};
use crate::network_control::Beside;
use crate::news;
use crate::peer::Peer;

/// How often an interim line appears.
const INTERVAL: Duration = Duration::from_secs(1);

/// A measurement whose time is over ends when nothing has moved for this long: the server may be gone without a word.
const SILENCE: Duration = Duration::from_secs(30);

/// How long the server may take to say that it is ready.
const GREETING: Duration = Duration::from_secs(10);

pub(super) async fn run(args: ClientArgs) -> Result<(), Failure> {
    let output = Output { json: args.json };
    let mut interrupt = std::pin::pin!(crate::exit::interrupted());
    if args.parallel > 1 && args.mobility.network.is_given() {
        let text = "--gateway: the network moves one connection; leave out --parallel";
        return Err(Failure::Usage(text.into()));
    }
    let insecure = args.mobility.is_clear()?;
    let server = Receiver::of(&args.to, args.ticket_file.as_deref(), args.sctp_port, SCTP_PORT, insecure)?;
    let prepared = async {
        let peer = Peer::resolve(&server.addresses).await?;
        peer.doubt(&output);
        let local = match args.bind.as_slice() {
            [] => addresses::towards(&peer.all())?,
            typed => addresses::local(typed, 0).await?,
        };
        Ok((peer, local))
    };
    let (peer, local) = unless_interrupted(&mut interrupt, prepared).await?;
    let config = Config { security: server.security()?, ..config() };
    let endpoint = args.mobility.bind(local, config, &output).await?;
    let _control = ControlSocket::start("perf client", &endpoint, &args.mobility.network.ordered, &output);
    news::tell(&endpoint, Arc::new(output));
    let beside = args.mobility.network.terminal(&endpoint, Arc::new(output))?;
    let outcome = tokio::select! {
        outcome = connect_and_measure(&endpoint, &beside, &peer, &server, &args, output) => {
            outcome.map_err(|error| Failure::from(error).of_peer(peer.named.first().copied()))
        }
        _ = &mut interrupt => Err(Failure::Interrupted("")),
    };
    beside.leave(&endpoint, "the client was stopped").await;
    outcome
}

async fn connect_and_measure(
    endpoint: &Endpoint,
    beside: &Beside,
    peer: &Peer,
    server: &Receiver,
    args: &ClientArgs,
    output: Output,
) -> anyhow::Result<()> {
    let mut associations = Vec::new();
    for _ in 0..args.parallel {
        let association = connect(endpoint, peer, server, args).await?;
        news::follow(endpoint, &association, Arc::new(output));
        beside.watch(&association).await;
        associations.push(association);
    }
    let Some(route) = associations.first().map(Association::initial_route) else { return Ok(()) };
    let protected = associations.iter().all(|one| one.peer_key().is_some());
    output.event(
        "connected",
        json!({
            "local": route.local, "remote": route.remote, "associations": associations.len(),
            "protected": protected, "name": server.name(),
            "key": associations[0].peer_key().map(|key| key.to_string()),
        }),
    );
    let how = if protected { "encrypted" } else { "not encrypted" };
    output.note(&match associations.len() {
        1 => format!("connected to {}, {how}", route.remote),
        several => format!("connected to {}, {several} associations, {how}", route.remote),
    });
    measure(&associations, args, output).await
}

/// One association. A server that was never met is shown to the user first.
async fn connect(
    endpoint: &Endpoint,
    peer: &Peer,
    server: &Receiver,
    args: &ClientArgs,
) -> anyhow::Result<Association> {
    let mut outcome = peer.connect(endpoint, server.sctp_port).await;
    if let Err(error) = &outcome
        && let Some((stranger, key)) = server.stranger(error)
    {
        stranger.meet(key, args.json.then_some("--json")).await?;
        outcome = peer.connect(endpoint, server.sctp_port).await;
    }
    if let Ok(association) = &outcome {
        server.remember(association).await?;
    }
    outcome.map_err(|error| {
        let to = peer.named[0];
        if let ConnectError::Failed(reason) = &error
            && let Some(advice) = server.advice(reason)
        {
            return anyhow!("no connection to {to}: {advice}");
        }
        let hint = server.pin_hint().unwrap_or_else(|| args.mobility.key_hint().to_owned());
        anyhow!("no connection to {to}: {error}; is `whimbrel perf server` running there?{hint}")
    })
}

/// What the client asks for, for each association.
fn request(args: &ClientArgs) -> Request {
    Request {
        version: VERSION,
        mode: match (args.latency, args.reverse, args.bidir) {
            (true, ..) => Mode::Latency,
            (_, true, _) => Mode::Download,
            (.., true) => Mode::Both,
            _ => Mode::Upload,
        },
        size: args.size.unwrap_or(if args.latency { 64 } else { 65_536 }),
        seconds: args.time,
        bytes: args.bytes,
        streams: args.streams,
        unordered: args.unordered,
        rate: args.rate.map(|rate| (rate / u64::from(args.parallel)).max(1)),
    }
}

async fn measure(associations: &[Association], args: &ClientArgs, output: Output) -> anyhow::Result<()> {
    let request = request(args);
    try_join_all(associations.iter().map(|one| told(one, greet(one, &request)))).await?;
    let (counter, back) = (Counter::default(), Counter::default());
    let started = Instant::now();
    let mut result = {
        let work = associations.iter().map(|one| told(one, work(one, &request, &counter, &back)));
        let mut work = std::pin::pin!(try_join_all(work));
        let mut tick = tokio::time::interval_at((started + INTERVAL).into(), INTERVAL);
        let mut before = Moment::default();
        let mut moved = started;
        loop {
            tokio::select! {
                results = &mut work => break Measured::sum(results?),
                _ = tick.tick() => {
                    let counts = (counter.read(), back.read());
                    let mut now = moment(associations, started.elapsed(), counts).await;
                    if matches!(request.mode, Mode::Upload | Mode::Both) {
                        let arrived = arrived(associations, now.counts, &request);
                        // What is being handed over at this moment is queued, and not counted yet.
                        let Counts { messages, bytes } = before.counts;
                        now.counts = Counts {
                            messages: arrived.messages.max(messages),
                            bytes: arrived.bytes.max(bytes),
                        };
                    }
                    output.interval(request.mode, &before, &now);
                    if (now.counts, now.returned) != (before.counts, before.returned) {
                        moved = Instant::now();
                    }
                    if started.elapsed() > request.duration() && moved.elapsed() > SILENCE {
                        bail!("nothing has moved for {} s; the server may be gone", SILENCE.as_secs());
                    }
                    before = now;
                }
            }
        }
    };
    result.paths = paths(associations).await;
    result.request = Some(request);
    result.associations = associations.len();
    output.result(&result);
    let leave = associations.iter().map(Association::shutdown);
    let _ = tokio::time::timeout(Duration::from_secs(5), try_join_all(leave)).await;
    Ok(())
}

async fn moment(associations: &[Association], at: Duration, (counts, returned): (Counts, Counts)) -> Moment {
    let mut retransmitted = 0;
    for association in associations {
        retransmitted += association.stats().await.unwrap_or_default().data_retransmitted;
    }
    Moment { at, counts, returned, retransmitted, paths: paths(associations).await }
}

/// What the peers have acknowledged of what was handed over.
fn arrived(associations: &[Association], handed: Counts, request: &Request) -> Counts {
    let queued: u64 = associations.iter().map(|one| one.send_queued() as u64).sum();
    Counts {
        bytes: handed.bytes.saturating_sub(queued),
        messages: handed.messages.saturating_sub(queued / u64::from(request.size)),
    }
}

/// The paths of all associations.
async fn paths(associations: &[Association]) -> Vec<PathView> {
    let mut paths = Vec::new();
    for association in associations {
        paths.extend(association.paths().await);
    }
    paths
}

/// What the server said when it went says more than that it went.
async fn told<T>(
    association: &Association,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    work.await.map_err(|error| match association.close_reason() {
        Some(reason) if reason != CloseReason::Shutdown => anyhow!("{error:#} ({reason})"),
        _ => error,
    })
}

/// Asks for a measurement, and waits until the server is ready for it.
async fn greet(association: &Association, request: &Request) -> anyhow::Result<()> {
    say(association, &Control::Request(request.clone())).await?;
    let answer = tokio::time::timeout(GREETING, hear(association)).await;
    let answer = answer.ok().context("the server does not answer; is it `whimbrel perf server`")??;
    ensure!(matches!(answer, Control::Ready), "not the answer that was due");
    Ok(())
}

async fn work(
    association: &Association,
    request: &Request,
    counter: &Counter,
    back: &Counter,
) -> anyhow::Result<Measured> {
    match request.mode {
        Mode::Upload => {
            let (ours, theirs) = halves::send(association, request, counter).await?;
            Ok(Measured { client: ours, server: theirs, received: theirs, ..Measured::default() })
        }
        Mode::Download => {
            let ours = halves::receive(association, request, counter, halves::Begins::Now).await?;
            let Control::Seen(theirs) = hear(association).await? else {
                bail!("not the answer that was due")
            };
            Ok(Measured { client: ours, server: theirs, received: ours, ..Measured::default() })
        }
        Mode::Both => {
            let exchanged =
                halves::exchange(association, request, counter, back, halves::Begins::Now).await?;
            let (client, server) = (exchanged.sent, exchanged.sent_arrived);
            let returned = Some(exchanged.received);
            Ok(Measured { client, server, received: server, returned, ..Measured::default() })
        }
        Mode::Latency => latency(association, request, counter).await,
    }
}

/// One message at a time.
async fn latency(
    association: &Association,
    request: &Request,
    counter: &Counter,
) -> anyhow::Result<Measured> {
    let payload = Bytes::from(vec![0x57; request.size as usize]);
    let mut histogram = Histogram::new();
    let (started, cpu) = (Instant::now(), cpu_time());
    let mut sent = started;
    while sent - started < request.duration() {
        let mut message = Message::new(StreamId(0), payload.clone());
        message.ppid = PayloadProtocolId(PPID_DATA);
        association.send(message).await.context("the connection is lost")?;
        let echoed = association.recv().await?.context("the server closed the connection")?;
        ensure!(echoed.payload == payload, "the echo differs from what was sent");
        let now = Instant::now();
        histogram.record(now - sent);
        counter.add(1, u64::from(request.size));
        sent = now;
    }
    say(association, &Control::Done(counter.read())).await?;
    let Control::Seen(server) = hear(association).await? else { bail!("not the answer that was due") };
    let client = Seen {
        counts: counter.read(),
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: (cpu_time() - cpu).as_secs_f64(),
    };
    Ok(Measured { client, server, received: client, latency: Some(histogram), ..Measured::default() })
}
