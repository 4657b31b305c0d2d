//! `whimbrel gateway run`

use std::sync::Arc;

use anyhow::Context;
use serde_json::json;
use tokio::sync::mpsc;
use whimbrel::secure::Identity;
use whimbrel_gateway::{Gateway, GatewayNews, Order, Settings};

use super::RunArgs;
use super::orders::OrderSocket;
use crate::display::Display;
use crate::exit::{Failure, interrupted};
use crate::identity;
use crate::news::tell_as_is;

/// Orders that wait.
const ORDERS: usize = 16;

pub(super) async fn run(args: RunArgs) -> Result<(), Failure> {
    let mut interrupt = std::pin::pin!(interrupted());
    let display = Arc::new(Display::new(args.output));
    let settings = Settings::read(&args.file).map_err(anyhow::Error::from)?;
    let key = match &settings.key_file {
        Some(path) => Identity::load_or_create(path).context("key-file")?,
        None => identity::own()?,
    };
    if args.check {
        let (gateways, hosts) = (settings.gateways.len(), settings.hosts.len());
        display.event(
            "checked",
            json!({ "gateways": gateways, "hosts": hosts, "key": key.public_key().to_string() }),
        );
        display.note(&format!("{} is good: {gateways} other gateways, {hosts} hosts", args.file.display()));
        display.note(&format!("this gateway's key: {}", key.public_key()));
        return Ok(());
    }
    let (news, mut told) = mpsc::unbounded_channel::<GatewayNews>();
    let gateway = Gateway::open(&settings, &key, news).await.map_err(anyhow::Error::from)?;
    let (orders, receiver) = mpsc::channel(ORDERS);
    let _socket = OrderSocket::start(orders.clone()).context("no orders can be taken")?;
    display.event("key", json!({ "key": key.public_key().to_string() }));
    display.note(&format!("this gateway's key: {}", key.public_key()));
    let mut running = tokio::spawn(gateway.run(receiver));
    let asked = loop {
        tokio::select! {
            Some(one) = told.recv() => match &one {
                GatewayNews::Trouble { text } => {
                    display.event("trouble", json!({ "text": text }));
                    display.warn(text);
                }
                one => tell_as_is(one, display.as_ref()),
            },
            asked = &mut interrupt => break Some(asked),
            _ = &mut running => break None,
        }
    };
    // What it has changed in the kernel it takes back.
    let _ = orders.send(Order::End).await;
    if asked.is_some() {
        let _ = running.await;
    }
    match asked {
        Some(asked) => asked.of_server(),
        None => Err(Failure::Reported),
    }
}
