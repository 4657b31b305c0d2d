//! What the report says of a claim.

use super::*;

/// The page with one claim that has these further fields.
fn page_of_claim(check: &str, more: &str) -> String {
    let field = |name: &str| format!("{name} = 'the {name}'\n");
    let names = ["id", "paper", "where", "kind", "origin", "statement", "tolerance", "confidence"];
    let fields: String = names.into_iter().chain(["note", "found", "remark"]).map(field).collect();
    let claims = Claims::parse(&format!("[constants]\n[[claim]]\n{fields}check = '{check}'\n{more}"));
    rendered(&Papers::load().unwrap(), &claims.unwrap(), &[]).unwrap()
}

/// A text that says why something does not hold would be nonsense beside something that does; a remark is not.
#[test]
fn why_a_claim_does_not_hold_is_said_where_it_does_not() {
    let (holds, fails) = (page_of_claim("1 < 2", ""), page_of_claim("2 < 1", ""));
    assert!(!holds.contains("the found") && fails.contains("the found"));
    assert!(holds.contains("the remark") && fails.contains("the remark"));
}

#[test]
fn what_a_claim_was_before_stands_beside_it() {
    let page =
        page_of_claim("1 < 2", "was = { check = '9 < 8', verdict = 'does not hold', why = '<b>misread' }");
    assert!(page.contains("Before: does not hold. ") && page.contains("misread") && !page.contains("<b>mis"));
    let check = "<dt>Check before</dt>";
    assert!(page.contains(check));
    assert!(!page_of_claim("1 < 2", "was = { verdict = 'holds', why = 'another set-up' }").contains(check));
    assert!(!page_of_claim("1 < 2", "").contains("Before: "));
}
