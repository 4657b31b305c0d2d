//! A claim with its verdict, as it is shown.

use crate::claims::{Claim, Class, Judgement, Standing, Verdict};

/// A claim and what became of it.
pub(super) struct Shown<'a> {
    pub(super) claim: &'a Claim,
    /// `holds`, `narrowly`, `depends`, `fails` or `unknown`.
    pub(super) class: &'static str,
    pub(super) verdict: &'static str,
    /// Our number beside the paper's.
    pub(super) comparison: Option<Comparison<'a>>,
    /// What has not been measured.
    pub(super) missing: String,
    /// That it is from fewer repetitions than usual.
    pub(super) caution: String,
    /// That runs are left out of what it looks at.
    pub(super) left_out: String,
    /// What another draw or another assumption does to the verdict.
    pub(super) reasons: Vec<String>,
    /// Why it does not hold; empty if it does.
    pub(super) found: &'a str,
    pub(super) standing: &'static str,
    /// The values that were fitted.
    pub(super) fitted: String,
    /// What was tried.
    pub(super) tried: String,
}

/// The comparison that decided, or came closest to failing.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Comparison<'a> {
    pub(super) ours: &'a str,
    /// What ours has to be.
    pub(super) asked: &'a str,
    /// At which place of the sweep, empty if there is but one.
    pub(super) place: &'a str,
}

impl<'a> Shown<'a> {
    pub(super) fn of(judgement: &'a Judgement<'a>) -> Self {
        let (claim, verdict) = (judgement.claim, &judgement.verdict);
        let class = match judgement.class() {
            Class::Holds => "holds",
            Class::HoldsNarrowly => "narrowly",
            Class::Depends => "depends",
            Class::DoesNotHold => "fails",
            Class::CannotSay => "unknown",
        };
        let (missing, comparison) = match verdict {
            Verdict::CannotSay { missing } => (without_marks(missing), None),
            _ => (String::new(), Comparison::read(verdict.detail())),
        };
        let fitted = match &judgement.standing {
            Standing::Fitted(values) => values.join("; "),
            _ => String::new(),
        };
        Self {
            claim,
            class,
            verdict: judgement.class().name(),
            comparison,
            missing,
            caution: verdict.caution(),
            left_out: verdict.left_out(),
            reasons: judgement.reasons(),
            found: if matches!(verdict, Verdict::DoesNotHold { .. }) { &claim.found } else { "" },
            standing: judgement.standing.name(),
            fitted,
            tried: judgement.sureness(),
        }
    }
}

impl<'a> Comparison<'a> {
    /// Takes `not 0.31 < 0.3 (p = 1)` apart.
    pub(super) fn read(detail: &'a str) -> Option<Self> {
        let detail = detail.strip_prefix("not ").unwrap_or(detail);
        let (numbers, place) = detail.split_once(" (").unwrap_or((detail, ""));
        let (ours, asked) = numbers.split_once(' ')?;
        Some(Self { ours, asked, place: place.strip_suffix(')').unwrap_or(place) })
    }
}

/// `b08-fig7.latency|{"pair": "wlan-umts", "pmr": 1}` as people write it.
fn without_marks(missing: &str) -> String {
    missing.replace('"', "").replace("|{}", "").replace("|{", " at ").replace('}', "")
}
