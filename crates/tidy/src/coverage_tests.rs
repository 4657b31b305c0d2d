use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    let source = |&(path, text): &(&str, &str)| Source { path: path.into(), text: text.into() };
    Tree { sources: files.iter().map(source).collect() }
}

fn coverage(list: &str, files: &[(&str, &str)]) -> Coverage {
    Coverage::new(sections::parse(list).unwrap(), &tree(files))
}

#[test]
fn a_section_that_nobody_cites_or_excuses_is_found() {
    let list = "RFC 1 | One\n2 | rule\n3 | other | not: no need";
    let findings = coverage(list, &[("crates/x/src/a.rs", "")]).findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("§2"));
    assert_eq!(coverage(list, &[("crates/x/src/a.rs", "// RFC 1 §2")]).findings(), [""; 0]);
}

#[test]
fn a_test_alone_does_not_implement_a_section() {
    let list = "RFC 1 | One\n2 | rule";
    let of_tests =
        ["crates/x/tests/a.rs", "crates/x/src/a_tests.rs", "crates/soak/src/a.rs", "crates/testbed/src/a.rs"];
    for file in of_tests {
        assert_eq!(coverage(list, &[(file, "// RFC 1 §2")]).findings().len(), 1, "{file}");
    }
}

#[test]
fn a_citation_of_a_section_that_does_not_exist_is_found() {
    let findings = coverage("RFC 1 | One\n2 | rule | informative", &[("crates/x/src/a.rs", "// RFC 1 §9.9")]);
    assert_eq!(findings.findings(), ["RFC 1 has no §9.9, cited in crates/x/src/a.rs"]);
}

#[test]
fn a_name_that_is_gone_is_found() {
    let list = "RFC 1 | One\n2 | rule | by crates/x/src/a.rs bind";
    assert_eq!(coverage(list, &[("crates/x/src/a.rs", "fn bound()")]).findings().len(), 1);
    assert_eq!(coverage(list, &[("crates/x/src/a.rs", "fn bind()")]).findings(), [""; 0]);
}

#[test]
fn a_difference_without_a_citation_is_found() {
    let list = "RFC 1 | One\n2 | rule | differs: because";
    assert_eq!(coverage(list, &[]).findings().len(), 1);
}

#[test]
fn the_page_says_where() {
    let list = "RFC 1 | One\n1 | talk | informative\n2 | rule\n3 | other | not: no need";
    let files = [("crates/x/src/a.rs", "// RFC 1 §2, RFC 7 §4"), ("crates/x/tests/b.rs", "// RFC 1 §2")];
    let page = coverage(list, &files).render();
    assert!(
        page.contains(
            "| 2 | rule | [x/a.rs](../crates/x/src/a.rs) | [x/tests/b.rs](../crates/x/tests/b.rs) |"
        )
    );
    assert!(page.contains("- §3 other: no need"));
    assert!(page.contains("Nothing to implement: 1."));
    assert!(page.contains("| 7 | 4 | [x/a.rs](../crates/x/src/a.rs) |"));
}
