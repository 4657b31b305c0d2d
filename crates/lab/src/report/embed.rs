//! What stands inside `<script>`: data that cannot end the element, and the policy that allows our scripts alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Draws charts.
pub(super) const LIBRARY: &str = include_str!("../../assets/vendor/echarts/echarts.custom.min.js");
/// Its licence.
pub(super) const LICENCE: &str = include_str!("../../assets/vendor/echarts/NOTICE");
/// Makes charts of the data.
pub(super) const CHARTS: &str = include_str!("../../assets/report/charts.js");
/// How everything looks.
pub(super) const STYLE: &str = include_str!("../../assets/report/style.css");

/// Data as JSON in which no letter means anything to HTML.
pub(super) fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).unwrap_or_default();
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // These occur inside JSON's strings alone, where they may be written by number.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            other => safe.push(other),
        }
    }
    safe
}

/// A content security policy under which nothing is loaded and these scripts run.
pub(super) fn policy(scripts: &[&str]) -> String {
    let allowed: Vec<String> = scripts
        .iter()
        .map(|script| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes()))))
        .collect();
    format!(
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        allowed.join(" ")
    )
}
