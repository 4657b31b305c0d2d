//! What is plotted of an experiment.

use crate::experiment::{Axes, Name};

/// One panel of a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Plot {
    /// The paper's name of it, such as `7a`, or a word for what is no figure there.
    pub figure: &'static str,
    /// What it shows.
    pub title: String,
    /// Across.
    pub x: Quantity,
    /// Upwards.
    pub y: Quantity,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// What is plotted along one side.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// Where the values come from.
    pub of: Source,
    /// What they are multiplied by, for the unit of the label.
    pub factor: f64,
    /// Label with unit.
    pub label: Name,
    /// Their scale.
    pub scale: Scale,
}

/// Where plotted values come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// An axis.
    Axis(Name),
    /// The mean of a metric.
    Metric(Name),
}

/// How values are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithm.
    Logarithmic,
    /// Each value of an axis has the same room, which shows what happens where values are close together.
    Even,
}

/// One line of a plot: all rows of a series with these values.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// For the legend.
    pub label: String,
    /// [`crate::PAPER`] or another one.
    pub series: Name,
    /// Fixed values. A line whose rows have nothing on the x axis is drawn level, for comparison.
    pub at: Axes,
}

impl Plot {
    /// Its name in files and on the command line: `b08_fig07a`; what is no figure of the paper goes by its own name: `c04_probe`.
    pub fn file_name(&self, paper: &str) -> String {
        let digits = self.figure.chars().take_while(char::is_ascii_digit).count();
        if digits == 0 {
            return format!("{paper}_{}", self.figure);
        }
        let (number, rest) = self.figure.split_at(digits);
        format!("{paper}_fig{number:0>2}{rest}")
    }
}

/// The figures that panels belong to, each once.
pub fn figures(plots: &[Plot]) -> Vec<&'static str> {
    let mut names: Vec<&str> = plots.iter().map(|plot| plot.figure).collect();
    names.dedup();
    names
}

/// The figures of the paper that panels belong to, if they do, as people write them: `Figure 5`, `Figures 8a and 8b`, `Figures 3 to 6`.
pub fn spoken_figures(plots: &[Plot]) -> String {
    let names = figures(plots);
    // What is no figure of the paper has no number.
    if names.iter().any(|name| !name.starts_with(|first: char| first.is_ascii_digit())) {
        return String::new();
    }
    let consecutive = names.windows(2).all(|pair| follows(pair[0], pair[1]));
    match names[..] {
        [] => String::new(),
        [one] => format!("Figure {one}"),
        [first, .., last] if consecutive && names.len() > 2 => format!("Figures {first} to {last}"),
        [ref first @ .., last] => format!("Figures {} and {last}", first.join(", ")),
    }
}

/// Whether `next` comes after `name`: 4 after 3, 7b after 7a.
fn follows(name: &str, next: &str) -> bool {
    let parts = |name: &str| {
        let letter = name.bytes().last().filter(u8::is_ascii_lowercase);
        let number: u32 = name.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()?;
        Some((number, letter.map(u32::from)))
    };
    match (parts(name), parts(next)) {
        (Some((a, Some(x))), Some((b, Some(y)))) => a == b && x + 1 == y,
        (Some((a, None)), Some((b, None))) => a + 1 == b,
        _ => false,
    }
}

impl Quantity {
    /// The values of an axis.
    pub fn axis(name: impl Into<Name>, label: impl Into<Name>) -> Self {
        Self { of: Source::Axis(name.into()), factor: 1.0, label: label.into(), scale: Scale::Linear }
    }

    /// The means of a metric.
    pub fn metric(name: impl Into<Name>, label: impl Into<Name>) -> Self {
        Self { of: Source::Metric(name.into()), factor: 1.0, label: label.into(), scale: Scale::Linear }
    }

    /// Multiplied by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { factor, ..self }
    }

    /// With the same room for each value of the axis.
    #[must_use]
    pub fn even(self) -> Self {
        Self { scale: Scale::Even, ..self }
    }

    /// On a logarithmic scale.
    #[must_use]
    pub fn logarithmic(self) -> Self {
        Self { scale: Scale::Logarithmic, ..self }
    }
}
