//! The document: an index with the score, then paper by paper each figure with its claims.

use std::collections::BTreeSet;

use askama::Template;

use super::beside::Beside;
use super::chart::Chart;
use super::influence::Effect;
use super::origin::Origin;
use super::score::{Part, Score};
use super::setup::{self, Assumed, Table};
use super::stated::StatedNumbers;
use super::values::{Means, Values};
use super::verdicts::Shown;
use super::{Measured, ReportError, embed};
use crate::claims::{Claim, Claims, Judgement};
use crate::experiment::Experiment;
use crate::plot::{Plot, spoken_figures};
use crate::scenario::Papers;
use crate::sensitivity::Committed;
use crate::summary::Group;

/// What the keys of papers stand for.
const PAPERS: [(&str, &str); 5] = [
    ("b08", "Budzisz et al. 2008: multihoming of SCTP, its evolution and its use for handover"),
    ("e13", "Eklund et al. 2013: the initial congestion window after a handover"),
    ("c04", "Chang et al. 2004: addresses managed by signal strength"),
    ("b09", "Budzisz et al. 2009: concurrent transfer over several paths"),
    ("d10", "Daoud et al. 2010: handover steered by the network"),
];

#[derive(Template)]
#[template(path = "report/page.html")]
struct Page<'a> {
    policy: String,
    style: &'static str,
    library: &'static str,
    licence: &'static str,
    script: &'static str,
    data: String,
    version: &'static str,
    score: Score,
    /// By what agreement is worth.
    parts: Vec<Part>,
    /// Whether what was tried with other assumptions is of other runs or set-ups.
    stale: bool,
    /// Whether nothing was tried.
    untried: bool,
    /// Whether an experiment of a paper has been run.
    ran: bool,
    /// How many experiments of one's own are in it.
    own: usize,
    /// What to call the page if nothing else is in it.
    alone: Option<String>,
    papers: Vec<PaperPart<'a>>,
    beside: Vec<Beside>,
    assumptions: Vec<Assumed>,
    effects: Vec<Effect>,
}

/// What belongs to one paper.
struct PaperPart<'a> {
    key: &'a str,
    title: &'a str,
    /// Whether it is no paper, but somebody's own experiment.
    is_own: bool,
    score: Score,
    figures: Vec<FigurePart<'a>>,
    /// Claims that look at none of the experiments here.
    others: Vec<Shown<'a>>,
    others_score: Score,
}

/// What belongs to one experiment.
struct FigurePart<'a> {
    name: &'a str,
    title: String,
    /// The paper's figures, in words.
    figures: String,
    score: Score,
    origin: Origin,
    charts: Vec<ChartPart>,
    /// What no chart shows.
    remarks: Vec<String>,
    /// Of an experiment of one's own.
    means: Option<Means>,
    /// What the paper's scheme is called.
    scheme: String,
    series: Vec<(String, &'static str)>,
    metrics: Vec<(String, String)>,
    /// The file that an experiment of one's own comes from, as it is now.
    file: Option<String>,
    tables: Vec<Table>,
    assumed: usize,
    claims: Vec<Shown<'a>>,
}

/// A panel.
struct ChartPart {
    chart: Chart,
    values: Option<Values>,
    /// Whether anything is drawn.
    drawn: bool,
}

pub(super) fn render(
    papers: &Papers,
    measured: &[Measured],
    groups: &[Vec<Group>],
    judgements: &[Judgement<'_>],
    committed: &Committed,
) -> Result<String, ReportError> {
    let mut figures = Vec::new();
    for (number, (one, groups)) in measured.iter().zip(groups).enumerate() {
        let claims: Vec<&Judgement<'_>> =
            judgements.iter().filter(|one| owner(one.claim, measured) == Some(number)).collect();
        figures.push(FigurePart::of(papers, one, groups, &claims)?);
    }
    let tables = figures.iter().map(|figure| (figure.name, figure.tables.as_slice()));
    let effects = Effect::all(judgements);
    let assumptions = setup::assumptions(papers, committed, tables)?;
    let charts = || figures.iter().flat_map(|figure| &figure.charts).map(|part| &part.chart);
    let data = embed::json(&charts().filter(|chart| !chart.lines.is_empty()).collect::<Vec<_>>());
    let beside = charts().filter_map(Beside::of).collect();
    let page = Page {
        policy: embed::policy(&[embed::LIBRARY, embed::CHARTS]),
        style: embed::STYLE,
        library: embed::LIBRARY,
        licence: embed::LICENCE,
        script: embed::CHARTS,
        data,
        version: crate::VERSION,
        score: Score::of(judgements),
        parts: Score::parts(judgements),
        stale: committed.is_stale(),
        untried: committed.is_empty(),
        ran: measured.iter().any(|one| !one.experiment.is_own() && !one.rows.is_empty()),
        own: measured.iter().filter(|one| one.experiment.is_own()).count(),
        alone: alone(measured),
        papers: paper_parts(measured, figures, judgements),
        beside,
        assumptions,
        effects,
    };
    Ok(page.render()?)
}

/// The title of a page that has experiments of one's own and nothing else.
fn alone(measured: &[Measured]) -> Option<String> {
    if measured.is_empty() || measured.iter().any(|one| !one.experiment.is_own()) {
        return None;
    }
    let only = if let [one] = measured { Some(one.experiment.title()) } else { None };
    Some(only.unwrap_or_else(|| "Experiments of your own".to_owned()))
}

/// The experiment under which a claim is shown: the first of the same paper that it looks at.
fn owner(claim: &Claim, measured: &[Measured]) -> Option<usize> {
    let scenarios = Claims::scenarios(claim);
    let is_owner = |one: &Measured| {
        one.experiment.scenario().paper() == claim.paper
            && scenarios.iter().any(|scenario| one.experiment.is_of(scenario))
    };
    measured.iter().position(is_owner)
}

/// What somebody came for comes first: experiments of one's own, then papers with experiments.
fn paper_parts<'a>(
    measured: &'a [Measured],
    figures: Vec<FigurePart<'a>>,
    judgements: &'a [Judgement<'a>],
) -> Vec<PaperPart<'a>> {
    let measured_keys = measured.iter().map(|one| one.experiment.scenario().paper());
    let own = measured.iter().filter(|one| one.experiment.is_own());
    let own = own.map(|one| one.experiment.scenario().paper());
    let keys = own.chain(measured_keys.clone()).chain(judgements.iter().map(|one| one.claim.paper.as_str()));
    let mut seen = BTreeSet::new();
    let keys: Vec<&str> = keys.filter(|key| seen.insert(*key)).collect();
    let mut figures: Vec<(&str, FigurePart)> = measured_keys.zip(figures).collect();
    let part = |key: &'a str| {
        let own = |one: &&'a Judgement<'a>| one.claim.paper == key;
        let others: Vec<&Judgement<'_>> =
            judgements.iter().filter(own).filter(|one| owner(one.claim, measured).is_none()).collect();
        let title = PAPERS.iter().find(|(known, _)| *known == key).map_or("", |(_, title)| title);
        PaperPart {
            key,
            title,
            is_own: measured
                .iter()
                .any(|one| one.experiment.is_own() && one.experiment.scenario().paper() == key),
            score: Score::of(judgements.iter().filter(own)),
            figures: figures.extract_if(.., |(paper, _)| *paper == key).map(|(_, figure)| figure).collect(),
            others_score: Score::of(others.iter().copied()),
            others: others.into_iter().map(Shown::of).collect(),
        }
    };
    keys.into_iter().map(part).collect()
}

impl<'a> FigurePart<'a> {
    fn of(
        papers: &Papers,
        measured: &'a Measured,
        groups: &[Group],
        claims: &[&'a Judgement<'a>],
    ) -> Result<Self, ReportError> {
        let experiment = &*measured.experiment;
        let (plots, origin) = (experiment.plots(), Origin::of(measured));
        let stated = StatedNumbers::load()?;
        let charts = charts(&stated, experiment, &plots, groups);
        let charts = charts.into_iter().map(|chart| ChartPart::of(chart, &origin)).collect();
        let tables = setup::tables(papers, experiment)?;
        let metric = |name: &str| (name.to_owned(), experiment.meaning(name).to_string());
        Ok(Self {
            name: experiment.name(),
            title: experiment.title(),
            figures: if experiment.is_own() { String::new() } else { spoken_figures(&plots) },
            score: Score::of(claims.iter().copied()),
            means: experiment.is_own().then(|| Means::of(experiment, groups, origin.repetitions)),
            origin,
            charts,
            remarks: experiment.remarks(groups),
            scheme: stated.scheme(experiment.name()).to_owned(),
            series: experiment.series().into_iter().map(|(name, what)| (name.to_string(), what)).collect(),
            file: experiment.is_own().then(|| experiment.set_up()),
            metrics: experiment.metrics().iter().map(|name| metric(name)).collect(),
            assumed: tables.iter().flat_map(|table| &table.settings).filter(|one| one.assumed).count(),
            tables,
            claims: claims.iter().map(|one| Shown::of(one)).collect(),
        })
    }
}

/// Each panel with what is stated about it, and behind it the distributions of what its means do not tell.
fn charts(
    stated: &StatedNumbers,
    experiment: &dyn Experiment,
    plots: &[Plot],
    groups: &[Group],
) -> Vec<Chart> {
    let of = |plot: &Plot| {
        let mut chart = Chart::of(experiment, plot, groups);
        if !experiment.is_own() {
            stated.scheme(experiment.name()).clone_into(&mut chart.scheme);
            stated.put_into(&mut chart);
        }
        [Some(chart), Chart::distribution(experiment, plot, groups)]
    };
    plots.iter().flat_map(of).flatten().collect()
}

impl ChartPart {
    fn of(chart: Chart, origin: &Origin) -> Self {
        let drawn = !chart.lines.is_empty();
        Self { values: if drawn { Values::of(&chart, origin.repetitions) } else { None }, drawn, chart }
    }
}
