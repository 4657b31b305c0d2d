//! `--log`: what `tracing` is told, on stderr.

use std::io;
use std::str::FromStr;

use anyhow::{Context, anyhow};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// The environment's word for [`LogFilter`].
const VARIABLE: &str = "WHIMBREL_LOG";

/// What is logged.
#[derive(Clone, Debug)]
pub(crate) struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // To the crate, no word is a level, too.
        if let Some(level) = text.parse::<LevelFilter>().ok().filter(|_| !text.is_empty()) {
            return Ok(Self(Targets::new().with_target("whimbrel", level)));
        }
        let wrong = || {
            format!(
                "{text:?} is no log level; give off, error, warn, info, debug or trace, or TARGET=LEVEL,…"
            )
        };
        // A word alone would be a target, all of it: a level misspelt would log everything there is.
        if !text.split(',').all(|directive| directive.contains('=')) {
            return Err(wrong());
        }
        text.parse().map(Self).map_err(|_| wrong())
    }
}

/// Begins to log, as the option says or the environment.
///
/// # Errors
/// The environment says what nobody understands.
pub(super) fn start(filter: Option<&LogFilter>) -> anyhow::Result<()> {
    let from_environment = || match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => {
            text.parse::<LogFilter>().map(Some).map_err(|error| anyhow!(error)).context(VARIABLE)
        }
        _ => Ok(None),
    };
    let filter = match filter {
        Some(filter) => Some(filter.clone()),
        None => from_environment()?,
    };
    if let Some(LogFilter(targets)) = filter {
        let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
        // A second endpoint of the process logs as the first one does.
        let _ = tracing_subscriber::registry().with(lines.with_filter(targets)).try_init();
    }
    Ok(())
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
