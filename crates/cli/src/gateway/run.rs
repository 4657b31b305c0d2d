//! `whimbrel gateway run`

use std::sync::Arc;

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use whimbrel::secure::Identity;
use whimbrel_gateway::{Gateway, GatewayNews, Order, Settings};

use super::RunArgs;
use super::capture::SipCapture;
use super::check::check;
use super::orders::OrderSocket;
use crate::display::Display;
use crate::exit::{Failure, terminated};
use crate::identity;
use crate::news::tell_as_is;
use crate::watching::page::{self, Numbers};

/// Orders that wait.
const ORDERS: usize = 16;

/// A gateway, which is asked for its numbers.
#[derive(Clone)]
struct NumbersOf(mpsc::Sender<Order>);

impl Numbers for NumbersOf {
    async fn prometheus(&self) -> String {
        let (answer, numbers) = oneshot::channel();
        // It may be ending.
        let _ = self.0.send(Order::Numbers(answer)).await;
        numbers.await.map(|numbers| numbers.prometheus()).unwrap_or_default()
    }
}

pub(super) async fn run(args: RunArgs) -> Result<(), Failure> {
    let mut interrupt = std::pin::pin!(terminated());
    let mut hang_up = signal(SignalKind::hangup()).context("SIGHUP")?;
    let display = Arc::new(Display::new(args.output));
    let settings = Settings::read(&args.file).map_err(anyhow::Error::from)?;
    if args.check {
        return check(&args.file, &settings, &display);
    }
    let key = match &settings.key_file {
        Some(path) => Identity::load_or_create(path).context("key-file")?,
        None => identity::own()?,
    };
    allow_many_files();
    let (news, mut told) = mpsc::unbounded_channel::<GatewayNews>();
    let mut gateway = Gateway::open(&settings, &key, news.clone()).await.map_err(anyhow::Error::from)?;
    if let Some(path) = &args.capture {
        let capture = SipCapture::create(path, news);
        gateway.witness(Box::new(
            capture.with_context(|| format!("--capture: cannot write {}", path.display()))?,
        ));
    }
    let (orders, receiver) = mpsc::channel(ORDERS);
    if let Some(address) = args.metrics {
        let page = page::serve(address, &NumbersOf(orders.clone())).await;
        let address = page.with_context(|| format!("--metrics: cannot listen on {address}"))?;
        display.event("metrics", json!({ "address": address }));
        display.note(&format!("metrics at http://{address}/metrics"));
    }
    let _socket = OrderSocket::start(orders.clone()).context("no orders can be taken")?;
    display.event("key", json!({ "key": key.public_key().to_string() }));
    display.note(&format!("this gateway's key: {}", key.public_key()));
    let mut running = tokio::spawn(gateway.run(receiver));
    let asked = loop {
        tokio::select! {
            Some(one) = told.recv() => show(&one, &display),
            _ = hang_up.recv() => match Settings::read(&args.file) {
                Ok(settings) => drop(orders.send(Order::Reread(Box::new(settings))).await),
                Err(error) => {
                    display.event("trouble", json!({ "text": error.to_string() }));
                    display.warn(&format!("{error}; what was read before counts on"));
                }
            },
            asked = &mut interrupt => break Some(asked),
            _ = &mut running => break None,
        }
    };
    // It tells the ends of its sessions, and takes back what it has changed in the kernel.
    let _ = orders.send(Order::End).await;
    if asked.is_some() {
        let _ = running.await;
    }
    while let Ok(one) = told.try_recv() {
        show(&one, &display);
    }
    match asked {
        Some(asked) => asked.of_server(),
        None => Err(Failure::Reported),
    }
}

fn show(one: &GatewayNews, display: &Display) {
    match one {
        GatewayNews::Trouble { text } => {
            display.event("trouble", json!({ "text": text }));
            display.warn(text);
        }
        one => tell_as_is(one, display),
    }
}

/// Connections are limited by the gateway, which keeps room for hosts with TLS: the usual 1,024 files would be used up by others first.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
