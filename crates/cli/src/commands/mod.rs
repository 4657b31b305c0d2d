//! One file per command.

mod detach;
mod diagnosis;
pub(crate) mod key;
mod no_connection;
pub(crate) mod recv;
pub(crate) mod send;
mod silence;
pub(crate) mod who;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use whimbrel::{Association, Config, Endpoint};

use crate::display::Display;
use crate::news::tell_of;
use crate::transfer::report::Tally;

/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// The protocol parameters of the file transfer.
pub(crate) fn config() -> Config {
    let mut config = Config::mobile();
    // More streams than this only cost memory at the receiver.
    config.streams.outbound = 16;
    config.streams.inbound_max = 16;
    config
}

/// Runs `work`, and meanwhile shows its progress and what happens to the association's paths. The protocol counts its patience from when it can try
/// to reach the peer; whoever waits for the end of the work does not want to wait longer without a network either.
pub(crate) async fn watched<T>(
    display: &Display,
    tally: &Arc<Tally>,
    endpoint: &Endpoint,
    association: &Association,
    patience: Duration,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut events = association.events();
    let mut tick = tokio::time::interval(display.interval());
    let mut listening = true;
    let mut without_network = None;
    loop {
        tokio::select! {
            outcome = &mut work => return outcome,
            _ = tick.tick() => {
                display.tick(&tally.arrived(association.send_queued() as u64), &association.paths().await);
                let none = endpoint.local_addresses().is_empty();
                without_network = without_network.filter(|_| none).or(none.then(Instant::now));
                if without_network.is_some_and(|since| since.elapsed() >= patience) {
                    let text = format!("no network for {} s (--patience)", patience.as_secs());
                    display.event("waiting", json!({ "text": text }));
                    display.note(&text);
                    association.abort(text);
                    without_network = None;
                }
            }
            event = events.recv(), if listening => match event {
                Some(event) => tell_of(&event, endpoint, association, display).await,
                None => listening = false,
            },
        }
    }
}

/// Tells every peer that we are gone, without waiting long for the news to leave.
pub(crate) async fn leave(endpoint: &Endpoint, reason: &'static str) {
    endpoint.abort(reason);
    let _ = tokio::time::timeout(GOODBYE, endpoint.close()).await;
}
