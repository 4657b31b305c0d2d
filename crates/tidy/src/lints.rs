//! What must not be in the tree.

use std::collections::BTreeMap;

use crate::tree::{Source, Tree};
use crate::{functions, objects};

/// A file is one idea.
const MAX_FILE_LINES: usize = 400;
/// A function fits on a screen.
const MAX_FUNCTION_LINES: usize = 70;

/// Everything that is wrong.
pub(crate) fn all(tree: &Tree) -> Vec<String> {
    let mut findings = lengths(tree, include_str!("../data/ratchet.txt"));
    findings.extend(marks(tree));
    findings.extend(words(tree));
    findings.extend(unsafe_code(tree));
    findings.extend(unreachable_files(tree));
    findings.extend(links(tree));
    findings.extend(unlisted_pages(tree));
    findings.extend(tests_that_are_gone(tree));
    findings.extend(objects::findings(tree));
    findings
}

/// Long files and functions, but for those in `ratchet`, which may not grow and must go once they are short enough.
/// A line of the ratchet is `path lines` or `path function lines`.
fn lengths(tree: &Tree, ratchet: &str) -> Vec<String> {
    let mut excused: BTreeMap<String, usize> = BTreeMap::new();
    for line in ratchet.lines().filter(|line| !line.starts_with('#')) {
        if let Some((what, lines)) = line.rsplit_once(' ') {
            excused.insert(what.to_owned(), lines.parse().unwrap_or(0));
        }
    }
    let mut findings = Vec::new();
    let mut check = |what: String, lines: usize, max: usize| {
        let allowed = excused.remove(&what);
        if lines > allowed.unwrap_or(max) {
            findings.push(format!("{what} has {lines} lines, allowed are {}", allowed.unwrap_or(max)));
        } else if lines <= max && allowed.is_some() {
            findings.push(format!("{what} has {lines} lines: take it out of ratchet.txt"));
        }
    };
    for source in tree.rust() {
        check(source.path.clone(), source.text.lines().count(), MAX_FILE_LINES);
        let mut longest: BTreeMap<String, usize> = BTreeMap::new();
        for function in functions::of(&source.text) {
            let lines = longest.entry(function.name).or_default();
            *lines = function.lines.max(*lines);
        }
        for (name, lines) in longest {
            check(format!("{} {name}", source.path), lines, MAX_FUNCTION_LINES);
        }
    }
    findings.extend(excused.into_keys().map(|what| format!("{what} is gone: take it out of ratchet.txt")));
    findings
}

/// Work that was put off belongs in an issue.
fn marks(tree: &Tree) -> Vec<String> {
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    find(tree, &marks, "says")
}

/// Paths of the machine somebody works on, and phrases that mean nothing to a reader of the code.
fn words(tree: &Tree) -> Vec<String> {
    let words = [
        ["/ho", "me/"].concat(),
        ["/Us", "ers/"].concat(),
        ["/wo", "rk/"].concat(),
        ["/tmp/", "target"].concat(),
        ["assi", "stant"].concat(),
        ["as an ", "AI"].concat(),
        ["language ", "model"].concat(),
    ];
    find(tree, &words, "mentions")
}

/// Each occurrence of one of `words`, as a word of its own.
fn find(tree: &Tree, words: &[String], verb: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        for (number, line) in source.text.lines().enumerate() {
            for word in words.iter().filter(|word| has_word(line, word)) {
                findings.push(format!("{}:{} {verb} {word}", source.path, number + 1));
            }
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let glued = |inside: Option<char>, outside: Option<char>| {
            inside.is_some_and(letter) && outside.is_some_and(letter)
        };
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !glued(word.chars().next(), before.chars().next_back())
            && !glued(word.chars().next_back(), after.chars().next())
    })
}

/// Every crate forbids unsafe code, or denies it and explains each exception.
fn unsafe_code(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for source in tree.rust() {
        let parts: Vec<&str> = source.path.split('/').collect();
        if let ["crates", _, "src", "lib.rs" | "main.rs"] = parts[..]
            && !["forbid", "deny"]
                .iter()
                .any(|verb| source.text.contains(&format!("#![{verb}(unsafe_code)]")))
        {
            findings.push(format!("{} does not forbid unsafe code", source.path));
        }
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let begins = ["unsafe {", "unsafe fn ", "unsafe impl "].iter().any(|begin| {
                line.find(begin).is_some_and(|at| !line[..at].contains("//") && !line[..at].contains('"'))
            });
            let explained =
                lines[number.saturating_sub(5)..number].iter().any(|line| line.contains("SAFETY:"));
            if begins && !explained {
                findings.push(format!("{}:{} is unsafe and has no SAFETY line", source.path, number + 1));
            }
        }
    }
    findings
}

/// Files that no `mod` brings in are not compiled.
fn unreachable_files(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for source in tree.rust() {
        let Some((package, inside)) = split_package(&source.path) else { continue };
        if !package.starts_with("crates/") || is_root(tree, package, inside) {
            continue;
        }
        let file = inside.rsplit('/').next().unwrap_or(inside);
        let module = match inside.strip_suffix("/mod.rs") {
            Some(directory) => directory.rsplit('/').next().unwrap_or(directory),
            None => file.trim_end_matches(".rs"),
        };
        let (plain, by_path) = (format!("mod {module};"), format!("{file}\"]"));
        let prefix = format!("{package}/");
        let of_package = |other: &&Source| other.path.starts_with(&prefix) && other.path != source.path;
        if !tree
            .rust()
            .filter(of_package)
            .any(|other| other.text.contains(&plain) || other.text.contains(&by_path))
        {
            findings.push(format!("{} is not part of its crate", source.path));
        }
    }
    findings
}

/// The directory of a package and a path in it, for what belongs to a library, a program or a test.
fn split_package(path: &str) -> Option<(&str, &str)> {
    let at = path.find("/src/").or_else(|| path.find("/tests/"))?;
    Some((&path[..at], &path[at + 1..]))
}

/// What cargo takes for the root of a crate. Tests that it is not to look for itself are in the manifest: `tests/NAME.rs` for
/// a name, if no path is given.
fn is_root(tree: &Tree, package: &str, inside: &str) -> bool {
    let parts: Vec<&str> = inside.split('/').collect();
    let manifest = tree.get(&format!("{package}/Cargo.toml")).map_or("", |manifest| &manifest.text);
    let listed = |name: &str| {
        manifest.contains(&format!("path = \"{inside}\""))
            || manifest.contains(&format!("[[test]]\nname = \"{}\"\n", name.trim_end_matches(".rs")))
    };
    match parts[..] {
        ["src", "lib.rs" | "main.rs"] | ["src", "bin", _] => true,
        ["tests", name] if manifest.contains("autotests = false") => listed(name),
        ["tests", _] | ["tests", _, "main.rs"] => true,
        _ => false,
    }
}

/// Relative links in pages lead somewhere.
fn links(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for source in tree.sources.iter().filter(|source| source.path.ends_with(".md")) {
        let directory = source.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        for target in targets(&source.text) {
            let file = target.split('#').next().unwrap_or(target);
            let outside = file.is_empty() || file.contains("://") || file.starts_with("mailto:");
            if !outside && !crate::tree::root().join(directory).join(file).exists() {
                findings.push(format!("{} links to {target}, which is not there", source.path));
            }
        }
    }
    findings
}

/// The targets of the links in a page, outside code.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code || line.starts_with("    ") {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            found.push(&rest[..end]);
        }
    }
    found
}

/// Every page in docs/ is in its index.
fn unlisted_pages(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (directory, index) in [("docs/decisions/", "docs/decisions/README.md"), ("docs/", "docs/README.md")] {
        let Some(listed) = tree.get(index) else {
            findings.push(format!("{index} is missing"));
            continue;
        };
        for source in &tree.sources {
            let Some(name) = source.path.strip_prefix(directory) else { continue };
            let is_page = name.ends_with(".md") && !name.contains('/') && source.path != index;
            if is_page && !listed.text.contains(&format!("({name})")) {
                findings.push(format!("{} is not in {index}", source.path));
            }
        }
    }
    findings
}

/// The page that names the tests of each attack. It is in code spans: files by where they end, and tests by their names.
const SECURITY_TESTS: &str = "docs/security-tests.md";

/// Tests that [`SECURITY_TESTS`] names and that are not in the file it names before them.
fn tests_that_are_gone(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let lines = tree.get(SECURITY_TESTS).map_or("", |page| &page.text).lines();
    for line in lines.filter(|line| line.starts_with('|')) {
        let mut file = None;
        for span in line.split('`').skip(1).step_by(2) {
            let is_name = span.contains('_') && span.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if span.ends_with(".rs") {
                file = tree.rust().find(|source| source.path.ends_with(&format!("/{span}")));
            } else if is_name && !file.is_some_and(|file| file.text.contains(&format!("fn {span}("))) {
                findings.push(format!("{SECURITY_TESTS} names the test {span}, which is not where it says"));
            }
        }
    }
    findings
}

#[cfg(test)]
#[path = "lints_tests.rs"]
mod tests;
