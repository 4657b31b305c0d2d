//! Which section of which RFC is implemented and tested where, as the citations say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::citations::{self, Citation};
use crate::sections::{self, Note, Rfc, Section};
use crate::tree::{Source, Tree};

/// The page this module writes.
pub(crate) const PAGE: &str = "docs/rfc-coverage.md";

/// Where something is cited.
#[derive(Clone, Default, Debug)]
struct Places {
    code: BTreeSet<String>,
    tests: BTreeSet<String>,
}

/// The sections and their citations.
#[derive(Debug)]
pub(crate) struct Coverage {
    rfcs: Vec<Rfc>,
    cited: BTreeMap<Citation, Places>,
    /// What is wrong with the list itself.
    wrong: Vec<String>,
}

impl Coverage {
    /// Reads the citations in `tree`.
    pub(crate) fn of(tree: &Tree) -> Self {
        Self::new(sections::all(), tree)
    }

    fn new(rfcs: Vec<Rfc>, tree: &Tree) -> Self {
        let mut cited: BTreeMap<Citation, Places> = BTreeMap::new();
        for source in &tree.sources {
            let Some(role) = Role::of(&source.path) else { continue };
            for citation in citations_of(source) {
                let places = cited.entry(citation).or_default();
                match role {
                    Role::Code => places.code.insert(source.path.clone()),
                    Role::Test => places.tests.insert(source.path.clone()),
                };
            }
        }
        let mut wrong = Vec::new();
        for rfc in &rfcs {
            for section in &rfc.sections {
                let Note::By { file, name, .. } = &section.note else { continue };
                if !tree.get(file).is_some_and(|source| source.text.contains(name.as_str())) {
                    wrong.push(format!(
                        "RFC {} §{}: said to be `{name}` in {file}, which is not there",
                        rfc.number, section.number
                    ));
                }
            }
        }
        Self { rfcs, cited, wrong }
    }

    fn places(&self, rfc: u16, section: &str) -> Places {
        self.cited.get(&Citation { rfc, section: section.to_owned() }).cloned().unwrap_or_default()
    }

    /// What must not be: sections nobody cites or excuses, and citations of sections that do not exist.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut findings = self.wrong.clone();
        for rfc in &self.rfcs {
            for section in &rfc.sections {
                let cited = !self.places(rfc.number, &section.number).code.is_empty();
                let excused = match &section.note {
                    Note::None => rfc.codec_only,
                    Note::Differs(_) => false,
                    Note::Informative | Note::Not(_) | Note::By { .. } => true,
                };
                if !cited && !excused {
                    findings.push(format!(
                        "RFC {} §{} ({}) is neither cited in the code nor excused in rfc-sections.txt",
                        rfc.number, section.number, section.title
                    ));
                }
            }
        }
        for (citation, places) in &self.cited {
            let Some(rfc) = self.rfcs.iter().find(|rfc| rfc.number == citation.rfc) else { continue };
            let known = rfc.sections.iter().any(|section| section.number == citation.section);
            if !known && !citation.section.is_empty() {
                let files: Vec<_> = places.code.union(&places.tests).cloned().collect();
                findings.push(format!(
                    "RFC {} has no §{}, cited in {}",
                    citation.rfc,
                    citation.section,
                    files.join(", ")
                ));
            }
        }
        findings
    }

    /// The page.
    pub(crate) fn render(&self) -> String {
        let mut page = String::from(INTRODUCTION);
        for rfc in &self.rfcs {
            self.render_rfc(rfc, &mut page);
        }
        self.render_others(&mut page);
        page
    }

    fn render_rfc(&self, rfc: &Rfc, page: &mut String) {
        let Rfc { number, title, remark, .. } = rfc;
        let _ = write!(page, "\n## RFC {number}: {title}\n\n");
        if !remark.is_empty() {
            let _ = write!(page, "{}\n\n", sentence(remark));
        }
        let (mut rows, mut missing, mut informative) = (String::new(), String::new(), Vec::new());
        for section in &rfc.sections {
            let places = self.places(*number, &section.number);
            match &section.note {
                Note::Not(reason) => {
                    let _ = writeln!(missing, "- §{} {}: {reason}", section.number, section.title);
                }
                Note::Informative if places.code.is_empty() && places.tests.is_empty() => {
                    informative.push(section.number.as_str());
                }
                Note::None if places.code.is_empty() => {
                    let _ = writeln!(missing, "- §{} {}", section.number, section.title);
                }
                _ => row(section, &places, &mut rows),
            }
        }
        if !rows.is_empty() {
            let _ = write!(page, "| § | | Code | Tests |\n|---|---|---|---|\n{rows}");
        }
        if !missing.is_empty() {
            let _ = write!(page, "\n**Not implemented**\n\n{missing}");
        }
        if !informative.is_empty() {
            let _ = write!(page, "\nNothing to implement: {}.\n", informative.join(", "));
        }
    }

    /// RFCs of which only a rule or two are used.
    fn render_others(&self, page: &mut String) {
        let mut others: BTreeMap<u16, (BTreeSet<&str>, BTreeSet<&String>)> = BTreeMap::new();
        for (citation, places) in &self.cited {
            if self.rfcs.iter().all(|rfc| rfc.number != citation.rfc) {
                let (sections, files) = others.entry(citation.rfc).or_default();
                sections.insert(&citation.section);
                files.extend(places.code.union(&places.tests));
            }
        }
        page.push_str("\n## Others cited\n\n| RFC | § | Where |\n|---|---|---|\n");
        for (rfc, (sections, files)) in others {
            let sections: Vec<_> = sections.into_iter().filter(|section| !section.is_empty()).collect();
            let files: Vec<_> = files.into_iter().map(|file| link(file)).collect();
            let _ = writeln!(page, "| {rfc} | {} | {} |", sections.join(", "), files.join(", "));
        }
    }
}

const INTRODUCTION: &str = "\
# RFC coverage

Generated by `cargo run -p whimbrel-tidy` from the citations in comments (`RFC 9260 §6.2.1`) and the list in
[rfc-sections.txt](../crates/tidy/data/rfc-sections.txt), which also holds the reasons below. Do not edit.

*Code* are files that cite the section, *Tests* are tests that do; a rule may be tested without being cited. A citation says
where to look, not that the section is implemented to the last word: known differences are stated with the title.
";

/// What a file's citations count as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Code,
    Test,
}

impl Role {
    fn of(path: &str) -> Option<Self> {
        let is_source = [".rs", ".sh", ".py", ".c"].iter().any(|extension| path.ends_with(extension));
        if !is_source || path.starts_with("crates/tidy/") {
            return None;
        }
        let (directory, file) = path.rsplit_once('/')?;
        let inside = |name: &str| directory.split('/').any(|part| part == name);
        let is_test = inside("tests")
            || inside("interop")
            || inside("fuzz")
            || inside("soak")
            || inside("testbed")
            || file.ends_with("_tests.rs")
            || file.ends_with("operations.rs")
            || ["testing.rs", "script.rs", "corpus.rs"].contains(&file);
        match is_test {
            true => Some(Self::Test),
            false => (inside("src") && inside("crates")).then_some(Self::Code),
        }
    }
}

fn citations_of(source: &Source) -> BTreeSet<Citation> {
    if source.is_rust() {
        return citations::in_rust(&source.text);
    }
    let mut found = BTreeSet::new();
    for line in source.text.lines() {
        citations::in_prose(line, &mut found);
    }
    found
}

fn row(section: &Section, places: &Places, rows: &mut String) {
    let mut code: Vec<_> = places.code.iter().map(|file| link(file)).collect();
    let mut title = section.title.clone();
    match &section.note {
        Note::Differs(how) => {
            let _ = write!(title, ". *{}*", sentence(how));
        }
        Note::By { file, name, remark } => {
            if !places.code.contains(file) {
                code.insert(0, link(file));
            }
            let remark = if remark.is_empty() { format!("`{name}`") } else { sentence(remark) };
            let _ = write!(title, ". *{remark}*");
        }
        Note::None | Note::Informative | Note::Not(_) => {}
    }
    let tests: Vec<_> = places.tests.iter().map(|file| link(file)).collect();
    let cell = |files: Vec<String>| if files.is_empty() { "—".to_owned() } else { files.join(", ") };
    let _ = writeln!(rows, "| {} | {title} | {} | {} |", section.number, cell(code), cell(tests));
}

/// A link without line numbers, which drift.
fn link(file: &str) -> String {
    let short = file.strip_prefix("crates/").unwrap_or(file).replace("/src/", "/");
    format!("[{short}](../{file})")
}

/// `text` with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '`']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
