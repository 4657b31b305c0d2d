//! The sections of the RFCs, from `data/rfc-sections.txt`.

/// What the list says about a section besides its title.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    /// Nothing: the code has to cite it.
    None,
    /// It asks nothing of an implementation.
    Informative,
    /// Not implemented, for this reason.
    Not(String),
    /// Implemented and cited, but not to the letter.
    Differs(String),
    /// Implemented where a name says it better than a citation: the file, the name in it, what to say.
    By { file: String, name: String, remark: String },
}

/// A section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    pub(crate) number: String,
    pub(crate) title: String,
    pub(crate) note: Note,
}

/// An RFC.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rfc {
    pub(crate) number: u16,
    pub(crate) title: String,
    /// What is said about it as a whole.
    pub(crate) remark: String,
    /// Only chunks and parameters are read and written: sections that are not cited are not implemented.
    pub(crate) codec_only: bool,
    pub(crate) sections: Vec<Section>,
}

/// The list of RFCs and sections.
pub(crate) fn all() -> Vec<Rfc> {
    parse(include_str!("../data/rfc-sections.txt")).expect("the list of sections is well-formed")
}

/// Parses the list; the format is described at its top.
pub(crate) fn parse(text: &str) -> Result<Vec<Rfc>, String> {
    let mut rfcs: Vec<Rfc> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}: {line}", number + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.splitn(3, '|').map(str::trim).collect();
        let (&name, &title) = fields.first().zip(fields.get(1)).ok_or_else(|| wrong("no title"))?;
        let rest = fields.get(2).copied().unwrap_or_default();
        if let Some(rfc) = name.strip_prefix("RFC ") {
            let number = rfc.parse().map_err(|_| wrong("no number"))?;
            let codec_only = rest.starts_with("codec only");
            let (title, remark) = (title.to_owned(), rest.to_owned());
            rfcs.push(Rfc { number, title, remark, codec_only, sections: Vec::new() });
        } else {
            let rfc = rfcs.last_mut().ok_or_else(|| wrong("a section without an RFC"))?;
            let note = note(rest).ok_or_else(|| wrong("no such note"))?;
            rfc.sections.push(Section { number: name.to_owned(), title: title.to_owned(), note });
        }
    }
    Ok(rfcs)
}

fn note(text: &str) -> Option<Note> {
    if let Some(place) = text.strip_prefix("by ") {
        let (place, remark) = place.split_once(':').unwrap_or((place, ""));
        let (file, name) = place.trim().split_once(' ')?;
        let (file, name, remark) = (file.to_owned(), name.to_owned(), remark.trim().to_owned());
        return Some(Note::By { file, name, remark });
    }
    match text.split_once(':') {
        Some(("not", reason)) => Some(Note::Not(reason.trim().to_owned())),
        Some(("differs", reason)) => Some(Note::Differs(reason.trim().to_owned())),
        _ if text == "informative" => Some(Note::Informative),
        _ => text.is_empty().then_some(Note::None),
    }
}

#[cfg(test)]
#[path = "sections_tests.rs"]
mod tests;
