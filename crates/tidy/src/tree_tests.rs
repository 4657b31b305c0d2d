use crate::coverage::{Coverage, PAGE};
use crate::tree::Tree;
use crate::{lints, tree};

fn read() -> Tree {
    Tree::read().expect("the tree can be read")
}

#[test]
fn the_tree_is_tidy() {
    let findings = lints::all(&read());
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn every_section_is_cited_or_excused() {
    let findings = Coverage::of(&read()).findings();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn the_page_of_rfc_coverage_is_up_to_date() {
    let page = std::fs::read_to_string(tree::root().join(PAGE)).expect("the page exists");
    assert!(page == Coverage::of(&read()).render(), "out of date: run `cargo run -p whimbrel-tidy`");
}
