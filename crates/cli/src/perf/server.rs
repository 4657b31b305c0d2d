//! `whimbrel perf server`

use std::sync::Arc;

use anyhow::bail;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use whimbrel::{Association, Message, PayloadProtocolId, StreamId};

use super::count::{Counter, cpu_time};
use super::protocol::{Control, Counts, Mode, PPID_CONTROL, PPID_DATA, Request, Seen, decode, hear, say};
use super::report::Output;
use super::{ServerArgs, config, run as halves};
use crate::addresses::{self, UDP_PORT};
use crate::commands::leave;
use crate::control::ControlSocket;
use crate::exit::Failure;
use crate::mobility;

/// Measurements at a time.
const CLIENTS: usize = 16;

pub(super) async fn run(args: ServerArgs) -> Result<(), Failure> {
    let output = Output { json: args.json };
    let local = addresses::local(&args.listen, UDP_PORT).await?;
    let endpoint = args.mobility.bind(local, config()).await?;
    let _control = ControlSocket::start("perf server", &endpoint);
    let listener = endpoint.listen(args.sctp_port)?;
    let list: Vec<String> = endpoint.local_addresses().iter().map(ToString::to_string).collect();
    output.event("listening", json!({ "addresses": list, "sctp_port": args.sctp_port }));
    output.note(&format!("listening on {}; Ctrl-C ends", mobility::describe(&list)));
    mobility::tell(&endpoint, Arc::new(output));
    let room = Arc::new(Semaphore::new(CLIENTS));
    let mut clients = JoinSet::new();
    let interrupted = loop {
        tokio::select! {
            association = listener.accept() => {
                let association = association?;
                match Arc::clone(&room).try_acquire_owned() {
                    Ok(permit) => {
                        clients.spawn(async move {
                            let outcome = serve(&association, output).await;
                            if let Err(error) = &outcome {
                                output.note(&format!("{}: {error:#}", association.initial_route().remote));
                                let _ = say(&association, &Control::Error(error.to_string())).await;
                            }
                            drop(permit);
                        });
                    }
                    Err(_) => association.abort("the server is busy with other measurements; try again later"),
                }
            }
            Some(_) = clients.join_next() => {
                if args.once {
                    break false;
                }
            }
            _ = tokio::signal::ctrl_c() => break true,
        }
    };
    leave(&endpoint, "the server was stopped").await;
    if interrupted { Err(Failure::Interrupted("")) } else { Ok(()) }
}

async fn serve(association: &Association, output: Output) -> anyhow::Result<()> {
    let Control::Request(request) = hear(association).await? else { bail!("not the request that was due") };
    request.check()?;
    let remote = association.initial_route().remote;
    output.event("request", json!({ "remote": remote, "request": request }));
    output.note(&format!("{remote}: {:?}, messages of {} bytes", request.mode, request.size));
    say(association, &Control::Ready).await?;
    let counter = Counter::default();
    let seen = match request.mode {
        Mode::Upload => halves::receive(association, &counter).await?,
        Mode::Download => {
            let (ours, _) = halves::send(association, &request, &counter).await?;
            // The client has no other way to know what this side spent.
            say(association, &Control::Seen(ours)).await?;
            ours
        }
        Mode::Latency => echo(association, &request).await?,
    };
    output.event("served", json!({ "remote": remote, "seen": seen }));
    association.closed().await;
    Ok(())
}

/// Returns every message to where it came from, until the client is done.
async fn echo(association: &Association, request: &Request) -> anyhow::Result<Seen> {
    let cpu = cpu_time();
    let mut counts = Counts::default();
    while let Some(received) = association.recv().await? {
        if received.ppid.0 == PPID_CONTROL {
            let Control::Done(_) = decode(&received.payload)? else { bail!("not the end that was due") };
            break;
        }
        counts.messages += 1;
        counts.bytes += received.payload.len() as u64;
        let mut message = Message::new(StreamId(0), received.payload);
        message.ppid = PayloadProtocolId(PPID_DATA);
        association.send(message).await?;
    }
    let seen = Seen { counts, seconds: request.seconds, cpu_seconds: (cpu_time() - cpu).as_secs_f64() };
    say(association, &Control::Seen(seen)).await?;
    Ok(seen)
}
