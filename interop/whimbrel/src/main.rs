//! The interoperation peer on Whimbrel: same options and reports as the peers on usrsctp and the Linux kernel, so that scripts can mix any two.

#[path = "../../common/assorted.rs"]
mod assorted;
mod changes;
mod content;
mod options;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use changes::Standing;
use clap::Parser;
use content::{Joiner, Totals};
use options::{Close, Options};
use serde_json::{Value, json};
use tokio::sync::watch;
use whimbrel::handover::{Pace, Seamless};
use whimbrel::{
    Association, AssociationEvent, CloseReason, Endpoint, LargeMessages, PathState, PeerAddressChange,
    RecvError,
};

/// One JSON object per line: `t`, `event`, then the members of `fields`.
struct Reporter {
    started: Instant,
    output: Mutex<()>,
}

impl Reporter {
    fn say(&self, event: &str, fields: Value) {
        let mut line = json!({"t": self.started.elapsed().as_secs_f64(), "event": event});
        if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), fields) {
            line.extend(fields);
        }
        let _guard = self.output.lock();
        println!("{line}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let options = Options::parse();
    let reporter: &'static Reporter =
        Box::leak(Box::new(Reporter { started: Instant::now(), output: Mutex::new(()) }));
    reporter.say("start", json!({"stack": "whimbrel", "pid": std::process::id()}));
    let limit = Duration::from_secs(options.timeout);
    let status = match tokio::time::timeout(limit, run(&options, reporter)).await {
        Ok(Ok(true)) => 0,
        Ok(Ok(false)) => 1,
        Ok(Err(error)) => {
            reporter.say("error", json!({"error": format!("{error:#}")}));
            1
        }
        Err(_) => {
            reporter
                .say("error", json!({"call": "timeout", "error": format!("{} s are over", options.timeout)}));
            3
        }
    };
    reporter.say("exit", json!({"status": status}));
    std::process::exit(status);
}

async fn run(options: &Options, reporter: &'static Reporter) -> anyhow::Result<bool> {
    let mut builder = Endpoint::builder()
        .addresses(options.locals())
        .encapsulation(options.encapsulation())
        .config(options.config())
        .large_messages(LargeMessages::InParts)
        .without_policy();
    if options.seamless {
        builder = builder.policy(|| Seamless::policy(Pace::MOBILE));
    }
    if let Some(port) = options.port {
        builder = builder.sctp_port(port);
    }
    let endpoint = builder.bind().await?;
    let mut ok = true;
    if options.listen {
        let port = options.port.unwrap_or(5001);
        let listener = endpoint.listen(port)?;
        reporter.say("listening", json!({"port": port, "udp": options.udp}));
        for _ in 0..options.accept {
            ok &= session(options, &endpoint, listener.accept().await?, reporter).await?;
        }
    } else {
        match endpoint.connect(&options.remotes(), options.remote_port).await {
            Ok(association) => ok = session(options, &endpoint, association, reporter).await?,
            Err(error) => {
                reporter.say("closed", json!({"how": "cannot_start", "cause": 0, "text": error.to_string()}));
                ok = false;
            }
        }
    }
    endpoint.close().await;
    Ok(ok)
}

/// One association from its beginning to its end; true if all went as asked.
async fn session(
    options: &Options,
    endpoint: &Endpoint,
    association: Association,
    reporter: &'static Reporter,
) -> anyhow::Result<bool> {
    report_up("up", &association, reporter).await;
    let events = tokio::spawn(report_events(association.clone(), reporter));
    let (progress, mut arrived) = watch::channel(Totals::of(options));
    let (reached, made) = watch::channel(0);
    let receiver =
        tokio::spawn(receive_all(options.clone(), association.clone(), progress, reached, reporter));
    let (standing, mut changes) = watch::channel(Standing::UnderWay);
    let wanted = options.change.clone();
    tokio::spawn(changes::carry_out(wanted, endpoint.clone(), association.clone(), made, standing, reporter));
    let mut ok = send_all(options, &association, &mut changes, reporter).await;
    let complete = |totals: &Totals| totals.messages() >= options.expect;
    if options.expect > 0 {
        ok &= arrived.wait_for(complete).await.is_ok();
    }
    tokio::time::sleep(Duration::from_millis(options.hold)).await;
    report_status(&association, reporter).await;
    match options.closing() {
        Close::Shutdown => {
            let _ = association.shutdown().await;
        }
        Close::Abort => {
            reporter.say("abort", json!({"by": "us"}));
            association.abort(options.abort_text.clone());
        }
        Close::Vanish => {
            let totals = arrived.borrow().clone();
            reporter.say("received", totals.report(0.0));
            reporter.say("vanish", json!({}));
            std::process::exit(i32::from(!totals.ok()));
        }
        Close::Wait => {}
    }
    let reason = association.closed().await;
    let totals = receiver.await?;
    events.await?;
    reporter.say("received", totals);
    let good = arrived.borrow().ok();
    let graceful = reason == CloseReason::Shutdown
        || options.closing() == Close::Abort
        || matches!(reason, CloseReason::AbortedByPeer { .. });
    Ok(ok && good && graceful)
}

async fn send_all(
    options: &Options,
    association: &Association,
    changes: &mut watch::Receiver<Standing>,
    reporter: &Reporter,
) -> bool {
    if options.send == 0 {
        return true;
    }
    let start = Instant::now();
    let mut done = 0;
    let mut failure = None;
    while done < options.send && failure.is_none() {
        // So that the second half goes out with the new addresses, however fast this is.
        if done == options.send / 2 {
            let standing = changes.wait_for(|standing| *standing != Standing::UnderWay).await;
            if standing.map_or(true, |standing| *standing == Standing::Failed) {
                failure = Some("not all changes of address done".to_owned());
                break;
            }
        }
        let stream = (done % u64::from(options.streams)) as u16;
        let n = done / u64::from(options.streams);
        match association.send(content::message(n, stream, options)).await {
            Ok(()) => done += 1,
            Err(error) => failure = Some(error.to_string()),
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    reporter
        .say("sent", json!({"messages": done, "size": options.size, "seconds": seconds, "error": failure}));
    done == options.send
}

/// Receives until the association ends; the report about everything received.
async fn receive_all(
    options: Options,
    association: Association,
    progress: watch::Sender<Totals>,
    reached: watch::Sender<u64>,
    reporter: &'static Reporter,
) -> Value {
    let mut first = None;
    let mut parts = Joiner::default();
    loop {
        match association.recv().await {
            Ok(Some(received)) => {
                let Some(received) = parts.add(received) else { continue };
                first.get_or_insert_with(Instant::now);
                let before = progress.borrow().bytes();
                progress.send_modify(|totals| totals.add(&received));
                let after = progress.borrow().bytes();
                if options.progress > 0 && before / options.progress != after / options.progress {
                    reporter.say("progress", json!({"bytes": after}));
                    reached.send_modify(|reached| *reached += 1);
                }
                if options.echo {
                    let mut message = whimbrel::Message::new(received.stream, received.payload);
                    message.ppid = received.ppid;
                    message.delivery = received.delivery;
                    if let Err(error) = association.send(message).await {
                        reporter.say("error", json!({"call": "echo", "error": error.to_string()}));
                    }
                }
            }
            Err(RecvError::Restarted) => {
                reporter.say("received", progress.borrow().report(0.0));
                report_up("restart", &association, reporter).await;
                progress.send_replace(Totals::of(&options));
                parts = Joiner::default();
            }
            Ok(None) | Err(_) => break,
        }
    }
    let seconds = first.map_or(0.0, |first| first.elapsed().as_secs_f64());
    progress.borrow().report(seconds)
}

async fn report_events(association: Association, reporter: &'static Reporter) {
    let mut events = association.events();
    while let Some(event) = events.recv().await {
        match event {
            AssociationEvent::Path { route, state, .. } => {
                let state = match state {
                    PathState::Unconfirmed => "unconfirmed",
                    PathState::Active => "available",
                    PathState::PotentiallyFailed => "potentially_failed",
                    PathState::Inactive => "unreachable",
                };
                let (address, local) = (route.remote.ip().to_string(), route.local.ip().to_string());
                reporter.say("address", json!({"address": address, "state": state, "local": local}));
            }
            AssociationEvent::PathInUse { route, .. } => {
                reporter.say("path_in_use", json!({"address": route.remote.ip().to_string()}));
            }
            AssociationEvent::PeerAddress { address, change } => {
                let state = match change {
                    PeerAddressChange::Added => "added",
                    PeerAddressChange::Deleted => "removed",
                    PeerAddressChange::MadePrimary => "made_primary",
                };
                reporter.say("address", json!({"address": address.ip().to_string(), "state": state}));
            }
            AssociationEvent::AddressChanged { change, outcome } => {
                let error = outcome.err().map(|error| error.to_string());
                reporter.say("address_changed", json!({"change": format!("{change:?}"), "error": error}));
            }
            AssociationEvent::AuthKey { key, news } => {
                reporter.say("auth_key", json!({"key": key, "news": format!("{news:?}")}));
            }
            AssociationEvent::PeerShutdown => reporter.say("shutdown", json!({"by": "peer"})),
            AssociationEvent::PeerError { causes } => reporter.say("remote_error", json!({"causes": causes})),
            AssociationEvent::SendRefused { error, .. } => {
                reporter.say("send_failed", json!({"error": error.to_string()}));
            }
            AssociationEvent::Closed { reason, .. } => report_closed(&reason, reporter),
            _ => {}
        }
    }
}

fn report_closed(reason: &CloseReason, reporter: &Reporter) {
    let (how, cause, text) = match reason {
        CloseReason::Shutdown => ("shutdown_complete", 0, String::new()),
        CloseReason::AbortedByPeer { causes, reason } => {
            ("lost", causes.first().copied().unwrap_or(0), String::from_utf8_lossy(reason).into_owned())
        }
        other => ("lost", 0, other.to_string()),
    };
    reporter.say("closed", json!({"how": how, "cause": cause, "text": text}));
}

async fn report_up(event: &str, association: &Association, reporter: &Reporter) {
    let paths = association.paths().await;
    let mut remote: Vec<String> = paths.iter().map(|path| path.route.remote.ip().to_string()).collect();
    remote.dedup();
    let mobility = format!("{:?}", association.mobility());
    let (out, inn) = (association.outbound_streams(), association.inbound_streams());
    reporter
        .say(event, json!({"streams_out": out, "streams_in": inn, "remote": remote, "mobility": mobility}));
}

async fn report_status(association: &Association, reporter: &Reporter) {
    let paths: Vec<Value> = association
        .paths()
        .await
        .iter()
        .map(|path| {
            json!({"address": path.route.remote.ip().to_string(), "local": path.route.local.ip().to_string(), "state": format!("{:?}", path.state),
                "cwnd": path.cwnd, "srtt": path.srtt.map(|srtt| srtt.as_micros() as u64), "packet": path.packet_size,
                "timeouts": path.counters.timeouts, "fast_retransmits": path.counters.fast_retransmits})
        })
        .collect();
    reporter.say("status", json!({"paths": paths}));
}
