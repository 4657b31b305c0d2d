use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use whimbrel_lab::claims::Claims;
use whimbrel_lab::{Papers, figures, report, store};

use super::{OutArgs, say};
use crate::exit::Failure;

/// Make one HTML file of all results
#[derive(Args, Debug)]
#[command(
    after_help = "The file needs nothing else: charts, set-ups, assumptions, claims with their verdicts, and the commands that \
make it all again."
)]
pub(super) struct ReportArgs {
    /// Files with experiments of your own that are to be in it, too.
    #[arg(value_name = "FILE.toml")]
    own: Vec<String>,
    #[command(flatten)]
    out: OutArgs,
    /// Where to write it [default: report.html beside the results].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let claims = Claims::load().map_err(anyhow::Error::from)?;
    let mut done = Vec::new();
    let published = figures::all(&papers).map_err(anyhow::Error::from)?;
    for experiment in published.into_iter().chain(super::experiments(&papers, &args.own)?) {
        if let Some(rows) = store::read(&args.out.out, &*experiment).context("cannot read the results")? {
            done.push(report::Done { experiment, rows });
        }
    }
    if done.is_empty() {
        let dir = args.out.out.display();
        return Err(Failure::Usage(format!(
            "there are no results in {dir}: `whimbrel lab run all` makes them"
        )));
    }
    let html = report::html(&papers, &claims, &done).map_err(anyhow::Error::from)?;
    let path = args.file.clone().unwrap_or_else(|| args.out.out.join("report.html"));
    std::fs::write(&path, html).with_context(|| format!("cannot write {}", path.display()))?;
    say(format_args!("{}", path.display()));
    Ok(())
}
