//! `whimbrel qlog`: an event log as a page that everybody can open.

mod page;
mod read;
mod series;
mod story;

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::exit::Failure;
use crate::output::{complain, line};
use story::Story;

/// Draw an event log
#[derive(Args, Debug)]
#[command(after_help = "Example:
  whimbrel send film.mkv --to 192.0.2.7 --qlog film.sqlog
  whimbrel qlog film.sqlog --html film.html")]
pub(crate) struct QlogArgs {
    /// What --qlog has written, or another program: qlog in JSON text sequences.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The page to write: one file that needs no network.
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
}

/// Reads the log and writes the page.
pub(crate) async fn run(args: QlogArgs) -> Result<(), Failure> {
    Ok(draw(&args)?)
}

fn draw(args: &QlogArgs) -> anyhow::Result<()> {
    let name = args.file.display().to_string();
    let file = File::open(&args.file).with_context(|| format!("cannot read {name}"))?;
    let story = Story::read(BufReader::new(file)).with_context(|| name.clone())?;
    let page = page::render(&name, &story)?;
    std::fs::write(&args.html, page).with_context(|| format!("cannot write {}", args.html.display()))?;
    if story.is_cut_off {
        complain("warning: the last event is not whole; is the log still being written?");
    }
    line(&format!("{}: {}", args.html.display(), page::summary(&story)));
    Ok(())
}
