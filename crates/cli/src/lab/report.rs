use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use clap::{Args, ValueEnum};
use whimbrel_lab::claims::Claims;
use whimbrel_lab::sensitivity::Committed;
use whimbrel_lab::store::{self, Shards};
use whimbrel_lab::{Papers, figures, report};

use super::say;
use crate::exit::Failure;

/// What the page is called unless somebody says otherwise.
const PAGE: &str = "report.html";

/// Write everything that has been measured as one HTML file
#[derive(Args, Debug)]
pub(super) struct ReportArgs {
    /// What is to be in it: files with experiments of your own, names as `lab list` has them, or `all`, which is what the papers have [default: all]
    #[arg(value_name = "NAME|FILE.toml")]
    names: Vec<String>,
    /// Directory of the results [default: lab-results]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// The file, or a directory for `report.html`; beside the results unless given. A directory alone is that of the results, too.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Whether to show it in a browser; unless given, when there is a terminal and a desktop.
    #[arg(long, value_enum, value_name = "WHETHER")]
    open: Option<Open>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Yes,
    No,
}

pub(super) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let mut claims = Claims::load().map_err(anyhow::Error::from)?;
    let everything = args.names.is_empty() || args.names.iter().any(|name| name == "all");
    let mut experiments = super::experiments(&papers, &args.names)?;
    if args.names.is_empty() {
        experiments = figures::all(&papers).map_err(anyhow::Error::from)?;
    }
    if !everything {
        claims = claims.of_papers(|paper| experiments.iter().any(|one| one.scenario().paper() == paper));
    }
    let (dir, file) = places(args.results.as_deref(), args.out.as_deref());
    super::check_output(&file, &args.names)?;
    let measured = report::read(&dir, experiments)
        .with_context(|| format!("cannot read results in {}", dir.display()))?;
    if measured.iter().all(|one| one.rows.is_empty()) {
        return Err(nothing_in(&dir).into());
    }
    let committed = Committed::find(&dir).context("cannot read what was tried with other assumptions")?;
    let page = report::render(&papers, &claims, &committed, &measured).map_err(anyhow::Error::from)?;
    store::write_to(&file, page.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
    say(format_args!("{}", file.display()));
    if args.open.map_or_else(has_desktop, |open| open == Open::Yes) {
        show(&file)?;
    }
    Ok(())
}

/// That there is nothing to be shown, and what to do.
fn nothing_in(dir: &Path) -> anyhow::Error {
    let name = dir.display();
    if Shards::find(&[dir.to_owned()]).is_ok_and(|found| !found.is_empty()) {
        return anyhow::anyhow!(
            "there are no results in {name}, but shards; `whimbrel lab merge {name}` makes results of them"
        );
    }
    anyhow::anyhow!(
        "there are no results in {name}; `whimbrel lab run` makes some, and those of an experiment of your own are found if its file is \
         named here"
    )
}

/// Where the results are, and where the page goes.
fn places(results: Option<&Path>, out: Option<&Path>) -> (PathBuf, PathBuf) {
    let directory = out.filter(|out| out.is_dir());
    let results = results.or(directory).unwrap_or(Path::new(super::RESULTS)).to_owned();
    let file = match (directory, out) {
        (Some(directory), _) => directory.join(PAGE),
        (None, Some(file)) => file.to_owned(),
        (None, None) => results.join(PAGE),
    };
    (results, file)
}

/// Whether somebody sits in front of this who can see a browser.
fn has_desktop() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && (cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY"))
}

fn show(file: &Path) -> anyhow::Result<()> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    // A path that begins with a dash is no option.
    let file = std::path::absolute(file)?;
    let started = Command::new(opener).arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.with_context(|| format!("{opener} cannot show {}", file.display()))?;
    Ok(())
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
