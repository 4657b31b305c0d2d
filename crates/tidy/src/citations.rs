//! RFC citations in comments: `RFC 9260 §6.2.1`.
//!
//! After `RFC NNNN` every `§` up to the next `RFC`, or to the end of the comment, is a section of that RFC. A `§` in a
//! comment that has named no RFC means RFC 9260. `§6.5 to §6.7` names all three. Sections of a draft (`key draft §4.1`) are not
//! looked up.

use std::collections::BTreeSet;

/// The RFC that is meant where none is named.
const DEFAULT_RFC: u16 = 9260;

/// A section of an RFC, or, with an empty section, the RFC as such.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Citation {
    pub(crate) rfc: u16,
    pub(crate) section: String,
}

/// What the comments of a Rust file cite.
pub(crate) fn in_rust(text: &str) -> BTreeSet<Citation> {
    let mut found = BTreeSet::new();
    let mut comment = String::new();
    for line in text.lines() {
        match line_comment(line) {
            Some(part) => {
                comment.push_str(part.trim());
                comment.push(' ');
            }
            None => {
                in_prose(&comment, &mut found);
                comment.clear();
            }
        }
    }
    in_prose(&comment, &mut found);
    found
}

/// The text of the comment that is all of `line` or its end.
fn line_comment(line: &str) -> Option<&str> {
    let at = line.match_indices("//").map(|(at, _)| at).find(|&at| !line[..at].ends_with(':'))?;
    Some(line[at..].trim_start_matches('/').trim_start_matches('!'))
}

/// What a running text cites.
pub(crate) fn in_prose(text: &str, found: &mut BTreeSet<Citation>) {
    let mut rfc = Some(DEFAULT_RFC);
    let mut rest = text;
    while let Some(at) = rest.find(['R', '§', 'd']) {
        rest = &rest[at..];
        if let Some((number, after)) = rfc_number(rest) {
            rfc = Some(number);
            found.insert(Citation { rfc: number, section: String::new() });
            rest = after;
        } else if let Some(after) = rest.strip_prefix("draft") {
            rfc = None;
            rest = after;
        } else if let Some((first, after)) = section(rest) {
            let end = range_end(after);
            rest = end.as_ref().map_or(after, |(_, after)| after);
            let last = end.map_or_else(|| first.clone(), |(last, _)| last);
            if let Some(rfc) = rfc {
                found.extend(range(&first, &last).map(|section| Citation { rfc, section }));
            }
        } else {
            rest = &rest[rest.chars().next().map_or(1, char::len_utf8)..];
        }
    }
}

/// `RFC 9260`, and what follows.
fn rfc_number(text: &str) -> Option<(u16, &str)> {
    let text = text.strip_prefix("RFC")?.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// `§6.2.1`, and what follows.
fn section(text: &str) -> Option<(String, &str)> {
    number(text.strip_prefix('§')?.trim_start())
}

/// `6.2.1` or `A.1`, without the full stop of a sentence.
fn number(text: &str) -> Option<(String, &str)> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let start = usize::from(text.starts_with(|c: char| c.is_ascii_uppercase()) && text[1..].starts_with('.'));
    let end = text[start..].find(|c| !digits(c)).map_or(text.len(), |end| start + end);
    let name = text[..end].trim_end_matches('.');
    (!name.is_empty()).then(|| (name.to_owned(), &text[name.len()..]))
}

/// The end of a range that has begun: ` to §6.7`, `-6.7`, `–6.7`.
fn range_end(text: &str) -> Option<(String, &str)> {
    if let Some(after) = text.strip_prefix(" to ") {
        return section(after);
    }
    let after = text.strip_prefix(['-', '–'])?;
    number(after.trim_start_matches('§'))
}

/// All sections from `first` to `last` if only their last numbers differ, otherwise the two.
fn range<'a>(first: &'a str, last: &'a str) -> Box<dyn Iterator<Item = String> + 'a> {
    let split = |name: &'a str| {
        let (parent, child) = name.rsplit_once('.').unwrap_or(("", name));
        Some((parent, child.parse::<u32>().ok()?))
    };
    match (split(first), split(last)) {
        (Some((parent, from)), Some((other, to))) if parent == other && from <= to => {
            Box::new((from..=to).map(move |child| {
                if parent.is_empty() { child.to_string() } else { format!("{parent}.{child}") }
            }))
        }
        _ => Box::new([first.to_owned(), last.to_owned()].into_iter()),
    }
}

#[cfg(test)]
#[path = "citations_tests.rs"]
mod tests;
