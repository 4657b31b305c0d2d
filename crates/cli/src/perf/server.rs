//! `whimbrel perf server`

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use whimbrel::secure::{self, Trust};
use whimbrel::{Association, Config, Endpoint, Message, PayloadProtocolId, Security, StreamId};

use super::count::{Counter, cpu_time};
use super::protocol::{Control, Mode, PPID_CONTROL, PPID_DATA, Request, Seen, decode, hear, say};
use super::report::Output;
use super::{ServerArgs, config, run as halves};
use crate::addresses::{self, UDP_PORT};
use crate::commands::who::nobody_can_be_told;
use crate::control::ControlSocket;
use crate::exit::{Asked, Failure};
use crate::identity;
use crate::news;
use crate::pairing::{Admitted, Book};
use crate::tickets::Offer;

/// Measurements at a time.
const CLIENTS: usize = 16;
/// How long a client may take to say what it wants, and to close in the end.
const GREETING: Duration = Duration::from_secs(10);
/// A measurement in which nothing moves for this long is over; what a slow network has in its queues moves.
const STALL: Duration = Duration::from_secs(120);
/// How long telling a client what was wrong may take.
const GOODBYE: Duration = Duration::from_secs(1);

pub(super) async fn run(args: ServerArgs) -> Result<(), Failure> {
    let output = Output { json: args.json };
    // One future for all rounds: a Ctrl-C that comes while another branch is busy must not be lost.
    let mut interrupt = std::pin::pin!(crate::exit::interrupted());
    let local = tokio::select! {
        local = addresses::local(&args.listen, UDP_PORT) => local?,
        asked = &mut interrupt => return asked.of_server(),
    };
    let Admission { offer, admitted, security, who } = Admission::of(&args)?;
    let protected = matches!(security, Security::Required(_));
    let config = Config { security, ..config() };
    let endpoint = args.mobility.bind_shards(local, config, args.shards.shards, &output).await?;
    let beside = args.mobility.network.correspondent(Arc::new(output)).await?;
    let _control = ControlSocket::start("perf server", &endpoint, &args.mobility.network.ordered, &output);
    let listener = endpoint.listen(args.sctp_port)?;
    let list: Vec<String> = endpoint.local_addresses().iter().map(ToString::to_string).collect();
    output.event("listening", json!({ "addresses": list, "sctp_port": args.sctp_port }));
    output.note(&format!("listening on {}; Ctrl-C ends", news::describe(&list)));
    output.note(&format!("{who} may measure, {CLIENTS} at a time; nothing is written"));
    match offer {
        Some(offer) => offer.hand_out(&endpoint, "whimbrel perf client", &output)?,
        None if protected => identity::show(&output)?,
        None => {}
    }
    news::tell(&endpoint, Arc::new(output));
    if let Some(admitted) = admitted {
        tokio::spawn(async move { admitted.follow(&output).await });
    }
    let room = Arc::new(Semaphore::new(CLIENTS));
    let mut clients = JoinSet::new();
    let interrupted = loop {
        tokio::select! {
            association = listener.accept() => {
                let association = association?;
                beside.watch(&association).await;
                match Arc::clone(&room).try_acquire_owned() {
                    Ok(permit) => {
                        let endpoint = endpoint.clone();
                        clients.spawn(async move {
                            attend(&endpoint, &association, output).await;
                            drop(permit);
                        });
                    }
                    Err(_) => association.abort("the server is busy with other measurements; try again later"),
                }
            }
            Some(_) = clients.join_next() => {
                if args.once {
                    break None;
                }
            }
            asked = &mut interrupt => break Some(asked),
        }
    };
    beside.leave(&endpoint, "the server was stopped").await;
    interrupted.map_or(Ok(()), Asked::of_server)
}

/// Who may measure.
struct Admission {
    offer: Option<Offer>,
    admitted: Option<Admitted>,
    security: Security,
    who: &'static str,
}

impl Admission {
    fn of(args: &ServerArgs) -> Result<Self, Failure> {
        let (clear, keyed) = (args.mobility.is_clear()?, args.mobility.auth_key_file.is_some());
        let everybody = |security, who| Ok(Self { offer: None, admitted: None, security, who });
        match (clear, args.anyone) {
            (true, _) if keyed => everybody(Security::Off, "who has the key, in clear, and nobody else,"),
            (true, true) => everybody(Security::Off, "anybody who can reach that, in clear,"),
            (true, false) => Err(nobody_can_be_told()),
            (false, true) => {
                let security = secure::required(&identity::own()?, Trust::Anyone);
                everybody(security, "anybody who can reach that")
            }
            (false, false) => {
                let offer = Offer::new(args.sctp_port, args.ticket_file.as_deref())?;
                let admitted = Admitted::new(Book::open()?, [offer.holder()]);
                let security = offer.security_of(&admitted);
                let who = "who has the ticket, paired hosts, and nobody else,";
                Ok(Self { offer: Some(offer), admitted: Some(admitted), security, who })
            }
        }
    }
}

/// Serves a client, and leaves nothing of it behind: one that keeps its window shut would stay for ever.
async fn attend(endpoint: &Endpoint, association: &Association, output: Output) {
    if let Err(error) = serve(endpoint, association, output).await {
        let remote = association.initial_route().remote;
        output.event("failed", json!({ "remote": remote, "text": format!("{error:#}") }));
        output.note(&format!("{remote}: {error:#}"));
        let goodbye = async {
            let _ = say(association, &Control::Error(error.to_string())).await;
            association.shutdown().await
        };
        let _ = tokio::time::timeout(GOODBYE, goodbye).await;
    }
    association.abort("the measurement is over");
}

async fn serve(endpoint: &Endpoint, association: &Association, output: Output) -> anyhow::Result<()> {
    let greeting = tokio::time::timeout(GREETING, hear(association)).await;
    let Control::Request(request) = greeting.ok().context("the client said nothing")?? else {
        bail!("not the request that was due")
    };
    request.check()?;
    let remote = association.initial_route().remote;
    output.event("request", json!({ "remote": remote, "request": request }));
    output.note(&format!("{remote}: {:?}, messages of {} bytes", request.mode, request.size));
    news::follow(endpoint, association, Arc::new(output));
    say(association, &Control::Ready).await?;
    let counter = Counter::default();
    let seen = tokio::select! {
        seen = measure(association, &request, &counter) => seen?,
        () = stalled(&counter) => bail!("nothing has moved for {} s", STALL.as_secs()),
    };
    output.event("served", json!({ "remote": remote, "seen": seen }));
    // It is the client that closes.
    let _ = tokio::time::timeout(GREETING, association.closed()).await;
    Ok(())
}

async fn measure(association: &Association, request: &Request, counter: &Counter) -> anyhow::Result<Seen> {
    match request.mode {
        Mode::Upload => halves::receive(association, request, counter, halves::Begins::WhenAnswered).await,
        Mode::Download => {
            let (ours, _) = halves::send(association, request, counter).await?;
            // The client has no other way to know what this side spent.
            say(association, &Control::Seen(ours)).await?;
            Ok(ours)
        }
        Mode::Both => {
            let sent = Counter::default();
            Ok(halves::exchange(association, request, &sent, counter, halves::Begins::WhenAnswered)
                .await?
                .received)
        }
        Mode::Latency => echo(association, request, counter).await,
    }
}

/// Returns when nothing has been counted for [`STALL`].
async fn stalled(counter: &Counter) {
    let mut before = None;
    loop {
        let now = counter.read();
        if before.replace(now) == Some(now) {
            return;
        }
        tokio::time::sleep(STALL).await;
    }
}

/// Returns every message to where it came from, until the client is done.
async fn echo(association: &Association, request: &Request, counter: &Counter) -> anyhow::Result<Seen> {
    let cpu = cpu_time();
    while let Some(received) = association.recv().await? {
        if received.ppid.0 == PPID_CONTROL {
            let Control::Done(_) = decode(&received.payload)? else { bail!("not the end that was due") };
            break;
        }
        counter.add(1, received.payload.len() as u64);
        let mut message = Message::new(StreamId(0), received.payload);
        message.ppid = PayloadProtocolId(PPID_DATA);
        association.send(message).await?;
    }
    let seen = Seen {
        counts: counter.read(),
        seconds: request.seconds,
        cpu_seconds: (cpu_time() - cpu).as_secs_f64(),
    };
    say(association, &Control::Seen(seen)).await?;
    Ok(seen)
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
