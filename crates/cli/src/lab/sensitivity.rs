use anyhow::Context;
use clap::Args;
use whimbrel_lab::claims::Claims;
use whimbrel_lab::likeness::hint;
use whimbrel_lab::sensitivity::{self, Altered, Committed};
use whimbrel_lab::{DataError, Experiment, Papers, figures, store};

use super::run::{self, HowArgs};
use super::say;
use crate::exit::Failure;

/// Try other values for what the papers leave out, and see which verdicts turn
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab sensitivity                       all papers, in about an hour
  whimbrel lab sensitivity c04_fig06 --out try   one experiment
  whimbrel lab sensitivity --shard 2/8 --out p   the second of eight parts
  whimbrel lab merge p --out p                   all parts together
  whimbrel lab sensitivity --out p               their verdicts

Each experiment is run as NAME_sensitivity with one more axis, the assumed value that is changed, in the first repetitions. When no run is \
missing, every claim is checked once for each alternative, and sensitivity.jsonl is written beside the rows: `whimbrel lab claims` and \
`whimbrel lab report` take it from the directory of the results instead of what comes with the program.")]
pub(super) struct SensitivityArgs {
    /// Papers (`b08`) or experiments (`b08_fig07`); all unless given.
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    how: HowArgs,
}

pub(super) fn run(args: &SensitivityArgs) -> Result<(), Failure> {
    let (papers, claims) = data().map_err(|DataError(error)| anyhow::anyhow!(error))?;
    let all = sensitivity::experiments(&papers, &claims).map_err(anyhow::Error::from)?;
    let names = |one: &Altered, name: &String| {
        let experiment = one.experiment();
        figures::goes_by(experiment, name) || experiment.scenario().paper() == name || name == "all"
    };
    if let Some(stranger) = args.experiments.iter().find(|name| !all.iter().any(|one| names(one, name))) {
        let known: Vec<&str> = all.iter().map(|one| one.experiment().name()).collect();
        let papers = all.iter().map(|one| one.experiment().scenario().paper());
        let meant = hint(stranger, known.iter().copied().chain(papers));
        return Err(Failure::Usage(format!(
            "there is nothing assumed in an experiment called {stranger} that a claim looks at{meant}; there are {}",
            known.join(", ")
        )));
    }
    let wanted =
        |one: &&Altered| args.experiments.is_empty() || args.experiments.iter().any(|name| names(one, name));
    let wanted: Vec<&dyn Experiment> = all.iter().filter(wanted).map(|one| one as &dyn Experiment).collect();
    run::each(&args.how, &wanted)?;
    if args.how.shard.is_none() {
        write(args, &papers, &claims, all)?;
    }
    Ok(())
}

fn data() -> Result<(Papers, Claims), DataError> {
    Ok((Papers::load()?, Claims::load()?))
}

/// Checks the claims on whatever there is in the directory.
fn write(args: &SensitivityArgs, papers: &Papers, claims: &Claims, all: Vec<Altered>) -> anyhow::Result<()> {
    let dir = &args.how.out.out;
    let mut runs = Vec::new();
    for altered in all {
        let rows = store::read(dir, &altered)
            .with_context(|| format!("cannot read the results in {}", dir.display()))?;
        runs.extend(rows.map(|rows| (altered, rows)));
    }
    let tried = sensitivity::tried(papers, claims, &runs)?;
    let turned = tried.iter().filter(|one| !one.turns.is_empty()).count();
    let (count, path) = (tried.len(), dir.join(sensitivity::FILE));
    // A file that cannot be read is written anew.
    let now = Committed::new(tried);
    let all = match Committed::find(dir) {
        Ok(before) => now.and_before(before),
        Err(_) => now,
    };
    store::write_to(&path, all.written().as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    if args.how.json {
        let told = serde_json::json!({ "claims": count, "turned": turned, "file": path.to_string_lossy() });
        say(format_args!("{told}"));
    } else {
        say(format_args!("{turned} of {count} verdicts turn with an assumed value; {}", path.display()));
    }
    Ok(())
}
