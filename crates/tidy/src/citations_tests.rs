use super::*;

fn cited(text: &str) -> Vec<String> {
    let sections = in_rust(text).into_iter().filter(|citation| !citation.section.is_empty());
    sections.map(|citation| format!("{} {}", citation.rfc, citation.section)).collect()
}

#[test]
fn a_citation_names_its_rfc_and_section() {
    assert_eq!(cited("/// Why (RFC 9260 §6.2.1 D ii)."), ["9260 6.2.1"]);
    assert_eq!(cited("let x = 1; // RFC 8899 §4.3."), ["8899 4.3"]);
    assert_eq!(cited("//! RFC 7829 §A.1"), ["7829 A.1"]);
}

#[test]
fn sections_belong_to_the_rfc_last_named() {
    assert_eq!(cited("// RFC 9260 §5.4, §8.3; RFC 8899 §6.1."), ["8899 6.1", "9260 5.4", "9260 8.3"]);
}

#[test]
fn a_citation_may_be_broken_across_lines() {
    assert_eq!(cited("    /// as it says (RFC 9260\n    /// §6.1 A)"), ["9260 6.1"]);
    assert_eq!(cited("// RFC 7829 is\n// long; see §3.2"), ["7829 3.2"]);
}

#[test]
fn code_between_two_comments_ends_the_first() {
    assert_eq!(cited("// RFC 8899 §4.3\nlet x = 1;\n// §5.4"), ["8899 4.3", "9260 5.4"]);
}

#[test]
fn sections_of_drafts_are_of_no_rfc() {
    assert_eq!(cited("// RFC 9260 §6.2, key draft §4.1, §4.2; RFC 8899 §6.1"), ["8899 6.1", "9260 6.2"]);
}

#[test]
fn a_range_names_what_lies_between() {
    assert_eq!(cited("// RFC 9260 §6.5 to §6.7"), ["9260 6.5", "9260 6.6", "9260 6.7"]);
    assert_eq!(cited("// §8.4-8.5."), ["9260 8.4", "9260 8.5"]);
    assert_eq!(cited("// RFC 9260 §6.9 to §7.1"), ["9260 6.9", "9260 7.1"]);
}

#[test]
fn strings_and_addresses_are_not_comments() {
    assert_eq!(cited("let x = \"RFC 9260 §6.1\";"), [""; 0]);
    assert_eq!(cited("let x = \"https://example.org/§6.1\";"), [""; 0]);
}

#[test]
fn odd_text_is_no_citation() {
    assert_eq!(cited("// § and R and RFC and §é and § "), [""; 0]);
}
