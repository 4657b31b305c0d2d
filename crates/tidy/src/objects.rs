//! How much of the protocol's objects other files can reach. State that many files write is state that nobody can reason about.

use std::collections::BTreeSet;

use crate::tree::{Source, Tree};

/// The crate whose objects are watched.
const WATCHED: &str = "crates/proto/src/";

/// Fields of one object that other files can reach at most.
const MAX_REACHABLE: usize = 12;

/// What only the sending half may change: flight sizes, windows and the states of chunks.
const OF_THE_SENDER: &str = "crates/proto/src/send/";
const ITS_OBJECTS: [&str; 7] = ["Sender", "Outstanding", "Counts", "Chunk", "Misses", "PeerWindow", "Flow"];

/// A struct with named fields.
#[derive(PartialEq, Eq, Debug)]
struct Object<'a> {
    name: &'a str,
    /// Something that is copied is a value, not state.
    is_value: bool,
    /// Each field's visibility, with the space behind it, and its name.
    fields: Vec<(&'a str, &'a str)>,
}

/// Everything that is wrong.
pub(crate) fn findings(tree: &Tree) -> Vec<String> {
    let is_test = |source: &&Source| {
        ["tests.rs", "operations.rs", "/testing.rs"].iter().any(|end| source.path.ends_with(end))
    };
    let watched: Vec<&Source> =
        tree.rust().filter(|source| source.path.starts_with(WATCHED) && !is_test(source)).collect();
    let stateful: BTreeSet<&str> = watched.iter().flat_map(|source| changed(&source.text)).collect();
    let mut findings = Vec::new();
    let mut missing: BTreeSet<&str> = ITS_OBJECTS.into();
    for source in watched {
        // Files below this one see its private fields, too.
        let has_files_below = source.text.lines().any(|line| {
            let declares = line.starts_with("mod ") || line.contains(" mod ");
            declares && line.ends_with(';') && !line.contains("mod tests")
        });
        for object in objects(&source.text) {
            let reachable = |(visibility, _): &&(&str, &str)| has_files_below || !visibility.is_empty();
            let count = object.fields.iter().filter(reachable).count();
            if count > MAX_REACHABLE && (stateful.contains(object.name) || !object.is_value) {
                let (path, name) = (&source.path, object.name);
                findings.push(format!("{path} {name} has {count} fields that other files can write"));
            }
            if source.path.starts_with(OF_THE_SENDER) && missing.remove(object.name) {
                let inside = ["", "pub(super) ", "pub(in crate::send) "];
                for (_, field) in object.fields.iter().filter(|(visibility, _)| !inside.contains(visibility))
                {
                    let place = format!("{} {}::{field}", source.path, object.name);
                    findings.push(format!("{place} can be written outside send/: make it pub(super)"));
                }
            }
        }
    }
    let gone = |name| format!("{OF_THE_SENDER} has no {name}: say in tidy what counts what is in flight");
    findings.extend(missing.into_iter().map(gone));
    findings
}

/// The types with a method that changes them.
fn changed(text: &str) -> Vec<&str> {
    let mut changed = Vec::new();
    let mut current = None;
    for line in text.lines() {
        if line.starts_with("impl") && line.ends_with('{') {
            current = implemented(line);
        } else if line.contains("&mut self") {
            changed.extend(current);
        }
    }
    changed
}

/// The type that an `impl` line is about.
fn implemented(line: &str) -> Option<&str> {
    let line = line.trim_end_matches([' ', '{']);
    let name = line.rsplit_once(" for ").map_or(line, |(_, name)| name);
    let name = name.rsplit(' ').next()?;
    Some(name.split('<').next().unwrap_or(name))
}

/// The structs in `text`, as rustfmt lays them out.
fn objects(text: &str) -> Vec<Object<'_>> {
    let mut objects = Vec::new();
    let mut is_value = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[derive(") {
            is_value = line.contains("Clone");
        }
        let Some((before, after)) = line.split_once("struct ") else { continue };
        if !(before.is_empty() || before.starts_with("pub")) || line.ends_with(';') {
            continue;
        }
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        // With a where clause its body begins further down.
        if !line.ends_with('{') && !lines.by_ref().any(|line| line.ends_with('{')) {
            break;
        }
        let fields = lines.by_ref().take_while(|line| *line != "}").filter_map(field).collect();
        objects.push(Object { name: &after[..end], is_value: core::mem::take(&mut is_value), fields });
    }
    objects
}

/// The visibility and the name of the field that begins in this line.
fn field(line: &str) -> Option<(&str, &str)> {
    let field = line.strip_prefix("    ").filter(|field| !field.starts_with("//"))?;
    let name = field.split(": ").next().filter(|_| field.contains(": "))?;
    let (visibility, name) = match name.rfind(' ') {
        Some(at) => name.split_at(at + 1),
        None => ("", name),
    };
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some((visibility, name))
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
