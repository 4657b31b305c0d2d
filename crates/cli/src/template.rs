//! Pages that are one HTML file with everything in it.

use anyhow::Context;

/// Replaces each placeholder of `parts`, which are in the template's order.
///
/// # Errors
/// The template does not have one of them.
pub(crate) fn fill(template: &str, parts: &[(&str, String)]) -> anyhow::Result<String> {
    // Each is looked for once, in the template's own text: what is inserted is never searched again.
    let mut rest = template;
    let mut page =
        String::with_capacity(template.len() + parts.iter().map(|(_, value)| value.len()).sum::<usize>());
    for (placeholder, value) in parts {
        let (before, after) =
            rest.split_once(placeholder).with_context(|| format!("no {placeholder} in the template"))?;
        page.push_str(before);
        page.push_str(value);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// A script as an element. Inside a page it ends at the first closing tag, wherever that stands.
pub(crate) fn script(text: &str) -> String {
    format!("<script>{}</script>", text.replace("</script", "<\\/script"))
}

/// JSON as it may stand inside a script.
pub(crate) fn data(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// A licence as it may stand inside a comment.
pub(crate) fn comment(text: &str) -> String {
    text.replace("--", "- -")
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
