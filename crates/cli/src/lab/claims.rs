use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use whimbrel_lab::claims::{Claim, Claims, Class, Draws, Earlier, Judgement, Results, Standing, Verdict};
use whimbrel_lab::likeness::hint;
use whimbrel_lab::sensitivity::Committed;
use whimbrel_lab::{DataError, Papers, figures, store};

use super::say;
use crate::exit::Failure;
use crate::output::complain;

/// Check the papers' claims on results
#[derive(Args, Debug)]
#[command(
    after_help = "A claim holds, holds narrowly (another draw of the seeds, or another number within the range of an assumed one, would \
turn it), depends on a value that the paper leaves out, does not hold, or nothing can be said because something it looks at has not been run. \
Beside the verdict stands the comparison that decided it, or came closest to failing: our number first, then what the paper's words demand. \
Claims on set-ups with fitted values, and claims that are arithmetic, are counted apart."
)]
pub(super) struct ClaimsArgs {
    /// Papers (`b08`), experiments (`b08_fig07`) or single claims; those that results say something about unless given.
    #[arg(value_name = "WHICH")]
    which: Vec<String>,
    /// Directory of the results, `lab-results` unless given.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// The same, as `whimbrel lab run` calls it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write the means that checks look at, as JSON, for other evaluators.
    #[arg(long, value_name = "FILE")]
    means: Option<PathBuf>,
    /// Print one JSON object per claim.
    #[arg(long)]
    json: bool,
}

/// Where the results are.
fn directory(args: &ClaimsArgs) -> Result<PathBuf, Failure> {
    let directory = match (&args.results, &args.out) {
        (Some(results), Some(out)) if results != out => {
            let what = "--results and --out name the directory of the results twice; leave one out";
            return Err(Failure::Usage(what.to_owned()));
        }
        (results, out) => results.as_ref().or(out.as_ref()).cloned(),
    };
    let directory = directory.unwrap_or_else(|| super::RESULTS.into());
    let name = directory.display();
    if directory.is_file() || !directory.is_dir() && is_json(&directory) {
        return Err(Failure::Usage(format!(
            "--results names the directory of the results, and {name} has the name of a file; `--means {name}` writes the means there"
        )));
    }
    if !directory.is_dir() && directory != Path::new(super::RESULTS) {
        return Err(anyhow::anyhow!("there is no directory {name}; `whimbrel lab run` makes results").into());
    }
    Ok(directory)
}

/// Whether a file has the name of means.
fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("json"))
}

pub(super) fn run(args: &ClaimsArgs) -> Result<(), Failure> {
    let (directory, means) = (directory(args)?, args.means.as_ref());
    means.map_or(Ok(()), |means| super::check_output(means, &[]))?;
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let claims = Claims::load().map_err(anyhow::Error::from)?;
    let mut results = Results::default();
    let experiments = figures::all(&papers).map_err(anyhow::Error::from)?;
    let mut ran = false;
    for experiment in &experiments {
        let rows = store::read(&directory, &**experiment)
            .with_context(|| format!("cannot read the results in {}", directory.display()))?;
        ran |= rows.is_some();
        if let Some(rows) = rows {
            results.add(&**experiment, &rows);
        }
    }
    if !ran {
        let name = directory.display();
        complain(&format!(
            "there are no results of a paper's experiment in {name}: only equations can be checked"
        ));
    }
    if let Some(path) = means {
        store::write_to(path, results.json().to_string().as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let names = |name: &String, claim: &Claim| {
        let mut named = experiments.iter().filter(|experiment| figures::goes_by(&***experiment, name));
        let experiment = named.any(|one| Claims::scenarios(claim).iter().any(|of| one.is_of(of)));
        *name == claim.id || *name == claim.paper || name == "all" || experiment
    };
    let wanted = |judgement: &&Judgement<'_>| {
        if args.which.is_empty() {
            return !matches!(judgement.verdict, Verdict::CannotSay { .. });
        }
        args.which.iter().any(|name| names(name, judgement.claim))
    };
    let committed =
        Committed::find(&directory).context("cannot read what was tried with other assumptions")?;
    let judgements = claims.judge(&papers, &results, &committed);
    let judgements = judgements.map_err(|DataError(error)| anyhow::anyhow!(error))?;
    let known = |name: &String| {
        experiments.iter().any(|experiment| figures::goes_by(&**experiment, name))
            || judgements.iter().any(|one| names(name, one.claim))
    };
    if let Some(stranger) = args.which.iter().find(|name| !known(name)) {
        let named = judgements.iter().flat_map(|one| [one.claim.paper.clone(), one.claim.id.clone()]);
        let meant = hint(stranger, figures::names_of(&experiments).into_iter().chain(named));
        return Err(Failure::Usage(format!(
            "there is no claim, experiment or paper called {stranger}{meant}; `whimbrel lab list` shows experiments"
        )));
    }
    for judgement in judgements.iter().filter(wanted) {
        tell(args, judgement);
    }
    if !args.json {
        // Those that nothing can be said about are not shown unless asked for, but counted.
        let asked = |claim: &Claim| args.which.is_empty() || args.which.iter().any(|name| names(name, claim));
        sum_up(&judgements.iter().filter(|one| asked(one.claim)).collect::<Vec<_>>(), &committed);
    }
    Ok(())
}

/// How many have a verdict of which class, by what agreement is worth, and how many are to be taken with caution.
fn sum_up(judgements: &[&Judgement<'_>], committed: &Committed) {
    for standing in Standing::NAMES {
        let of: Vec<_> = judgements.iter().filter(|one| one.standing.name() == standing).collect();
        let count = |class| of.iter().filter(|one| one.class() == class).count();
        let counts = Class::ALL.map(|class| format!("{} {}", count(class), class.name()));
        if !of.is_empty() {
            say(format_args!("{standing}: {}", counts.join(", ")));
        }
    }
    let few = judgements.iter().filter(|one| !one.verdict.caution().is_empty()).count();
    if few > 0 {
        say(format_args!(
            "{few} of these verdicts are from fewer repetitions than the papers' and may be others with all of them"
        ));
    }
    let part = judgements.iter().filter(|one| !one.verdict.left_out().is_empty()).count();
    if part > 0 {
        say(format_args!(
            "{part} of these verdicts look at a mean from which runs are left out that had no such number"
        ));
    }
    let untried = judgements.iter().filter(|one| {
        one.tried.is_none() && one.standing != Standing::Arithmetic && one.class() != Class::CannotSay
    });
    let untried = untried.count();
    if untried > 0 {
        say(format_args!("for {untried} of these verdicts no other values were tried for what is assumed"));
    }
    if !committed.is_empty() && committed.is_stale() {
        say(format_args!(
            "stale: other values for what is assumed were tried with other runs or set-ups; `whimbrel lab sensitivity` does it again"
        ));
    }
}

fn tell(args: &ClaimsArgs, judgement: &Judgement<'_>) {
    let (claim, verdict, class) = (judgement.claim, &judgement.verdict, judgement.class().name());
    let (detail, caution, left_out) = (verdict.detail(), verdict.caution(), verdict.left_out());
    let (reasons, sureness) = (judgement.reasons(), judgement.sureness());
    let fitted = match &judgement.standing {
        Standing::Fitted(values) => values.as_slice(),
        _ => &[],
    };
    let draws = match judgement.draws {
        Draws::Made(share) => Some([share.held, share.of]),
        Draws::Alike | Draws::TooFew => None,
    };
    if args.json {
        let told = serde_json::json!({
            "id": claim.id, "paper": claim.paper, "where": claim.place, "statement": claim.statement,
            "confidence": claim.confidence, "class": class, "verdict": verdict.name(), "detail": detail, "found": claim.found,
            "draws": draws, "tried": judgement.tried.as_ref().map(|tried| tried.alternatives),
            "turns": judgement.turns(), "standing": judgement.standing.name(), "fitted": fitted,
            "caution": caution, "left_out": left_out, "remark": claim.remark,
            "was": claim.was.as_ref().map(|was| serde_json::json!({
                "check": was.check, "verdict": was.verdict, "why": was.why,
            })),
        });
        return say(format_args!("{told}"));
    }
    say(format_args!(
        "{class:14} {} ({}, {}; {})\n{:14} {}",
        claim.id,
        claim.paper,
        claim.place,
        judgement.standing.name(),
        "",
        claim.statement
    ));
    let found = if matches!(verdict, Verdict::DoesNotHold { .. }) { claim.found.as_str() } else { "" };
    let before = claim.was.as_ref().map_or_else(String::new, Earlier::told);
    let check = claim.was.as_ref().filter(|was| !was.check.is_empty());
    let check = check.map_or_else(String::new, |was| format!("Checked before by: {}", was.check));
    let more = [&caution, &left_out, &sureness, found, &claim.remark, &before, &check];
    let lines = core::iter::once(detail).chain(reasons.iter().map(String::as_str)).chain(more);
    for line in lines.filter(|line| !line.is_empty()) {
        say(format_args!("{:14} {line}", ""));
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
