//! Options for those who want to see what an endpoint does: an event log, numbers, a log.

mod log;
pub(crate) mod page;
mod qlog;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde_json::json;
use whimbrel::{Endpoint, EndpointBuilder};

use crate::news::News;
use log::LogFilter;
use qlog::Qlog;

/// What a command with an endpoint understands about watching it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Watching")]
pub(crate) struct WatchingArgs {
    /// Write what becomes of congestion windows, round-trip times, losses, paths and handovers as qlog (JSON-SEQ): into this file, or
    /// into a file for each association in this directory, if it is one or the name ends in `/`. `whimbrel qlog` draws it.
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) qlog: Option<PathBuf>,
    /// Serve counters and histograms to Prometheus, at http://ADDR/metrics. A port alone is one of 127.0.0.1; everybody who can reach
    /// another address can read them.
    #[arg(long, value_name = "ADDR", value_parser = page::address)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Log to stderr: a level (debug: set-up, paths and handovers; trace: windows, round trips and losses, too), or levels by target,
    /// such as whimbrel=debug,whimbrel::records=trace [default: $WHIMBREL_LOG, or nothing].
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<LogFilter>,
}

impl WatchingArgs {
    /// Prepares what has to be there before the endpoint is.
    ///
    /// # Errors
    /// A file cannot be made, or the environment asks for a log that there is not.
    pub(crate) fn prepare(&self, builder: EndpointBuilder) -> anyhow::Result<EndpointBuilder> {
        log::start(self.log.as_ref())?;
        let Some(path) = &self.qlog else { return Ok(builder) };
        let qlog = Qlog::create(path).with_context(|| format!("--qlog: cannot write {}", path.display()))?;
        Ok(builder.recorder(qlog))
    }

    /// Begins to serve the endpoint's numbers, if that is asked for.
    ///
    /// # Errors
    /// The address cannot be had.
    pub(crate) async fn serve(&self, endpoint: &Endpoint, news: &impl News) -> anyhow::Result<()> {
        let Some(address) = self.metrics else { return Ok(()) };
        let page = page::serve(address, endpoint).await;
        let address = page.with_context(|| format!("--metrics: cannot listen on {address}"))?;
        news.event("metrics", json!({ "address": address }));
        news.note(&format!("metrics at http://{address}/metrics"));
        Ok(())
    }
}
