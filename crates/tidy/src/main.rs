//! Lints the tree and generates docs/rfc-coverage.md from the RFC citations in the code.
//!
//! `cargo run -p whimbrel-tidy` writes the page and prints what is wrong with the tree; the tests of this crate fail
//! on the same findings, and if the page is out of date.
#![forbid(unsafe_code)]

mod citations;
mod coverage;
mod functions;
mod lints;
mod objects;
mod sections;
mod tree;

use std::process::ExitCode;

use crate::tree::Tree;

fn main() -> ExitCode {
    let tree = match Tree::read() {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("the tree cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    let coverage = coverage::Coverage::of(&tree);
    if let Err(error) = std::fs::write(tree::root().join(coverage::PAGE), coverage.render()) {
        eprintln!("{} cannot be written: {error}", coverage::PAGE);
        return ExitCode::FAILURE;
    }
    let mut findings = coverage.findings();
    findings.extend(lints::all(&tree));
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} findings", findings.len());
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
