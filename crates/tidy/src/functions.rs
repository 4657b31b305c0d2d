//! The functions of a Rust file and their lengths, as rustfmt lays them out: a function ends with the first line that
//! is a closing brace as far indented as its beginning.

/// A function with a body of more than one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// From the signature to the closing brace.
    pub(crate) lines: usize,
}

/// The functions in `text`.
pub(crate) fn of(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = name(line) else { continue };
        let indent = indent(line);
        if line.ends_with('}') || line.ends_with(';') {
            continue;
        }
        for (end, candidate) in lines.iter().enumerate().skip(start + 1) {
            if candidate.is_empty() || self::indent(candidate) > indent {
                continue;
            }
            if candidate.trim_start().starts_with('}') {
                functions.push(Function { name: name.to_owned(), lines: end - start + 1 });
                break;
            }
            if candidate.ends_with(';') {
                // A declaration in a trait.
                break;
            }
        }
    }
    functions
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name, if a function begins here.
fn name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("fn ") {
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            return Some(&after[..end]);
        }
        let word = ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "unsafe ", "extern \"C\" "]
            .into_iter()
            .find(|word| rest.starts_with(word))?;
        rest = &rest[word.len()..];
    }
}

#[cfg(test)]
#[path = "functions_tests.rs"]
mod tests;
